/* Weights of few bits as files have them: those of transformers with bitsandbytes. Beside the codes,
 * NAME, are NAME.absmax and NAME.quant_map; where the absmax are codes too, NAME.nested_absmax and
 * NAME.nested_quant_map; and NAME.quant_state.bitsandbytes__TYPE, a JSON object as bytes, with the
 * type, the sizes of blocks, the shape, and the mean that was taken from the absmax. Shape and codes
 * are of [out, in], also where files of wider types have [in, out] (transformers' Conv1D). */
#ifndef GPUOPT_PACKED_H
#define GPUOPT_PACKED_H

#include "runtime/params/out_tensors.h"

/* What a file has of a weight. */
typedef struct {
    const StTensor *codes, *absmax;
    const StTensor *nested_absmax; /* NULL: absmax are numbers */
    float offset;
} PackedTensors;

/* Whether the file has the parameter in few bits. */
bool packed_is_in(const StFile *file, const RtParam *param);
/* False where the file lacks something, or has it otherwise than the program: why, and what to do,
 * is then in error[error_size], from the tensor's name on. */
bool packed_find(const StFile *file, const RtParam *param, PackedTensors *found, char *error,
                 size_t error_size);
/* Puts it into STATE as it is; `dir` is named in errors. */
void packed_fill(Rt *rt, const StFile *file, const char *dir, const RtParam *param);
/* The codes of its first row, `bytes` of them; the caller frees them. */
void *packed_first_row(const StFile *file, const char *dir, const RtParam *param, size_t *bytes);

enum { PACKED_TENSORS = 6 };

/* The tensors of a file that STATE's form of it makes: how many. Their names and the values of those
 * with `host` are the caller's. */
int packed_tensors(Rt *rt, const RtParam *param, OutTensor tensors[PACKED_TENSORS]);

#endif
