// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times pipelines and Halide's from the same sources, in turns, and compares their results:
//     compare [--quick] APP:TOLERANCE:SCALE:LARGEST...
// Arguments have the sizes and values that the generators estimate, with width and height times
// SCALE, which may be a fraction; integers of inputs are at most LARGEST. Integers may differ by TOLERANCE, floats by TOLERANCE * max(1, |value|). Prints a line of
// JSON each; the exit code is 1 if results differ or a call fails.
//
// Compiled with COMPARE_GPU buffers stay on the device, a time is that of several calls and a wait,
// by call, and the driver's copy of as many bytes as all buffers have together is timed, too.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <calotype/buffer.h>
#include <calotype/runtime.h>
#include <calotype/runtime/abi/runtime_cuda.h>

#include "side_by_side.h"

// apps.inc has APP(name) for each, as CMake was told.
#define APP(name)                                                                                  \
    int name##_argv(void **args);                                                                  \
    const calotype_filter_metadata_t *name##_metadata();                                           \
    int name##_halide_argv(void **args);                                                           \
    const calotype_filter_metadata_t *name##_halide_metadata();
extern "C" {
#include "apps.inc"
int halide_device_sync(void *user_context, calotype_buffer_t *buffer);
int halide_copy_to_host(void *user_context, calotype_buffer_t *buffer);
int halide_device_free(void *user_context, calotype_buffer_t *buffer);
}
#undef APP

namespace {

using Buffer = calotype::Runtime::Buffer<>;

#ifdef COMPARE_GPU
constexpr bool on_gpu = true;
#else
constexpr bool on_gpu = false;
#endif

struct App {
    const char *name;
    int (*ours)(void **args);
    int (*theirs)(void **args);
    const calotype_filter_metadata_t *(*our_metadata)();
    const calotype_filter_metadata_t *(*their_metadata)();
};

const App apps[] = {
#define APP(name) {#name, name##_argv, name##_halide_argv, name##_metadata, name##_halide_metadata},
#include "apps.inc"
#undef APP
};

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "compare: %s\n", what.c_str());
    std::exit(1);
}

/// Calls f with a value of the type.
template<typename F>
void with_type(calotype_type_t type, F &&f) {
    const bool is_float = type.code == calotype_type_float;
    const bool is_signed = type.code == calotype_type_int;
    switch (type.bits + (is_float ? 1000 : is_signed ? 100 : 0)) {
    case 8:
        return f(uint8_t());
    case 16:
        return f(uint16_t());
    case 32:
        return f(uint32_t());
    case 108:
        return f(int8_t());
    case 116:
        return f(int16_t());
    case 132:
        return f(int32_t());
    case 1032:
        return f(float());
    case 1064:
        return f(double());
    default:
        fail("there is an argument of a type that is not expected");
    }
}

/// The arguments of one side; both have the same values.
class Arguments {
public:
    Arguments(const App &app, double scale, uint32_t largest) : largest_(largest) {
        const calotype_filter_metadata_t &m = *app.our_metadata();
        for (int i = 0; i < m.num_arguments; i++) {
            const calotype_filter_argument_t &a = m.arguments[i];
            if (a.kind == calotype_argument_kind_input_scalar) {
                const calotype_scalar_value_t *value =
                    a.scalar_estimate ? a.scalar_estimate : a.scalar_def;
                if (!value) {
                    fail(std::string(app.name) + " does not estimate " + a.name);
                }
                pointers.push_back(const_cast<calotype_scalar_value_t *>(value));
            } else {
                add_buffer(app, a, scale);
            }
        }
    }
    std::vector<void *> pointers;
    std::vector<Buffer *> outputs;
    std::vector<std::unique_ptr<Buffer>> buffers;

    size_t bytes() const {
        size_t sum = 0;
        for (const auto &b : buffers) {
            sum += b->size_in_bytes();
        }
        return sum;
    }

private:
    void add_buffer(const App &app, const calotype_filter_argument_t &a, double scale) {
        std::vector<int> extents;
        for (int d = 0; d < a.dimensions; d++) {
            const int64_t *extent = a.buffer_estimates ? a.buffer_estimates[2 * d + 1] : nullptr;
            if (!extent) {
                fail(std::string(app.name) + " does not estimate the size of " + a.name);
            }
            const bool is_scaled = d < 2 && *extent >= 32;  // and no matrix of coefficients
            extents.push_back(int(double(*extent) * (is_scaled ? scale : 1)));
        }
        buffers.push_back(std::make_unique<Buffer>(a.type, extents));
        Buffer &b = *buffers.back();
        pointers.push_back(b.raw_buffer());
        if (a.kind == calotype_argument_kind_output_buffer) {
            outputs.push_back(&b);
            return;
        }
        with_type(a.type, [&](auto type) { fill<decltype(type)>(b); });
        b.set_host_dirty();
    }

    /// Floats from 0 to 1, without repetition in any direction.
    template<typename T>
    void fill(Buffer &b) {
        std::mt19937 next(uint32_t(buffers.size()));
        T *values = static_cast<T *>(b.data());
        for (size_t i = 0; i < b.number_of_elements(); i++) {
            const uint32_t v = next();
            values[i] = std::is_floating_point<T>::value ? T(float(v >> 8) * 0x1p-24f)
                                                         : T(v % (uint64_t(largest_) + 1));
        }
    }

    uint32_t largest_;
};

