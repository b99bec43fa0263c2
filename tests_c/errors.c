/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, logs, and failures on purpose. */
#include <ctype.h>
#include <pthread.h>
#include <unistd.h>

#include "call.h"

/* "EZ1001: [PID: 4711] 2026-12-01-10:00:00.123.456 function: text" */
static void check_line(const char *line, const char *code, const char *function)
{
    const char pattern[] = "dddd-dd-dd-dd:dd:dd.ddd.ddd ";
    char head[64], start_of_text[128];
    snprintf(head, sizeof(head), "%s: [PID: %d] ", code, (int)getpid());
    if (strncmp(line, head, strlen(head)) != 0) {
        fprintf(stderr, "\"%s\" doesn't start with \"%s\"\n", line, head);
        CHECK(!"the line's head");
        return;
    }
    line += strlen(head);
    for (size_t k = 0; k < sizeof(pattern) - 1; k++)
        CHECK(pattern[k] == 'd' ? isdigit((unsigned char)line[k]) : line[k] == pattern[k]);
    snprintf(start_of_text, sizeof(start_of_text), "%s: ", function);
    CHECK(strncmp(line + sizeof(pattern) - 1, start_of_text, strlen(start_of_text)) == 0);
}

TEST(message_format)
{
    CHECK(aclGetRecentErrMsg() == NULL);
    CHECK_EQ(aclDestroyTensor((aclTensor *)(uintptr_t)0xdeadbeef), 161002);
    check_line(messages(), "EZ1001", "aclDestroyTensor");
    CHECK_EQ(aclrtSetDevice(99), 107001);
    check_line(messages(), "EE1001", "aclrtSetDevice");
    CHECK_EQ(aclrtSynchronizeStream(NULL), 107002);
    check_line(messages(), "EE1001", "aclrtSynchronizeStream");
    CHECK_EQ(aclrtDestroyEvent((aclrtEvent)(uintptr_t)0xdeadbeef), 107017);
    check_line(messages(), "EE1001", "aclrtDestroyEvent");
}

/* Numbers that no process id and no clock shows by chance. */
TEST(messages_newest_first_then_none)
{
    CHECK_EQ(aclrtSetDevice(4141414), 107001);
    CHECK_EQ(aclrtSetDevice(4242424), 107001);
    const char *text = messages();
    const char *const newer = strstr(text, "4242424"), *const older = strstr(text, "4141414");
    CHECK(newer && older && newer < older);
    CHECK(aclGetRecentErrMsg() == NULL);
}

/* A success adds nothing and takes nothing away. */
TEST(messages_survive_a_success)
{
    CHECK_EQ(aclrtSetDevice(4242424), 107001);
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_HAS(aclGetRecentErrMsg(), "aclrtSetDevice");
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK(aclGetRecentErrMsg() == NULL);
}

TEST(messages_at_most_32)
{
    char part[32];
    for (int k = 1000; k < 1050; k++)
        CHECK_EQ(aclrtSetDevice(k), 107001);
    const char *text = messages();
    int lines = 0;
    for (const char *at = text; (at = strstr(at, "EE1001:")) != NULL; at++)
        lines++;
    CHECK_EQ(lines, 32);
    for (int k = 1000; k < 1050; k++) {
        snprintf(part, sizeof(part), "%d", k);
        /* The process id could hold the number by chance: look behind "aclrtSetDevice: ". */
        int found = 0;
        for (const char *at = text; (at = strstr(at, "aclrtSetDevice: ")) != NULL; at++) {
            const char *end = strchr(at, '\n');
            const char *hit = strstr(at, part);
            found |= hit != NULL && (end == NULL || hit < end);
        }
        CHECK_EQ(found, k >= 1018);
    }
}

static void *other_thread(void *seen)
{
    *(int *)seen = aclGetRecentErrMsg() != NULL;
    CHECK_EQ(aclrtSetDevice(7777777), 107001);
    return NULL;
}

TEST(messages_are_the_threads_own)
{
    pthread_t thread;
    int seen = 1;
    CHECK_EQ(aclrtSetDevice(4242424), 107001);
    REQUIRE(pthread_create(&thread, NULL, other_thread, &seen) == 0);
    pthread_join(thread, NULL);
    CHECK_EQ(seen, 0);
    const char *text = messages();
    CHECK_HAS(text, "4242424");
    CHECK(strstr(text, "7777777") == NULL);
}

