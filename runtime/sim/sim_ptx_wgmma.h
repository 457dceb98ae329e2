/* Part of sim_ptx.h, for modules that use them: PTX's matrix products of a warpgroup. See the
 * sections "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions" and "Async proxy"
 * of the PTX ISA.
 *
 * A product is computed when its warp waits for it, from the contents of its registers and shared
 * memory at that time; until then its sums are NaN. Each warp computes its own 16 rows. These end
 * the launch:
 *     - reading shared memory written by a thread that has not executed fence.proxy.async since,
 *       even if it wrote while the product was in flight (the memory model also accepts a fence of
 *       the reader)
 *     - starting new sums without a wgmma.fence since the warp last waited (the ISA requires it
 *       only if registers were accessed)
 *     - warps of a warpgroup that issue different products; a product that is never waited for
 * Base offsets are not simulated: the pattern of a swizzle begins where its bytes repeat. */

static inline unsigned thread_number() {
    return sim_thread_x + sim_block.x * (sim_thread_y + sim_block.y * sim_thread_z);
}

/* ---- Writes of the generic proxy ---------------------------------------------------------------- */

enum { MOST_THREADS = 1024, MOST_DYNAMIC = 227 << 10 };

/* The thread that last wrote two bytes of shared memory, and its number of fences at that time. */
struct SharedWrite {
    uint32_t thread, fences;
};
struct SharedCopy {
    uint32_t at;
    int bytes, group;
};
static SharedWrite shared_writes[(DYNAMIC + MOST_DYNAMIC) / 2];
static uint32_t thread_fences[MOST_THREADS];
static std::vector<SharedCopy> shared_copies[MOST_THREADS]; /* cp.async in flight */
static int copy_groups[MOST_THREADS];

static void wrote_shared(uint32_t at, size_t bytes) {
    const unsigned thread = thread_number();
    for (size_t i = at / 2; i < (at + bytes + 1) / 2; i++)
        shared_writes[i] = {thread, thread_fences[thread]};
}
static void wrote(const unsigned char *p, size_t bytes) {
    const size_t own = static_cast<size_t>(p - own_shared);
    const size_t dynamic = static_cast<size_t>(p - shared(DYNAMIC));
    if (own < sizeof own_shared || dynamic < MOST_DYNAMIC)
        wrote_shared(shared_offset(reinterpret_cast<uint64_t>(p)), bytes);
}
static void copy_begun(uint32_t at, int bytes) {
    const unsigned thread = thread_number();
    shared_copies[thread].push_back({at, bytes, copy_groups[thread]});
}
static void copies_committed() { copy_groups[thread_number()]++; }
static void copies_landed(int groups) {
    const unsigned thread = thread_number();
    std::vector<SharedCopy> left;
    for (const SharedCopy &copy : shared_copies[thread])
        if (copy.group < copy_groups[thread] - groups)
            wrote_shared(copy.at, static_cast<size_t>(copy.bytes));
        else
            left.push_back(copy);
    shared_copies[thread].swap(left);
}

static inline void fence_proxy_async() { thread_fences[thread_number()]++; }
static inline void fence_proxy_async_shared__cta() { fence_proxy_async(); }

/* ---- Matrices in shared memory ------------------------------------------------------------------ */

/* "Matrix Descriptor Format" and "Shared Memory Matrix Layout", for elements of 16 bits. */
struct SharedMatrix {
    uint32_t start, leading, stride, width; /* width: of a swizzle's rows, in 16 bytes */

    explicit SharedMatrix(uint64_t bits)
        : start(offset_of(bits)), leading(offset_of(bits >> 16)), stride(offset_of(bits >> 32)),
          width((uint32_t[]){1, 8, 4, 2}[bits >> 62]) {
        if (bits >> 49 & 7)
            sim_trap("a matrix descriptor with a base offset, which is not simulated");
    }
    static uint32_t offset_of(uint64_t field) { return (field & 0x3fff) << 4; }

