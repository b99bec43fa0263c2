/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test helper: a few macros, no library. One source file is one program; each TEST in it is one ctest, run in a
 * process of its own (program NAME), so that no test sees another's contexts, messages or environment. CMake finds the
 * tests by their lines "TEST(name)" at the start of a line.
 *
 * Serves C and C++ alike.
 */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What ctest is told to take for "skipped" (SKIP_RETURN_CODE). */
#define CHECK_SKIPPED 77

typedef struct CheckTest {
    const char *name;
    void (*body)(void);
    struct CheckTest *next;
} CheckTest;

static CheckTest *check_tests;
static int check_failures;

static void check_failed(const char *file, int line, const char *what)
{
    /* Threads may fail too: one call, so that lines don't mix. */
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    __atomic_fetch_add(&check_failures, 1, __ATOMIC_RELAXED);
}

static inline void check_numbers(const char *file, int line, const char *what, long long got, long long expected)
{
    char text[512];
    if (got != expected) {
        snprintf(text, sizeof(text), "%s is %lld, expected %lld", what, got, expected);
        check_failed(file, line, text);
    }
}

static inline void check_texts(const char *file, int line, const char *what, const char *got, const char *part)
{
    char text[2048];
    if (got == NULL || strstr(got, part) == NULL) {
        snprintf(text, sizeof(text), "%s is \"%s\", expected to contain \"%s\"", what, got ? got : "(NULL)", part);
        check_failed(file, line, text);
    }
}

/* Goes on after a failure. */
#define CHECK(condition)                                                                                              \
    do {                                                                                                              \
        if (!(condition))                                                                                             \
            check_failed(__FILE__, __LINE__, "false: " #condition);                                                   \
    } while (0)

/* Two integers (statuses, sizes, bits); evaluates each once. */
#define CHECK_EQ(got, expected)                                                                                       \
    check_numbers(__FILE__, __LINE__, #got, (long long)(got), (long long)(expected))

#define CHECK_HAS(text, part) check_texts(__FILE__, __LINE__, #text, (text), (part))

/* For what the rest of the test stands on. */
#define REQUIRE(condition)                                                                                            \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            check_failed(__FILE__, __LINE__, "false, can't go on: " #condition);                                      \
            exit(1);                                                                                                  \
        }                                                                                                             \
    } while (0)

#define SKIP(reason)                                                                                                  \
    do {                                                                                                              \
        printf("skipped: %s\n", reason);                                                                              \
        exit(CHECK_SKIPPED);                                                                                          \
    } while (0)

#define TEST(test_name)                                                                                               \
    static void test_name(void);                                                                                      \
    static void __attribute__((constructor)) check_register_##test_name(void)                                         \
    {                                                                                                                 \
        static CheckTest test = {#test_name, test_name, NULL};                                                        \
        test.next = check_tests;                                                                                      \
        check_tests = &test;                                                                                          \
    }                                                                                                                 \
    static void test_name(void)

int main(int argc, char **argv)
{
    int ran = 0;
    const CheckTest *test;
    for (test = check_tests; test != NULL; test = test->next) {
        if (argc > 1 && strcmp(argv[1], test->name) != 0)
            continue;
        test->body();
        ran++;
    }
    if (ran == 0) {
        fprintf(stderr, "no test of that name\n");
        return 2;
    }
    return check_failures == 0 ? 0 : 1;
}

#endif
