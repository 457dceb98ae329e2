/* The command line of an emitted program. */
#include "runtime/base/launcher.h"
#include "runtime/base/rt.h"
#include "runtime/loop/loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "  --steps N         train N steps in total (at most the spec's); 0 only evaluates, and\n"
    "                    keeps the results of an earlier training run unless --out is given\n"
    "  --seed N          use this seed instead of the spec's\n"
    "  --init DIR        read the model's weights from a Hugging Face folder\n"
    "  --adapter DIR     start from the adapter in a PEFT folder\n"
    "  --no-adapter      evaluate without the adapter (with --steps 0)\n"
    "  --resume [DIR]    resume from a checkpoint folder, or from the newest in the out folder\n"
    "  --out DIR         write results to DIR (default: out in this program's folder, or next to\n"
    "                    the folders of stages)\n"
    "  --dump FILE       write inputs, loss, logits, gradients and new weights of the first step\n"
    "                    as a safetensors file\n"
    "  --merge DIR       at the end write the model with the adapter merged in, as a Hugging Face "
    "folder\n"
    "  --tune            only measure which of cuBLASLt's algorithms is fastest for each matrix\n"
    "                    product and save it in products.json next to this program for later runs\n"
    "  --probe           only check the other options and, for one process, that there is a device,\n"
    "                    as make run does before it compiles kernels or starts several processes\n"
    "  -h, --help        print this text\n"
    "\n"
    "Environment: GPUOPT_DEVICE=auto|cuda|sim, GPUOPT_SIM_DIR=DIR, GPUOPT_JIT=1\n";

#define MOST_SEED (1LL << 53) /* up to here integers are exact in every JSON reader */

static void print_help(const RtProgram *program, const char *name) {
    long long steps = (long long)program->training.steps;
    printf("%s: trains %s, %lld step%s (%s)\n\nusage: %s [OPTION]...\n%s", name, program->name,
           steps, steps == 1 ? "" : "s", program->generator, name, help);
}

static const char *executable_folder(void) {
    static char path[RT_MAX_PATH];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        rt_fail("cannot find this program's own folder (/proc/self/exe): %s", strerror(errno));
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    return path;
}

/* The executables of a pipeline are in folders of its stages, next to which results are. */
static const char *program_folder(const RtProgram *program, const char *exe_dir) {
    static char path[RT_MAX_PATH];
    snprintf(path, sizeof path, "%s", exe_dir);
    char *slash = strrchr(path, '/');
    if (program->pipeline && slash)
        *slash = '\0';
    return path;
}

static int64_t read_integer(const char *option, const char *text) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0')
        rt_fail("%s %s: give a whole number", option, text);
    return value;
}

static bool asks_for_run(const RtOptions *options, const RtProgram *program) {
    return options->init_dir || options->adapter_dir || options->no_adapter || options->resume ||
           options->dump_file || options->merge_dir || options->steps != program->training.steps ||
           options->seed != program->training.seed;
}

static void check(const RtOptions *options, const RtProgram *program) {
    long long most = program->training.steps;
    if (options->steps < 0)
        rt_fail("--steps %lld: a run cannot have fewer than 0; --steps 0 only evaluates",
                (long long)options->steps);
    if (options->seed < 0 || options->seed > MOST_SEED)
        rt_fail("--seed %lld: give a number from 0 to %lld, as for training.seed",
                (long long)options->seed, MOST_SEED);
    if (options->steps > most)
        rt_fail("--steps %lld: this program was generated for at most %lld steps; set "
                "training.steps in the spec and generate it again",
                (long long)options->steps, most);
    if (options->tune && asks_for_run(options, program))
        rt_fail("--tune measures matrix products and runs nothing else; leave out the other options");
    if (options->dump_file && options->steps == 0)
        rt_fail("--dump records the first training step, but --steps 0 trains none");
    if (options->dump_file && options->resume)
        rt_fail("--dump writes the first step of a fresh run; leave out --resume");
    if (options->no_adapter && options->adapter_dir)
        rt_fail("--no-adapter and --adapter contradict each other; give one");
    if ((options->no_adapter || options->adapter_dir) && !program->checkpoint.adapter_json)
        rt_fail("%s: this program has no adapter; leave the option out, or set adapter.type = \"lora\" "
                "in the spec and generate it again",
                options->no_adapter ? "--no-adapter" : "--adapter");
    if (options->no_adapter && options->steps > 0)
        rt_fail("--no-adapter leaves nothing to train; add --steps 0 to evaluate the base, or "
                "leave it out");
    if (options->no_adapter && options->merge_dir)
        rt_fail("--no-adapter and --merge contradict each other; give one");
    if (options->resume && options->adapter_dir)
        rt_fail("--resume takes the adapter from the checkpoint; leave out --adapter");
}

