/* kernels.cu: every kernel of the plan, printed from its body or filled into its template. */
#include "emit/emit.h"
#include "emit/fill_template.h"
#include "emit/printer.h"

static void print_file_head(const Plan *plan, StrBuf *out) {
    sb_printf(out, "/* The %d kernels of %s.\n", plan->kernel_count, plan->spec->name);
    sb_puts(out, " *\n"
                 " * Every extent and stride is a constant. Matrices are row-major; a kernel's head names the ops it\n"
                 " * fuses, the spec key they come from, and for one launch the bytes that its threads ask for and\n"
                 " * its arithmetic. */\n"
                 "#include \"runtime/kernel.cuh\"\n");
}

static void print_kernel_head(const Plan *plan, const Kernel *k, StrBuf *out) {
    (void)plan;
    sb_printf(out, "\n/* %s */\n", k->ops);
}

void emit_kernels(const Plan *plan, StrBuf *out) {
    print_file_head(plan, out);
    print_template_preludes(plan, out);
    for (int i = 0; i < plan->kernel_count; i++) {
        const Kernel *k = &plan->kernels[i];
        print_kernel_head(plan, k, out);
        if (k->template_name) print_template_kernel(k, out);
        else print_body_kernel(plan, i, out);
    }
}
