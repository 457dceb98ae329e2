# gpuopt-gen: `make` builds the compiler, `make demo` shows it, `make help` lists the rest.

CFLAGS   ?= -O2 -g
CXXFLAGS ?= -O2 -g
SPEC     ?=
DEVICE   ?= auto
JIT      ?= 0
ARGS     ?=

STRICT := -Wall -Wextra -Wpedantic -Werror
C17    := -std=c17 -D_GNU_SOURCE $(STRICT) -ffp-contract=off

.PHONY: all
all: gpuopt-gen

# ---- the compiler ---------------------------------------------------------------------------

gen_c   := $(sort $(shell find gen -name '*.c'))
gen_cc  := $(sort $(shell find gen -name '*.cc'))
gen_obj := $(gen_c:%.c=build/obj/%.o) $(gen_cc:%.cc=build/obj/%.o) build/obj/embed.o

# What the compiler carries: emitted programs take their share of the runtime from it.
embedded := $(sort $(wildcard gen/devices/*.toml gen/templates/*) \
              $(shell find runtime -type f ! -name '*.md'))

build/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(C17) $(CFLAGS) -Igen -MMD -MP -c -o $@ $<

build/obj/%.o: %.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(STRICT) $(CXXFLAGS) -Igen -MMD -MP -c -o $@ $<

build/obj/embed.S: gen/base/embed.sh $(embedded) Makefile
	@mkdir -p $(@D)
	printf '%s\n' $(embedded) | gen/base/embed.sh > $@

build/obj/embed.o: build/obj/embed.S
	$(CC) -c -o $@ $<

gpuopt-gen: $(gen_obj)
	$(CXX) $(LDFLAGS) -o $@ $^ -ljansson -lm

-include $(wildcard $(gen_obj:.o=.d))

.PHONY: clean
clean:
	rm -rf build gpuopt-gen
