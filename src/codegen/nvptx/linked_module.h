// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LinkedModule: what a module's kernels take from linkables, made ready for CUDA. LLVM bitcode goes
// into our half before it is optimised; the rest is linked with it to complete cubins.
#pragma once

#include <string>
#include <vector>

#include "codegen/device_code.h"
#include "codegen/nvptx/assemble.h"
#include "codegen/nvptx/capability.h"
#include "codegen/nvptx/kernels.h"
#include "codegen/nvptx/nvjitlink.h"
#include "codegen/nvptx/toolkit.h"

namespace calotype::internal {

class LinkedModule {
public:
    /// `oldest` is what code for later devices is made for, `oldest_cubin` the first machine code.
    /// The device runtime, if there is one, is that for debugging if asked for. CompileError if a
    /// linkable has no code for CUDA, cannot be compiled, or does not fit.
    LinkedModule(const DeviceModule &module, Capability oldest, Capability oldest_cubin,
                 const CudaToolkit &toolkit, bool is_for_debugging);
    LinkedModule(const LinkedModule &) = delete;
    LinkedModule &operator=(const LinkedModule &) = delete;

    bool empty() const {
        return parts_.empty();
    }
    /// True if there is code that is not inlined as bitcode.
    bool needs_link() const;
    /// True if our half is to be LTO-IR, made of CUDA C++.
    bool is_lto() const {
        return is_lto_;
    }
    /// True if the device runtime is part of it.
    bool has_device_runtime() const {
        return has_device_runtime_;
    }
    const DeviceBitcode &bitcode() const {
        return bitcode_;
    }

    /// "linkable rng (rng.cubin) has no code that links for sm_90: ..." of the first that has none;
    /// "" if all have.
    std::string missing_for(Capability capability) const;
    /// Code for one architecture alone makes all it is linked with such code: sm_90 becomes sm_90a.
    Capability made_for(Capability capability) const;
    /// A complete cubin of our half and all linkables for made_for(capability); none if the toolkit
    /// makes no code for the architecture. CompileError if they do not link.
    Assembly link(const DeviceImage &kernels, Capability capability);
    /// The linkables as they travel with the module, given the architectures that are linked. Our
    /// PTX may be needed only if *ptx_links stays true.
    std::vector<DeviceLinkable> travelling(const std::vector<Capability> &linked, bool *ptx_links);

private:
    struct Part {
        LinkableData data;    ///< with images for CUDA alone, compiled from source where need be
        std::string content;  ///< digest of it as it was given
        bool is_inlined = false;
        std::vector<std::string> how;
    };

    void add_part(const LinkableData &linkable);
    void add_device_runtime(bool is_for_debugging);
    void compile_sources(Part &part);
    void compile_bitcode(Part &part);
    void check_lto(const Part &part) const;
    void check_parts();
    const LinkableImage *choose(const Part &part, Capability capability) const;
    /// What goes into the code for an architecture.
    std::vector<std::string> titles_for(Capability capability) const;
    std::string explain_no_code(const Part &part, Capability capability) const;
    void explain_failure(const LinkResult &result, const std::vector<LinkInput> &inputs,
                         Capability capability) const;
    std::string explain_undefined(const std::string &log, Capability capability) const;
    std::string explain_duplicate(const std::string &log) const;
    std::string title_of_input(const std::string &input) const;
    std::string who_needs(const std::string &symbol, const std::string &input) const;

    const DeviceModule &module_;
    Capability oldest_, oldest_cubin_;
    const CudaToolkit &toolkit_;
    std::vector<Part> parts_;
    DeviceBitcode bitcode_;
    bool is_lto_ = false, has_device_runtime_ = false;
};

}  // namespace calotype::internal
