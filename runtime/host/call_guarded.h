// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code of the application may be C++ that throws.
#pragma once

namespace calotype::runtime {

/** False: it has thrown, and what it threw is gone. */
bool call_guarded(void (*function)(void *data), void *data);

template<typename F>
bool call_guarded(F body) {
    return call_guarded([](void *data) { (*static_cast<F *>(data))(); }, &body);
}

}  // namespace calotype::runtime
