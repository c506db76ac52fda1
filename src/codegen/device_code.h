// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam between the host's code generator and those of devices: a DeviceModule goes in, its code
// in one or several forms comes out, and what is known of each kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"
#include "runtime/abi/kernels.h"
#include "target/target.h"

namespace calotype::internal {

/// Device code in one form, as calotype_image has it.
struct DeviceImage {
    calotype_kind kind = CALOTYPE_PTX;
    uint32_t sm = 0;    ///< 90 for compute capability 9.0; 0: not for one architecture
    char suffix = 0;    ///< 0, 'a' or 'f'
    std::string bytes;  ///< text: without a NUL at its end
    /// False if nothing that runs could use it: then it is only shown.
    bool is_embedded = true;
};

/// A linkable as it travels with the code.
struct DeviceLinkable {
    LinkableData data;    ///< its images are those that a link at load time may need
    std::string content;  ///< SHA-256 of what it is made of: 32 bytes
    std::string how;      ///< it is linked: "inlined bitcode, setup and teardown"
};

/// What the host must know to launch a kernel; one for each of DeviceModule::kernels, in order.
struct DeviceKernelCode {
    std::string symbol;                ///< its name in the code
    uint32_t max_threads = 0;          ///< of a block; 0: any that the device allows
    uint32_t static_shared_bytes = 0;  ///< of a block, fixed in the code
    uint32_t flags = 0;                ///< calotype_kernel_desc::flags
};

/// What a kernel uses when it is compiled for one architecture. -1: not known.
struct KernelFacts {
    std::string kernel;
    uint32_t sm = 0;
    char suffix = 0;
    int registers = -1;            ///< a thread
    int spill_store_bytes = -1;    ///< a thread
    int spill_load_bytes = -1;     ///< a thread
    int stack_bytes = -1;          ///< a thread
    int static_shared_bytes = -1;  ///< a block
    int threads = -1;              ///< of a block, those that the figures below are for
    int blocks_per_sm = -1;        ///< that run on one multiprocessor at a time
    int occupancy_percent = -1;    ///< of the warps that a multiprocessor can hold
    std::string limited_by;        ///< "registers", "shared memory", "threads", "blocks"
};

/// The code of one device module.
struct DeviceCode {
    std::vector<DeviceImage> images;  ///< in no order of preference: the runtime selects
    std::vector<DeviceKernelCode> kernels;
    std::vector<KernelFacts> facts;
    std::vector<DeviceLinkable> linkables;  ///< in order of set-up
    uint32_t flags = 0;                     ///< calotype_module_desc::flags
    /// Sentences for the user: that no toolkit was found, that a kernel spills.
    std::vector<std::string> notes;
};

/// Compiles a module with the back end of its API. The same module and target give the same bytes.
/// CompileError if the target has no such device or the code cannot be compiled for it.
DeviceCode compile_device_module(const DeviceModule &module, const Target &target);

/// The code of all device modules, one by one.
std::vector<DeviceCode> compile_device_modules(const LoweredModule &module, const Target &target);

/// SHA-256 of everything in the module's descriptor that decides what runs: equal code, equal id.
std::string device_module_uid(const DeviceModule &module, const DeviceCode &code);

/// @name The back ends, each in its folder
/// `target` has strict_float if that was asked for in any way; for OpenCL all implied features.
/// @{
DeviceCode compile_cuda_module(const DeviceModule &module, const Target &target);    // nvptx/
DeviceCode compile_opencl_module(const DeviceModule &module, const Target &target);  // opencl/
/// @}

}  // namespace calotype::internal
