/* Part of sim_ptx.h: PTX's memory, barriers, shuffles and matrices. */

/* ---- Memory ----------------------------------------------------------------------------------- */

/* Offsets in shared memory: a kernel's own variables start at 0, the launch's dynamic shared memory
 * at DYNAMIC. DYNAMIC is far away, but with wgmma it follows directly, as on a GPU, because matrix
 * descriptors hold only 18 bits of an offset. */
#ifdef PTX_WGMMA
enum : uint32_t { DYNAMIC = (PTX_SHARED_BYTES + 1023) / 1024 * 1024 };
#else
enum : uint32_t { DYNAMIC = 1u << 24 };
#endif

alignas(128) __shared__ unsigned char own_shared[PTX_SHARED_BYTES];

static inline unsigned char *shared(uint32_t at) {
    return at < DYNAMIC ? own_shared + at
                        : static_cast<unsigned char *>(sim_dynamic_shared()) + (at - DYNAMIC);
}
static inline uint32_t shared_offset(uint64_t generic) {
    const uint64_t own = generic - reinterpret_cast<uint64_t>(own_shared);
    return static_cast<uint32_t>(own < sizeof own_shared
                                     ? own
                                     : generic - reinterpret_cast<uint64_t>(sim_dynamic_shared()) +
                                           DYNAMIC);
}

/* sim_ptx_wgmma.h tracks what threads write to shared memory. */
#ifdef PTX_WGMMA
static void wrote(const unsigned char *p, size_t bytes);
static void copy_begun(uint32_t at, int bytes);
static void copies_committed();
static void copies_landed(int groups);
#else
static inline void wrote(const unsigned char *, size_t) {}
static inline void copy_begun(uint32_t, int) {}
static inline void copies_committed() {}
static inline void copies_landed(int) {}
#endif

/* Returns the address `offset` bytes after a register's value or a variable's address. */
template <class A> static inline Reg<64> at(const A &base, long offset) {
    return {get<uint64_t>(base) + static_cast<uint64_t>(offset)};
}

/* Generic, global and local addresses are host addresses. */
template <class A> static inline unsigned char *host(const A &a) {
    return reinterpret_cast<unsigned char *>(get<uint64_t>(a));
}
template <class A> static inline unsigned char *in_shared(const A &a) {
    return shared(get<uint32_t>(a));
}

template <class D, class A> static inline void cvta_shared_u64(D &d, const A &a) {
    d.bits = reinterpret_cast<uint64_t>(in_shared(a));
}
template <class D, class A> static inline void cvta_to_shared_u64(D &d, const A &a) {
    d.bits = shared_offset(get<uint64_t>(a));
}
#define PTX_SAME_ADDRESS(name) \
    template <class D, class A> static inline void name(D &d, const A &a) { move(d, a); }
PTX_SAME_ADDRESS(cvta_to_global_u64)
PTX_SAME_ADDRESS(cvta_global_u64)
PTX_SAME_ADDRESS(cvta_to_local_u64)
PTX_SAME_ADDRESS(cvta_local_u64)
PTX_SAME_ADDRESS(cvta_const_u64)
#undef PTX_SAME_ADDRESS

static inline void check_aligned(const void *p, size_t bytes) {
    if (reinterpret_cast<uint64_t>(p) % bytes)
        sim_trap("an access that is not aligned to its size");
}

template <class T, class... D> static inline void load(const unsigned char *p, D &...d) {
    check_aligned(p, sizeof(T) * sizeof...(d));
    const T *from = reinterpret_cast<const T *>(p);
    T values[sizeof...(d)];
    for (size_t i = 0; i < sizeof...(d); i++)
        values[i] = from[i];
    size_t i = 0;
    (put(d, values[i++]), ...);
}
template <class T, class... A> static inline void store(unsigned char *p, const A &...a) {
    check_aligned(p, sizeof(T) * sizeof...(a));
    T *to = reinterpret_cast<T *>(p);
    (void)((*to++ = get<T>(a)), ...);
    wrote(p, sizeof(T) * sizeof...(a));
}

/* Once a kernel of the module has waited for the kernel before it, loads by ld.global.nc are
 * checked. */
