// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Definition of public functions of the runtime as weak symbols, and storage for their
// replacements.
#pragma once

#include <atomic>

/** In front of the definition of a public function: an application's own definition of the same
 * name replaces it. Nothing else of the runtime is visible outside of the library it is in. */
#define CALOTYPE_WEAK extern "C" __attribute__((weak, visibility("default")))
/** In front of the declaration of one that is another function's second name. */
#define CALOTYPE_WEAK_ALIAS(function)                                                              \
    extern "C" __attribute__((weak, visibility("default"), alias(#function)))

namespace calotype::runtime {

/** A function that can be replaced while the process runs. Initialised before any code runs. */
template<typename Fn>
class Hook {
    std::atomic<Fn> current;
    Fn standard;

public:
    constexpr explicit Hook(Fn standard) : current(standard), standard(standard) {
    }
    Fn get() const {
        return current.load(std::memory_order_acquire);
    }
    /** Install `fn`, null for the standard one; answers with what was installed before. */
    Fn set(Fn fn) {
        return current.exchange(fn ? fn : standard, std::memory_order_acq_rel);
    }
};

}  // namespace calotype::runtime
