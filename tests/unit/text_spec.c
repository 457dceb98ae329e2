#include "tests/unit/text_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fileio.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Spec *spec_of_text(Arena *arena, const char *text, const char *const *sets, int count) {
    char path[] = "/tmp/text_spec_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_null(file_write(path, text, strlen(text)));
    Spec *spec = spec_read(arena, path, sets, count);
    unlink(path);
    return spec;
}

Spec *spec_of_sets(Arena *arena, const char *text, const char *const *sets, int most) {
    int count = 0;
    while (count < most && sets[count])
        count++;
    return spec_of_text(arena, text, sets, count);
}
