/* Part of sim_ptx.h: PTX's arithmetic, bits, moves, comparisons and conversions. */

/* ---- Arithmetic ------------------------------------------------------------------------------- */

#define PTX_1(name, T, result)                                               \
    template <class D, class A> static inline void name(D &d, const A &a_) { \
        const T a = get<T>(a_);                                              \
        put(d, static_cast<T>(result));                                      \
    }
#define PTX_2(name, T, result)                                                                     \
    template <class D, class A, class B> static inline void name(D &d, const A &a_, const B &b_) { \
        const T a = get<T>(a_), b = get<T>(b_);                                                    \
        put(d, static_cast<T>(result));                                                            \
    }
#define PTX_3(name, T, result)                                             \
    template <class D, class A, class B, class C>                          \
    static inline void name(D &d, const A &a_, const B &b_, const C &c_) { \
        const T a = get<T>(a_), b = get<T>(b_), c = get<T>(c_);            \
        put(d, static_cast<T>(result));                                    \
    }

/* min and max of a number and a NaN are the number. */
#define PTX_FLOAT(f, T, fma_of, min_of, max_of, sqrt_of) \
    PTX_2(add_##f, T, a + b)                             \
    PTX_2(sub_##f, T, a - b)                             \
    PTX_2(mul_##f, T, a *b)                              \
    PTX_2(add_rn_##f, T, a + b)                          \
    PTX_2(sub_rn_##f, T, a - b)                          \
    PTX_2(mul_rn_##f, T, a *b)                           \
    PTX_2(div_rn_##f, T, a / b)                          \
    PTX_3(fma_rn_##f, T, fma_of(a, b, c))                \
    PTX_1(rcp_rn_##f, T, 1 / a)                          \
    PTX_1(sqrt_rn_##f, T, sqrt_of(a))                    \
    PTX_2(min_##f, T, min_of(a, b))                      \
    PTX_2(max_##f, T, max_of(a, b))                      \
    PTX_1(neg_##f, T, -a)                                \
    PTX_1(abs_##f, T, fabs(a))
PTX_FLOAT(f32, float, fmaf, fminf, fmaxf, sqrtf)
PTX_FLOAT(f64, double, fma, fmin, fmax, sqrt)
#undef PTX_FLOAT

/* fma rounded toward minus infinity. The asm barriers keep the compiler from moving the fmaf
 * call. */
static inline float fma_down(float a, float b, float c) {
    const int before = fegetround();
    fesetround(FE_DOWNWARD);
    __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c));
    float sum = fmaf(a, b, c);
    __asm__ volatile("" : "+x"(sum));
    fesetround(before);
    return sum;
}
PTX_3(fma_rm_f32, float, fma_down(a, b, c))

/* Subnormal results become 0. */
static inline float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
PTX_1(ex2_approx_f32, float, exp2f(a))
PTX_1(ex2_approx_ftz_f32, float, flushed(exp2f(flushed(a))))
PTX_1(lg2_approx_f32, float, log2f(a))
PTX_1(lg2_approx_ftz_f32, float, flushed(log2f(flushed(a))))
PTX_1(rcp_approx_ftz_f32, float, flushed(1 / flushed(a)))
PTX_1(rcp_approx_ftz_f64, double, 1 / a)
PTX_1(rsqrt_approx_f32, float, 1 / sqrtf(a))
PTX_1(rsqrt_approx_ftz_f32, float, flushed(1 / sqrtf(flushed(a))))
PTX_1(rsqrt_approx_f64, double, 1 / sqrt(a))
PTX_1(rsqrt_approx_ftz_f64, double, 1 / sqrt(a))
PTX_1(sin_approx_f32, float, sinf(a))
PTX_1(cos_approx_f32, float, cosf(a))
PTX_2(div_full_f32, float, a / b)
PTX_2(copysign_f32, float, copysignf(b, a)) /* the sign is that of a */
PTX_2(copysign_f64, double, copysign(b, a))

/* The upper half of a product. */
template <class T> static inline T upper(T a, T b) {
    using Wide = std::conditional_t<std::is_signed<T>::value, __int128, unsigned __int128>;
    return static_cast<T>(static_cast<Wide>(a) * b >> (8 * sizeof(T)));
}
template <class T> static inline T shift_left(T a, uint32_t by) {
    return by < 8 * sizeof(T) ? static_cast<T>(a << by) : 0;
}
/* If all bits are shifted out, the result is 0, or -1 for a negative number. */
template <class T> static inline T shift_right(T a, uint32_t by) {
    constexpr uint32_t last = 8 * sizeof(T) - 1;
    return by <= last                 ? static_cast<T>(a >> by)
           : std::is_signed<T>::value ? static_cast<T>(a >> last)
                                      : 0;
}

/* Integers wrap around. Where signed overflow is undefined in C++, uint64_t is used instead. */
template <class T> static inline uint64_t wide(T a) { return static_cast<uint64_t>(a); }
template <class T> static inline T quotient(T a, T b) {
    const bool minus_one = std::is_signed<T>::value && b == static_cast<T>(-1);
    return static_cast<T>(minus_one ? 0 - wide(a) : b ? wide(a / b) : wide(-1));
}

#define PTX_INTEGER(i, T)                                          \
    PTX_2(add_##i, T, wide(a) + wide(b))                           \
    PTX_2(sub_##i, T, wide(a) - wide(b))                           \
    PTX_2(mul_lo_##i, T, wide(a) * wide(b))                        \
    PTX_2(mul_hi_##i, T, upper<T>(a, b))                           \
    PTX_3(mad_lo_##i, T, wide(a) * wide(b) + wide(c))              \
    PTX_3(mad_hi_##i, T, wide(upper<T>(a, b)) + wide(c))           \
    PTX_2(div_##i, T, quotient<T>(a, b))                           \
    PTX_2(rem_##i, T, wide(a) - wide(quotient<T>(a, b)) * wide(b)) \
    PTX_2(min_##i, T, a < b ? a : b)                               \
    PTX_2(max_##i, T, a > b ? a : b)                               \
    PTX_1(neg_##i, T, 0 - wide(a))                                 \
    PTX_1(abs_##i, T, a < T(0) ? 0 - wide(a) : wide(a))            \
    template <class D, class A, class B>                           \
    static inline void shr_##i(D &d, const A &a, const B &b) {     \
        put(d, shift_right(get<T>(a), get<uint32_t>(b)));          \
    }
PTX_INTEGER(s16, int16_t)
PTX_INTEGER(u16, uint16_t)
PTX_INTEGER(s32, int32_t)
PTX_INTEGER(u32, uint32_t)
PTX_INTEGER(s64, int64_t)
PTX_INTEGER(u64, uint64_t)
#undef PTX_INTEGER

/* The carry of sums of several words, and the borrow of differences. No other thread runs between
 * the instructions that set and use it. */
static bool carry;
template <class T> static inline T add_carry(T a, T b, bool in, bool *out) {
    const T sum = static_cast<T>(a + b + in);
    *out = sum < a || (in && sum == a);
    return sum;
}
template <class T> static inline T subtract_borrow(T a, T b, bool in, bool *out) {
    *out = a < b || (in && a == b);
    return static_cast<T>(a - b - in);
}
#define PTX_CARRY(i, T)                                              \
    PTX_2(add_cc_##i, T, (add_carry<T>(a, b, false, &carry)))        \
    PTX_2(addc_cc_##i, T, (add_carry<T>(a, b, carry, &carry)))       \
    PTX_2(addc_##i, T, a + b + carry)                                \
    PTX_2(sub_cc_##i, T, (subtract_borrow<T>(a, b, false, &carry)))  \
    PTX_2(subc_cc_##i, T, (subtract_borrow<T>(a, b, carry, &carry))) \
    PTX_2(subc_##i, T, a - b - carry)                                \
    PTX_CARRY_PART(lo, i, T, static_cast<T>(a * b))                  \
    PTX_CARRY_PART(hi, i, T, upper<T>(a, b))
#define PTX_CARRY_PART(part, i, T, product)                                   \
    PTX_3(mad_##part##_cc_##i, T, (add_carry<T>(product, c, false, &carry)))  \
    PTX_3(madc_##part##_cc_##i, T, (add_carry<T>(product, c, carry, &carry))) \
    PTX_3(madc_##part##_##i, T, product + c + carry)
PTX_CARRY(u32, uint32_t)
PTX_CARRY(u64, uint64_t)
#undef PTX_CARRY_PART
#undef PTX_CARRY

#define PTX_WIDE(i, T, Wide)                                                      \
    template <class D, class A, class B>                                          \
    static inline void mul_wide_##i(D &d, const A &a, const B &b) {               \
        put(d, static_cast<Wide>(static_cast<Wide>(get<T>(a)) * get<T>(b)));      \
    }                                                                             \
    template <class D, class A, class B, class C>                                 \
    static inline void mad_wide_##i(D &d, const A &a, const B &b, const C &c) {   \
        put(d, static_cast<Wide>(wide(static_cast<Wide>(get<T>(a)) * get<T>(b)) + \
                                 wide(get<Wide>(c))));                            \
    }
PTX_WIDE(s16, int16_t, int32_t)
PTX_WIDE(u16, uint16_t, uint32_t)
PTX_WIDE(s32, int32_t, int64_t)
PTX_WIDE(u32, uint32_t, uint64_t)
#undef PTX_WIDE

/* ---- Bits ------------------------------------------------------------------------------------- */

#define PTX_BITS(b_type, T)                                                                       \
    PTX_2(and_##b_type, T, a &b)                                                                  \
    PTX_2(or_##b_type, T, a | b)                                                                  \
    PTX_2(xor_##b_type, T, a ^ b)                                                                 \
    PTX_1(not_##b_type, T, ~a)                                                                    \
    template <class D, class A, class B>                                                          \
    static inline void shl_##b_type(D &d, const A &a, const B &b) {                               \
        put(d, shift_left(get<T>(a), get<uint32_t>(b)));                                          \
    }                                                                                             \
    template <class D, class A, class B>                                                          \
    static inline void shr_##b_type(D &d, const A &a, const B &b) {                               \
        put(d, shift_right(get<T>(a), get<uint32_t>(b)));                                         \
    }                                                                                             \
    template <class D, class A, class B, class P, class L>                                        \
    static inline void bfi_##b_type(D &d, const A &a, const B &b, const P &at, const L &length) { \
        const uint32_t from = get<uint32_t>(at) & 255, bits = get<uint32_t>(length) & 255;        \
        const T ones = shift_left(static_cast<T>(~shift_left<T>(~T(0), bits)), from);             \
        put(d, static_cast<T>((shift_left(get<T>(a), from) & ones) | (get<T>(b) & ~ones)));       \
    }
PTX_BITS(b16, uint16_t)
PTX_BITS(b32, uint32_t)
PTX_BITS(b64, uint64_t)
#undef PTX_BITS
PTX_2(and_pred, bool, a &&b)
PTX_2(or_pred, bool, a || b)
PTX_2(xor_pred, bool, a != b)
PTX_1(not_pred, bool, !a)
PTX_1(mov_pred, bool, a)

template <class T> static inline T extract(T a, uint32_t at, uint32_t length) {
    at &= 255, length &= 255;
    const uint32_t width = 8 * sizeof(T), end = at + length < width ? at + length : width;
    if (!length || at >= width)
        return 0;
    return shift_right(shift_left(a, width - end), width - end + at);
}
#define PTX_EXTRACT(i, T)                                                        \
    template <class D, class A, class P, class L>                                \
    static inline void bfe_##i(D &d, const A &a, const P &at, const L &length) { \
        put(d, extract(get<T>(a), get<uint32_t>(at), get<uint32_t>(length)));    \
    }
PTX_EXTRACT(u32, uint32_t)
PTX_EXTRACT(s32, int32_t)
PTX_EXTRACT(u64, uint64_t)
PTX_EXTRACT(s64, int64_t)
#undef PTX_EXTRACT

template <class D, class A> static inline void popc_b32(D &d, const A &a) {
    put(d, static_cast<uint32_t>(__popc(get<uint32_t>(a))));
}
template <class D, class A> static inline void clz_b32(D &d, const A &a) {
    put(d, static_cast<uint32_t>(__clz(get<int32_t>(a))));
}
template <class D, class A> static inline void clz_b64(D &d, const A &a) {
    const uint64_t bits = get<uint64_t>(a);
    put(d, static_cast<uint32_t>(bits ? __builtin_clzll(bits) : 64));
}

/* Selects four of the eight bytes of a and b by the hexadecimal digits of c. The top bit of a digit
 * replicates the sign of the byte instead. */
template <class D, class A, class B, class C>
static inline void prmt_b32(D &d, const A &a, const B &b, const C &c) {
    const uint64_t both = get<uint32_t>(a) | static_cast<uint64_t>(get<uint32_t>(b)) << 32;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t digit = get<uint32_t>(c) >> 4 * i & 15;
        const uint32_t byte = both >> 8 * (digit & 7) & 255;
        result |= (digit & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    put(d, result);
}

/* Funnel shifts of the 64 bits with b above a: shf.l returns the upper half, shf.r the lower
 * half. */
template <class D, class A, class B, class C>
static inline void shf_l_wrap_b32(D &d, const A &a, const B &b, const C &c) {
    const uint64_t both = get<uint32_t>(a) | static_cast<uint64_t>(get<uint32_t>(b)) << 32;
    put(d, static_cast<uint32_t>(both << (get<uint32_t>(c) & 31) >> 32));
}
template <class D, class A, class B, class C>
static inline void shf_r_wrap_b32(D &d, const A &a, const B &b, const C &c) {
    const uint64_t both = get<uint32_t>(a) | static_cast<uint64_t>(get<uint32_t>(b)) << 32;
    put(d, static_cast<uint32_t>(both >> (get<uint32_t>(c) & 31)));
}

/* ---- Moves, choices, comparisons -------------------------------------------------------------- */

template <class D, class A> static inline void move(D &d, const A &a) {
    d.bits = get<decltype(d.bits)>(a);
}
#define PTX_MOVE(type) \
    template <class D, class A> static inline void mov_##type(D &d, const A &a) { move(d, a); }
PTX_MOVE(b16)
PTX_MOVE(u16) PTX_MOVE(s16) PTX_MOVE(b32) PTX_MOVE(u32) PTX_MOVE(s32) PTX_MOVE(f32) PTX_MOVE(b64)
    PTX_MOVE(u64) PTX_MOVE(s64) PTX_MOVE(f64)
#undef PTX_MOVE

    /* Packs or unpacks; the first part is the lowest. */
    template <class A, class B>
    static inline void mov_b32(Reg<32> &d, const A &a, const B &b) {
    d.bits = get<uint16_t>(a) | static_cast<uint32_t>(get<uint16_t>(b)) << 16;
}
static inline void mov_b32(Reg<16> &d, Reg<16> &e, const Reg<32> &a) {
    d.bits = static_cast<uint16_t>(a.bits), e.bits = static_cast<uint16_t>(a.bits >> 16);
}
template <class A, class B> static inline void mov_b64(Reg<64> &d, const A &a, const B &b) {
    d.bits = get<uint32_t>(a) | static_cast<uint64_t>(get<uint32_t>(b)) << 32;
}
static inline void mov_b64(Reg<32> &d, Reg<32> &e, const Reg<64> &a) {
    d.bits = static_cast<uint32_t>(a.bits), e.bits = static_cast<uint32_t>(a.bits >> 32);
}
static inline void mov_b64(Reg<16> &d, Reg<16> &e, Reg<16> &f, Reg<16> &g, const Reg<64> &a) {
    d.bits = static_cast<uint16_t>(a.bits), e.bits = static_cast<uint16_t>(a.bits >> 16);
    f.bits = static_cast<uint16_t>(a.bits >> 32), g.bits = static_cast<uint16_t>(a.bits >> 48);
}

#define PTX_SELECT(type, T)                                                    \
    template <class D, class A, class B>                                       \
    static inline void selp_##type(D &d, const A &a, const B &b, bool first) { \
        put(d, first ? get<T>(a) : get<T>(b));                                 \
    }
PTX_SELECT(b16, uint16_t)
PTX_SELECT(u16, uint16_t) PTX_SELECT(s16, int16_t) PTX_SELECT(b32, uint32_t)
    PTX_SELECT(u32, uint32_t) PTX_SELECT(s32, int32_t) PTX_SELECT(b64, uint64_t)
        PTX_SELECT(u64, uint64_t) PTX_SELECT(s64, int64_t) PTX_SELECT(f32, float) PTX_SELECT(f64,
                                                                                             double)
#undef PTX_SELECT

#define PTX_SET(name, T, result)                                                             \
    template <class A, class B> static inline void name(bool &d, const A &a_, const B &b_) { \
        const T a = get<T>(a_), b = get<T>(b_);                                              \
        d = (result);                                                                        \
    }
#define PTX_COMPARE(type, T)           \
    PTX_SET(setp_eq_##type, T, a == b) \
    PTX_SET(setp_lt_##type, T, a < b)  \
    PTX_SET(setp_le_##type, T, a <= b) \
    PTX_SET(setp_gt_##type, T, a > b)  \
    PTX_SET(setp_ge_##type, T, a >= b)
#define PTX_COMPARE_INTEGERS(type, T) PTX_COMPARE(type, T) PTX_SET(setp_ne_##type, T, a != b)
/* Comparisons whose names end in u are true for NaN. */
#define PTX_COMPARE_FLOATS(type, T)                \
    PTX_COMPARE(type, T)                           \
    PTX_SET(setp_ne_##type, T, a<b || a> b)        \
    PTX_SET(setp_equ_##type, T, !(a < b || a > b)) \
    PTX_SET(setp_neu_##type, T, a != b)            \
    PTX_SET(setp_ltu_##type, T, !(a >= b))         \
    PTX_SET(setp_leu_##type, T, !(a > b))          \
    PTX_SET(setp_gtu_##type, T, !(a <= b))         \
    PTX_SET(setp_geu_##type, T, !(a < b))          \
    PTX_SET(setp_num_##type, T, a == a && b == b)  \
    PTX_SET(setp_nan_##type, T, a != a || b != b)
            PTX_COMPARE_INTEGERS(b16, uint16_t) PTX_COMPARE_INTEGERS(u16, uint16_t)
                PTX_COMPARE_INTEGERS(s16, int16_t) PTX_COMPARE_INTEGERS(b32, uint32_t)
                    PTX_COMPARE_INTEGERS(u32, uint32_t) PTX_COMPARE_INTEGERS(s32, int32_t)
                        PTX_COMPARE_INTEGERS(b64, uint64_t) PTX_COMPARE_INTEGERS(u64, uint64_t)
                            PTX_COMPARE_INTEGERS(s64, int64_t) PTX_COMPARE_FLOATS(f32, float)
                                PTX_COMPARE_FLOATS(f64, double)
#undef PTX_COMPARE_FLOATS
#undef PTX_COMPARE_INTEGERS
#undef PTX_COMPARE
#undef PTX_SET

/* ---- Conversions ------------------------------------------------------------------------------ */

#define PTX_CONVERT(name, From, result)                                      \
    template <class D, class A> static inline void name(D &d, const A &a_) { \
        const From a = get<From>(a_);                                        \
        put(d, result);                                                      \
    }
#define PTX_CONVERT_INTEGERS(f, From)                        \
    PTX_CONVERT(cvt_u8_##f, From, static_cast<uint8_t>(a))   \
    PTX_CONVERT(cvt_s8_##f, From, static_cast<int8_t>(a))    \
    PTX_CONVERT(cvt_u16_##f, From, static_cast<uint16_t>(a)) \
    PTX_CONVERT(cvt_s16_##f, From, static_cast<int16_t>(a))  \
    PTX_CONVERT(cvt_u32_##f, From, static_cast<uint32_t>(a)) \
    PTX_CONVERT(cvt_s32_##f, From, static_cast<int32_t>(a))  \
    PTX_CONVERT(cvt_u64_##f, From, static_cast<uint64_t>(a)) \
    PTX_CONVERT(cvt_s64_##f, From, static_cast<int64_t>(a))  \
    PTX_CONVERT(cvt_rn_f32_##f, From, static_cast<float>(a)) \
    PTX_CONVERT(cvt_rn_f64_##f, From, static_cast<double>(a))
                                    PTX_CONVERT_INTEGERS(u8, uint8_t)
                                        PTX_CONVERT_INTEGERS(s8, int8_t)
                                            PTX_CONVERT_INTEGERS(u16, uint16_t)
                                                PTX_CONVERT_INTEGERS(s16, int16_t)
                                                    PTX_CONVERT_INTEGERS(u32, uint32_t)
                                                        PTX_CONVERT_INTEGERS(s32, int32_t)
                                                            PTX_CONVERT_INTEGERS(u64, uint64_t)
                                                                PTX_CONVERT_INTEGERS(s64, int64_t)
#undef PTX_CONVERT_INTEGERS

    /* Clamps to the range of the type; a NaN becomes 0. */
    template <class T, class F>
    static inline T whole(F x) {
    const F least = static_cast<F>(std::numeric_limits<T>::min());
    const F above = 2 * static_cast<F>(std::numeric_limits<T>::max() / 2 + 1);
    return x != x       ? 0
           : x <= least ? std::numeric_limits<T>::min()
           : x >= above ? std::numeric_limits<T>::max()
                        : static_cast<T>(x);
}
#define PTX_ROUND_TO(i, T, f, F)                          \
    PTX_CONVERT(cvt_rni_##i##_##f, F, whole<T>(rint(a)))  \
    PTX_CONVERT(cvt_rzi_##i##_##f, F, whole<T>(trunc(a))) \
    PTX_CONVERT(cvt_rmi_##i##_##f, F, whole<T>(floor(a))) \
    PTX_CONVERT(cvt_rpi_##i##_##f, F, whole<T>(ceil(a)))
#define PTX_ROUND(f, F)                                         \
    PTX_ROUND_TO(s16, int16_t, f, F)                            \
    PTX_ROUND_TO(u16, uint16_t, f, F)                           \
    PTX_ROUND_TO(s32, int32_t, f, F)                            \
    PTX_ROUND_TO(u32, uint32_t, f, F)                           \
    PTX_ROUND_TO(s64, int64_t, f, F)                            \
    PTX_ROUND_TO(u64, uint64_t, f, F)                           \
    PTX_CONVERT(cvt_rni_##f##_##f, F, static_cast<F>(rint(a)))  \
    PTX_CONVERT(cvt_rzi_##f##_##f, F, static_cast<F>(trunc(a))) \
    PTX_CONVERT(cvt_rmi_##f##_##f, F, static_cast<F>(floor(a))) \
    PTX_CONVERT(cvt_rpi_##f##_##f, F, static_cast<F>(ceil(a)))
PTX_ROUND(f32, float)
PTX_ROUND(f64, double)
#undef PTX_ROUND
#undef PTX_ROUND_TO
PTX_CONVERT(cvt_f64_f32, float, static_cast<double>(a))
PTX_CONVERT(cvt_rn_f32_f64, double, static_cast<float>(a))
PTX_CONVERT(cvt_sat_f32_f32, float, a > 0 ? (a < 1 ? a : 1.0f) : 0.0f)

static inline uint16_t half_of(float x) { return static_cast<__half_raw>(__float2half_rn(x)).x; }
static inline uint16_t half_of(double x) { return static_cast<__half_raw>(__double2half(x)).x; }
static inline float float_of_half(uint16_t bits) {
    __half_raw raw;
    raw.x = bits;
    return __half2float(__half(raw));
}
static inline float float_of_bfloat16(uint16_t bits) {
    return __uint_as_float(static_cast<uint32_t>(bits) << 16);
}
static inline uint16_t bfloat16_of(float x) {
    return static_cast<__nv_bfloat16_raw>(sim_bfloat16(x)).x;
}
/* Rounds to 10 mantissa bits, ties away from 0. */
static inline float tf32_of(float x) {
    const uint32_t bits = __float_as_uint(x);
    return isfinite(x) ? __uint_as_float((bits + 0x1000) & ~0x1fffu) : x;
}
PTX_CONVERT(cvt_rn_f16_f32, float, half_of(a))
PTX_CONVERT(cvt_rn_f16_f64, double, half_of(a))
PTX_CONVERT(cvt_f32_f16, uint16_t, float_of_half(a))
PTX_CONVERT(cvt_rn_bf16_f32, float, bfloat16_of(a))
PTX_CONVERT(cvt_rn_bf16_f64, double, static_cast<__nv_bfloat16_raw>(__double2bfloat16(a)).x)
PTX_CONVERT(cvt_f32_bf16, uint16_t, float_of_bfloat16(a))
PTX_CONVERT(cvt_rna_tf32_f32, float, tf32_of(a))
#undef PTX_CONVERT

/* The first source operand becomes the upper half. */
template <class A, class B>
static inline void cvt_rn_bf16x2_f32(Reg<32> &d, const A &a, const B &b) {
    d.bits = bfloat16_of(get<float>(b)) | static_cast<uint32_t>(bfloat16_of(get<float>(a))) << 16;
}
template <class A, class B>
static inline void cvt_rn_f16x2_f32(Reg<32> &d, const A &a, const B &b) {
    d.bits = half_of(get<float>(b)) | static_cast<uint32_t>(half_of(get<float>(a))) << 16;
}
#undef PTX_1
#undef PTX_2
#undef PTX_3
