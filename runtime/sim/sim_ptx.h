/* The instructions of PTX as C++ functions, for the modules that simcc makes from nvcc's output:
 * `fma.rn.f32 d, a, b, c` becomes ptx::fma_rn_f32(d, a, b, c). Semantics follow the sections of the
 * PTX ISA named after the instructions. Matrix fragments follow "Matrix Fragments for
 * mma.m16n8k16", "mma.m16n8k8" and "ldmatrix", independently of sim_tensor.c. An instruction that is
 * missing here gives a compiler error that names it.
 *
 * A GPU may differ in approximate instructions (in the last bit) and in the sums of a matrix
 * instruction (fp32 in the order of k here). A misaligned access ends the launch, as on a GPU.
 */
#ifndef SIM_PTX_H
#define SIM_PTX_H

#include <fenv.h>
#include <limits>
#ifdef PTX_WGMMA
#include <vector>
#endif

namespace ptx {

/* ---- Registers: bits that each instruction reads as its own type ------------------------------ */

template <class Bits> struct Register { Bits bits; };
template <int BITS> struct RegisterOf;
template <> struct RegisterOf<1> { using type = bool; };
template <> struct RegisterOf<8> { using type = Register<uint8_t>; };
template <> struct RegisterOf<16> { using type = Register<uint16_t>; };
template <> struct RegisterOf<32> { using type = Register<uint32_t>; };
template <> struct RegisterOf<64> { using type = Register<uint64_t>; };
template <int BITS> using Reg = typename RegisterOf<BITS>::type;

static inline Reg<32> bits32(uint32_t bits) { return {bits}; }
static inline Reg<64> bits64(uint64_t bits) { return {bits}; }

template <class S> constexpr bool is_register = std::is_class<S>::value;
template <class S> constexpr bool is_variable = std::is_convertible<const S &, const void *>::value;

/* Returns the low bits of a register, a literal, or a variable's address as a T. */
template <class T, class S> static inline T get(const S &from) {
    if constexpr (is_variable<S>) {
        return static_cast<T>(reinterpret_cast<uintptr_t>(from));
    } else if constexpr (!is_register<S>) {
        return static_cast<T>(from);
    } else if constexpr (std::is_integral<T>::value) {
        return static_cast<T>(from.bits);
    } else {
        static_assert(sizeof(T) == sizeof from.bits, "a type as wide as its register");
        T value;
        memcpy(&value, &from.bits, sizeof value);
        return value;
    }
}

/* Integers are sign-extended to a wider register. */
template <class D, class T> static inline void put(D &d, T value) {
    if constexpr (std::is_same<D, bool>::value) {
        d = value;
    } else if constexpr (std::is_integral<T>::value) {
        d.bits = static_cast<decltype(d.bits)>(value);
    } else {
        static_assert(sizeof d.bits == sizeof value, "a type as wide as its register");
        memcpy(&d.bits, &value, sizeof value);
    }
}

/* ---- Special registers ------------------------------------------------------------------------ */

static inline Reg<32> tid_x() { return {sim_thread_x}; }
static inline Reg<32> tid_y() { return {sim_thread_y}; }
static inline Reg<32> tid_z() { return {sim_thread_z}; }
static inline Reg<32> ntid_x() { return {sim_block.x}; }
static inline Reg<32> ntid_y() { return {sim_block.y}; }
static inline Reg<32> ntid_z() { return {sim_block.z}; }
static inline Reg<32> ctaid_x() { return {sim_index.x}; }
static inline Reg<32> ctaid_y() { return {sim_index.y}; }
static inline Reg<32> ctaid_z() { return {sim_index.z}; }
static inline Reg<32> nctaid_x() { return {sim_grid.x}; }
static inline Reg<32> nctaid_y() { return {sim_grid.y}; }
static inline Reg<32> nctaid_z() { return {sim_grid.z}; }

#include "sim_ptx_numbers.h"
#include "sim_ptx_threads.h"
#ifdef PTX_WGMMA
#include "sim_ptx_wgmma.h"
#else
static inline void thread_begins() {}
static inline void thread_ends() {}
#endif

} // namespace ptx

#endif
