/* Bodies over images stored in planes, [N,C,P] with P pixels per plane.
 *
 * Their ops use rows n,p and columns c, as for images stored row by row. A body laid out that way
 * would jump from plane to plane, so it is rewritten over [N C, P]: planes are rows and pixels are
 * columns, dense and row-major. Everything after that (fusing, skeletons, printing, costs) sees an
 * ordinary body: a number per channel becomes one per row, and a sum over rows becomes a sum of
 * each row, which a second body adds up over the images. */
#ifndef PLAN_PLANES_H
#define PLAN_PLANES_H

#include "graph/steps.h"

/* Returns the body laid out by planes, or itself where it uses none. *second becomes the body that
 * adds up its sums over rows; NULL if it has none or there is only one image. A planar value that
 * is read at explicit rows (row_index) is read within the body's current image. */
Body *body_by_planes(Program *, Body *, Body **second);

#endif
