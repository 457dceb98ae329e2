#ifndef PASS_PEFT_CONFIG_H
#define PASS_PEFT_CONFIG_H

#include "graph/graph.h"
#include "spec/spec.h"

/* Returns the text of adapter_config.json for the program's adapters, in the program's arena. */
const char *peft_config(const Program *, const Spec *);

#endif
