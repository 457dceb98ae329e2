/* Reads a spec from text instead of a file. */
#ifndef TESTS_UNIT_TEXT_SPEC_H
#define TESTS_UNIT_TEXT_SPEC_H

#include "spec/spec.h"

/* `sets` are those of --set. */
Spec *spec_of_text(Arena *, const char *text, const char *const *sets, int count);
/* With the sets before the first NULL, at most `most`. */
Spec *spec_of_sets(Arena *, const char *text, const char *const *sets, int most);

#endif
