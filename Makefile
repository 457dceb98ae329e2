# gpuopt-gen: `make` builds the compiler, `make demo` shows it, `make help` lists the rest.

CFLAGS   ?= -O2 -g
CXXFLAGS ?= -O2 -g
PREFIX   ?= /usr/local
SPEC     ?=
SET      ?=
DEVICE   ?= auto
JIT      ?= 0
ARGS     ?=
NP       ?=

# Overlong messages are truncated on purpose.
STRICT := -Wall -Wextra -Wpedantic -Werror -Wno-format-truncation
C17    := -std=c17 -D_GNU_SOURCE $(STRICT) -ffp-contract=off

# Where the build goes; `make asan` uses other places.
GEN := gpuopt-gen
OBJ := build/obj
LIBGEN = $(dir $(OBJ))libgen.a

include runtime/toolkit.mk
ifneq ($(CUDA_HOME),)
export CUDA_HOME
endif

.DELETE_ON_ERROR:
.PHONY: all
all: $(GEN)

# ---- the compiler ---------------------------------------------------------------------------

gen_c   := $(sort $(shell find gen -name '*.c'))
gen_cc  := $(sort $(shell find gen -name '*.cc'))
gen_obj := $(gen_c:%.c=$(OBJ)/%.o) $(gen_cc:%.cc=$(OBJ)/%.o) $(OBJ)/embed.o

