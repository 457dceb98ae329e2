/* Printing a plan, or those of all stages of a pipeline. */
#ifndef PLAN_PRINT_PLAN_H
#define PLAN_PRINT_PLAN_H

#include "base/strbuf.h"
#include "plan/plan.h"

void plan_print_text(const Plan *, StrBuf *); /* plan.txt and the terminal */
void plan_print_json(const Plan *, StrBuf *); /* plan.json */
void pipeline_print_text(const Plan *const *stages, int count, StrBuf *);
void pipeline_print_json(const Plan *const *stages, int count, StrBuf *);

enum { MIB = 1048576 }; /* the unit of memory in reports */

/* Title of a role in reports: "frozen weights". */
const char *plan_role_title(Role);

#endif
