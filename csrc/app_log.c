/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variadic part of aclAppLog, which stable Rust can't define: turns the caller's format and arguments into a text and
 * hands it to Rust. Not exported: aclAppLog itself (src/api/base.rs) jumps here.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* Longer texts are cut: a log line is for people. */
enum { TEXT_MAX = 4096 };

/* In src/api/base.rs. */
extern int32_t aclcpu_app_log_wanted(int32_t level);
extern void aclcpu_app_log_line(int32_t level, const char *func, const char *file, uint32_t line, const char *text);

__attribute__((visibility("hidden"))) void aclcpu_app_log_shim(int32_t level, const char *func, const char *file,
                                                               uint32_t line, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list arguments;

    if (!aclcpu_app_log_wanted(level))
        return;
    text[0] = '\0';
    if (fmt) {
        va_start(arguments, fmt);
        if (vsnprintf(text, sizeof(text), fmt, arguments) < 0)
            text[0] = '\0';
        va_end(arguments);
    }
    aclcpu_app_log_line(level, func, file, line, text);
}
