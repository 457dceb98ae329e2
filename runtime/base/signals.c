/* SIGTERM, SIGUSR1, SIGINT and SIGHUP (a closed terminal) ask for an orderly end: the loop finishes
 * its step and writes a checkpoint. A second SIGINT kills the process. Where SIGHUP is ignored, as
 * under nohup, it stays ignored. SIGXFSZ is ignored, so that exceeding a file size limit is a write
 * error like a full disk. SIGBUS from a mapped file that was truncated is reported as a read
 * error. */
#include "runtime/base/signals.h"
#include "runtime/base/rt.h"
#include "runtime/base/watch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void note(int number) {
    caught = number;
    watch_tell_signal(number);
}

static void handle(int number, int flags) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART | flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* Finds the file whose mapping contains the address. A line of /proc/self/maps begins with FROM-TO
 * and ends with the file's path. */
static bool find_mapped(const void *at, char *path, size_t size) {
    char line[RT_MAX_PATH + 128];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        uintptr_t from = 0, to = 0;
        const char *name = strchr(line, '/');
        sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to);
        found = name && (uintptr_t)at >= from && (uintptr_t)at < to;
        if (found)
            snprintf(path, size, "%.*s", (int)strcspn(name, "\n"), name);
    }
    if (maps)
        fclose(maps);
    return found;
}

/* This thread touched a page that the file no longer has. It holds no lock of stderr, so that
 * printing is safe. */
static void on_bus_error(int number, siginfo_t *info, void *context) {
    char path[RT_MAX_PATH];
    (void)context;
    signal(number, SIG_DFL);
    if (!find_mapped(info->si_addr, path, sizeof path))
        return; /* not a mapped file: the fault recurs and kills the process */
    rt_fail_at_once("%s: was truncated while this run was reading it, or its disk failed; restore "
                    "it and start again, with --resume if there is a checkpoint",
                    path);
}

static bool is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void signals_install(void) {
    const struct sigaction bus = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &bus, NULL);
    handle(SIGTERM, 0);
    handle(SIGUSR1, 0);
    handle(SIGINT, (int)SA_RESETHAND);
    if (!is_ignored(SIGHUP))
        handle(SIGHUP, 0);
    signal(SIGXFSZ, SIG_IGN);
}

int signals_caught(void) { return caught; }