static bool waited;
template <class A> static inline auto never_written(const A &a) {
    auto *at = host(a);
    if (waited)
        sim_read_only(at);
    return at;
}

#define PTX_ACCESS(space, type, T, place)                                                          \
    template <class D, class A> static inline void ld##space##_##type(D &d, const A &a) {          \
        load<T>(place(a), d);                                                                      \
    }                                                                                              \
    template <class D, class A> static inline void ld##space##_v2_##type(D &d, D &e, const A &a) { \
        load<T>(place(a), d, e);                                                                   \
    }                                                                                              \
    template <class D, class A>                                                                    \
    static inline void ld##space##_v4_##type(D &d, D &e, D &f, D &g, const A &a) {                 \
        load<T>(place(a), d, e, f, g);                                                             \
    }                                                                                              \
    template <class A, class S> static inline void st##space##_##type(const A &a, const S &s) {    \
        store<T>(place(a), s);                                                                     \
    }                                                                                              \
    template <class A, class S, class R>                                                           \
    static inline void st##space##_v2_##type(const A &a, const S &s, const R &r) {                 \
        store<T>(place(a), s, r);                                                                  \
    }                                                                                              \
    template <class A, class S, class R, class Q, class P>                                         \
    static inline void st##space##_v4_##type(const A &a, const S &s, const R &r, const Q &q,       \
                                             const P &p) {                                         \
        store<T>(place(a), s, r, q, p);                                                            \
    }
#define PTX_ACCESSES(space, place)          \
    PTX_ACCESS(space, u8, uint8_t, place)   \
    PTX_ACCESS(space, s8, int8_t, place)    \
    PTX_ACCESS(space, b8, uint8_t, place)   \
    PTX_ACCESS(space, u16, uint16_t, place) \
    PTX_ACCESS(space, s16, int16_t, place)  \
    PTX_ACCESS(space, b16, uint16_t, place) \
    PTX_ACCESS(space, u32, uint32_t, place) \
    PTX_ACCESS(space, s32, int32_t, place)  \
    PTX_ACCESS(space, b32, uint32_t, place) \
    PTX_ACCESS(space, f32, float, place)    \
    PTX_ACCESS(space, u64, uint64_t, place) \
    PTX_ACCESS(space, s64, int64_t, place)  \
    PTX_ACCESS(space, b64, uint64_t, place) \
    PTX_ACCESS(space, f64, double, place)
PTX_ACCESSES(, host)
PTX_ACCESSES(_param, host)
PTX_ACCESSES(_global, host)
PTX_ACCESSES(_global_nc, never_written)
PTX_ACCESSES(_local, host)
PTX_ACCESSES(_const, host)
PTX_ACCESSES(_volatile_global, host)
PTX_ACCESSES(_shared, in_shared)
PTX_ACCESSES(_volatile_shared, in_shared)
#undef PTX_ACCESSES
#undef PTX_ACCESS

/* Blocks run one after the other, so this is atomic; the builtin makes it visible to the race
 * flavour. */
template <class D, class A, class B>
static inline void atom_global_add_u32(D &d, const A &a, const B &b) {
    put(d, __atomic_fetch_add(reinterpret_cast<uint32_t *>(host(a)), get<uint32_t>(b),
                              __ATOMIC_RELAXED));
}

template <class A, class B>
static inline void cp_async_cg_shared_global(const A &to, const B &from, int size,
                                             const Reg<32> &bytes) {
    sim_cp_async(in_shared(to), host(from), size, bytes.bits != 0);
    copy_begun(get<uint32_t>(to), size);
}
template <class A, class B>
static inline void cp_async_ca_shared_global(const A &to, const B &from, int size,
                                             const Reg<32> &bytes) {
    cp_async_cg_shared_global(to, from, size, bytes);
}
template <class A> static inline void prefetch_global_L2(const A &) {} /* there are no caches */
static inline void cp_async_commit_group() {
    sim_cp_async_commit();
    copies_committed();
}
static inline void cp_async_wait_group(int groups) {
    sim_cp_async_wait(groups);
    copies_landed(groups);
}

/* ---- Blocks and warps ------------------------------------------------------------------------- */

