/* What a run leaves for other tools: an adapter as PEFT writes it, a model as Hugging Face does. */
#ifndef GPUOPT_EXPORT_H
#define GPUOPT_EXPORT_H

#include "runtime/params/out_tensors.h"

/* With the program's checkpoint.export_base, OUT/base/config.json and model.safetensors: the weights
 * that an adapter was trained on, those of few bits in them (packed.h). Then, with
 * checkpoint.export_model,
 *     OUT/adapter/adapter_config.json, adapter_model.safetensors   where the program has an adapter
 *     OUT/model/config.json, model.safetensors                     otherwise
 * Trained parameters go out as their masters, others in the type the step reads. Each file replaces
 * the former one only when it is whole. All ranks together; the first one writes. Ends the process
 * with one line when that fails. */
void export_run(Rt *rt);

/* Writes folder DIR with these tensors, a config and how far they were trained, in the same way. */
void export_tensors(Rt *rt, const char *dir, const char *config_name, const char *config,
                    const char *tensors_name, const OutTensor *tensors, int count);

/* Runs an entry that exports tensors, on all ranks; rank 0 writes those of all of them to
 * DIR/model.safetensors with all else that the model has, `config` beside them (convert.c). */
void export_entry(Rt *rt, const RtEntry *entry, const char *dir, const char *config);

/* Exports what the model is in the end (OUT/quantized) where the program has such a form: on all ranks,
 * for all have the converted weights then. */
bool convert_run(Rt *rt);

/* Refuses what --merge cannot do, before anything else is done; merges, where it was asked for. */
void merge_check(const Rt *rt);
void merge_run(Rt *rt);

#endif
