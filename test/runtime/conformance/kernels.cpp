// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of the suite in their three forms.
#include "runtime/conformance/conformance.h"

namespace calotype_test {

const char *conformance_ptx() {
    return R"(.version 6.0
.target sm_50
.address_size 64

.extern .shared .align 16 .b8 block_memory[];

.visible .entry fill(.param .u64 out, .param .u32 value, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %i, %t, %b, %n, %v;
    .reg .b64 %a, %o;
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.s32 %i, %b, %n, %t;
    ld.param.u32 %n, [n];
    setp.ge.s32 %p, %i, %n;
    @%p bra done;
    ld.param.u64 %a, [out];
    ld.param.u32 %v, [value];
    cvta.to.global.u64 %a, %a;
    mul.wide.s32 %o, %i, 4;
    add.s64 %a, %a, %o;
    add.s32 %v, %v, %i;
    st.global.u32 [%a], %v;
done:
    ret;
}

.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %i, %t, %b, %n, %v, %w;
    .reg .b64 %a, %o;
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.s32 %i, %b, %n, %t;
    ld.param.u32 %n, [n];
    setp.ge.s32 %p, %i, %n;
    @%p bra done;
    mul.wide.s32 %o, %i, 4;
    ld.param.u64 %a, [a];
    cvta.to.global.u64 %a, %a;
    add.s64 %a, %a, %o;
    ld.global.u32 %v, [%a];
    ld.param.u64 %a, [b];
    cvta.to.global.u64 %a, %a;
    add.s64 %a, %a, %o;
    ld.global.u32 %w, [%a];
    add.s32 %v, %v, %w;
    ld.param.u64 %a, [out];
    cvta.to.global.u64 %a, %a;
    add.s64 %a, %a, %o;
    st.global.u32 [%a], %v;
done:
    ret;
}

.visible .entry reverse(.param .u64 data)
{
    .reg .b32 %i, %t, %b, %n, %v, %s, %m;
    .reg .b64 %a, %o;
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.s32 %i, %b, %n, %t;
    ld.param.u64 %a, [data];
    cvta.to.global.u64 %a, %a;
    mul.wide.s32 %o, %i, 4;
    add.s64 %a, %a, %o;
    ld.global.u32 %v, [%a];
    mov.u32 %m, block_memory;
    mad.lo.s32 %s, %t, 4, %m;
    st.shared.u32 [%s], %v;
    bar.sync 0;
    sub.s32 %t, %n, %t;
    sub.s32 %t, %t, 1;
    mad.lo.s32 %s, %t, 4, %m;
    ld.shared.u32 %v, [%s];
    st.global.u32 [%a], %v;
    ret;
}
)";
}

const char *conformance_opencl_c() {
    return R"(
__kernel void fill(__global uchar *out_base, ulong out_offset, int value, int n) {
    __global int *out = (__global int *)(out_base + out_offset);
    int i = get_global_id(0);
    if (i < n) out[i] = value + i;
}
__kernel void add(__global uchar *a_base, ulong a_offset, __global uchar *b_base, ulong b_offset,
                  __global uchar *out_base, ulong out_offset, int n) {
    __global int *a = (__global int *)(a_base + a_offset);
    __global int *b = (__global int *)(b_base + b_offset);
    __global int *out = (__global int *)(out_base + out_offset);
    int i = get_global_id(0);
    if (i < n) out[i] = a[i] + b[i];
}
__kernel void reverse(__global uchar *base, ulong offset, __local int *block) {
    __global int *data = (__global int *)(base + offset);
    int t = get_local_id(0);
    block[t] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = block[get_local_size(0) - 1 - t];
}
)";
}

namespace {

/// The arguments of a launch one after another, whether buffers come with offsets or not.
class Arguments {
    const FakeLaunch &launch;
    uint32_t at = 0;

public:
    explicit Arguments(const FakeLaunch &launch) : launch(launch) {
    }
    int *buffer() {
        const FakeArgument &argument = launch.args[at++];
        auto *memory = static_cast<uint8_t *>(argument.memory);
        // An offset follows unless the next argument is another buffer, a number or nothing.
        if (at < launch.n_args && launch.args[at].bytes == 8 && !launch.args[at].memory) {
            memory += *static_cast<const uint64_t *>(launch.args[at++].value);
        }
        return reinterpret_cast<int *>(memory);
    }
    int number() {
        return *static_cast<const int *>(launch.args[at++].value);
    }
};

int threads_of(const FakeLaunch &launch) {
    return int(launch.grid[0] * launch.block[0]);
}

void fill(const FakeLaunch &launch) {
    Arguments arguments(launch);
    int *out = arguments.buffer();
    const int value = arguments.number(), n = arguments.number();
    for (int i = 0; i < threads_of(launch) && i < n; i++) {
        out[i] = value + i;
    }
}

void add(const FakeLaunch &launch) {
    Arguments arguments(launch);
    const int *a = arguments.buffer(), *b = arguments.buffer();
    int *out = arguments.buffer();
    const int n = arguments.number();
    for (int i = 0; i < threads_of(launch) && i < n; i++) {
        out[i] = a[i] + b[i];
    }
}

void reverse(const FakeLaunch &launch) {
    int *data = Arguments(launch).buffer();
    for (uint32_t b = 0; b < launch.grid[0]; b++) {
        for (uint32_t i = 0, j = launch.block[0] - 1; i < j; i++, j--) {
            std::swap(data[b * launch.block[0] + i], data[b * launch.block[0] + j]);
        }
    }
}

}  // namespace

const std::vector<ConformanceKernel> &conformance_kernels() {
    static const std::vector<ConformanceKernel> kernels = {
        {"fill", fill}, {"add", add}, {"reverse", reverse}};
    return kernels;
}

}  // namespace calotype_test
