/* Which parameters pass_quantize keeps in few bits. */
#ifndef PASS_QUANTIZE_H
#define PASS_QUANTIZE_H

#include "graph/graph.h"
#include "spec/spec.h"

bool quantize_takes(const Program *, const Spec *, const Param *);

#endif