# Files embedded in the compiler, from which programs get their parts of the runtime.
embedded := $(sort $(wildcard gen/devices/*.toml gen/templates/*) \
              $(shell find runtime -path runtime/scripts -prune -o \
                -type f ! -name '*.md' ! -name '*.py' -print))

# list NAME FILES: writes these to a file beside the objects, because a command that named them all would be
# too long to read.
list = $(shell mkdir -p $(OBJ))$(file >$(OBJ)/$(1),$(2))

# Names missing packages in one line, before the C compiler reports them in a hundred.
build/compiler.ok: runtime/scripts/deps.sh
	@runtime/scripts/deps.sh check compiler
	@mkdir -p $(@D) && touch $@

$(OBJ)/gen/%.o: gen/%.c | build/compiler.ok
	@mkdir -p $(@D)
	$(CC) $(C17) $(CFLAGS) -Igen -MMD -MP -c -o $@ $<

$(OBJ)/gen/%.o: gen/%.cc | build/compiler.ok
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(STRICT) $(CXXFLAGS) -Igen -MMD -MP -c -o $@ $<

$(OBJ)/embed.S: gen/base/embed.sh $(embedded) Makefile
	$(call list,embed.list,$(embedded))tr ' ' '\n' < $(OBJ)/embed.list | gen/base/embed.sh > $@

$(OBJ)/embed.o: $(OBJ)/embed.S
	$(CC) -c -o $@ $<

$(GEN): $(gen_obj)
	$(call list,gen.list,$^)$(CXX) $(LDFLAGS) -o $@ @$(OBJ)/gen.list -ljansson -lnettle -lz -lm

-include $(wildcard $(gen_obj:.o=.d))

.PHONY: install
install: $(GEN)
	install -D -m 755 $(GEN) $(DESTDIR)$(PREFIX)/bin/gpuopt-gen

# ---- experiments ----------------------------------------------------------------------------

# Later steps run in makes of their own, which find the toolkit that the first one installed.
.PHONY: demo demo-installed run small slurm
demo:
	@runtime/scripts/deps.sh install compiler sim text cuda
	@echo "building the compiler"
	@$(MAKE) --no-print-directory -s -j2 $(GEN)
	@$(MAKE) --no-print-directory demo-installed

# Updates a simulated device that an older tree left, which may lack what programs now need.
old_sim = $(if $(wildcard build/sim/libnccl.so.2),sim-ranks,$(if $(wildcard build/sim/simcc),sim))

demo-installed: $(GEN) $(if $(filter-out cuda,$(DEVICE)),$(old_sim))
	@GEN=./$(GEN) DEVICE=$(DEVICE) JIT=$(JIT) runtime/scripts/demo.sh

# A file's name may have any characters, also those that make or the shell gives a meaning.
override SPEC := $(value SPEC)
spec     = '$(subst ','\'',$(SPEC))'
settings = $(foreach setting,$(SET),--set '$(setting)')

# Without it, make run FILE would run what was generated last.
ifneq ($(filter %.toml,$(MAKECMDGOALS)),)
$(error $(filter %.toml,$(MAKECMDGOALS)) is a spec, not a target: write \
    $(if $(SPEC),a name with spaces in quotes,SPEC=$(filter %.toml,$(MAKECMDGOALS))))
endif

slurm: $(GEN)
	@$(if $(SPEC),,echo "error: name a spec: make slurm SPEC=FILE" >&2; exit 1;) ./$(GEN) --slurm $(spec) $(settings) $(ARGS)

# Training data that must be made first. Plain text is used as it is.
prose := /usr/share/perl/5.*.*/pod/perl*.pod
build/data/%.jsonl build/data/%_small.jsonl build/data/%_large.jsonl build/data/%_heldout.jsonl: runtime/scripts/samples.sh
	@runtime/scripts/samples.sh $* build/data $(if $(filter code,$*),gen/*/*.c $(rt_c),$(prose))

# The sample files that SPEC (or a file it extends) names, or what was generated last. Needs the compiler.
resolved     = $(if $(SPEC),./$(GEN) --print-spec $(spec) $(settings),\
    last=$$(cat build/last) && cat $$last/spec.toml $${last%/points}/*/spec.toml)
samples      = $(sort $(shell { $(resolved); } 2>/dev/null | grep -o 'build/data/[a-z_.]*'))
make_samples = $(if $(samples),$(MAKE) --no-print-directory -s $(samples))

run: $(GEN) $(if $(filter-out cuda,$(DEVICE)),$(old_sim))
	+@$(make_samples)
	@$(if $(SET),$(if $(SPEC),,echo "error: SET goes with SPEC=FILE" >&2; exit 1;)) \
	exec env GEN=./$(GEN) DEVICE=$(DEVICE) JIT=$(JIT) NP='$(NP)' runtime/scripts/run.sh $(if $(SPEC),--spec $(spec) $(settings)) -- $(ARGS)

# Runs a few steps of each point, in a separate folder. Compiling kernels takes most of the time.
sweep  = $(shell ./$(GEN) --print-spec $(spec) $(settings) 2>&1 | grep -m 1 '^# point ')
few    = training.steps=4 data.eval_batches=1 $(window) $(if $(sweep),benchmark.repeats=1)
# The profiled window ends with the last step, of which SET may name fewer. SET may also turn it off.
window = $(if $(filter profiling.enabled=false,$(SET)),,profiling.enabled=true \
    $(or $(window_of_$(lastword $(patsubst training.steps=%,%,$(filter training.steps=%,$(SET))))),$(window_of_4)))
window_of_0 := profiling.enabled=false
window_of_1 := profiling.start_step=0 profiling.steps=1
window_of_2 := profiling.start_step=1 profiling.steps=1
window_of_3 := profiling.start_step=1 profiling.steps=2
window_of_4 := profiling.start_step=2 profiling.steps=2
small: to = build/$(shell basename -s .toml -- $(spec) | tr -c 'A-Za-z0-9._\n-' _)-small
small: $(GEN) $(if $(filter-out cuda,$(DEVICE)),$(old_sim))
	@$(MAKE) --no-print-directory -s -f runtime/target.mk DEVICE=$(DEVICE) >/dev/null
	+@$(make_samples)
	@$(if $(SPEC),,echo "error: name a spec: make small SPEC=FILE" >&2; exit 1;) \
	./$(GEN) $(spec) $(few:%=--set %) $(settings) -o '$(to)' && \
	exec env GEN=./$(GEN) DEVICE=$(DEVICE) JIT=$(JIT) SIM_OPTIMIZE=$${SIM_OPTIMIZE:--Og} \
	    runtime/scripts/run.sh --program '$(to)$(if $(sweep),/points)' -- $(ARGS)

# ---- the simulated device --------------------------------------------------------------------

.PHONY: sim
sim:
	@runtime/scripts/deps.sh check sim cuda
	@$(MAKE) --no-print-directory -s -f runtime/sim/Makefile.inc RT=runtime SIM_OUT=build/sim sim

.PHONY: sim-ranks
sim-ranks: sim
	@runtime/scripts/deps.sh check mpi
	@$(MAKE) --no-print-directory -s -f runtime/sim/Makefile.inc RT=runtime SIM_OUT=build/sim sim_ranks

# ---- tests -----------------------------------------------------------------------------------

.PHONY: toolkit
toolkit:
	@runtime/scripts/deps.sh check cuda

# All programs that tests build share one runtime library (instead of the copy that each carries).
rt_c   := $(filter-out runtime/sim/%,$(wildcard runtime/*/*.c))
rt_obj := $(rt_c:%.c=$(OBJ)/%.o)
RT_LIB := build/libruntime.a
RUNTIME_PARENT := $(CURDIR)

$(OBJ)/runtime/device/device.o: defines := -DGPUOPT_SIM_DIR='"$(CURDIR)/build/sim"'
$(OBJ)/runtime/device/jit.o: defines := -DGPUOPT_RUNTIME_PARENT='"$(RUNTIME_PARENT)"'
$(OBJ)/runtime/%.o: runtime/%.c | build/compiler.ok toolkit
	@mkdir -p $(@D)
	$(CC) $(C17) $(CFLAGS) $(defines) -I. -isystem $(CUDA_HOME)/include -MMD -MP -c -o $@ $<

$(RT_LIB): $(rt_obj)
	rm -f $@ && ar rcs $@ $^

# Tells make run and studies whether what a program reads has changed.
inputs_obj := $(addprefix $(OBJ)/runtime/,scripts/inputs/inputs.o data/data_hash.o data/data_files.o files/infile.o \
                base/sha256.o base/rt.o)
build/inputs: $(inputs_obj)
	$(CC) $(LDFLAGS) -o $@ $^ -ljansson -lm

$(LIBGEN): $(filter-out $(OBJ)/gen/main.o,$(gen_obj))
	rm -f $@ && ar rcs $@ $^

# Each tests/unit/test_*.c is a program; they share the other files there. A test that includes the
# runtime links only that, any other only the compiler, because the two may use the same names.
unit_c      := $(wildcard tests/unit/test_*.c)
unit_rt     := $(shell grep -l '"runtime/' $(unit_c))
unit_shared := $(filter-out $(unit_c),$(wildcard tests/unit/*.c)) tests/oracle/compare.c
unit_tests  := $(unit_c:tests/%.c=build/%)

$(OBJ)/tests/%.o: tests/%.c | toolkit
	@mkdir -p $(@D)
	$(CC) $(C17) $(CFLAGS) -I. -Igen -isystem $(CUDA_HOME)/include -MMD -MP -c -o $@ $<

build/libshared.a: $(unit_shared:%.c=$(OBJ)/%.o)
	rm -f $@ && ar rcs $@ $^

$(unit_rt:tests/%.c=build/%): tested_lib := $(RT_LIB)
build/unit/%: tested_lib := $(LIBGEN)
build/unit/%: $(OBJ)/tests/unit/%.o build/libshared.a $(LIBGEN) $(RT_LIB)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< build/libshared.a $(tested_lib) -lcmocka -ljansson -lnettle -lz -ldl -lm -lpthread

-include $(rt_obj:.o=.d) $(inputs_obj:.o=.d) $(wildcard $(OBJ)/tests/*/*.d)

.PRECIOUS: $(OBJ)/tests/%.o
.PHONY: unit-tests check check-all check-rest tests-built tests-run update-golden
unit-tests: $(unit_tests)

check check-all check-rest:
	@runtime/scripts/deps.sh install compiler sim mpi text images test tokenizers disassembler cuda
	@$(MAKE) --no-print-directory -s -j2 tests-built
	@$(MAKE) --no-print-directory tests-run ALL=$(patsubst check%,-%,$(filter-out check,$@))

tests-built: $(GEN) $(RT_LIB) build/inputs sim-ranks unit-tests
tests-run:
	@tests/check.sh $(ALL)

update-golden: $(GEN)
	UPDATE=1 tests/error/run.sh
	UPDATE=1 tests/golden/run.sh

.PHONY: tables
tables: $(GEN)
	@runtime/scripts/tables.sh

.PHONY: asan fuzz fuzz-layouts lint
lint:
	@tests/lint/run.sh

asan: sim
	@tests/asan/run.sh

fuzz:
	@runtime/scripts/deps.sh check fuzz cuda
	@tests/fuzz/run.sh

# Random whole experiments; SEED selects them.
fuzz-layouts: $(GEN) $(RT_LIB) sim-ranks
	@tests/fuzz/layouts.py --seed $(or $(SEED),0) --minutes $(or $(MINUTES),10)

# ---- on a GPU ---------------------------------------------------------------------------------

# Programs with kernels for Hopper; on another GPU they compile their kernels at start.
.PHONY: gpu-bundle check-gpu bench
gpu-bundle: build/gpu/ready

build/gpu/ready: $(GEN) tests/gpu/bundle.sh $(wildcard tests/gpu/* tests/gpu/specs/* tests/bench/*.py \
        specs/h100/*) $(rt_obj)
	@runtime/scripts/deps.sh check sim cuda
	@tests/gpu/bundle.sh
	@touch $@

# Fails on a machine without a GPU before the bundle is built.
need_gpu := PYTHONPATH=tests/gpu python3 -B -c 'import machine; machine.need_gpu()'

check-gpu:
	@$(need_gpu)
	@$(MAKE) --no-print-directory build/gpu/ready
	@build/gpu/check-gpu $(ARGS)

bench:
	@$(need_gpu)
	@$(MAKE) --no-print-directory build/gpu/ready
	@build/gpu/bench --results tests/bench/results $(ARGS)
	@build/gpu/bench-tuning --results tests/bench/results $(ARGS)
	@build/gpu/bench-images --results tests/bench/results $(ARGS)

# Without a GPU: how long specs take to become programs.
.PHONY: bench-compile
bench-compile: $(GEN) $(RT_LIB) sim
	@tests/bench/compile_times.py $(ARGS)

# ---- what a machine needs ---------------------------------------------------------------------

.PHONY: deps
deps:
	@runtime/scripts/deps.sh install compiler sim mpi text images test fuzz tokenizers disassembler cuda

# ---- the rest ---------------------------------------------------------------------------------

.PHONY: clean distclean help
clean:
	@runtime/scripts/clean.sh
	@rm -f $(GEN)

distclean:
	rm -rf $(filter-out build/deps,$(wildcard build/*)) $(GEN)

help:
	@cat runtime/scripts/help.txt
