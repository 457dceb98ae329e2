/* Rounding that begins after some steps, as torchtune's fake_quant_after_n_steps:
 * `early_micro_step` is micro_step without rounding.
 *
 * Requires the final micro_step. Both entries use the same values, so that they share gradients,
 * masters and all else that outlives a step, and scratch has the same places. A weight's gradient
 * takes the same path as later: in a 16-bit program it is rounded to 16 bits before it is
 * accumulated. */
#include "pass/pass.h"
#include "pass/unrounded.h"

bool pass_qat_delay(Program *p, const Spec *spec) {
    p->early_steps = spec->qat.fake_quant_after_n_steps;
    if (p->early_steps == 0)
        return false;
    add_unrounded(p, ENTRY_MICRO_STEP, ENTRY_EARLY_MICRO_STEP, UNROUNDED_ALL);
    return true;
}
