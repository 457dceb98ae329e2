/* What makes a plan smaller that does not fit. */
#pragma once
#include "compile.h"

/* Returns the first remedy with which the experiment fits, else the first that helps, as a hint for
 * plan_say_unfit; NULL if none helps. A remedy that is another technique is named beside one that is
 * not. */
const char *remedy_for(Arena *, const Plan *unfit);
