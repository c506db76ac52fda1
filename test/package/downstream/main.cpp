// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <calotype/buffer.h>

#include <cstdio>

#include "brighten.h"
#ifndef WITHOUT_MULTITARGET
#include "brighten_any.h"
#include "brighten_device.h"
#endif

namespace {

using Image = calotype::Runtime::Buffer<uint8_t, 2>;

template<typename F>
bool check(const char *name, int offset, F function) {
    Image in(50, 20), out(50, 20);
    in.for_each_element([&](int x, int y) { in(x, y) = uint8_t(3 * x + y); });
    if (function(in, 2, out) != 0 || out.copy_to_host() != 0) {
        return false;
    }
    bool good = true;
    out.for_each_element([&](int x, int y) {
        const int expected = in(x, y) * 2 + offset;
        if (out(x, y) != (expected > 255 ? 255 : expected)) {
            std::printf("%s(%d, %d) is %d\n", name, x, y, out(x, y));
            good = false;
        }
    });
    return good;
}

}  // namespace

int main() {
    bool good = check("brighten", 5,
                      [](Image &in, int factor, Image &out) { return brighten(in, factor, out); });
#ifndef WITHOUT_MULTITARGET
    good = check("brighten_any", 1,
                 [](Image &in, int factor, Image &out) {
                     return test::inner::brighten_any(in, factor, out);
                 }) &&
           good;
    // On an OpenCL device, or on the processor where there is none.
    good = check("brighten_device", 1,
                 [](Image &in, int factor, Image &out) {
                     const int code = brighten_device(in, factor, out);
                     std::puts(out.device_dirty() ? "on a device" : "on the processor");
                     return code;
                 }) &&
           good;
#endif
    std::puts(good ? "brighten works" : "brighten is broken");
    return good ? 0 : 1;
}
