/* jit FOLDER: compiles FOLDER/kernels.cu for Hopper with the installed NVRTC, without a device. */
#include "runtime/base/rt.h"
#include "runtime/device/device.h"

#include <stdio.h>

int main(int argc, char **argv) {
    static Rt rt;
    if (argc != 2)
        rt_fail("usage: jit FOLDER");
    rt.options.exe_dir = argv[1];
    rt.device.capability = 90;
    jit_modules(&rt);
    for (int i = 0; i < rt.device.module_count; i++)
        printf("%s by NVRTC %d\n", rt.device.module_paths[i], rt.device.nvrtc_version);
    return 0;
}
