/* 4-bit weights in the file format of transformers with bitsandbytes. Besides the codes, NAME,
 * there are NAME.absmax and NAME.quant_map; if the absmax values are codes too, NAME.nested_absmax
 * and NAME.nested_quant_map; and NAME.quant_state.bitsandbytes__TYPE, a JSON object as bytes, with
 * the type, the block sizes, the shape, and the mean that was subtracted from the absmax values.
 * Shape and codes are in the order [out, in] even where unquantized files have [in, out]
 * (transformers' Conv1D). */
#ifndef GPUOPT_PACKED_H
#define GPUOPT_PACKED_H

#include "runtime/params/out_tensors.h"

/* The tensors of one weight in a file. */
typedef struct {
    const StTensor *codes, *absmax;
    const StTensor *nested_absmax; /* NULL: absmax holds numbers, not codes */
    float offset;
} PackedTensors;

/* Whether the file has the parameter in 4 bits. */
bool packed_is_in(const StFile *file, const RtParam *param);
/* Returns false if the file lacks a tensor or its settings differ from the program's;
 * error[error_size] then holds the fact and the remedy, beginning with the tensor's name. */
bool packed_find(const StFile *file, const RtParam *param, PackedTensors *found, char *error,
                 size_t error_size);
/* Copies the packed weight into STATE unchanged; `dir` is named in errors. */
void packed_fill(Rt *rt, const StFile *file, const char *dir, const RtParam *param);
/* Returns the codes of the first row and their size; the caller frees them. */
void *packed_first_row(const StFile *file, const char *dir, const RtParam *param, size_t *bytes);

enum { PACKED_TENSORS = 6 };

/* Fills in the tensors that a file of the packed weight in STATE needs, and returns their number.
 * The caller frees their names and `host` values. */
int packed_tensors(Rt *rt, const RtParam *param, OutTensor tensors[PACKED_TENSORS]);

#endif
