/* Reading checks everything: a file may lack any tensor or have been written with other
 * settings. */
#include "runtime/params/packed.h"
#include "runtime/device/device.h"
#include "runtime/params/params.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 512 };

#define STATE_SUFFIX ".quant_state.bitsandbytes__"
#define SAVE_AGAIN "save the model again with transformers, or use other weights"

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct {
    const StFile *file;
    const RtParam *param;
    const RtPacked *packed;
    int64_t elements, blocks;
    char *error;
    size_t error_size;
} Reading;

__attribute__((format(printf, 2, 3))) static bool fails(const Reading *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->error, r->error_size, format, args);
    va_end(args);
    return false;
}

static const StTensor *find_part(const StFile *file, const RtParam *param, const char *suffix) {
    char name[NAME_SIZE];
    int length = snprintf(name, sizeof name, "%s%s", weights_name(file, param->name), suffix);
    return length < NAME_SIZE ? st_find(file, name) : NULL;
}

bool packed_is_in(const StFile *file, const RtParam *param) {
    return find_part(file, param, ".absmax") || find_part(file, param, ".quant_map");
}

/* Returns the type in the name of the quant_state tensor, or NULL if there is none. */
static const char *type_in_file(const Reading *r) {
    char start[NAME_SIZE];
    const char *name = weights_name(r->file, r->param->name);
    int length = snprintf(start, sizeof start, "%s" STATE_SUFFIX, name);
    for (size_t i = 0; length < NAME_SIZE && i < st_count(r->file); i++)
        if (strncmp(st_at(r->file, i)->name, start, (size_t)length) == 0)
            return st_at(r->file, i)->name + length;
    return NULL;
}

static bool find_codes(const Reading *r, PackedTensors *found) {
    const char *name = r->param->name;
    found->codes = st_find(r->file, weights_name(r->file, name));
    if (!found->codes)
        return fails(r, "%s is missing, but this program needs it; use weights of this model",
                     name);
    if (!packed_is_in(r->file, r->param) && !type_in_file(r))
        return fails(r,
                     "%s is %s, but this program was generated for 4-bit codes; generate it again "
                     "for these weights",
                     name, st_dtype_name(found->codes->dtype));
    if ((int64_t)found->codes->bytes * 2 != r->elements)
        return fails(r, "%s has %zu bytes, but its %lld codes take %lld; " SAVE_AGAIN, name,
                     found->codes->bytes, (long long)r->elements, (long long)r->elements / 2);
    return true;
}

static bool find_values(const Reading *r, const char *suffix, StDtype dtype, int64_t count,
                        const StTensor **tensor) {
    const char *name = r->param->name;
    *tensor = find_part(r->file, r->param, suffix);
    if (!*tensor)
        return fails(r, "%s%s is missing, but it is needed to decode %s; " SAVE_AGAIN, name, suffix,
                     name);
    if ((*tensor)->dtype != dtype || (*tensor)->elements != count)
        return fails(r, "%s%s has %lld numbers of type %s, but needs %lld of %s; " SAVE_AGAIN, name,
                     suffix, (long long)(*tensor)->elements, st_dtype_name((*tensor)->dtype),
                     (long long)count, st_dtype_name(dtype));
    return true;
}

static bool find_map(const Reading *r, const char *suffix, const RtConstant *map) {
    const StTensor *tensor;
    if (!find_values(r, suffix, ST_F32, map->count, &tensor))
        return false;
    for (int64_t i = 0; i < map->count; i++)
        if ((float)st_value(tensor, i) != (float)map->values[i])
            return fails(r, "%s%s[%lld] is %.9g, but %.9g in this program; " SAVE_AGAIN,
                         r->param->name, suffix, (long long)i, st_value(tensor, i), map->values[i]);
    return true;
}

static bool has_shape(const json_t *shape, const RtParam *held) {
    bool same = json_array_size(shape) == (size_t)held->rank;
    for (int i = 0; same && i < held->rank; i++)
        same = json_integer_value(json_array_get(shape, (size_t)i)) == held->shape[i];
    return same;
}

static bool is_twice(const RtPacked *packed) { return packed->nested_map != NULL; }

