/* --merge: writes the base model with the adapter merged in, as a Hugging Face model folder. */
#include "runtime/checkpoint/export.h"
#include "runtime/files/outfile.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Refuses to merge an untrained adapter, which would change nothing. */
static void check_adapter(const RtOptions *options) {
    char found[RT_MAX_PATH];
    if (options->steps > 0 || options->resume || options->adapter_dir)
        return;
    join_path(found, options->out_dir, EXPORT_ADAPTER);
    rt_fail("--merge %s: nothing to merge, because --steps 0 trains no adapter; give --adapter %s",
            options->merge_dir, access(found, R_OK) == 0 ? found : "DIR");
}

void merge_check(const Rt *rt) {
    const RtProgram *program = rt->program;
    const char *dir = rt->options.merge_dir;
    const char *base = rt->options.init_dir ? rt->options.init_dir : program->checkpoint.init_dir;
    if (!dir)
        return;
    if (!program->merge.enqueue)
        rt_fail("--merge: %s", program->unmerged ? program->unmerged
                                                 : "this program has no adapter; its results "
                                                   "already contain the whole model");
    check_adapter(&rt->options);
    if (base && rt_same_file(base, dir))
        rt_fail("--merge %s: the base is read from there; choose another folder", dir);
    const char *problem = rt_make_folder(dir) ? export_problem(dir) : strerror(errno);
    if (problem)
        rt_fail("--merge %s: cannot write there: %s; choose another folder", dir, problem);
}

/* Prints numbers with the fewest digits that read back the same: 1e-5, not
 * 1.0000000000000001e-5. */
static char *short_text(const json_t *config) {
    bool same = false;
    char *text = NULL;
    for (size_t digits = 15; !same && digits <= 17; digits++) {
        free(text);
        text = json_dumps(config, JSON_INDENT(2) | JSON_REAL_PRECISION(digits));
        json_t *read = text ? json_loads(text, 0, NULL) : NULL;
        same = json_equal(read, config);
        json_decref(read);
    }
    return text;
}

/* The merged weights are no longer quantized, so quantization_config is removed. */
static char *plain_config(const char *text) {
    json_t *config = json_loads(text, 0, NULL);
    if (!config)
        rt_internal("config.json of the program is no JSON");
    json_object_del(config, "quantization_config");
    char *plain = short_text(config);
    json_decref(config);
    return plain;
}

void merge_run(Rt *rt) {
    const RtProgram *program = rt->program;
    if (!rt->options.merge_dir)
        return;
    char *config = plain_config(program->checkpoint.config_json);
    export_entry(rt, &program->merge, rt->options.merge_dir, config);
    free(config);
    printf("merged model: %s\n", rt->options.merge_dir);
}
