/* Printing a plan, or those of all stages of a pipeline. */
#ifndef PLAN_PRINT_PLAN_H
#define PLAN_PRINT_PLAN_H

#include "base/strbuf.h"
#include "plan/plan.h"

#include <jansson.h>

void plan_print_text(const Plan *, StrBuf *); /* plan.txt and the terminal */
void plan_print_json(const Plan *, StrBuf *); /* plan.json */
void pipeline_print_text(const Plan *const *stages, int count, StrBuf *);
void pipeline_print_json(const Plan *const *stages, int count, StrBuf *);

/* "whose step takes 12.345 ms" and a line's end, of the single card that a speed-up refers to. */
void print_one_card(const Plan *, StrBuf *);
json_t *one_card_json(const Plan *);
/* Lines on copies of batches and launches of graphs if they make the step longer. */
void print_host(const Plan *, StrBuf *);

enum { MIB = 1048576 }; /* the unit of memory in reports */

/* Title of a role in reports: "frozen weights". */
const char *plan_role_title(Role);

#endif