/* Compares each setting of the file with the program's. */
static bool check_state(const Reading *r, const json_t *state, PackedTensors *found) {
    const char *name = r->param->name;
    RtParam held = param_as_memory(r->param);
    const char *type = json_string_value(json_object_get(state, "quant_type"));
    json_int_t block = json_integer_value(json_object_get(state, "blocksize"));
    const json_t *nested = json_object_get(state, "nested_blocksize");
    const json_t *offset = json_object_get(state, "nested_offset");
    if (!type || strcmp(type, r->packed->type) != 0)
        return fails(r, "%s" STATE_SUFFIX "%s says quant_type \"%s\"; " SAVE_AGAIN, name,
                     r->packed->type, type ? type : "(none)");
    if (block != r->packed->block)
        return fails(r,
                     "%s has blocks of %lld, but this program was generated for %lld; set "
                     "quantization.block_size and generate it again",
                     name, (long long)block, (long long)r->packed->block);
    if (!has_shape(json_object_get(state, "shape"), &held))
        return fails(r,
                     "%s does not have the shape [%lld, %lld] that this program was generated for; "
                     "generate it for that model, or use other weights",
                     name, (long long)held.shape[0], (long long)held.shape[1]);
    if (!nested == is_twice(r->packed))
        return fails(r,
                     "%s has absmax of %s bits, but this program was generated for "
                     "quantization.double_quant = %s; set it to %s and generate it again",
                     name, nested ? "8" : "32", nested ? "false" : "true",
                     nested ? "true" : "false");
    if (!nested)
        return true;
    found->offset = (float)json_number_value(offset);
    if (json_integer_value(nested) != r->packed->nested_block || !json_is_number(offset) ||
        !isfinite(found->offset))
        return fails(r,
                     "%s" STATE_SUFFIX "%s: nested_blocksize must be %lld, and nested_offset a "
                     "number; " SAVE_AGAIN,
                     name, r->packed->type, (long long)r->packed->nested_block);
    return true;
}

static bool find_state(const Reading *r, PackedTensors *found) {
    char suffix[NAME_SIZE];
    const char *type = type_in_file(r);
    if (type && strcmp(type, r->packed->type) != 0)
        return fails(r,
                     "%s is of quant_type \"%s\", but this program was generated for \"%s\"; set "
                     "quantization.quant_type and generate it again",
                     r->param->name, type, r->packed->type);
    snprintf(suffix, sizeof suffix, STATE_SUFFIX "%s", r->packed->type);
    const StTensor *text = find_part(r->file, r->param, suffix);
    if (!text)
        return fails(r, "%s%s is missing, but it says how %s is stored; " SAVE_AGAIN,
                     r->param->name, suffix, r->param->name);
    json_error_t problem;
    json_t *state = json_loadb(text->data, text->bytes, JSON_REJECT_DUPLICATES, &problem);
    bool ok = json_is_object(state)
                  ? check_state(r, state, found)
                  : fails(r, "%s%s is not a JSON object; " SAVE_AGAIN, r->param->name, suffix);
    json_decref(state);
    return ok;
}

bool packed_find(const StFile *file, const RtParam *param, PackedTensors *found, char *error,
                 size_t error_size) {
    const RtPacked *packed = param->packed;
    Reading r = {file, param, packed, param_elements(param), 0, error, error_size};
    r.blocks = r.elements / packed->block;
    *found = (PackedTensors){0};
    if (!find_codes(&r, found) || !find_state(&r, found) ||
        !find_map(&r, ".quant_map", packed->map))
        return false;
    if (!is_twice(packed))
        return find_values(&r, ".absmax", ST_F32, r.blocks, &found->absmax);
    int64_t nested = (r.blocks + packed->nested_block - 1) / packed->nested_block;
    return find_values(&r, ".absmax", ST_U8, r.blocks, &found->absmax) &&
           find_values(&r, ".nested_absmax", ST_F32, nested, &found->nested_absmax) &&
           find_map(&r, ".nested_quant_map", packed->nested_map);
}

static PackedTensors require(const StFile *file, const char *dir, const RtParam *param) {
    char error[1024];
    PackedTensors found;
    if (!packed_find(file, param, &found, error, sizeof error))
        rt_fail("%s: tensor %s", dir, error);
    return found;
}

void *packed_first_row(const StFile *file, const char *dir, const RtParam *param, size_t *bytes) {
    *bytes = (size_t)param_as_memory(param).shape[param->rank - 1] / 2;
    return memcpy(rt_alloc(*bytes), require(file, dir, param).codes->data, *bytes);
}

/* ---- in STATE -------------------------------------------------------------------------------- */

/* A tensor of the packed form, described as if it were a parameter's master at an offset. */
typedef struct {
    RtParam as;
    size_t offset;
} Part;

/* `first`: index of its first element in the run of all codes of its module, which ranks hold in
 * pieces. */
static Part in_pieces(Part part, const RtCodePieces *pieces, int64_t first) {
    part.offset = pieces->piece;
    part.as.pieces = pieces->group;
    part.as.piece_elements = pieces->bytes;
    part.as.piece_first = first;
    return part;
}

