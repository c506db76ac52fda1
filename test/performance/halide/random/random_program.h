// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs of random pipelines share: choices that follow from a seed, times, checksums, and the line that is
// printed. It compiles against either Halide.h.
//
//     PROGRAM SEED [WIDTH HEIGHT]
//
// It is for a GPU where HL_JIT_TARGET is, as host-cuda; prints one line, {"seed": ..., "compile_ms": ..., "run_ms": ...,
// "sum": ...}, or {"seed": ..., "error": ...} where the schedule is refused. SHOW=1 also describes the pipeline on stderr;
// STMT=FILE, ASM=FILE and OBJ=FILE write what it becomes; PLAIN=1 leaves out the schedule.
#pragma once
#include "Halide.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace random_programs {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Type;
using Halide::Var;

// Engines are the same everywhere, distributions are not.
class Dice {
public:
    explicit Dice(unsigned seed) : engine_(seed * 7919 + 17) {
    }
    int below(int n) {
        return static_cast<int>(engine_() % static_cast<unsigned>(n));
    }
    int between(int low, int high) {
        return low + below(high - low + 1);
    }
    bool chance(int percent) {
        return below(100) < percent;
    }
    template<typename T>
    T of(const std::vector<T> &values) {
        return values[static_cast<size_t>(below(static_cast<int>(values.size())))];
    }

private:
    std::mt19937 engine_;
};

// Of vectors of a type: those of a register of 32 bytes, or sometimes of 16.
inline int lanes(Dice &dice, Type type) {
    return std::max(4, (dice.chance(80) ? 32 : 16) / type.bytes());
}

inline std::string text_of(Type type) {
    std::ostringstream out;
    out << type;
    return out.str();
}

inline bool is_set(const char *variable) {
    return std::getenv(variable) != nullptr;
}

inline double clock_ms() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

// With one thread processor time: other processes disturb it less than a clock on the wall.
inline double now_ms() {
    static const char *const threads = std::getenv("HL_NUM_THREADS");
    static const bool is_of_processor = threads == nullptr || std::strcmp(threads, "1") == 0;
    if (is_of_processor) {
        return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    }
    return clock_ms();
}

template<typename T>
double sum_of(const Halide::Buffer<> &values) {
    Halide::Buffer<T> typed(values);
    double sum = 0;
    typed.for_each_element([&](const int *at) {
        sum += static_cast<double>(typed(at)) * (1 + (at[0] + 3 * at[typed.dimensions() - 1]) % 7);
    });
    return sum;
}

inline double checksum(const Halide::Buffer<> &values) {
    const Type type = values.type();
    if (type == Halide::UInt(8)) {
        return sum_of<uint8_t>(values);
    } else if (type == Halide::UInt(16)) {
        return sum_of<uint16_t>(values);
    } else if (type == Halide::Int(8)) {
        return sum_of<int8_t>(values);
    } else if (type == Halide::Int(16)) {
        return sum_of<int16_t>(values);
    } else if (type == Halide::UInt(32)) {
        return sum_of<uint32_t>(values);
    } else if (type == Halide::Int(32)) {
        return sum_of<int32_t>(values);
    }
    if (type == Halide::Float(64)) {
        return sum_of<double>(values);
    }
    return sum_of<float>(values);
}

inline void write_down(const Func &made) {
    Func func = made;
    const Halide::Target target = Halide::get_jit_target_from_environment();
    if (const char *file = std::getenv("STMT")) {
        func.compile_to_lowered_stmt(file, func.infer_arguments(), Halide::Text, target);
    }
    if (const char *file = std::getenv("ASM")) {
        func.compile_to_assembly(file, func.infer_arguments(), "pipeline", target);
    }
    if (const char *file = std::getenv("OBJ")) {
        func.compile_to_object(file, func.infer_arguments(), "pipeline",
                               target.without_feature(Halide::Target::JIT));
    }
}

// The least time of a call on the host.
inline double time_on_host(Func &out, Halide::Buffer<> &result) {
    std::vector<double> times;
    double spent = 0;
    while (times.size() < 3 || (spent < 400 && times.size() < 40)) {
        const double from = now_ms();
        out.realize(result);
        times.push_back(now_ms() - from);
        spent += times.back();
    }
    return *std::min_element(times.begin(), times.end());
}

// The least time of a call among calls that follow one another, so that kernels take longer than launching them.
inline double time_on_gpu(Func &out, Halide::Buffer<> &result) {
    constexpr int calls = 10;
    std::vector<double> times;
    for (int batch = 0; batch < 8; ++batch) {
        const double from = clock_ms();
        for (int i = 0; i < calls; ++i) {
            out.realize(result);
        }
        result.device_sync();
        times.push_back((clock_ms() - from) / calls);
    }
    result.copy_to_host();
    return *std::min_element(times.begin(), times.end());
}

// Compile it, call it several times, and print the line.
inline void measure(unsigned seed, Func out, Halide::Buffer<> result) {
    write_down(out);
    const double from = now_ms();
    out.compile_jit();
    const double compile = now_ms() - from;
    const bool on_gpu = Halide::get_jit_target_from_environment().has_gpu_feature();
    const double time = on_gpu ? time_on_gpu(out, result) : time_on_host(out, result);
    const double sum = checksum(result);
    std::printf("{\"seed\": %u, \"compile_ms\": %.2f, \"run_ms\": %.4f, \"sum\": ", seed, compile,
                time);
    std::printf(std::isfinite(sum) ? "%.9g}\n" : "\"not finite\"}\n", sum);
}

// run(seed, width, height) makes the program of the seed and measures it.
template<typename Run>
int run_program(int argc, char **argv, int width, int height, Run run) {
    if (argc != 2 && argc != 4) {
        std::fprintf(stderr, "usage: %s SEED [WIDTH HEIGHT]\n", argv[0]);
        return 2;
    }
    const unsigned seed = static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10));
    try {
        run(seed, argc == 4 ? std::atoi(argv[2]) : width, argc == 4 ? std::atoi(argv[3]) : height);
    } catch (const Halide::Error &error) {
        std::string text = error.what();
        std::replace(text.begin(), text.end(), '"', '\'');
        std::replace(text.begin(), text.end(), '\n', ' ');
        std::printf("{\"seed\": %u, \"error\": \"%s\"}\n", seed, text.c_str());
    }
    return 0;
}

}  // namespace random_programs
