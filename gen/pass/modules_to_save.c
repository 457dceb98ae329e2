/* Whole modules that train together with an adapter, as PEFT's modules_to_save: they start from the
 * model's own weights, and are saved and loaded with the adapter, in whose files they have other
 * names.
 *
 * Requires a base that is frozen already, and names that the spec's checks have accepted. */
#include "base/dotted.h"
#include "pass/pass.h"

#include <string.h>

static bool is_of(const Param *param, const char *module) {
    const char *last = name_last_part(param->file_name);
    return last > param->file_name && same_part(previous_part(param->file_name, last), module);
}

static int train(Program *p, const char *module) {
    int found = 0;
    for (int i = 0; i < p->param_count; i++) {
        Param *param = &p->params[i];
        if (param->weight->role != ROLE_FROZEN || !is_of(param, module))
            continue;
        value_set_role(param->weight, ROLE_ADAPTER);
        param->base_name = param->file_name;
        param->file_name = arena_printf(p->arena, "base_model.model.%s", param->file_name);
        param->name_hash = stable_hash(param->file_name);
        found++;
    }
    return found;
}

bool pass_modules_to_save(Program *p, const Spec *spec) {
    const Strings *modules = &spec->adapter.modules_to_save;
    for (int i = 0; i < modules->count; i++) {
        int found = train(p, modules->items[i]);
        ENSURE(found > 0, "no module %s", modules->items[i]);
    }
    return modules->count > 0;
}
