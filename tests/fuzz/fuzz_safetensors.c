/*
 * fuzz_safetensors.c - arbitrary bytes as a tensor file: a clear error, or readable to the end.
 */
#include "runtime/files/safetensors.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char error[256] = "";
    StFile *file = st_open_bytes(bytes, size, "input", error, sizeof error);
    if (!file) {
        if (!strncmp(error, "input: ", 7) && error[7])
            return 0;
        abort();
    }
    const uint8_t *begin = bytes, *end = bytes + size;
    volatile double sink = 0;
    for (size_t i = 0; i < st_count(file); i++) {
        const StTensor *tensor = st_at(file, i);
        const uint8_t *data = tensor->data;
        if (data < begin || tensor->bytes > (size_t)(end - data))
            abort();
        if (st_find(file, tensor->name) != tensor)
            abort();
        if (tensor->elements)
            sink = st_value(tensor, 0) + st_value(tensor, tensor->elements - 1);
    }
    (void)sink;
    (void)st_metadata(file, "format");
    st_close(file);
    return 0;
}
