# Prints the layouts nearest to that of a resolved spec that take `ranks` processes or nearly as many, for
# make, before a program that was generated for `own` ranks is built:
#
#     awk -v own=2 -v ranks=3 -f runtime/comm/layouts.awk spec.toml
#
# The program itself computes them in the same way: mesh_layouts() in mesh.c.

function common_divisor(a, b) { return b ? common_divisor(b, a % b) : a }

function degree(key) { return value[key] > 1 ? value[key] : 1 }

function layout(left, key, text, fitted, all) {
    all = left
    for (i = 2; i <= count; i++) {
        key = keys[i]
        fitted = common_divisor(degree(key), left)
        left /= fitted
        if (degree(key) > 1) text = text " " key "=" fitted
    }
    printf "%s%sdata_parallel_replicate_degree=%d%s needs %d", separator, mode, left, text, all
    separator = "; "
}

/^[a-z_]* = / { value[$1] = $3 }

END {
    count = split("data_parallel_replicate_degree tensor_parallel_degree pipeline_parallel_degree " \
        "data_parallel_shard_degree", keys, " ")
    mode = "parallelism."
    if (value["data_parallel_mode"] == "\"dp\"") mode = mode "data_parallel_mode=ddp "
    replica = 1
    for (i = 2; i <= count; i++) replica *= degree(keys[i])
    fewer = ranks - ranks % replica
    layout(ranks)
    if (fewer == ranks) exit
    if (fewer > 0 && fewer != own) layout(fewer)
    if (fewer + replica != own) layout(fewer + replica)
}
