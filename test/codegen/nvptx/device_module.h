// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels written as text, and the code made of them.
#pragma once

#include <string>
#include <vector>

#include "codegen/device_code.h"
#include "codegen/nvptx/capability.h"

namespace calotype::internal {

/// A buffer argument that the kernel only reads, or also writes.
KernelArgument input(const std::string &name, Type t, int alignment = 0);
KernelArgument output(const std::string &name, Type t, int alignment = 0);
KernelArgument scalar(const std::string &name, Type t);

/// A kernel "k" whose body is the text.
DeviceKernel kernel(const std::string &body, const std::vector<KernelArgument> &args,
                    int64_t threads = 128);
/// out[thread] = the expression, of which src[thread] is a part.
DeviceKernel pointwise(const std::string &e, Type from, Type to);
DeviceModule module_of(const std::vector<DeviceKernel> &kernels);

/// PTX of the one kernel for an architecture; "strict_float" and the like may be asked for. The
/// toolkit's libdevice is used only if asked for.
struct PtxOptions {
    int sm = 80;
    char suffix = 0;  ///< 'a': for that architecture alone
    std::vector<Target::Feature> features;
    bool libdevice = false;
};
std::string ptx_of(const DeviceKernel &kernel, const PtxOptions &options = {});

/// How often the text has the part.
int count(const std::string &text, const std::string &part);

/// The architectures that the toolkit here makes code for; none without one.
const std::vector<Capability> &assembled_architectures();

/// Assembles for each of them, at or above the PTX's own, or for its own alone; fails the test with the log.
void expect_assembles(const DeviceKernel &kernel, const PtxOptions &options = {});
/// PTX of a kernel that must assemble.
std::string checked_ptx(const DeviceKernel &kernel, const PtxOptions &options = {});

}  // namespace calotype::internal
