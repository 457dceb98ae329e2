/* Rounding that begins after some steps, as torchtune's fake_quant_after_n_steps: `early_micro_step` is
 * micro_step without it.
 *
 * Requires micro_step as it will be: over its values, so that gradients, masters and all that outlives
 * a step are the same ones, and scratch lies where it lies there. A weight's gradient takes the way
 * that it takes later: in 16 bits it is rounded to these before it is added up. */
#include "pass/pass.h"
#include "pass/unrounded.h"

bool pass_qat_delay(Program *p, const Spec *spec) {
    p->early_steps = spec->qat.fake_quant_after_n_steps;
    if (p->early_steps == 0)
        return false;
    add_unrounded(p, ENTRY_MICRO_STEP, ENTRY_EARLY_MICRO_STEP, UNROUNDED_ALL);
    return true;
}
