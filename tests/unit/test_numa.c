/* Binding to the card's NUMA node, on fictitious machines: a folder replaces /. CPUs are those that
 * this process may use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/numa.h"
#include "runtime/base/rt.h"

static char root[] = "/tmp/test_numa_XXXXXX";
static cpu_set_t before;
static int first, count; /* of the CPUs in it */

static void write_file(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/sys/%s", root, folder);
    assert_true(rt_make_folder(path));
    strcat(strcat(path, "/"), name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    assert_int_equal(fclose(file), 0);
}

static void write_node(int node, const char *cpulist) {
    char folder[64], card[64];
    snprintf(card, sizeof card, "bus/pci/devices/0000:%d7:0a.0", node);
    snprintf(folder, sizeof folder, "%d", node);
    write_file(card, "numa_node", folder);
    snprintf(folder, sizeof folder, "devices/system/node/node%d", node);
    write_file(folder, "cpulist", cpulist);
}

static int make_machine(void **state) {
    (void)state;
    char list[64];
    if (!mkdtemp(root) || sched_getaffinity(0, sizeof before, &before))
        return -1;
    count = CPU_COUNT(&before);
    while (!CPU_ISSET((size_t)first, &before))
        first++;
    snprintf(list, sizeof list, "%d,1000-1010", first);
    write_node(1, list);
    write_node(2, "1000-1010");
    snprintf(list, sizeof list, "0-%d", CPU_SETSIZE + 10);
    write_node(3, list);
    write_file("bus/pci/devices/0000:47:0a.0", "numa_node", "-1");
    write_file("bus/pci/devices/0000:57:0a.0", "numa_node", "5");
    return 0;
}

static int remove_machine(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static int unbind(void **state) {
    (void)state;
    return sched_setaffinity(0, sizeof before, &before);
}

/* The driver writes upper-case digits, sysfs lower-case ones. */
static void stays_on_the_cards_node(void **state) {
    (void)state;
    cpu_set_t now;
    Numa numa = numa_bind(root, "0000:17:0A.0", 1);
    assert_int_equal(numa.node, 1);
    assert_string_equal(numa.why, "");
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_int_equal(CPU_COUNT(&now), 1);
    assert_true(CPU_ISSET((size_t)first, &now));
}

static void asks_for_no_more_than_it_has(void **state) {
    (void)state;
    cpu_set_t now;
    assert_int_equal(numa_bind(root, "0000:37:0a.0", count).node, 3);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&now, &before));
}

static void says_why_not(void **state) {
    (void)state;
    static const struct {
        const char *card;
        int threads;
        const char *why;
    } cases[] = {
        {"0000:99:00.0", 1, "the system reports no NUMA node for the card at 0000:99:00.0"},
        {"0000:47:0a.0", 1, "the system reports no NUMA node for the card at 0000:47:0a.0"},
        {"0000:57:0a.0", 1, "the system does not list the CPUs of NUMA node 5"},
        {"0000:27:0a.0", 1, "this process may not use any CPU of NUMA node 2, the card's"},
        {"0000:17:0a.0", 9,
         "on NUMA node 1, the card's, this process may use only 1 CPU, but it has 9 threads"}};
    cpu_set_t now;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Numa numa = numa_bind(root, cases[i].card, cases[i].threads);
        assert_int_equal(numa.node, -1);
        assert_string_equal(numa.why, cases[i].why);
    }
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&now, &before));
}

#define TEST(name) cmocka_unit_test_teardown(name, unbind)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(stays_on_the_cards_node),
                                       TEST(asks_for_no_more_than_it_has), TEST(says_why_not)};
    return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