    /* Offset of element k of row i of A, or of column i of B. */
    uint32_t place(uint32_t i, uint32_t k, bool transposed) const {
        uint32_t at;
        if (!transposed)
            at = i % 8 * 16 * width + i / 8 * stride +
                 (width == 1 ? k % 8 * 2 + k / 8 * leading : k * 2);
        else if (width == 1)
            at = i % 8 * 2 + i / 8 * stride + k % 8 * 16 + k / 8 * leading;
        else
            at = i % (8 * width) * 2 + i / (8 * width) * leading + k % 8 * 16 * width +
                 k / 8 * stride;
        at += start;
        return at ^ (at >> 7 & (width - 1)) << 4;
    }
    uint32_t element(uint32_t i, uint32_t k, bool transposed) const {
        const uint32_t at = place(i, k, transposed);
        if (at >= DYNAMIC + MOST_DYNAMIC)
            sim_trap("wgmma reads past the end of shared memory");
        const SharedWrite &write = shared_writes[at / 2];
        if (write.fences == thread_fences[write.thread])
            sim_trap("wgmma reads shared memory written without a fence.proxy.async after it");
        return *reinterpret_cast<const uint16_t *>(shared(at));
    }
};

/* ---- Products in flight ------------------------------------------------------------------------- */

struct Product {
    typedef void (*Multiply)(const Product &, int warp, float *sums);
    Multiply multiply; /* for its shape and type */
    uint64_t a, b;     /* descriptors */
    bool from_registers, keeps_sums, transposed_a, transposed_b;
    float scale; /* of both operands, 1 or -1 */

    bool operator==(const Product &o) const {
        return multiply == o.multiply && a == o.a && b == o.b && keeps_sums == o.keeps_sums &&
               from_registers == o.from_registers && transposed_a == o.transposed_a &&
               transposed_b == o.transposed_b && scale == o.scale;
    }
    /* The remaining members belong to one warp. */
    int columns, group;
    std::vector<Reg<32> *> d, registers; /* by lane, then number */
    std::vector<float> sums;             /* in the order of d */
};

struct WarpProducts {
    bool fenced;
    int groups;
    size_t begun;
    std::vector<Product> under_way;
};
static WarpProducts warp_products[MOST_THREADS / 32];
/* The products that all warps of a warpgroup must issue, recorded from the first warp to issue
 * each; and the number of its threads that have ended. */
static std::vector<Product> group_products[MOST_THREADS / 128];
static unsigned group_ended[MOST_THREADS / 128];

template <int N, class T> static void multiply_warpgroup(const Product &p, int warp, float *sums) {
    const SharedMatrix a_matrix(p.from_registers ? 0 : p.a), b_matrix(p.b);
    static float a[16][16], b[16][N];
    for (int lane = 0; p.from_registers && lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            const uint32_t both = p.registers[static_cast<size_t>(4 * lane + i / 2)]->bits;
            const uint32_t bits = both >> i % 2 * 16;
            a[T::row_of_a(lane / 4, i)][T::column_of_a(lane % 4, i)] = T::of(&bits, 0);
        }
    for (int k = 0; k < 16; k++) {
        for (int i = 0; !p.from_registers && i < 16; i++) {
            const uint32_t bits = a_matrix.element(warp % 4 * 16 + i, k, p.transposed_a);
            a[i][k] = T::of(&bits, 0);
        }
        for (int i = 0; i < N; i++) {
            const uint32_t bits = b_matrix.element(i, k, p.transposed_b);
            b[k][i] = T::of(&bits, 0) * p.scale;
        }
    }
    static float c[16][N];
    const auto sum_of = [](int at) -> float & {
        const int lane = at / (N / 2), i = at % (N / 2);
        return c[row_of_c(lane / 4, i % 4)][i / 4 * 8 + column_of_c(lane % 4, i)];
    };
    for (int at = 0; at < 16 * N; at++)
        sum_of(at) = p.keeps_sums ? sums[at] : 0;
    sim_multiply(N, 16, *c, *a, *b);
    for (int at = 0; at < 16 * N; at++)
        sums[at] = sum_of(at);
}