static inline void bar_sync(int, int line = __builtin_LINE()) { __syncthreads(line); }
template <class M> static inline void bar_warp_sync(const M &mask) {
    __syncwarp(get<uint32_t>(mask));
}
static inline void membar_gl() {}
static inline void membar_cta() {}
static inline void griddepcontrol_wait() {
    waited = true;
    sim_grid_dependency_synchronize();
}
static inline void griddepcontrol_launch_dependents() {}
static inline void trap() { sim_trap("__trap"); }

/* `control`: the low five bits are the last lane; the bits from bit 8 on are those of a lane's
 * number that stay fixed. */
template <class Lane>
static inline bool shuffle(Reg<32> &d, const Reg<32> &a, uint32_t control, uint32_t mask, bool down,
                           Lane source) {
    sim_full(mask);
    const int lane = static_cast<int>(sim_lane()), fixed = control >> 8 & 31, clamp = control & 31;
    const int last = (lane & fixed) | (clamp & ~fixed);
    const int from = source(lane, fixed);
    const bool inside = down ? from >= last : from <= last;
    d.bits = sim_shuffle(a.bits, inside ? from : lane);
    return inside;
}
#define PTX_SHUFFLE(mode, DOWN, source)                                                       \
    template <class A, class B, class C, class M>                                             \
    static inline void shfl_sync_##mode##_b32(Reg<32> &d, bool &p, const A &a, const B &b_,   \
                                              const C &c, const M &mask) {                    \
        const int b = get<int>(b_) & 31;                                                      \
        Reg<32> value = {get<uint32_t>(a)};                                                   \
        p = shuffle(d, value, get<uint32_t>(c), get<uint32_t>(mask), DOWN,                    \
                    [b](int lane, int fixed) { return (void)fixed, source; });                \
    }                                                                                         \
    template <class A, class B, class C, class M>                                             \
    static inline void shfl_sync_##mode##_b32(Reg<32> &d, const A &a, const B &b, const C &c, \
                                              const M &mask) {                                \
        bool inside;                                                                          \
        shfl_sync_##mode##_b32(d, inside, a, b, c, mask);                                     \
    }
PTX_SHUFFLE(up, true, lane - b)
PTX_SHUFFLE(down, false, lane + b)
PTX_SHUFFLE(bfly, false, lane ^ b)
PTX_SHUFFLE(idx, false, (lane & fixed) | (b & ~fixed))
#undef PTX_SHUFFLE

template <class M> static inline void vote_sync_ballot_b32(Reg<32> &d, bool p, const M &mask) {
    d.bits = __ballot_sync(get<uint32_t>(mask), p);
}

/* ---- Matrices --------------------------------------------------------------------------------- */

/* Lane 8 i + r passes the address of row r of matrix i. From each matrix a lane gets two elements
 * of row lane / 4, starting at column 2 (lane % 4); if transposed, with rows and columns
 * exchanged. */
struct MatrixRows {
    const uint16_t *row;
    uint32_t got[4];
};
template <bool TRANSPOSED> static void load_matrices(void **lanes) {
    MatrixRows *const *of = reinterpret_cast<MatrixRows *const *>(lanes);
    for (int lane = 0; lane < 32; lane++)
        for (int m = 0; m < 4; m++) {
            uint32_t both = 0;
            for (int i = 1; i >= 0; i--) {
                const int major = lane / 4, minor = lane % 4 * 2 + i;
                const uint16_t element =
                    TRANSPOSED ? of[8 * m + minor]->row[major] : of[8 * m + major]->row[minor];
                both = both << 16 | element;
            }
            of[lane]->got[m] = both;
        }
}
template <bool TRANSPOSED, class A>
static inline void ldmatrix(Reg<32> &a, Reg<32> &b, Reg<32> &c, Reg<32> &d, const A &address) {
    const unsigned char *row = in_shared(address);
    check_aligned(row, 16);
    MatrixRows mine = {reinterpret_cast<const uint16_t *>(row), {}};
    sim_warp(&mine, load_matrices<TRANSPOSED>, "ldmatrix");
    a.bits = mine.got[0], b.bits = mine.got[1], c.bits = mine.got[2], d.bits = mine.got[3];
}
template <class A>
static inline void ldmatrix_sync_aligned_m8n8_x4_shared_b16(Reg<32> &a, Reg<32> &b, Reg<32> &c,
                                                            Reg<32> &d, const A &address) {
    ldmatrix<false>(a, b, c, d, address);
}
template <class A>
static inline void ldmatrix_sync_aligned_m8n8_x4_trans_shared_b16(Reg<32> &a, Reg<32> &b,
                                                                  Reg<32> &c, Reg<32> &d,
                                                                  const A &address) {
    ldmatrix<true>(a, b, c, d, address);
}

