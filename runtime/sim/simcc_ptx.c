/* Translates PTX to C++, statement by statement. Registers become variables, labels stay labels,
 * and every instruction except branches, returns and calls becomes a call of its function:
 * `add.rn.f32 %f3, %f1, %f2;` is ptx::add_rn_f32(f3, f1, f2). sim_ptx.h defines what these do; the
 * host's compiler names an instruction that is missing there. See the PTX ISA, "Syntax" and
 * "Directives".
 */
#include "simcc_ptx.h"
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KERNELS = 4096, MAX_PARAMETERS = 64, MAX_VARIABLES = 256, MAX_FILES = 256 };

typedef struct PtxKernel {
    const char *name;
    unsigned max_threads, parameters, bytes[MAX_PARAMETERS];
} PtxKernel;

static struct {
    char *at;
    FILE *out;
    PtxKernel kernels[MAX_KERNELS];
    unsigned kernel_count;
    const char *variables[MAX_VARIABLES]; /* __device__ and __constant__ variables */
    unsigned variable_count;
    const char *files[MAX_FILES]; /* sources, by their numbers in .loc */
    /* Bytes of shared memory: the module's, these plus a kernel's own, and the largest sum. */
    unsigned module_shared, shared, most_shared;
    char error[256];
    jmp_buf failed;
} ptx;

static _Noreturn void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(ptx.error, sizeof ptx.error, format, list);
    va_end(list);
    longjmp(ptx.failed, 1);
}

/* ---- Text -------------------------------------------------------------------------------- */

static void drop_comments(char *text) {
    char *to = text;
    for (char *p = text; *p; p++) {
        if (p[0] == '/' && p[1] == '/')
            p += strcspn(p, "\n");
        if (!*p)
            break;
        *to++ = *p;
    }
    *to = 0;
}

static char *skip_space(char *p) { return p + strspn(p, " \t\r\n"); }

static bool is_name(char c) { return isalnum((unsigned char)c) || strchr("_$%.", c); }

static size_t name_length(const char *p) {
    size_t length = 0;
    while (p[length] && is_name(p[length]))
        length++;
    return length;
}

/* Takes the text up to one of the characters in `ends`, which is removed and stored in `*end`. */
static char *take_until(const char *ends, char *end) {
    char *from = skip_space(ptx.at);
    char *stop = strpbrk(from, ends);
    if (!stop)
        fail("PTX that ends within a statement");
    *end = *stop;
    *stop = 0;
    ptx.at = stop + 1;
    return from;
}

/* Returns the next word of `*text`, or null. Words are separated by " \t\r\n,(){}". */
static char *next_word(char **text) {
    static const char between[] = " \t\r\n,(){}";
    char *word = *text + strspn(*text, between), *end = word + strcspn(word, between);
    *text = *end ? end + 1 : end;
    *end = 0;
    return *word ? word : NULL;
}

