/* SHA-256 against FIPS 180-4's examples, and in pieces against the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/sha256.h"

/* Hashes `count` copies of the text, as pieces of one copy. */
static void hash_copies(const char *text, int count, char hex[SHA256_HEX_SIZE]) {
    Sha256 sha;
    sha256_begin(&sha);
    for (int i = 0; i < count; i++)
        sha256_add(&sha, text, strlen(text));
    sha256_end(&sha, hex);
}

static void published_examples_agree(void **state) {
    (void)state;
    char hex[SHA256_HEX_SIZE];
    hash_copies("", 1, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_copies("abc", 1, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_copies("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    hash_copies("aaaaaaaaaa", 100000, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void pieces_are_the_whole(void **state) {
    (void)state;
    uint8_t bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        char whole[SHA256_HEX_SIZE], pieces[SHA256_HEX_SIZE];
        Sha256 sha;
        sha256_begin(&sha);
        sha256_add(&sha, bytes, size);
        sha256_end(&sha, whole);
        sha256_begin(&sha);
        sha256_add(&sha, bytes, size / 3);
        sha256_add(&sha, bytes + size / 3, size - size / 3);
        sha256_end(&sha, pieces);
        assert_string_equal(whole, pieces);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_examples_agree),
        cmocka_unit_test(pieces_are_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
