// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The defined and undefined symbols of an image, as far as they can be read without a linker; and
// the errors that can be told from that.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/linkables/opencl_types.h"
#include "codegen/nvptx/capability.h"
#include "ir/linkable.h"

namespace calotype::internal {

/// A function of PTX: how many bytes its parameters and its result are. 0: no result.
struct PtxSignature {
    std::vector<int> parameters;
    int result = 0;

    bool operator==(const PtxSignature &other) const {
        return parameters == other.parameters && result == other.result;
    }
};
/// The signature that a call expects.
PtxSignature ptx_signature(const LinkedFunction &function);

struct ImageSymbols {
    std::set<std::string> defined;    ///< functions and variables that others can see
    std::set<std::string> functions;  ///< those of `defined` that are functions
    std::set<std::string> undefined;
    std::set<std::string> weak;  ///< those of `defined` that may be defined elsewhere too
    std::map<std::string, PtxSignature> signatures;  ///< of functions, in PTX
    std::set<std::string> twice;  ///< those of `defined` that several parts of a file define
    bool is_whole = true;         ///< false if there may be more names, in LTO-IR or made by macros
    /// Of functions of OpenCL C, each with all that it may have: preprocessors choose.
    std::map<std::string, std::vector<OpenclSignature>> opencl;
};

/// Of PTX text.
ImageSymbols ptx_symbols(const std::string &ptx);
/// Functions of OpenCL C that are written out.
ImageSymbols opencl_symbols(const std::string &source);
/// Nothing for what only a linker can read: LTO-IR, CUDA C++. Of a file with several forms of its
/// code, those for one architecture.
std::optional<ImageSymbols> symbols_of(const LinkableData &linkable, const LinkableImage &image,
                                       Capability capability);

/// An image that is part of a module's code.
struct UsedImage {
    const LinkableData *linkable = nullptr;
    const LinkableImage *image = nullptr;
    std::optional<ImageSymbols> symbols;
};
/// Reads the symbols of `image`.
UsedImage used_image(const LinkableData &linkable, const LinkableImage &image,
                     Capability capability = {});

/// CompileError if a function that kernels call is in none of the images, or has other parameters
/// there, or if a name is defined twice. `images` are those of `linked` that the device can use.
void check_symbols(const LinkedCode &linked, const std::vector<UsedImage> &images);
/// CompileError if one of them calls the device runtime, which none of them is. Nothing if names
/// are not known.
void check_device_runtime(const std::vector<UsedImage> &images);

}  // namespace calotype::internal