/* The shapes, what was got and what was expected. */
TEST(message_names_argument_and_shapes)
{
    Call call = prepare(ACL_FLOAT, 2, 3, 16);
    call.view[SCALE].dims[1] = 8;
    make_tensors(&call);
    CHECK_EQ(plan(&call), 161002);
    const char *text = messages();
    CHECK_HAS(text, "scale");
    CHECK_HAS(text, "[2, 8]");
    CHECK_HAS(text, "[2, 16]");
    CHECK_HAS(text, "grad_output");
    finish(&call);
}

/* What was written to descriptor `fd` since `capture`. */
static int captured_fd, saved_fd;
static char captured_path[64];

static void capture(int fd)
{
    strcpy(captured_path, "/tmp/aclnn-modulate-log-XXXXXX");
    const int file = mkstemp(captured_path);
    REQUIRE(file >= 0);
    fflush(NULL);
    captured_fd = fd;
    saved_fd = dup(fd);
    REQUIRE(dup2(file, fd) == fd);
    close(file);
}

static const char *captured(void)
{
    static char text[65536];
    fflush(NULL);
    REQUIRE(dup2(saved_fd, captured_fd) == captured_fd);
    FILE *file = fopen(captured_path, "r");
    REQUIRE(file != NULL);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    unlink(captured_path);
    return text;
}

static void log_something(void)
{
    ACL_APP_LOG(ACL_DEBUG, "a debug line %d", 1);
    ACL_APP_LOG(ACL_INFO, "an info line %s", "two");
    ACL_APP_LOG(ACL_WARNING, "a warning line %.1f", 3.0);
    ACL_APP_LOG(ACL_ERROR, "an error line");
    aclAppLog((aclLogLevel)99, "f", "file", 1, "an unknown level");
    aclAppLog(ACL_ERROR, NULL, NULL, 0, "no names");
    aclAppLog(ACL_ERROR, "f", "file", 1, NULL);
}

/* Off by default, also for the library's own lines. */
TEST(log_is_off_by_default)
{
    unsetenv("ASCEND_GLOBAL_LOG_LEVEL");
    unsetenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    capture(2);
    log_something();
    CHECK_EQ(aclrtSetDevice(42), 107001);
    const char *text = captured();
    CHECK(text[0] == '\0');
}

TEST(log_goes_to_stderr)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "1", 1);
    unsetenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    capture(2);
    log_something();
    const char *text = captured();
    CHECK(strstr(text, "a debug line") == NULL);
    CHECK_HAS(text, "an info line two");
    CHECK_HAS(text, "a warning line 3.0");
    CHECK_HAS(text, "an error line");
    CHECK_HAS(text, "no names");
    CHECK_HAS(text, "log_something");
    CHECK_HAS(text, "errors.c");
}

TEST(log_goes_to_stdout)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "0", 1);
    setenv("ASCEND_SLOG_PRINT_TO_STDOUT", "1", 1);
    capture(1);
    log_something();
    const char *text = captured();
    CHECK_HAS(text, "a debug line 1");
    CHECK_HAS(text, "an error line");
}

TEST(log_levels)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "3", 1);
    unsetenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    capture(2);
    log_something();
    const char *text = captured();
    CHECK(strstr(text, "a warning line") == NULL);
    CHECK_HAS(text, "an error line");
}

TEST(log_level_none)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    capture(2);
    log_something();
    CHECK(captured()[0] == '\0');
}

/* Never anything on stdout without ASCEND_SLOG_PRINT_TO_STDOUT. */
TEST(stdout_stays_clean)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "0", 1);
    unsetenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    capture(2);
    const int log_saved = saved_fd;
    char log_path[64];
    strcpy(log_path, captured_path);
    capture(1);
    log_something();
    start();
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    CHECK_EQ(plan_and_run(&call), 0);
    finish(&call);
    const char *text = captured();
    CHECK(text[0] == '\0');
    saved_fd = log_saved;
    captured_fd = 2;
    strcpy(captured_path, log_path);
    (void)captured();
}

