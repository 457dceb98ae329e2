/* SIGTERM, SIGUSR1 and SIGINT ask for a good end: the loop finishes its step and writes a checkpoint. A
 * second SIGINT, from somebody who cannot wait, ends the process at once. A file that grows over
 * its limit is an error of the write, as a full disk is, and no reason to die in the middle. */
#include "runtime/base/signals.h"
#include "runtime/base/watch.h"

#include <signal.h>

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

void signals_install(void) {
    handle(SIGTERM, 0);
    handle(SIGUSR1, 0);
    handle(SIGINT, (int)SA_RESETHAND);
    signal(SIGXFSZ, SIG_IGN);
}

int signals_caught(void) { return caught; }