static bool begins(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

/* ---- Variables --------------------------------------------------------------------------- */

/* Returns the bits of a type such as .b32 or .pred; 1 for a predicate. */
static unsigned type_bits(const char *type) {
    const char *digits = type + strcspn(type, "0123456789");
    return begins(type, ".pred") ? 1 : (unsigned)strtoul(digits, NULL, 10);
}

typedef struct Variable {
    unsigned align, element_bytes, bytes;
    char *name, *values; /* values: the text after '=', or null */
} Variable;

/* Reads a variable after its state space: `.align 16 .b8 name[64] = {…}`. */
static Variable read_variable(char *text) {
    Variable v = {.align = 1};
    for (text = skip_space(text); *text == '.'; text = skip_space(text + strcspn(text, " \t"))) {
        if (begins(text, ".align")) {
            v.align = (unsigned)strtoul(text + 6, &text, 10);
            text = skip_space(text) - 1;
            *text = ' ';
        } else if (isdigit((unsigned char)text[2])) {
            v.bytes = v.element_bytes = type_bits(text) / 8;
        }
    }
    v.name = text;
    char *end = text + name_length(text), *values = strchr(text, '=');
    for (char *p = end; *p == '['; p = strchr(p, ']') + 1)
        v.bytes *= (unsigned)strtoul(p + 1, NULL, 10);
    v.values = values ? values + 1 : NULL;
    *end = 0;
    if (v.align < v.bytes && v.bytes <= 8)
        v.align = v.bytes;
    return v;
}

static void place_shared(const Variable *v) {
    ptx.shared = (ptx.shared + v->align - 1) / v->align * v->align;
    fprintf(ptx.out, "enum : uint32_t { %s = %u };\n", v->name, ptx.shared);
    ptx.shared += v->bytes;
    if (ptx.shared > ptx.most_shared)
        ptx.most_shared = ptx.shared;
}

/* `.reg .b32 %r<9>` declares %r0 to %r8, `.reg .pred p, q` declares p and q. */
static void declare_registers(char *text) {
    const unsigned bits = type_bits(next_word(&text));
    for (char *name; (name = next_word(&text));) {
        char *range = strchr(name, '<');
        const unsigned count = range ? (unsigned)strtoul(range + 1, NULL, 10) : 1;
        name += *name == '%';
        const int length = (int)(range ? (size_t)(range - name) : strlen(name));
        for (unsigned i = 0; i < count; i++) {
            fprintf(ptx.out, "ptx::Reg<%u> %.*s", bits, length, name);
            fprintf(ptx.out, range ? "%u;\n" : ";\n", i);
        }
    }
}

static void translate_directive(char *text) {
    if (begins(text, ".reg")) {
        declare_registers(text + 4);
    } else if (begins(text, ".shared")) {
        const Variable v = read_variable(text + 7);
        place_shared(&v);
    } else if (begins(text, ".local") || begins(text, ".param")) {
        const Variable v = read_variable(text + 6);
        fprintf(ptx.out, "alignas(%u) char %s[%u];\n", v.align, v.name, v.bytes);
    } else if (!begins(text, ".pragma")) {
        fail("a directive that is not translated: %.60s", text);
    }
}

/* Reads lines such as `.file 2 "runtime/kernel.cuh"`. They come after all code, before data that
 * only debuggers read, and are removed from the text with that data. */
static void read_files(char *text) {
    char *next = strstr(text, "\t.file\t");
    if (next)
        *next++ = 0;
    while (next) {
        const unsigned number = (unsigned)strtoul(next + strlen(".file"), &next, 10);
        char *name = strchr(next, '"'), *end = name ? strchr(name + 1, '"') : NULL;
        if (!end || number >= MAX_FILES)
            fail("a .file that is not understood");
        *end = 0;
        ptx.files[number] = name + 1;
        next = strstr(end + 1, ".file\t");
    }
}

/* `.loc 2 153 9, …`: the following code is from line 153 of file 2. Returns the text after it. */
static char *translate_place(char *text) {
    const unsigned number = (unsigned)strtoul(text + 4, &text, 10);
    const unsigned line = (unsigned)strtoul(text, &text, 10);
    if (number < MAX_FILES && ptx.files[number])
        fprintf(ptx.out, "#line %u \"%s\"\n", line, ptx.files[number]);
    return text + strcspn(text, "\n");
}

/* ---- Instructions ------------------------------------------------------------------------ */

/* Writes a register, a special register, a number or a variable. */
static void translate_name(const char *text, size_t length) {
    if (begins(text, "0f") || begins(text, "0F"))
        fprintf(ptx.out, "ptx::bits32(0x%.*su)", (int)length - 2, text + 2);
    else if (begins(text, "0d") || begins(text, "0D"))
        fprintf(ptx.out, "ptx::bits64(0x%.*sull)", (int)length - 2, text + 2);
    else if (*text == '%' && memchr(text, '.', length))
        fprintf(ptx.out, "ptx::%.*s_%c()", (int)length - 3, text + 1, text[length - 1]);
    else
        fprintf(ptx.out, "%.*s", (int)length - (*text == '%'), text + (*text == '%'));
}

/* Translates `[%rd1+16]`; `text` begins after the bracket. Returns the text after the address. */
static char *translate_address(char *text) {
    const size_t length = name_length(text);
    char *offset = skip_space(text + length);
    fprintf(ptx.out, "ptx::at(");
    translate_name(text, length);
    fprintf(ptx.out, ", %ld)", *offset == '+' ? strtol(offset + 1, NULL, 0) : 0);
    char *end = strchr(offset, ']');
    if (!end)
        fail("an address without its bracket: %.60s", text);
    return end + 1;
}

/* Braces and the bar of `%r1|%p1` only group operands; the C++ function takes them one by one. */
static void translate_operands(char *text) {
    bool any = false;
    for (char *p = text; *(p += strspn(p, " \t\r\n,{}|"));) {
        if (any)
            fprintf(ptx.out, ", ");
        any = true;
        if (*p == '[') {
            p = translate_address(p + 1);
            continue;
        }
        const size_t sign = strspn(p, "!-");
        fprintf(ptx.out, "%.*s", (int)sign, p);
        const size_t length = name_length(p + sign);
        if (!length)
            fail("an operand that is not translated: %.60s", p);
        translate_name(p + sign, length);
        p += sign + length;
    }
}

/* `(result), name, (parameter, parameter)` becomes name(result, parameter, parameter); each is a
 * variable in memory. */
static void translate_call(char *text) {
    const bool has_result = *skip_space(text) == '(';
    const char *result = has_result ? next_word(&text) : "", *comma = has_result ? ", " : "";
    fprintf(ptx.out, "%s(%s", next_word(&text), result);
    for (const char *argument; (argument = next_word(&text)); comma = ", ")
        fprintf(ptx.out, "%s%s", comma, argument);
    fprintf(ptx.out, ");\n");
}

static void translate_instruction(char *text) {
    if (*text == '@') {
        char *predicate = text + 1;
        text += strcspn(text, " \t");
        *text++ = 0;
        text = skip_space(text);
        const bool negated = *predicate == '!';
        predicate += negated;
        fprintf(ptx.out, "if (%s%s) ", negated ? "!" : "", predicate + (*predicate == '%'));
    }
    const size_t length = strcspn(text, " \t\n");
    char *operands = text[length] ? text + length + 1 : text + length;
    text[length] = 0;
    if (!strcmp(text, "bra") || !strcmp(text, "bra.uni")) {
        fprintf(ptx.out, "goto %s;\n", skip_space(operands));
    } else if (!strcmp(text, "ret") || !strcmp(text, "exit")) {
        fprintf(ptx.out, "return;\n");
    } else if (begins(text, "call")) {
        translate_call(operands);
    } else {
        for (char *p = text; *p; p++)
            *p = *p == '.' || *p == ':' ? '_' : *p;
        fprintf(ptx.out, "ptx::%s(", text);
        translate_operands(operands);
        fprintf(ptx.out, ");\n");
    }
}

static void translate_body(void) {
    for (int depth = 1; depth;) {
        ptx.at = skip_space(ptx.at);
        if (*ptx.at == '{' || *ptx.at == '}') {
            depth += *ptx.at == '{' ? 1 : -1;
            fprintf(ptx.out, "%c\n", *ptx.at++);
            continue;
        }
        const size_t label = name_length(ptx.at);
        if (label && ptx.at[label] == ':' && ptx.at[label + 1] != ':') {
            fprintf(ptx.out, "%.*s:;\n", (int)label, ptx.at);
            ptx.at += label + 1;
            continue;
        }
        if (begins(ptx.at, ".loc\t")) {
            ptx.at = translate_place(ptx.at);
            continue;
        }
        char end;
        char *text = take_until(";", &end);
        if (*text == '.')
            translate_directive(text);
        else
            translate_instruction(text);
    }
}

/* ---- Modules ----------------------------------------------------------------------------- */

/* Takes the next parameter of `.param .u64 name_param_0, .param .align 8 .b8 name_param_1[24]`. */
static bool next_parameter(char **text, Variable *v) {
    char *from = *text ? strstr(*text, ".param") : NULL;
    if (!from)
        return false;
    if ((*text = strchr(from, ',')))
        *(*text)++ = 0;
    *v = read_variable(from + 6);
    return true;
}

/* Translates a function that nvcc did not inline; its result, if any, becomes the first
 * parameter. */
static void translate_function(char *text) {
    char end;
    const char *comma = "";
    Variable v;
    char *result = *skip_space(text) ? NULL : take_until(")", &end);
    char *name = result ? take_until("(", &end) : skip_space(text);
    char *parameters = take_until(")", &end);
    name[name_length(name)] = 0;
    fprintf(ptx.out, "static void %s(", name);
    for (; next_parameter(&result, &v); comma = ", ")
        fprintf(ptx.out, "char *%s", v.name);
    for (; next_parameter(&parameters, &v); comma = ", ")
        fprintf(ptx.out, "%schar *%s", comma, v.name);
    take_until("{;", &end);
    fprintf(ptx.out, end == '{' ? ") {\n" : ");\n");
    if (end == '{')
        translate_body();
}

static void translate_parameters(PtxKernel *kernel, char *text) {
    for (Variable v; next_parameter(&text, &v);) {
        if (kernel->parameters == MAX_PARAMETERS)
            fail("%s has more than %d parameters", kernel->name, MAX_PARAMETERS);
        fprintf(ptx.out, "char *const %s = (char *)arguments[%u];\n", v.name, kernel->parameters);
        kernel->bytes[kernel->parameters++] = v.bytes;
    }
}

static void translate_kernel(char *name) {
    char end;
    if (ptx.kernel_count == MAX_KERNELS)
        fail("more than %d kernels", MAX_KERNELS);
    PtxKernel *kernel = &ptx.kernels[ptx.kernel_count++];
    *kernel = (PtxKernel){.name = name, .max_threads = 1024};
    char *parameters = take_until(")", &end);
    char *directives = take_until("{", &end);
    const char *bound = strstr(directives, ".maxntid");
    if (bound)
        kernel->max_threads = (unsigned)strtoul(bound + 8, NULL, 10);
    fprintf(ptx.out, "static void %s_body(void **arguments) {\n", name);
    translate_parameters(kernel, parameters);
    ptx.shared = ptx.module_shared;
    translate_body();
    fprintf(ptx.out,
            "static void %s_thread(void **arguments, unsigned thread) {\n"
            "sim_place_thread(thread);\nptx::thread_begins();\n%s_body(arguments);\n"
            "ptx::thread_ends();\n}\n",
            name, name);
}

/* Floats are written as their bits, so that all values are unsigned numbers in C++. */
static void write_values(char *values) {
    fprintf(ptx.out, " = {");
    for (const char *value; (value = next_word(&values));) {
        const bool is_float = value[0] == '0' && value[1] && strchr("fFdD", value[1]);
        fprintf(ptx.out, is_float ? "0x%s, " : "%s, ", value + 2 * is_float);
    }
    fprintf(ptx.out, "}");
}

static void translate_global(const Variable *v) {
    if (ptx.variable_count == MAX_VARIABLES)
        fail("more than %d variables", MAX_VARIABLES);
    ptx.variables[ptx.variable_count++] = v->name;
    fprintf(ptx.out, "alignas(16) static uint%u_t %s[%u]", 8 * v->element_bytes, v->name,
            v->bytes / v->element_bytes);
    if (v->values)
        write_values(v->values);
    fprintf(ptx.out, ";\n");
}

static void translate_variable(char *text) {
    char *space = text;
    while (begins(space, ".visible") || begins(space, ".extern") || begins(space, ".weak"))
        space = skip_space(space + strcspn(space, " \t"));
    const Variable v = read_variable(space + strcspn(space, " \t"));
    if (begins(text, ".extern") && begins(space, ".shared")) {
        fprintf(ptx.out, "enum : uint32_t { %s = ptx::DYNAMIC };\n", v.name);
    } else if (begins(space, ".shared")) {
        ptx.shared = ptx.module_shared;
        place_shared(&v);
        ptx.module_shared = ptx.shared;
    } else if (begins(space, ".global") || begins(space, ".const")) {
        translate_global(&v);
    } else {
        fail("a directive that is not translated: %.60s", text);
    }
}

static void translate_module(void) {
    while (*(ptx.at = skip_space(ptx.at))) {
        char end;
        if (begins(ptx.at, ".version") || begins(ptx.at, ".target") ||
            begins(ptx.at, ".address_size")) {
            ptx.at += strcspn(ptx.at, "\n");
            continue;
        }
        char *text = take_until("(;", &end);
        char *entry = strstr(text, ".entry"), *function = strstr(text, ".func");
        if (end == ';')
            translate_variable(text);
        else if (entry)
            translate_kernel(skip_space(entry + 6));
        else if (function)
            translate_function(function + 5);
        else
            fail("a directive that is not translated: %.60s", text);
    }
}

static void write_tables(const char *flavour, FILE *out) {
    for (unsigned i = 0; i < ptx.kernel_count; i++) {
        const PtxKernel *k = &ptx.kernels[i];
        fprintf(out, "static const unsigned %s_bytes[] = {", k->name);
        for (unsigned p = 0; p < k->parameters; p++)
            fprintf(out, "%u, ", k->bytes[p]);
        fprintf(out, "0};\n");
    }
    fprintf(out, "static const SimKernel sim_kernels[] = {\n");
    for (unsigned i = 0; i < ptx.kernel_count; i++) {
        const PtxKernel *k = &ptx.kernels[i];
        fprintf(out, "{\"%s\", %s_thread, nullptr, %u, %u, %s_bytes},\n", k->name, k->name,
                k->max_threads, k->parameters, k->name);
    }
    fprintf(out, "{}};\nstatic const SimVariable sim_variables[] = {\n");
    for (unsigned i = 0; i < ptx.variable_count; i++)
        fprintf(out, "SIM_VARIABLE(%s)\n", ptx.variables[i]);
    fprintf(out, "{}};\nSIM_MODULE(%s)\n", flavour);
}

const char *ptx_to_cpp(char *text, const char *flavour, FILE *out) {
    char *bodies = NULL;
    size_t bytes = 0;
    memset(&ptx, 0, sizeof ptx);
    ptx.out = open_memstream(&bodies, &bytes);
    if (!ptx.out)
        return "out of memory";
    if (setjmp(ptx.failed)) {
        fclose(ptx.out);
        free(bodies);
        return ptx.error;
    }
    read_files(text);
    drop_comments(text);
    const bool multiplies_in_groups = strstr(text, "wgmma.") != NULL;
    ptx.at = text;
    translate_module();
    fclose(ptx.out);
    if (multiplies_in_groups)
        fprintf(out, "#define PTX_WGMMA\n");
    fprintf(out, "#define PTX_SHARED_BYTES %u\n#include \"sim_ptx.h\"\nnamespace {\n%s}\n",
            ptx.most_shared ? ptx.most_shared : 16, bodies);
    write_tables(flavour, out);
    free(bodies);
    return NULL;
}
