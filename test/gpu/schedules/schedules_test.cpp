// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random pipelines under random GPU schedules, compiled elsewhere, give what they are to give.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "gpu/random/pack.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/runtime_opencl.h"

namespace {

struct ScheduledFunction {
    uint32_t seed;
    int (*cuda)(void **);
    int (*opencl)(void **);
};

#include "schedules_table.h"

extern "C" const char calotype_schedules[], calotype_schedules_end[];
asm(".section .rodata\n"
    "calotype_schedules: .incbin \"" CALOTYPE_SCHEDULES "\"\n"
    "calotype_schedules_end: .byte 0\n"
    ".text\n");

using Image = calotype::Runtime::Buffer<void, 2>;

struct Packed {
    Image image;
    std::string bytes;
};

Packed read_buffer(calotype_test::PackReader &pack) {
    uint32_t code = 0, bits = 0, dims[4] = {};
    pack(code);
    pack(bits);
    for (uint32_t &d : dims) {
        pack(d);
    }
    Packed packed;
    packed.image = Image(calotype_type_t(calotype_type_code_t(code), uint8_t(bits)),
                         {int(dims[1]), int(dims[3])});
    packed.image.set_min({int(dims[0]), int(dims[2])});
    pack(packed.bytes);
    return packed;
}

struct Case {
    uint32_t seed = 0;
    std::string text;
    std::vector<Packed> inputs, outputs;
};

Case read_case(calotype_test::PackReader &pack) {
    Case c;
    uint32_t count = 0;
    pack(c.seed);
    pack(c.text);
    for (std::vector<Packed> *list : {&c.inputs, &c.outputs}) {
        pack(count);
        for (uint32_t i = 0; i < count; i++) {
            list->push_back(read_buffer(pack));
        }
    }
    return c;
}

void check(Case &c, int (*function)(void **)) {
    SCOPED_TRACE("seed " + std::to_string(c.seed) + "\n" + c.text);
    std::vector<void *> args;
    for (Packed &in : c.inputs) {
        std::memcpy(in.image.data(), in.bytes.data(), in.bytes.size());
        in.image.set_host_dirty();
        args.push_back(in.image.raw_buffer());
    }
    for (Packed &out : c.outputs) {
        std::memset(out.image.data(), 0x55, out.bytes.size());
        args.push_back(out.image.raw_buffer());
    }
    ASSERT_EQ(function(args.data()), 0) << calotype_last_error()->log;
    for (Packed &out : c.outputs) {
        ASSERT_EQ(out.image.copy_to_host(), 0);
        const char *got = static_cast<const char *>(out.image.data());
        const size_t size = size_t(out.image.type().bytes());
        const int width = out.image.dim(0).extent();
        for (size_t i = 0; i < out.bytes.size(); i += size) {
            ASSERT_EQ(std::memcmp(got + i, &out.bytes[i], size), 0)
                << "output " << &out - c.outputs.data() << " at "
                << out.image.dim(0).min() + int(i / size) % width << ", "
                << out.image.dim(1).min() + int(i / size) / width;
        }
    }
    for (std::vector<Packed> *list : {&c.inputs, &c.outputs}) {
        for (Packed &p : *list) {
            p.image.device_free();
        }
    }
}

/// Each `step`-th of them.
void check_all(int (*ScheduledFunction::*api)(void **), int step) {
    const ScheduledFunction *function = scheduled_functions;
    calotype_test::PackReader pack(calotype_schedules, calotype_schedules_end);
    for (; pack.has_more(); ++function) {
        Case c = read_case(pack);
        ASSERT_EQ(c.seed, function->seed);
        if ((function - scheduled_functions) % step == 0) {
            check(c, function->*api);
        }
    }
    EXPECT_EQ(function, std::end(scheduled_functions));
}

TEST(Cuda, random_schedules) {
    if (!calotype_cuda_can_run(90)) {
        GTEST_SKIP() << "no CUDA device";
    }
    check_all(&ScheduledFunction::cuda, 1);
}

TEST(OpenCl, random_schedules) {
    if (!calotype_opencl_can_run()) {
        GTEST_SKIP() << "no OpenCL device";
    }
    // A processor takes long to compile them.
    check_all(&ScheduledFunction::opencl, calotype_cuda_can_run(90) ? 1 : 5);
}

}  // namespace