static bool is_option(const char *word) { return strncmp(word, "--", 2) == 0; }

/* The text of --help names an option's argument: "  --merge DIR  ". */
_Noreturn static void refuse_alone(const char *option) {
    char start[32];
    snprintf(start, sizeof start, "  %s ", option);
    const char *usage = strstr(help, start) + 2;
    size_t word = strlen(option) + 1, length = word + strcspn(usage + word, " ");
    rt_fail("%s needs an argument: %.*s; see --help", option, (int)length, usage);
}

/* The argument of the option at *i. */
static const char *argument(int argc, char **argv, int *i) {
    if (*i + 1 >= argc || is_option(argv[*i + 1]))
        refuse_alone(argv[*i]);
    if (!*argv[*i + 1])
        rt_fail("%s is followed by an empty argument; give a value, or leave %s out", argv[*i],
                argv[*i]);
    return argv[++*i];
}

static void refuse_second(char **argv, int at) {
    for (int i = 1; i < at; i++)
        if (is_option(argv[at]) && strcmp(argv[i], argv[at]) == 0)
            rt_fail("%s is given twice; leave one of them out", argv[at]);
}

static void read_one(RtOptions *options, int argc, char **argv, int *i) {
    const char *name = argv[*i];
    if (strcmp(name, "--steps") == 0)
        options->steps = read_integer(name, argument(argc, argv, i));
    else if (strcmp(name, "--seed") == 0)
        options->seed = read_integer(name, argument(argc, argv, i));
    else if (strcmp(name, "--init") == 0)
        options->init_dir = argument(argc, argv, i);
    else if (strcmp(name, "--adapter") == 0)
        options->adapter_dir = argument(argc, argv, i);
    else if (strcmp(name, "--no-adapter") == 0)
        options->no_adapter = true;
    else if (strcmp(name, "--out") == 0) {
        options->out_dir = argument(argc, argv, i);
        options->out_given = true;
    } else if (strcmp(name, "--dump") == 0)
        options->dump_file = argument(argc, argv, i);
    else if (strcmp(name, "--merge") == 0)
        options->merge_dir = argument(argc, argv, i);
    else if (strcmp(name, "--tune") == 0)
        options->tune = true;
    else if (strcmp(name, "--probe") == 0)
        options->probe = true;
    else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        options->help = true;
    else if (strcmp(name, "--resume") == 0) {
        options->resume = true;
        if (*i + 1 < argc && argv[*i + 1][0] != '-')
            options->resume_dir = argument(argc, argv, i);
    } else
        rt_fail("unknown option %s; see --help", name);
}

void options_read(RtOptions *options, const RtProgram *program, int argc, char **argv) {
    static char default_out[RT_MAX_PATH + 8];
    const char *jit = getenv("GPUOPT_JIT");
    *options = (RtOptions){.steps = program->training.steps,
                           .seed = program->training.seed,
                           .exe_dir = executable_folder(),
                           .jit = jit && strcmp(jit, "1") == 0,
                           .argv = argv};
    options->program_dir = program_folder(program, options->exe_dir);
    snprintf(default_out, sizeof default_out, "%s/out", options->program_dir);
    options->out_dir = default_out;
    for (int i = 1; i < argc; i++) {
        refuse_second(argv, i);
        read_one(options, argc, argv, &i);
    }
    if (options->help) {
        if (launched_rank() == 0 && !options->probe)
            print_help(program, argv[0]);
        exit(0);
    }
    check(options, program);
}