static Part codes_of(const RtParam *param) {
    const RtCodePieces *pieces = param->code_pieces;
    Part codes = {param_as_numbers(param, RT_U8, param_elements(param) / 2), param->weight};
    return pieces ? in_pieces(codes, pieces, pieces->codes_first) : codes;
}

static Part absmax_of(const RtParam *param) {
    const RtPacked *packed = param->packed;
    const RtCodePieces *pieces = param->code_pieces;
    RtDtype dtype = is_twice(packed) ? RT_U8 : RT_F32;
    Part absmax = {param_as_numbers(param, dtype, param_elements(param) / packed->block),
                   packed->absmax};
    bool shared = pieces && pieces->absmax_first >= 0;
    return shared ? in_pieces(absmax, pieces, pieces->absmax_first) : absmax;
}

void packed_fill(Rt *rt, const StFile *file, const char *dir, const RtParam *param) {
    PackedTensors found = require(file, dir, param);
    Part codes = codes_of(param), absmax = absmax_of(param);
    param_write_part(rt, &codes.as, codes.offset, found.codes->data);
    param_write_part(rt, &absmax.as, absmax.offset, found.absmax->data);
    if (found.nested_absmax) {
        rt_write_state(rt, param->packed->nested_absmax, found.nested_absmax->bytes,
                       found.nested_absmax->data);
        rt_write_state(rt, param->packed->offset, sizeof found.offset, &found.offset);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static OutTensor *add(const RtParam *param, const char *suffix, OutTensor *to, RtDtype dtype,
                      int64_t count) {
    size_t size = strlen(param->name) + strlen(suffix) + 1;
    *to = (OutTensor){.name = rt_alloc(size), .dtype = dtype, .rank = 1, .shape = {count}};
    snprintf(to->name, size, "%s%s", param->name, suffix);
    return to;
}

static void add_map(const RtParam *param, const char *suffix, OutTensor *to,
                    const RtConstant *map) {
    float *values = rt_alloc((size_t)map->count * sizeof *values);
    for (int64_t i = 0; i < map->count; i++)
        values[i] = (float)map->values[i];
    add(param, suffix, to, RT_F32, map->count)->host = values;
}

/* The name in torch of the type to decode to; bitsandbytes has no F64 and takes float32 for it. */
static const char *torch_name(RtDtype dtype) {
    return dtype == RT_BF16 ? "bfloat16" : dtype == RT_F16 ? "float16" : "float32";
}

static char *state_text(Rt *rt, const RtParam *param) {
    const RtPacked *packed = param->packed;
    RtParam held = param_as_memory(param);
    json_t *state = json_pack("{s:s, s:I, s:s, s:[I, I]}", "quant_type", packed->type, "blocksize",
                              (json_int_t)packed->block, "dtype", torch_name(param->dtype), "shape",
                              (json_int_t)held.shape[0], (json_int_t)held.shape[1]);
    if (is_twice(packed)) {
        float offset;
        rt_read_state(rt, packed->offset, sizeof offset, &offset);
        json_object_set_new(state, "nested_blocksize", json_integer(packed->nested_block));
        json_object_set_new(state, "nested_dtype", json_string("float32"));
        json_object_set_new(state, "nested_offset", json_real((double)offset));
    }
    char *text = json_dumps(state, 0);
    json_decref(state);
    if (!text)
        rt_fail("out of memory while writing %s", param->name);
    return text;
}

int packed_tensors(Rt *rt, const RtParam *param, OutTensor tensors[PACKED_TENSORS]) {
    const RtPacked *packed = param->packed;
    int64_t elements = param_elements(param), blocks = elements / packed->block;
    char suffix[NAME_SIZE], *text = state_text(rt, param);
    int count = 0;
    Part codes = codes_of(param), absmax = absmax_of(param);
    OutTensor *to = add(param, "", &tensors[count++], RT_U8, elements / 2);
    out_tensor_as(to, codes.offset, codes.as);
    to->rank = 2;
    to->shape[1] = 1;
    to = add(param, ".absmax", &tensors[count++], absmax.as.master_dtype, blocks);
    out_tensor_as(to, absmax.offset, absmax.as);
    add_map(param, ".quant_map", &tensors[count++], packed->map);
    snprintf(suffix, sizeof suffix, STATE_SUFFIX "%s", packed->type);
    add(param, suffix, &tensors[count++], RT_U8, (int64_t)strlen(text))->host = text;
    if (!is_twice(packed))
        return count;
    int64_t nested = (blocks + packed->nested_block - 1) / packed->nested_block;
    add(param, ".nested_absmax", &tensors[count++], RT_F32, nested)->offset = packed->nested_absmax;
    add_map(param, ".nested_quant_map", &tensors[count++], packed->nested_map);
    return count;
}
