/* How many numbers the model has. The stages of a pipeline have different tensors, except that tied
 * ones are in two stages under one name. */
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"
#include "runtime/params/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "the count of parameters";

/* Sent as bytes between ranks, which run the same build. */
typedef struct {
    char name[256];
    int64_t elements;
    bool trained;
} Counted;

typedef struct {
    Counted *items;
    int64_t count;
} List;

static bool has(const List *list, const char *name) {
    for (int64_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

static void append(List *list, const Counted *more, int64_t count) {
    list->items = realloc(list->items, sizeof *more * (size_t)(list->count + count + 1));
    if (!list->items)
        rt_fail("out of host memory for %s", what);
    for (int64_t i = 0; i < count; i++)
        if (!has(list, more[i].name))
            list->items[list->count++] = more[i];
}

/* Buffers, such as batch norm's running statistics, are no parameters. */
static List own_list(const RtProgram *program) {
    List list = {0};
    for (int i = 0; i < program->param_count; i++) {
        const RtParam *param = &program->params[i];
        Counted one = {.elements = param_elements(param), .trained = param->trained};
        snprintf(one.name, sizeof one.name, "%s", param->name);
        if (!param->buffer)
            append(&list, &one, 1);
    }
    return list;
}

static void append_from(Rt *rt, int rank, List *list) {
    int64_t count = 0;
    comm_receive(rt, rank, &count, sizeof count, what);
    Counted *more = rt_alloc((size_t)count * sizeof *more);
    comm_receive(rt, rank, more, count * (int64_t)sizeof *more, what);
    append(list, more, count);
    free(more);
}

static void hand_over(Rt *rt, const List *list) {
    comm_send(rt, 0, &list->count, sizeof list->count, what);
    comm_send(rt, 0, list->items, list->count * (int64_t)sizeof *list->items, what);
}

ParamCounts params_count(Rt *rt) {
    List list = own_list(rt->program);
    ParamCounts counts = {0};
    if (rt->rank > 0 && mesh_writer(rt->program, rt->rank) == rt->rank)
        hand_over(rt, &list);
    for (int rank = 1; rt->rank == 0 && rank < rt->ranks; rank++)
        if (mesh_writer(rt->program, rank) == rank)
            append_from(rt, rank, &list);
    for (int64_t i = 0; i < list.count; i++) {
        counts.total += list.items[i].elements;
        counts.trained += list.items[i].trained ? list.items[i].elements : 0;
    }
    free(list.items);
    return counts;
}
