/* Which keys a query of attention sees. A mask has one of two forms, with the same members, and a kernel
 * is written for either. Row i of it is what query i sees of the keys up to itself: no query sees a later
 * one, which the kernels see to. Queries past the last token see nothing. */
#ifndef ATTENTION_MASKS_CUH
#define ATTENTION_MASKS_CUH

#include "runtime/kernel.cuh"

//@prelude?mask=CausalMask
/* Which keys a query sees, row i being those of query i up to itself: its own sample. `positions` restarts
 * at 0 where a sample starts, so a later row never starts earlier. Queries from `seq` on see nothing. */
struct CausalMask {
    const int *positions;
    int64_t token; /* of place 0 of this sequence */
    int seq;

    struct Row {
        int start;

        __device__ __forceinline__ bool sees(int key) const { return key >= start; }
        /* Some of the keys from first to last, which the query is not ahead of. */
        __device__ __forceinline__ bool sees_any(int, int last) const { return start <= last; }
        /* This query and all from it to that of `later` see all the keys from first to last. */
        __device__ __forceinline__ bool sees_all(int first, int, const Row &later) const {
            return later.start <= first;
        }
        /* Tiles of `keys` keys that this query or one behind it sees: where the first begins, and the
         * one behind that at `base`. */
        __device__ __forceinline__ int first_tile(int keys) const { return start / keys * keys; }
        __device__ __forceinline__ int next_tile(int base, int keys) const { return base + keys; }
    };

    __device__ __forceinline__ Row row(int query) const {
        return {query < seq ? query - positions[token + query] : seq};
    }
};
//@end

//@prelude?mask=PrefixMask
/* Row i: query i sees its own sample, and the places from prefix[query][0] to prefix[query][1] - 1, which lie
 * ahead of it. A sequence is groups, one behind the other: first the places that all behind them in the
 * group see so, and that have no prefix themselves, which is 0 and 0, as padding has it. So ahead of a
 * query's sample no later one sees a tile that it does not see, and queries with the same prefix have
 * nothing but such between them. Its conditions are joined with & and |: no branches inside of loops. */
struct PrefixMask {
    const int *positions, *prefix;
    int64_t token; /* of place 0 of this sequence */
    int seq;

    struct Row {
        int start, prefix_start, prefix_end;

        __device__ __forceinline__ bool sees(int key) const {
            return (key >= start) | ((key >= prefix_start) & (key < prefix_end));
        }
        /* Some of the keys from first to last, which the query is not ahead of. */
        __device__ __forceinline__ bool sees_any(int first, int last) const {
            return (start <= last) | ((prefix_start <= last) & (prefix_end > first));
        }
        /* This query and all from it to that of `later` see all the keys from first to last. */
        __device__ __forceinline__ bool sees_all(int first, int last, const Row &later) const {
            const bool in_prefix = (prefix_start <= first) & (prefix_end > last);
            return (later.start <= first) | (in_prefix & (prefix_end == later.prefix_end));
        }
        /* Tiles of `keys` keys that this query or one behind it sees: where the first begins, and the
         * one behind that at `base`. What lies between prefix and sample is left out. */
        __device__ __forceinline__ int first_tile(int keys) const {
            return tile_from(prefix_start / keys * keys, keys);
        }
        __device__ __forceinline__ int next_tile(int base, int keys) const {
            return tile_from(base + keys, keys);
        }
        __device__ __forceinline__ int tile_from(int base, int keys) const {
            const int own = start / keys * keys;
            return base < prefix_end || base > own ? base : own;
        }
    };

    __device__ __forceinline__ Row row(int query) const {
        const bool inside = query < seq;
        const auto range = inside ? load_vec<2>(prefix + 2 * (token + query)) : Vec<int, 2>{0, 0};
        return {inside ? query - positions[token + query] : seq, range[0], range[1]};
    }
};
//@end

#endif
