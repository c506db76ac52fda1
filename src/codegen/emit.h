// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of output files, made of a lowered module.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/device_code.h"
#include "codegen/output_type.h"
#include "ir/module.h"
#include "target/target.h"

namespace calotype::internal {

/// True for the types that emit_outputs makes; the others need more than the lowered module.
bool can_emit(OutputFileType type);

/// The bytes of each file asked for. Code is generated once, and only if a type needs it. Nothing
/// is written: the caller can write the whole result out in one go. Notes about device code
/// (DeviceCode::notes) are reported as warnings if code goes into a file. `begins`, if
/// not empty, is called before device code is compiled, with true, and before the host's.
std::map<OutputFileType, std::string>
emit_outputs(const LoweredModule &module, const Target &target,
             const std::set<OutputFileType> &types,
             const std::function<void(bool is_device_code)> &begins = {});

/// A static library (ar, with an index of symbols) of object files, given as name and bytes. No
/// dates, owners or modes: the same members give the same bytes.
std::string make_static_library(const std::vector<std::pair<std::string, std::string>> &objects);

/// The members of a static library as name and bytes, without its index. CompileError if it is not
/// one.
std::vector<std::pair<std::string, std::string>> read_static_library(std::string_view archive);

/// Object files of one machine (ELF, 64 bits), given as name and bytes, as one that has all they have.
std::string merge_objects(const std::vector<std::pair<std::string, std::string>> &objects);

/// Declarations of the module's functions for C and C++.
std::string c_header_text(const LoweredModule &module, const Target &target);
/// The module as C++17, to be compiled for a machine that we generate no code for.
std::string c_source_text(const LoweredModule &module, const Target &target);
/// A C++ file that, linked into a program, tells it of the module's functions before main().
std::string registration_text(const LoweredModule &module, const Target &target);
/// A C++ header that says at compile time what the functions take.
std::string function_info_header_text(const LoweredModule &module);
/// A C++ file that is a Python module with the module's functions, which calotype.runtime calls.
std::string python_extension_text(const LoweredModule &module, const Target &target);
/// A C++ header by which extensions of torch call the module's functions.
std::string pytorch_wrapper_text(const LoweredModule &module, const Target &target);
/// The lowered functions as text of the IR.
std::string stmt_text(const LoweredModule &module);
/// The functions as they were while Funcs had dimensions and values.
std::string conceptual_stmt_text(const LoweredModule &module);
/// Either of them as a page for a browser.
std::string stmt_html_text(const LoweredModule &module, const std::string &text);

/// @name Of the device code of a module; `codes` are those of its device modules, one by one
/// @{
/// The PTX of its CUDA kernels, a comment if there are none.
std::string ptx_text(const LoweredModule &module, const std::vector<DeviceCode> &codes);
/// Its CUDA kernels as CUDA C++, a comment if there are none.
std::string cuda_source_text(const LoweredModule &module, const Target &target);
/// The cubin for the newest architecture that there is one for; empty if there are no CUDA kernels.
/// CompileError if there are kernels but no cubin of them.
std::string cubin_bytes(const LoweredModule &module, const std::vector<DeviceCode> &codes);
/// All images that are text, each under a comment that names it.
std::string device_code_text(const LoweredModule &module, const std::vector<DeviceCode> &codes);
/// What each kernel uses and what was remarked of it, as a table.
std::string device_report_text(const LoweredModule &module, const Target &target,
                               const std::vector<DeviceCode> &codes);
/// "cubin sm_90a", "OpenCL C".
std::string image_name(const DeviceImage &image);
/// @}

}  // namespace calotype::internal