/* A lane's fragments of d = a b + c; a is 16 x K, b is K x 8. */
struct MatrixLane {
    float d[4];
    uint32_t a[4], b[2];
    float c[4];
};

/* Place of element i of a lane's fragment; `group` is lane / 4, `member` is lane % 4. A register
 * holds two 16-bit elements. */
static inline int row_of_c(int group, int i) { return i < 2 ? group : group + 8; }
static inline int column_of_c(int member, int i) { return member * 2 + (i & 1); }

struct Elements16 {
    enum { K = 16, OF_A = 8, OF_B = 4 };
    static int row_of_a(int group, int i) { return i < 2 || (i >= 4 && i < 6) ? group : group + 8; }
    static int column_of_a(int member, int i) { return member * 2 + (i & 1) + (i < 4 ? 0 : 8); }
    static int row_of_b(int member, int i) { return member * 2 + (i & 1) + (i < 2 ? 0 : 8); }
    static uint16_t bits(const uint32_t *registers, int i) {
        return static_cast<uint16_t>(registers[i / 2] >> (i % 2 * 16));
    }
};
struct Bfloat16 : Elements16 {
    static float of(const uint32_t *registers, int i) {
        return float_of_bfloat16(bits(registers, i));
    }
};
struct Half : Elements16 {
    static float of(const uint32_t *registers, int i) { return float_of_half(bits(registers, i)); }
};
struct Tf32 {
    enum { K = 8, OF_A = 4, OF_B = 2 };
    static int row_of_a(int group, int i) { return i == 0 || i == 2 ? group : group + 8; }
    static int column_of_a(int member, int i) { return i < 2 ? member : member + 4; }
    static int row_of_b(int member, int i) { return i == 0 ? member : member + 4; }
    static float of(const uint32_t *registers, int i) {
        return __uint_as_float(registers[i] & ~0x1fffu);
    }
};

template <class T> static void multiply_matrices(void **lanes) {
    MatrixLane *const *of = reinterpret_cast<MatrixLane *const *>(lanes);
    float a[16][T::K], b[T::K][8], c[16][8];
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < T::OF_A; i++)
            a[T::row_of_a(lane / 4, i)][T::column_of_a(lane % 4, i)] = T::of(of[lane]->a, i);
        for (int i = 0; i < T::OF_B; i++)
            b[T::row_of_b(lane % 4, i)][lane / 4] = T::of(of[lane]->b, i);
    }
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++)
            c[row_of_c(lane / 4, i)][column_of_c(lane % 4, i)] = of[lane]->c[i];
    sim_multiply(8, T::K, *c, *a, *b);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++)
            of[lane]->d[i] = c[row_of_c(lane / 4, i)][column_of_c(lane % 4, i)];
}

template <class T, class R>
static inline void mma(R &d0, R &d1, R &d2, R &d3, R a0, R a1, R a2, R a3, R b0, R b1, R c0, R c1,
                       R c2, R c3) {
    MatrixLane mine = {{},
                       {a0.bits, a1.bits, a2.bits, a3.bits},
                       {b0.bits, b1.bits},
                       {get<float>(c0), get<float>(c1), get<float>(c2), get<float>(c3)}};
    sim_warp(&mine, multiply_matrices<T>, "mma");
    put(d0, mine.d[0]), put(d1, mine.d[1]), put(d2, mine.d[2]), put(d3, mine.d[3]);
}
template <class... R>
static inline void mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32(R &...r) {
    mma<Bfloat16>(r...);
}
template <class... R>
static inline void mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(R &...r) {
    mma<Half>(r...);
}
template <class... R>
static inline void mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32(R &...r) {
    mma<Tf32>(r...);
}
