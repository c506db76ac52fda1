// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file of the build as constant data of the object.
#pragma once

/// At file scope: NAME_begin and NAME_end, where the bytes of the file at `path`, a string literal,
/// are. A 0 follows them.
#define CALOTYPE_EMBED_FILE(NAME, path)                                                            \
    __asm__(".section .rodata\n"                                                                   \
            ".balign 16\n" #NAME "_begin:\n"                                                       \
            ".incbin \"" path "\"\n" #NAME "_end:\n"                                               \
            ".byte 0\n"                                                                            \
            ".previous\n");                                                                        \
    extern "C" __attribute__((visibility("hidden"))) const char NAME##_begin[];                    \
    extern "C" __attribute__((visibility("hidden"))) const char NAME##_end[]
