# A program's folder may not have spaces or these characters in its path: make or the shell gives them a
# meaning. The compiler refuses the same ones (gen/cli.c), but it has its own list, because this file
# goes with each program.
hash := \#
odd  := $(foreach c,: ; ( ) ' " $$ $(hash) % & | * ? [ ] \ ` < > { },$(findstring $c,$(CURDIR)))
ifneq ($(strip $(word 2,$(CURDIR))$(odd)),)
$(error make cannot build in "$(CURDIR)": copy this folder to a path without $(or $(strip $(odd)),spaces))
endif
