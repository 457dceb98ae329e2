/* What the runtime's loader must know of one kind of data: a list of fields of one of its structs. */
#ifndef GRAPH_LOADER_SETTINGS_H
#define GRAPH_LOADER_SETTINGS_H

#include "graph/value.h"

typedef enum {
    SETTING_INT,
    SETTING_BOOL,
    SETTING_REAL,
    SETTING_REALS,
    SETTING_TEXT,
    SETTING_PLACE
} SettingKind;

typedef struct {
    const char *field;
    SettingKind kind;
    int64_t integer;
    double real;
    const double *reals; /* [count] */
    int count;
    const char *text;
    const Value *place; /* the setting is its offset in STATE */
} LoaderSetting;

typedef struct {
    const char *field, *type; /* "images", "RtImages": a member of RtData in runtime.h */
    LoaderSetting *items;
    int count, capacity; /* 0: the experiment has no such data */
} LoaderSettings;

#endif
