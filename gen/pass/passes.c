/* Runs the passes of passes.h. */
#include "pass/pass.h"

#include <string.h>

const Pass pass_list[] = {
#define PASS_WITH_UNDO(pass, stage, undoes)                                                        \
    {.name = #pass, .run = pass_##pass, .leaves = STAGE_##stage, .undo = undoes},
#define PASS(pass, stage) PASS_WITH_UNDO(pass, stage, NULL)
#include "pass/passes.h"
};
const int pass_count = sizeof pass_list / sizeof *pass_list;

enum { MOST_COLUMNS = 99 }; /* of a message; a comma may follow */

static void check_dump(const char *dump) {
    if (!strcmp(dump, "model"))
        return;
    for (int i = 0; i < pass_count; i++)
        if (!strcmp(dump, pass_list[i].name))
            return;
    StrBuf names = {0};
    size_t column = strlen("model");
    for (int i = 0; i < pass_count; i++) {
        size_t width = strlen(", ") + strlen(pass_list[i].name);
        bool wraps = column + width > MOST_COLUMNS;
        sb_printf(&names, wraps ? ",\n%s" : ", %s", pass_list[i].name);
        column = (wraps ? 0 : column) + width;
    }
    user_error((Pos){0}, "give --dump one of the names above",
               "there is no pass \"%s\"; the passes are\nmodel%s", dump, names.text);
}

static const Pass *first_after_recompute(void) {
    const Pass *pass = pass_list;
    while (pass->run != pass_recompute)
        pass++;
    return pass + 1;
}

static void run_pass(const Pass *pass, Program *p, const Spec *spec) {
    if (pass == first_after_recompute())
        memcpy(p->undone, p->entry, sizeof p->undone);
    if (pass->run(p, spec))
        program_verify(p, pass->leaves, pass->name);
}

void passes_run(Program *p, const Spec *spec, const char *dump, StrBuf *text) {
    if (dump)
        check_dump(dump);
    program_verify(p, STAGE_SEMANTIC, "model");
    if (dump && !strcmp(dump, "model"))
        program_print(p, text);
    for (int i = 0; i < pass_count; i++) {
        run_pass(&pass_list[i], p, spec);
        if (dump && !strcmp(dump, pass_list[i].name))
            program_print(p, text);
    }
}

void passes_undo_after_recompute(Program *p) {
    for (int e = 0; e < ENTRY_COUNT; e++) {
        graph_set_ops(p, &p->entry[e], p->undone[e].ops, p->undone[e].op_count);
        p->entry[e].name = p->undone[e].name;
    }
    for (const Pass *pass = first_after_recompute(); pass < pass_list + pass_count; pass++)
        if (pass->undo)
            pass->undo(p);
}

void passes_run_after_recompute(Program *p, const Spec *spec) {
    program_verify(p, STAGE_KERNEL, "recompute");
    for (const Pass *pass = first_after_recompute(); pass < pass_list + pass_count; pass++)
        run_pass(pass, p, spec);
}
