/* "Did you mean": the candidate with the smallest edit distance to a misspelt name. */
#pragma once

/* The nearest of count names, or NULL where none is near enough to be worth a question
 * (more than a third of the letters differ). Ties go to the first. */
const char *nearest_name(const char *name, const char *const *candidates, int count);
