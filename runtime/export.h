/* What a run leaves for other tools: an adapter as PEFT writes it, a model as Hugging Face does. */
#ifndef GPUOPT_EXPORT_H
#define GPUOPT_EXPORT_H

#include "runtime/rt.h"

/* Does nothing unless the program's checkpoint.export_model is set. Then writes
 *     OUT/adapter/adapter_config.json, adapter_model.safetensors   where the program has an adapter
 *     OUT/model/config.json, model.safetensors                     otherwise
 * Trained parameters go out as their masters, others in the type the step reads. Each file replaces
 * the former one only when it is whole. All ranks together; the first one writes. Ends the process
 * with one line when that fails. */
void export_run(Rt *rt);

#endif
