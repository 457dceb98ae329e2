/* "Did you mean": the candidate with the smallest edit distance to a misspelt name. */
#pragma once

/* Returns the nearest of count names, or NULL if none is near enough for a suggestion (more than a
 * third of the letters differ). The first wins a tie. */
const char *nearest_name(const char *name, const char *const *candidates, int count);
