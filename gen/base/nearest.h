/* "Did you mean": the candidate with the smallest edit distance to a misspelt name, or one that has
 * all of its words. */
#pragma once

/* Returns the nearest of count names. If more than two letters differ in all of them, rather returns
 * the shortest that has all words of the name, such as "num_hidden_layers" for "num_layers"; if none
 * has, and more than a third of the letters differ, NULL. The first wins a tie. */
const char *nearest_name(const char *name, const char *const *candidates, int count);
