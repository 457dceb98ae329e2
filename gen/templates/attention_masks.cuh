/* Which keys a query of attention sees. There are two masks with the same members, and the kernels
 * work with either. Row i of a mask describes the keys that query i sees. A query never sees a
 * later key, which the kernels check themselves. Queries past the last token see nothing. */
#ifndef ATTENTION_MASKS_CUH
#define ATTENTION_MASKS_CUH

#include "runtime/kernel.cuh"

//@prelude?mask=CausalMask
/* Query i sees the keys of its own sample, up to itself. `positions` restarts at 0 where a sample
 * starts, so the first key of a row never decreases from row to row. Queries from `seq` on see
 * nothing. */
struct CausalMask {
    const int *positions;
    int64_t token; /* the sequence's first token */
    int seq;

    struct Row {
        int start;

        /* The same row, of which the compiler knows that all threads of a warp have it. */
        __device__ __forceinline__ Row in_warp() const { return {warp_shfl(start, 0)}; }
        __device__ __forceinline__ bool sees(int key) const { return key >= start; }
        /* Whether the query sees any of the keys first to last. Keys after the query are not
         * excluded here. */
        __device__ __forceinline__ bool sees_any(int, int last) const { return start <= last; }
        /* Whether this query and all up to the one of `later` see all keys from first to last. Keys
         * after a query are not excluded here. */
        __device__ __forceinline__ bool sees_all(int first, int, const Row &later) const {
            return later.start <= first;
        }
        /* Over the tiles of `keys` keys that this query or a later one sees: the start of the first
         * tile, and of the one that follows the tile at `base`. */
        __device__ __forceinline__ int first_tile(int keys) const { return start / keys * keys; }
        __device__ __forceinline__ int next_tile(int base, int keys) const { return base + keys; }
    };

    /* What the row of a query is made of, as it is in memory. Queries from `seq` on read nothing. */
    struct Source {
        int position;
    };
    __device__ __forceinline__ Source source(int query) const {
        return {query < seq ? positions[token + query] : 0};
    }
    __device__ __forceinline__ Row row(int query, const Source &from) const {
        return {query < seq ? query - from.position : seq};
    }
    __device__ __forceinline__ Row row(int query) const { return row(query, source(query)); }
};
//@end

//@prelude?mask=PrefixMask
/* Query i sees its own sample, up to itself, and before it a prefix: the places prefix[query][0] to
 * prefix[query][1] - 1. A sequence consists of consecutive groups. A group begins with the places
 * that are the prefix of all later places of the group; these have no prefix themselves (0 and 0),
 * and neither does padding. So two properties hold. Before the start of a query's sample, later
 * queries see no tile that the query does not see. Between two queries with the same prefix, all
 * queries have that prefix. Conditions are joined with & and | to avoid branches in inner loops. */
struct PrefixMask {
    const int *positions, *prefix;
    int64_t token; /* the sequence's first token */
    int seq;

    struct Row {
        int start, prefix_start, prefix_end;

        /* The same row, of which the compiler knows that all threads of a warp have it. */
        __device__ __forceinline__ Row in_warp() const {
            return {warp_shfl(start, 0), warp_shfl(prefix_start, 0), warp_shfl(prefix_end, 0)};
        }
        __device__ __forceinline__ bool sees(int key) const {
            return (key >= start) | ((key >= prefix_start) & (key < prefix_end));
        }
        /* Whether the query sees any of the keys first to last. Keys after the query are not
         * excluded here. */
        __device__ __forceinline__ bool sees_any(int first, int last) const {
            return (start <= last) | ((prefix_start <= last) & (prefix_end > first));
        }
        /* Whether this query and all up to the one of `later` see all keys from first to last. Keys
         * after a query are not excluded here. */
        __device__ __forceinline__ bool sees_all(int first, int last, const Row &later) const {
            const bool in_prefix = (prefix_start <= first) & (prefix_end > last);
            return (later.start <= first) | (in_prefix & (prefix_end == later.prefix_end));
        }
        /* Over the tiles of `keys` keys that this query or a later one sees: the start of the first
         * tile, and of the one that follows the tile at `base`. Tiles between the prefix and the
         * sample are skipped. */
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

    /* What the row of a query is made of, as it is in memory. Queries from `seq` on read nothing. */
    struct Source {
        int position;
        Vec<int, 2> range;
    };
    __device__ __forceinline__ Source source(int query) const {
        const bool inside = query < seq;
        return {inside ? positions[token + query] : 0,
                inside ? load_vec<2>(prefix + 2 * (token + query)) : Vec<int, 2>{0, 0}};
    }
    __device__ __forceinline__ Row row(int query, const Source &from) const {
        return {query < seq ? query - from.position : seq, from.range[0], from.range[1]};
    }
    __device__ __forceinline__ Row row(int query) const { return row(query, source(query)); }
};
//@end

#endif
