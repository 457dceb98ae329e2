/* Processes of one launcher have nothing in common yet but their parent. The first that ends with an
 * error takes a name made of both, which only one process of a machine can have, and which is free
 * again when that process is gone: an address of a socket that has no file. */
#include "runtime/base/siblings.h"
#include "runtime/base/checksum.h"
#include "runtime/base/rt.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Rank 0 does not wait, so that it is the one that says what all have to say. */
enum { LATER_MS = 500, STAY_MS = 1000 };

static int own_rank;

static void nap(int ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Returns false if another process has the name. It is kept until this process ends. */
static bool take_name(const char *error) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int at = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "gpuopt %ld %08x",
                          (long)getppid(), (unsigned)crc32_add(0, error, strlen(error)));
    socklen_t size = (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 + (socklen_t)length;
    return at < 0 || bind(at, (struct sockaddr *)&name, size) == 0 || errno != EADDRINUSE;
}

/* When a process is gone, the launcher ends the others, which may have another error. */
static void say_once(const char *error) {
    if (own_rank > 0)
        nap(LATER_MS);
    if (take_name(error))
        rt_say_error("%s", error);
    nap(STAY_MS);
}

void siblings_share_errors(int rank) {
    own_rank = rank;
    rt_name_rank(rank);
    rt_share_errors(say_once);
}
