// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call of a pipeline costs that is compiled in this process and has next to nothing to do:
// prints nanoseconds as JSON. The program is one for Halide too, so that it can be built with either.
#include "Halide.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace Halide;

namespace {

/// The least of several rounds, a call.
template<typename F>
double nanoseconds(F f) {
    constexpr int rounds = 20, calls = 10000;
    double best = 1e18;
    for (int r = 0; r < rounds; r++) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; i++) {
            f();
        }
        const std::chrono::duration<double, std::nano> time =
            std::chrono::steady_clock::now() - begin;
        best = std::min(best, time.count() / calls);
    }
    return best;
}

}  // namespace

int main() {
    Var x;
    ImageParam in(Int(32), 1);
    Param<int> p;
    Func f;
    f(x) = in(x) + p;
    Callable callable = f.compile_to_callable({in, p});
    Buffer<int> a(16), out(16);
    a.fill(1);
    in.set(a);
    p.set(3);
    JITUserContext context, *address = &context;
    int value = 3;
    const void *argv[] = {&address, a.raw_buffer(), &value, out.raw_buffer()};
    std::printf("{\"pointers\": %.0f, ", nanoseconds([&] { callable.call_argv_fast(4, argv); }));
    std::printf("\"callable\": %.0f, ", nanoseconds([&] { callable(a, 3, out); }));
    std::printf("\"realize_buffer\": %.0f, ", nanoseconds([&] { f.realize(out); }));
    std::printf("\"realize_sizes\": %.0f}\n",
                nanoseconds([&] { Buffer<int> b = f.realize({16}); }));
    return out(15) == 4 ? 0 : 1;
}
