/* Bodies over images that lie in planes, [N,C,P] with P pixels each.
 *
 * Their ops speak of rows n,p and columns c, as they do of images that lie row after row. Laid as it
 * is, such a body would jump from plane to plane; so it becomes one over [N C, P], the rows planes and
 * the columns pixels, dense and row-major. Everything after it (fusing, skeletons, printing, costs)
 * sees an ordinary body: a number a channel is one a row, and a sum over rows is a sum of each row,
 * which a second body adds up over the images. */
#ifndef PLAN_PLANES_H
#define PLAN_PLANES_H

#include "graph/steps.h"

/* The body laid by planes; the same where it has none. What adds up its sums over rows is *second;
 * NULL: there are none, or one image alone. A planar value that is read at rows of its own (row_index)
 * is read within the image that the body is at. */
Body *body_by_planes(Program *, Body *, Body **second);

#endif
