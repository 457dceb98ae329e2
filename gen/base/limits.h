/* Limits of what is generated that a check of the spec must know too. */
#pragma once

/* A window's side where scalar steps have it written out, place by place. */
enum { WIDEST_WINDOW = 7 };
