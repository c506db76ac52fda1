// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callbacks may be C++ that throws; the runtime is not, and needs no C++ library.
//
// An exception that reaches call_in_frame() is told to stop there by a personality routine of ours,
// which the unwinder asks twice: first whether anybody catches (yes), and, once it has run all
// destructors further in, to go on from there. It does so by jumping to where call_guarded() saved
// its place. That needs nothing of the unwinder's functions. What the exception itself needs, to be
// counted as caught and freed, is looked up at that time: if something throws, the C++ library is
// in the process.
#include "runtime/host/call_guarded.h"

#include <dlfcn.h>
#include <stdint.h>

// Not there without a C++ library; one that was linked statically is found by these alone.
extern "C" {
__attribute__((weak)) void *__cxa_begin_catch(void *);
__attribute__((weak)) void __cxa_end_catch();
}

namespace {

// As the Itanium C++ ABI defines them.
struct UnwindException {
    uint64_t exception_class;
    void (*cleanup)(int reason, UnwindException *exception);
};
enum UnwindReason { foreign_exception_caught = 1, handler_found = 6, continue_unwind = 8 };
enum UnwindAction { search_phase = 1, handler_frame = 4, force_unwind = 8 };

/** The innermost call. */
struct Catcher {
    void *place[5];
    UnwindException *caught;
    Catcher *outer;
};
thread_local Catcher *catcher = nullptr;

/** As `catch (...) {}` would. */
void discard(UnwindException *exception) {
    auto begin = __cxa_begin_catch;
    auto end = __cxa_end_catch;
    if (!begin || !end) {
        begin = reinterpret_cast<void *(*)(void *)>(dlsym(RTLD_DEFAULT, "__cxa_begin_catch"));
        end = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "__cxa_end_catch"));
    }
    if (begin && end) {
        begin(exception);
        end();
    } else if (exception->cleanup) {
        exception->cleanup(foreign_exception_caught, exception);
    }
}

}  // namespace

extern "C" {

/** Not for others, and named so that the assembler finds it. */
__attribute__((visibility("hidden"), used)) int
calotype_callback_personality(int, int actions, uint64_t, UnwindException *exception, void *) {
    if (actions & force_unwind) {
        return continue_unwind;  // the thread ends
    }
    if (actions & search_phase) {
        return handler_found;
    }
    if (actions & handler_frame) {
        catcher->caught = exception;
        __builtin_longjmp(catcher->place, 1);
    }
    return continue_unwind;
}
}

namespace calotype::runtime {

__attribute__((noinline)) static void call_in_frame(void (*function)(void *data), void *data) {
#if defined(__ELF__) && !defined(__arm__)
    // This frame's personality, by its distance (pcrel | sdata4).
    __asm__ volatile(".cfi_personality 0x1b, calotype_callback_personality");
#endif
    function(data);
    __asm__ volatile("" ::
                         : "memory");  // so that the call is not the last thing: it needs the frame
}

__attribute__((noinline)) bool call_guarded(void (*function)(void *data), void *data) {
    Catcher here = {};
    here.outer = catcher;
    catcher = &here;
    if (__builtin_setjmp(here.place) == 0) {
        call_in_frame(function, data);
        catcher = here.outer;
        return true;
    }
    Catcher &caught = *catcher;
    catcher = caught.outer;
    discard(caught.caught);
    return false;
}

}  // namespace calotype::runtime
