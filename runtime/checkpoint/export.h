/* Results for other tools: an adapter in PEFT's format, a model in Hugging Face's. */
#ifndef GPUOPT_EXPORT_H
#define GPUOPT_EXPORT_H

#include "runtime/params/out_tensors.h"

/* Folders of OUT that a run exports to. */
#define EXPORT_ADAPTER "adapter"
#define EXPORT_MODEL "model"
#define EXPORT_BASE "base"
#define EXPORT_QUANTIZED "quantized"

/* Returns whether a folder of OUT with this name, of `length` letters, is one of those. */
bool export_has(const char *name, size_t length);
/* Returns why a model cannot be exported to the folder, or NULL: it cannot be written to, or what it
 * holds would be lost. The folder need not exist. */
const char *export_problem(const char *dir);
/* Ends the process with one line if export_run() or convert_run() could not write their folders in
 * OUT, which exists. */
void export_check(const Rt *rt);

/* With checkpoint.export_base, writes OUT/base/config.json and model.safetensors: the weights that
 * an adapter was trained on, quantized ones in their packed form (packed.h). With
 * checkpoint.export_model, writes
 *     OUT/adapter/adapter_config.json, adapter_model.safetensors   if the program has an adapter
 *     OUT/model/config.json, model.safetensors                     otherwise
 * Trained parameters are written as their masters, others in the type that the step reads. Each
 * file replaces the previous one only when it is complete. All ranks must call it; rank 0 writes. A
 * failure ends the process with one line. */
void export_run(Rt *rt);

/* Writes the folder `dir` with these tensors, a config and the training progress, in the same
 * way. */
void export_tensors(Rt *rt, const char *dir, const char *config_name, const char *config,
                    const char *tensors_name, const OutTensor *tensors, int count);

/* Runs an entry that exports tensors, on all ranks. Rank 0 writes the exported tensors and all
 * others of the model to DIR/model.safetensors, and `config` to DIR/config.json (convert.c). */
void export_entry(Rt *rt, const RtEntry *entry, const char *dir, const char *config);

/* Exports the final, quantized form of the model to OUT/quantized; returns false if the program has
 * none. All ranks must call it, and all have the converted weights afterwards. */
bool convert_run(Rt *rt);

/* merge_check() refuses an impossible --merge before the run begins; merge_run() merges if asked
 * to. */
void merge_check(const Rt *rt);
void merge_run(Rt *rt);

#endif
