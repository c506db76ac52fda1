// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every device must do, written once. It runs wherever somebody implements ConformanceDevice:
//
//     INSTANTIATE_TEST_SUITE_P(Cuda, Conformance, ::testing::Values(make_cuda_device));
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/fake_calls.h"
#include "runtime/abi/device_interface.h"
#include "runtime/abi/kernels.h"
#include "runtime/abi/type_of.h"

namespace calotype_test {

class ConformanceDevice {
public:
    virtual ~ConformanceDevice() = default;
    /// Why the tests cannot run here; "" if they can.
    virtual std::string why_not() = 0;
    virtual const calotype_device_interface_t *(*device_interface())() = 0;
    /// A new context with a stream of its own: the user context of calls that use it. Null stands
    /// for the default one.
    virtual void *make_context() = 0;
    virtual void end_context(void *user_context) = 0;
    /// The kernels in a form for the device: conformance_ptx() or conformance_opencl_c().
    virtual calotype_image image() = 0;
    /// What calotype_device_wrap_native() takes for the memory of a buffer.
    virtual uint64_t native_handle(calotype_buffer_t *buf) = 0;
};
using MakeConformanceDevice = std::unique_ptr<ConformanceDevice> (*)();

/// The kernels, in the order of the module's descriptor, as text for devices and, for fakes, as
/// functions of the host:
///   fill(int *out, int value, int n)            out[i] = value + i
///   add(int *a, int *b, int *out, int n)        out[i] = a[i] + b[i]
///   reverse(int *data)                          each block of 64 backwards, by dynamic shared
///   memory
extern const char *conformance_ptx();
extern const char *conformance_opencl_c();
struct ConformanceKernel {
    const char *name;
    FakeKernel function;
};
extern const std::vector<ConformanceKernel> &conformance_kernels();

class Conformance : public ::testing::TestWithParam<MakeConformanceDevice> {
protected:
    std::unique_ptr<ConformanceDevice> device;
    const calotype_device_interface_t *interface = nullptr;
    calotype_image module_image = {};
    calotype_module_desc module = {};

    void SetUp() override;
    void TearDown() override;

    /// Launch in blocks of 64 threads, held for the time of the launch; the error code.
    int launch(void *context, uint32_t kernel, int threads, std::vector<void *> args,
               int shared_bytes = 0);
    /// Errors reported since the last call, one a line.
    static std::string errors();
};

}  // namespace calotype_test
