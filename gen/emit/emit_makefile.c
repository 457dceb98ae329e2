/* Makefile: a head for the experiment, followed by gen/templates/program.mk. */
#include "base/embed.h"
#include "emit/emit.h"

static void put_template(const char *name, StrBuf *out) {
    const Embedded *file = embedded_template(name);
    sb_append(out, file->text, file->size);
}

static void put_base(const Plan *plan, StrBuf *out) {
    if (plan->spec->base_spec[0])
        sb_printf(out,
                  "# The spec that trains the weights which this program starts from, and the "
                  "folder where it puts them.\nBASE_SPEC  := %s\nBASE_MODEL := %s\n\n",
                  plan->spec->base_spec, plan->spec->init_dir);
}

void emit_makefile(const Plan *plan, StrBuf *out) {
    sb_printf(out, "# Builds and runs %s.\n#\n", plan->spec->name);
    sb_puts(out, "#     make                       builds ./run and the module of its kernels\n"
                 "#     make run ARGS='--steps 10' runs it; ./run --help lists the options\n#\n"
                 "# DEVICE=auto|cuda|sim, JIT=1 (kernels are compiled at start, by NVRTC), "
                 "ARCH=sm_80,sm_90a.\n"
                 "# Needs make, a C compiler, jansson, zlib and the CUDA toolkit; the simulated "
                 "device also needs g++\n"
                 "# and OpenBLAS.\n\n");
    put_base(plan, out);
    if (plan->program->stage.count > 1)
        sb_puts(out, "# The stages share the runtime, which is in the folder above theirs.\n"
                     "RT      ?= ..\nSIM_OUT ?= $(abspath ..)/sim\n\n");
    long long ranks = spec_ranks(plan->spec);
    if (ranks > 1)
        sb_printf(out, "# Processes that train together, one per device.\nRANKS   := %lld\n\n",
                  ranks);
    sb_printf(out, "ARCH    ?= %s\n", plan->device->arch);
    put_template("program.mk", out);
}

void emit_stages_makefile(const Plan *plan, StrBuf *out) {
    sb_printf(out, "# Builds and runs %s, a pipeline of stages.\n#\n", plan->spec->name);
    sb_puts(out,
            "#     make                       builds stage_*/run and the modules of their "
            "kernels\n"
            "#     make run ARGS='--steps 10' runs them together; stage_0/run --help lists the "
            "options\n#\n"
            "# DEVICE=auto|cuda|sim, JIT=1 (kernels are compiled at start, by NVRTC).\n\n");
    put_base(plan, out);
    sb_printf(out,
              "# Stages, and processes that train together, one per device.\nSTAGES  := %lld\n"
              "RANKS   := %lld\n",
              (long long)plan->program->stage.count, (long long)spec_ranks(plan->spec));
    put_template("stages.mk", out);
}