size_t count_differences(const Buffer &ours, const Buffer &theirs, double tolerance) {
    size_t differ = 0;
    with_type(ours.type(), [&](auto type) {
        using T = decltype(type);
        const T *a = static_cast<const T *>(ours.data()),
                *b = static_cast<const T *>(theirs.data());
        for (size_t i = 0; i < ours.number_of_elements(); i++) {
            const double e = double(b[i]), distance = std::abs(double(a[i]) - e);
            const double scale = std::is_integral<T>::value ? 1 : std::max(1.0, std::abs(e));
            differ += distance <= tolerance * scale || (a[i] != a[i] && b[i] != b[i]) ? 0 : 1;
        }
    });
    return differ;
}

/// 0 if all went well.
int compare(const App &app, double tolerance, double scale, uint32_t largest, bool quick) {
    const int arguments = app.our_metadata()->num_arguments;
    for (int i = 0; i < arguments; i++) {
        if (app.their_metadata()->num_arguments != arguments ||
            std::strcmp(app.our_metadata()->arguments[i].name,
                        app.their_metadata()->arguments[i].name) != 0) {
            fail(std::string(app.name) + " has other arguments with Halide");
        }
    }
    Arguments a(app, scale, largest), b(app, scale, largest);
    int calls = 1;
    int failures = 0;
    const auto run = [&](int (*f)(void **), Arguments &args,
                         int (*sync)(void *, calotype_buffer_t *)) {
        return [&failures, &args, f, sync, &calls] {
            for (int i = 0; i < calls; i++) {
                failures += f(args.pointers.data()) != 0;
            }
            failures += on_gpu && sync(nullptr, args.outputs[0]->raw_buffer()) != 0;
        };
    };
    std::vector<std::function<void()>> runs = {
        run(app.ours, a, calotype_device_sync),
        run(app.theirs, b, on_gpu ? halide_device_sync : calotype_device_sync)};
    const double once = time_once(runs[0]) + time_once(runs[1]);
    if (failures) {
        fail(std::string("a call of ") + app.name + " failed");
    }
    const int rounds = quick ? 3 : int(std::min(40.0, std::max(9.0, 8e3 / once)));
    // Short calls several times in a turn, so that the threads of the other side are at rest.
    calls = quick ? 1 : on_gpu ? 20 : int(std::clamp(4.0 / once, 1.0, 100.0));

    // Of what it copies, the device alone has what is valid.
    const int half = on_gpu ? int(a.bytes() / 2) : 1;
    calotype::Runtime::Buffer<uint8_t, 1> from(half), to(half);
    if (on_gpu) {
        const auto *cuda = calotype_cuda_device_interface();
        failures += calotype_device_malloc(nullptr, from, cuda) != 0;
        failures += calotype_device_malloc(nullptr, to, cuda) != 0;
        from.set_device_dirty();
        runs.push_back([&, cuda] {
            for (int i = 0; i < calls; i++) {
                failures += calotype_buffer_copy(nullptr, from, cuda, to) != 0;
            }
            failures += calotype_device_sync(nullptr, to) != 0;
        });
    }
    const std::vector<CallTime> t = in_turns(runs, rounds, calls);

    size_t differ = 0;
    for (size_t i = 0; i < a.outputs.size(); i++) {
        a.outputs[i]->copy_to_host();
        if (on_gpu) {
            failures += halide_copy_to_host(nullptr, b.outputs[i]->raw_buffer()) != 0;
        }
        differ += count_differences(*a.outputs[i], *b.outputs[i], tolerance);
    }
    std::string size;
    for (int d = 0; d < a.outputs[0]->dimensions(); d++) {
        size += (d == 0 ? "" : " x ") + std::to_string(a.outputs[0]->dim(d).extent());
    }
    std::printf("{\"app\": \"%s\", \"size\": \"%s\", \"megabytes\": %.1f, \"calotype_ms\": %.4f, "
                "\"halide_ms\": %.4f, \"calotype_min_ms\": %.4f, \"halide_min_ms\": %.4f",
                app.name, size.c_str(), 1e-6 * double(a.bytes()), t[0].median, t[1].median,
                t[0].least, t[1].least);
    if (on_gpu) {
        std::printf(", \"copy_ms\": %.4f", t[2].median);
        for (auto &buffer : b.buffers) {
            halide_device_free(nullptr, buffer->raw_buffer());
        }
    }
    std::printf("}\n");
    std::fflush(stdout);
    std::fprintf(stderr, "%s, %s: %zu values differ, %d calls failed\n", app.name, size.c_str(),
                 differ, failures);
    return differ != 0 || failures != 0;
}

int compare_named(const std::string &what, bool quick) {
    std::istringstream parts(what);
    std::string name;
    double tolerance = 0;
    double scale = 1;
    uint32_t largest = 0;
    char colon;
    std::getline(parts, name, ':');
    if (!(parts >> tolerance >> colon >> scale >> colon >> largest)) {
        fail("not APP:TOLERANCE:SCALE:LARGEST: " + what);
    }
    for (const App &app : apps) {
        if (name == app.name) {
            return compare(app, tolerance, scale, largest, quick);
        }
    }
    fail("there is no app " + name);
}

}  // namespace

int main(int argc, char **argv) {
    bool quick = false;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else {
            failed += compare_named(argv[i], quick);
        }
    }
    return failed ? 1 : 0;
}