/* An operand of one lane; immediates and descriptors are the same in all lanes. */
struct WgmmaOperand {
    Reg<32> *reg;
    uint64_t value;
};
static inline WgmmaOperand wgmma_operand(Reg<32> &r) { return {&r, r.bits}; }
static inline WgmmaOperand wgmma_operand(const Reg<64> &r) { return {nullptr, r.bits}; }
static inline WgmmaOperand wgmma_operand(int i) { return {nullptr, static_cast<uint64_t>(i)}; }

struct WgmmaLane {
    Product product;
    const WgmmaOperand *operands;
};

/* Returns the first product in flight, from index `i` on, that adds to the same registers, or
 * null. */
static Product *product_on(const Product &p, std::vector<Product> &under_way, size_t i) {
    for (; i < under_way.size(); i++)
        if (under_way[i].d[0] == p.d[0])
            return &under_way[i];
    return nullptr;
}

/* Returns a warp's product, with the registers of its lanes. */
static Product product_of(WgmmaLane *const *of) {
    Product p = of[0]->product;
    for (int lane = 0; lane < 32; lane++) {
        if (!(of[lane]->product == p))
            sim_trap("wgmma with operands that differ between lanes");
        for (int i = 0; i < p.columns / 2; i++) {
            p.d.push_back(of[lane]->operands[i].reg);
            p.sums.push_back(get<float>(*p.d.back()));
        }
        for (int i = 0; p.from_registers && i < 4; i++)
            p.registers.push_back(of[lane]->operands[p.columns / 2 + i].reg);
    }
    return p;
}

/* Checks that all warps of a warpgroup issue the same products as the first warp to arrive. */
static void check_group(const Product &p, unsigned warp) {
    std::vector<Product> &whole = group_products[warp / 4];
    if (warp / 4 * 128 + 128 > sim_block.x * sim_block.y * sim_block.z)
        sim_trap("wgmma in an incomplete warpgroup");
    const size_t at = warp_products[warp].begun++;
    if (at == whole.size())
        whole.push_back(p);
    else if (!(whole[at] == p))
        sim_trap("warps of a warpgroup issue different wgmma instructions");
}

static void begin_product(void **lanes) {
    const unsigned number = thread_number() / 32;
    WarpProducts &warp = warp_products[number];
    Product p = product_of(reinterpret_cast<WgmmaLane *const *>(lanes));
    check_group(p, number);
    const Product *before = product_on(p, warp.under_way, 0);
    if (before && before->d != p.d)
        sim_trap("wgmma on the sums of a wgmma of another shape that is in flight");
    if (!before && !warp.fenced)
        sim_trap("wgmma without a wgmma.fence");
    for (Reg<32> *d : p.d)
        d->bits = 0x7fffffff;
    p.group = warp.groups;
    warp.under_way.push_back(p);
}

template <int N, class T, class... R> static inline void wgmma(R &&...r) {
    const WgmmaOperand operands[] = {wgmma_operand(r)...};
    /* a's registers or descriptor, b, scale-d, imm-scale-a, imm-scale-b, imm-trans-a if a is a
     * descriptor, imm-trans-b */
    const bool from_registers = sizeof...(R) == N / 2 + 9;
    static_assert(sizeof...(R) == N / 2 + 9 || sizeof...(R) == N / 2 + 7, "wgmma's operands");
    const WgmmaOperand *next = operands + N / 2;
    WgmmaLane mine = {{}, operands};
    Product &p = mine.product;
    p.multiply = multiply_warpgroup<N, T>;
    p.columns = N;
    p.from_registers = from_registers;
    p.a = from_registers ? 0 : next->value;
    next += from_registers ? 4 : 1;
    p.b = next++->value;
    p.keeps_sums = next++->value != 0;
    p.scale = static_cast<float>(static_cast<int>(next[0].value) * static_cast<int>(next[1].value));
    next += 2;
    p.transposed_a = !from_registers && next++->value;
    p.transposed_b = next->value != 0;
    sim_warp(&mine, begin_product, "wgmma");
}