/* A long line is cut or kept, but never a crash. */
TEST(log_long_line)
{
    static char line[100001];
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "0", 1);
    memset(line, 'x', sizeof(line) - 1);
    capture(2);
    ACL_APP_LOG(ACL_ERROR, "%s", line);
    CHECK_HAS(captured(), "xxxxxxxx");
}

/* Nonsense in the environment is a warning, and the default is used. */
TEST(nonsense_in_the_environment)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "2", 1);
    setenv("ACLCPU_THREADS", "many", 1);
    setenv("ACLCPU_ISA", "abacus", 1);
    setenv("ACLCPU_DEVICE_COUNT", "-3", 1);
    setenv("ACLCPU_FAULT", "nonsense", 1);
    capture(2);
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtSetDevice(1), 107001);
    /* Each variable is read at first use: this call is large enough to look for threads. */
    Call call = prepare(ACL_FLOAT, 4, 512, 512);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(right(&call));
    finish(&call);
    const char *text = captured();
    CHECK_HAS(text, "ACLCPU_THREADS");
    CHECK_HAS(text, "ACLCPU_ISA");
    CHECK_HAS(text, "ACLCPU_DEVICE_COUNT");
    CHECK_HAS(text, "ACLCPU_FAULT");
}

TEST(failing_allocation)
{
    setenv("ACLCPU_FAULT", "malloc:2", 1);
    void *block[3] = {NULL, NULL, NULL};
    start();
    CHECK_EQ(aclrtMalloc(&block[0], 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    CHECK_EQ(aclrtMalloc(&block[1], 64, ACL_MEM_MALLOC_HUGE_FIRST), 207001);
    CHECK_HAS(messages(), "aclrtMalloc");
    CHECK(block[1] == NULL);
    CHECK_EQ(aclrtMalloc(&block[2], 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(block[0]), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(block[2]), ACL_SUCCESS);
}

/* The stream keeps the failure until it is asked, once; work behind it runs, and the stream goes on. */
TEST(failing_task)
{
    setenv("ACLCPU_FAULT", "task:2", 1);
    aclrtStream stream = NULL;
    start();
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    Call calls[3];
    for (int k = 0; k < 3; k++) {
        calls[k] = prepare(ACL_FLOAT, 2, 40, 50);
        CHECK_EQ(plan(&calls[k]), 0);
        need_workspace(&calls[k]);
    }
    for (int k = 0; k < 3; k++)
        CHECK_EQ(aclnnModulateBackward(calls[k].workspace, calls[k].workspace_size, calls[k].executor, stream), 0);
    (void)aclGetRecentErrMsg();
    CHECK_EQ(aclrtSynchronizeStream(stream), 507035);
    CHECK_HAS(messages(), "aclrtSynchronizeStream");
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK(right(&calls[0]));
    CHECK(right(&calls[2]));
    CHECK(fences_hold(&calls[1]));
    CHECK_EQ(plan(&calls[1]), 0);
    CHECK_EQ(run_on(&calls[1], stream), 0);
    CHECK(right(&calls[1]));
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    for (int k = 0; k < 3; k++)
        finish(&calls[k]);
}

TEST(failing_task_on_the_default_stream)
{
    setenv("ACLCPU_FAULT", "task:1", 1);
    start();
    Call call = prepare(ACL_BF16, 2, 3, 4);
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 0);
    CHECK_EQ(aclrtSynchronizeStream(NULL), 507035);
    CHECK_EQ(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(right(&call));
    finish(&call);
}

/* Memory freed while a failing task used it is given back all the same. */
TEST(failing_task_gives_its_memory_back)
{
    setenv("ACLCPU_FAULT", "task:1", 1);
    start();
    Call call = prepare(ACL_FLOAT, 2, 40, 50);
    void *block = NULL;
    REQUIRE(aclrtMalloc(&block, bytes_of(&call, INPUT), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    call.view[INPUT].data = block;
    CHECK_EQ(plan(&call), 0);
    need_workspace(&call);
    CHECK_EQ(aclnnModulateBackward(call.workspace, call.workspace_size, call.executor, NULL), 0);
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(NULL), 507035);
    CHECK_EQ(aclrtFree(block), 107000);
    finish(&call);
}
