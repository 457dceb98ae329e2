#ifndef PASS_PEFT_CONFIG_H
#define PASS_PEFT_CONFIG_H

#include "graph/graph.h"
#include "spec/spec.h"

/* The text of adapter_config.json for the adapters that the program has; lives in its arena. */
const char *peft_config(const Program *, const Spec *);

#endif
