#!/bin/sh
# ptx.sh [--all | --rest]
#
# Runs the PTX that nvcc generates from kernels.cu for Hopper on the simulated device: fixtures of
# the oracle, and with --all orders of threads, AddressSanitizer, the race checker and the bytes
# that it counts. Prints `ok ptx CASE DTYPE VARIANT [RUN]` or `FAIL ...`; exits with 1 if anything
# failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
tests/oracle/run.sh --ptx "$@" || failed=1
[ $# -gt 0 ] || exit $failed
tests/sim/flavours.sh --ptx odd pools || failed=1
exit $failed