static void wait_for_products(void **lanes) {
    WarpProducts &warp = warp_products[thread_number() / 32];
    const int groups = **reinterpret_cast<int **>(lanes);
    std::vector<Product> &all = warp.under_way;
    size_t done = 0;
    for (; done < all.size() && all[done].group < warp.groups - groups; done++) {
        Product &p = all[done];
        p.multiply(p, static_cast<int>(thread_number() / 32), p.sums.data());
        Product *next = product_on(p, all, done + 1);
        if (next)
            next->sums = p.sums;
        for (size_t i = 0; !next && i < p.d.size(); i++)
            put(*p.d[i], p.sums[i]);
    }
    all.erase(all.begin(), all.begin() + static_cast<long>(done));
    warp.fenced = false;
}
static void fence_products(void **) { warp_products[thread_number() / 32].fenced = true; }
static void commit_products(void **) { warp_products[thread_number() / 32].groups++; }

static inline void wgmma_fence_sync_aligned() {
    int none = 0;
    sim_warp(&none, fence_products, "wgmma.fence");
}
static inline void wgmma_commit_group_sync_aligned() {
    int none = 0;
    sim_warp(&none, commit_products, "wgmma.commit_group");
}
static inline void wgmma_wait_group_sync_aligned(int groups) {
    sim_warp(&groups, wait_for_products, "wgmma.wait_group");
}

/* ---- Begin and end of a thread ------------------------------------------------------------------ */

static inline void thread_begins() {
    thread_fences[thread_number()]++;
    copy_groups[thread_number()] = 0;
}
/* The last thread of a warpgroup, which may be incomplete, checks that its warps have issued the same
 * products. */
static inline void thread_ends() {
    const unsigned group = thread_number() / 128;
    const unsigned left = sim_block.x * sim_block.y * sim_block.z - group * 128;
    if (++group_ended[group] < (left < 128 ? left : 128))
        return;
    group_ended[group] = 0;
    for (unsigned i = 4 * group; i < 4 * group + 4; i++) {
        if (warp_products[i].begun != group_products[group].size())
            sim_trap("wgmma by only some warps of a warpgroup");
        if (!warp_products[i].under_way.empty())
            sim_trap("a wgmma that is never waited for");
        warp_products[i] = {};
    }
    group_products[group].clear();
}

#define PTX_WGMMA_TYPE(N, type, T)                                                           \
    template <class... R>                                                                    \
    static inline void wgmma_mma_async_sync_aligned_m64n##N##k16_f32_##type##_##type(R &&...r) { \
        wgmma<N, T>(r...);                                                                   \
    }
#define PTX_WGMMA_SHAPE(N) PTX_WGMMA_TYPE(N, bf16, Bfloat16) PTX_WGMMA_TYPE(N, f16, Half)
#define PTX_WGMMA_SHAPES(a, b, c, d, e, f, g, h)                                            \
    PTX_WGMMA_SHAPE(a) PTX_WGMMA_SHAPE(b) PTX_WGMMA_SHAPE(c) PTX_WGMMA_SHAPE(d)             \
    PTX_WGMMA_SHAPE(e) PTX_WGMMA_SHAPE(f) PTX_WGMMA_SHAPE(g) PTX_WGMMA_SHAPE(h)
PTX_WGMMA_SHAPES(8, 16, 24, 32, 40, 48, 56, 64)
PTX_WGMMA_SHAPES(72, 80, 88, 96, 104, 112, 120, 128)
PTX_WGMMA_SHAPES(136, 144, 152, 160, 168, 176, 184, 192)
PTX_WGMMA_SHAPES(200, 208, 216, 224, 232, 240, 248, 256)
#undef PTX_WGMMA_SHAPES
#undef PTX_WGMMA_SHAPE
#undef PTX_WGMMA_TYPE
