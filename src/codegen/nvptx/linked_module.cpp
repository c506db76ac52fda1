// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/linked_module.h"

#include <algorithm>

#include "codegen/device_runtime.h"
#include "codegen/linkables/choice.h"
#include "codegen/linkables/device_parts.h"
#include "codegen/linkables/linkable.h"
#include "codegen/linkables/symbols.h"
#include "codegen/nvptx/cuda_source.h"
#include "codegen/nvptx/kernels.h"
#include "codegen/nvptx/nvjitlink.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

bool is_for_cuda(const LinkableData &linkable, const LinkableImage &image) {
    switch (image.kind) {
    case CALOTYPE_OPENCL_C:
    case CALOTYPE_HOST_ONLY:
        return false;
    case CALOTYPE_BITCODE:
        return is_bitcode_for_cuda({&linkable, &image});
    default:
        return true;
    }
}

bool has_bitcode(const LinkableData &linkable) {
    return find_kind(linkable, CALOTYPE_BITCODE) != nullptr;
}

/// True if there is LTO-IR in it, or will be.
bool offers_lto_ir(const LinkableData &linkable) {
    return find_kind(linkable, CALOTYPE_CU) ||
           std::any_of(linkable.images.begin(), linkable.images.end(), holds_lto_ir);
}

/// Only images for CUDA. CompileError if those are none, but code for something else.
LinkableData for_cuda(const LinkableData &linkable) {
    LinkableData data = linkable;
    data.images.clear();
    bool has_opencl = false;
    for (const LinkableImage &image : linkable.images) {
        has_opencl |= image.kind == CALOTYPE_OPENCL_C;
        if (is_for_cuda(linkable, image)) {
            data.images.push_back(image);
        }
    }
    user_assert(!data.images.empty() || !has_opencl || linkable.is_optional)
        << linkable_title(linkable) << " holds " << image_titles(linkable)
        << ", which kernels for CUDA cannot call; give it PTX, a cubin, CUDA C++ or LLVM bitcode";
    return data;
}

/// The names of `image`; where it does not tell them all, those of PTX of the same code, as CUDA
/// C++ always has it.
UsedImage readable_image(const LinkableData &linkable, const LinkableImage &image,
                         Capability capability) {
    UsedImage used = used_image(linkable, image, capability);
    const LinkableImage *ptx = find_kind(linkable, CALOTYPE_PTX);
    const bool is_known = used.symbols && used.symbols->is_whole;
    return is_known || !ptx ? used : used_image(linkable, *ptx, capability);
}

/// What stands in quotes behind `words`, or "".
std::string quoted_behind(const std::string &log, const std::string &words) {
    const size_t at = log.find(words + "'");
    if (at == std::string::npos) {
        return "";
    }
    const size_t begin = at + words.size() + 1;
    return log.substr(begin, log.find('\'', begin) - begin);
}

std::string where_toolkit_is(const CudaToolkit &toolkit) {
    return toolkit.root.empty() ? "no CUDA toolkit was found ($CUDA_HOME, $CUDA_PATH, "
                                  "/usr/local/cuda, ptxas on $PATH)"
                                : "neither is in the CUDA toolkit in " + toolkit.root;
}

}  // namespace

LinkedModule::LinkedModule(const DeviceModule &module, Capability oldest, Capability oldest_cubin,
                           const CudaToolkit &toolkit, bool is_for_debugging)
    : module_(module), oldest_(oldest), oldest_cubin_(oldest_cubin), toolkit_(toolkit) {
    add_device_runtime(is_for_debugging);
    for (const LinkableData &linkable : module.linked.linkables) {
        add_part(linkable);
    }
    for (const Part &part : parts_) {
        is_lto_ |= part.data.lto == LtoMode::Require && !part.data.images.empty() &&
                   !has_bitcode(part.data);
    }
    const bool all_inlined =
        !is_lto_ && std::all_of(parts_.begin(), parts_.end(), [](const Part &part) {
            return part.data.images.empty() || has_bitcode(part.data);
        });
    for (size_t i = 0; i < parts_.size(); i++) {
        Part &part = parts_[i];
        check_lto(part);
        const bool is_runtime = has_device_runtime_ && i == 0;
        const bool takes_bitcode = !is_lto_ && (all_inlined || !is_runtime);
        part.is_inlined = takes_bitcode && has_bitcode(part.data);
        compile_sources(part);
        if (has_bitcode(part.data) && !part.is_inlined) {
            compile_bitcode(part);
        }
    }
    check_parts();
}

void LinkedModule::add_part(const LinkableData &linkable) {
    Part part;
    part.data = for_cuda(linkable);
    part.content = linkable_digest(linkable);
    parts_.push_back(std::move(part));
}

void LinkedModule::add_device_runtime(bool is_for_debugging) {
    std::string user = module_.linked.needs_device_runtime ? "module " + module_.name : "";
    for (const LinkableData &linkable : module_.linked.linkables) {
        user = user.empty() && linkable.nrt ? linkable_title(linkable) : user;
    }
    if (user.empty()) {
        return;
    }
    LinkableData runtime = device_runtime_linkable(is_for_debugging);
    user_assert(!runtime.images.empty())
        << user << " uses the device runtime (nrt), which is not in this build of Calotype: it was "
        << "built without a compiler for CUDA C++";
    has_device_runtime_ = true;
    add_part(runtime);
}

void LinkedModule::check_lto(const Part &part) const {
    const LinkableData &data = part.data;
    if (data.lto != LtoMode::Require || data.images.empty() || has_bitcode(data)) {
        return;
    }
    user_assert(offers_lto_ir(data))
        << linkable_title(data) << " requires LTO (lto=require), but it holds "
        << image_titles(data)
        << "; give it LTO-IR, CUDA C++ or LLVM bitcode, or allow a call (lto=allow)";
    user_assert(can_compile_cuda(toolkit_))
        << linkable_title(data)
        << " requires LTO (lto=require), for which NVRTC or nvcc must compile the kernels, and "
        << where_toolkit_is(toolkit_);
}

// CUDA C++ becomes PTX and, where that is linked, LTO-IR.
void LinkedModule::compile_sources(Part &part) {
    const LinkableImage *source = find_kind(part.data, CALOTYPE_CU);
    if (!source || part.is_inlined) {
        return;
    }
    user_assert(can_compile_cuda(toolkit_))
        << linkable_title(part.data, *source)
        << " is CUDA C++, which NVRTC or nvcc must compile, and " << where_toolkit_is(toolkit_);
    user_assert(part.data.is_embedded)
        << linkable_title(part.data, *source)
        << " is CUDA C++, which is compiled now, so it cannot be read when the program runs "
        << "(embed=0); give it PTX or a cubin";
    std::vector<LinkableImage> images;
    const bool wants_lto_ir = is_lto_ && part.data.lto != LtoMode::Never;
    for (CudaForm form : {CudaForm::Ptx, CudaForm::LtoIr}) {
        const bool is_ptx = form == CudaForm::Ptx;
        if (!is_ptx && !wants_lto_ir) {
            continue;
        }
        const Capability c = compilable(is_ptx ? oldest_ : oldest_cubin_, toolkit_);
        CudaCompilation code = compile_cuda(source->bytes, source->origin, form, c, toolkit_);
        user_assert(code.ok) << linkable_title(part.data, *source) << " does not compile for "
                             << to_string(c) << ":\n"
                             << code.log;
        images.push_back({is_ptx ? CALOTYPE_PTX : CALOTYPE_LTOIR, uint32_t(c.sm), c.suffix,
                          std::move(code.bytes), source->origin});
    }
    for (LinkableImage &image : part.data.images) {
        if (image.kind != CALOTYPE_CU) {
            images.push_back(std::move(image));
        }
    }
    part.data.images = std::move(images);
}

// Where our half is not LLVM's, or others must find its functions, bitcode is linked as PTX.
void LinkedModule::compile_bitcode(Part &part) {
    std::vector<LinkableImage> images;
    for (const LinkableImage &image : part.data.images) {
        if (image.kind != CALOTYPE_BITCODE) {
            images.push_back(image);
        }
    }
    if (images.empty()) {
        const BitcodeImage bitcode = {&part.data, find_kind(part.data, CALOTYPE_BITCODE)};
        images.push_back({CALOTYPE_PTX, uint32_t(oldest_.sm), oldest_.suffix,
                          bitcode_ptx(bitcode, oldest_, toolkit_), bitcode.image->origin});
    }
    part.data.images = std::move(images);
}

// Names are checked with the images that the first cubin takes: forms of one library are alike.
void LinkedModule::check_parts() {
    std::vector<UsedImage> used;
    for (Part &part : parts_) {
        if (part.is_inlined) {
            const LinkableImage *image = find_kind(part.data, CALOTYPE_BITCODE);
            bitcode_.images.push_back({&part.data, image});
            used.push_back(used_image(part.data, *image));
            continue;
        }
        const LinkableImage *image = choose(part, oldest_cubin_);
        image = image || part.data.images.empty() ? image : &part.data.images[0];
        if (image) {
            user_assert(!is_cut_off(*image))
                << linkable_title(part.data, *image) << ": " << image_title(*image)
                << " is cut off: it ends before what its header tells of";
            used.push_back(readable_image(part.data, *image, oldest_cubin_));
        }
    }
    check_symbols(module_.linked, used);
    if (!has_device_runtime_) {
        check_device_runtime(used);
    }
    for (const UsedImage &u : used) {
        if (!u.symbols || u.image->kind == CALOTYPE_BITCODE) {
            continue;
        }
        bitcode_.wanted.insert(u.symbols->undefined.begin(), u.symbols->undefined.end());
        for (const std::string &kernel : kernel_symbols(module_)) {
            user_assert(!u.symbols->defined.count(kernel))
                << "kernel " << kernel << " has the name of function " << kernel << " of "
                << linkable_title(*u.linkable, *u.image);
        }
    }
}

bool LinkedModule::needs_link() const {
    return is_lto_ || std::any_of(parts_.begin(), parts_.end(), [](const Part &part) {
               return !part.is_inlined && !part.data.images.empty();
           });
}

const LinkableImage *LinkedModule::choose(const Part &part, Capability capability) const {
    return choose_image(part.data, capability, is_lto_);
}

std::string LinkedModule::explain_no_code(const Part &part, Capability capability) const {
    const LinkableImage *lto_ir = find_kind(part.data, CALOTYPE_LTOIR);
    std::string text = linkable_title(part.data) + " has no code that links for " +
                       to_string(capability) + ": it holds " + image_titles(part.data);
    for (const LinkableImage &image : part.data.images) {
        if (image.suffix && int(image.sm) <= capability.sm && !suits(image, capability)) {
            return text + ", and " + kind_name(image.kind) + " with suffix " + image.suffix +
                   " is for " +
                   (image.suffix == 'a' ? "its own architecture" : "those of its family") +
                   " alone; build it without";
        }
    }
    if (lto_ir && !suits(*lto_ir, capability)) {
        return text + ", and LTO-IR must not be newer than the target; build it for " +
               to_string(capability) + " or older";
    }
    if (lto_ir && part.data.lto == LtoMode::Never) {
        return text + ", and LTO-IR links only with LTO, which is forbidden (lto=never); allow "
                      "it, or add PTX or a cubin";
    }
    return text + "; add PTX, or a cubin of that architecture";
}

std::string LinkedModule::missing_for(Capability capability) const {
    for (const Part &part : parts_) {
        if (!part.is_inlined && !part.data.images.empty() && !part.data.is_optional &&
            !choose(part, capability)) {
            return explain_no_code(part, capability);
        }
    }
    return "";
}

Capability LinkedModule::made_for(Capability capability) const {
    for (const Part &part : parts_) {
        const LinkableImage *image = part.is_inlined ? nullptr : choose(part, capability);
        if (image && (image->suffix == 'a' || (image->suffix == 'f' && !capability.suffix))) {
            capability.suffix = image->suffix;
        }
    }
    return capability;
}

Assembly LinkedModule::link(const DeviceImage &kernels, Capability capability) {
    std::vector<LinkInput> inputs = {
        {kernels.kind, &kernels.bytes, "kernels", kernels.kind == CALOTYPE_LTOIR}};
    const std::string cubin = "cubin " + to_string(capability);
    for (Part &part : parts_) {
        const LinkableImage *image = part.is_inlined ? nullptr : choose(part, capability);
        if (image) {
            const bool lto_ir = holds_lto_ir(*image);
            inputs.push_back({image->kind, &image->bytes, part.data.name, lto_ir});
            part.how.push_back(image_title(*image) +
                               (lto_ir && is_lto_ ? " inlined into " : " linked into ") + cubin);
        }
    }
    LinkResult result = link_in_child(inputs, capability, toolkit_);
    if (!result.ok && can_assemble_for(capability, toolkit_)) {
        explain_failure(result, inputs, capability);
    }
    return {result.ok, std::move(result.cubin), std::move(result.log)};
}

std::vector<std::string> LinkedModule::titles_for(Capability capability) const {
    std::vector<std::string> titles;
    for (const Part &part : parts_) {
        const LinkableImage *image =
            part.is_inlined ? find_kind(part.data, CALOTYPE_BITCODE) : choose(part, capability);
        if (image) {
            titles.push_back(linkable_title(part.data, *image));
        }
    }
    return titles;
}

void LinkedModule::explain_failure(const LinkResult &result, const std::vector<LinkInput> &inputs,
                                   Capability capability) const {
    const std::string target = to_string(capability);
    user_assert(result.crash.empty())
        << "nvJitLink crashed with " << result.crash << " as it linked module " << module_.name
        << " for " << target << " with " << join(titles_for(capability), ", ")
        << ": one of these is damaged";
    if (result.refused_input > 0) {
        const LinkInput &input = inputs[size_t(result.refused_input)];
        for (const Part &part : parts_) {
            const LinkableImage *image = choose(part, capability);
            if (image && part.data.name == input.name) {
                user_error << linkable_title(part.data, *image) << ": " << image_title(*image)
                           << " does not link for " << target
                           << (image->kind == CALOTYPE_LTOIR
                                   ? "; LTO-IR must be made by a toolkit that is no newer than "
                                     "the linker, for that architecture or an older one"
                                   : "; it is damaged, or made for other architectures")
                           << ": nvJitLink answered " << result.code << "\n"
                           << result.log;
            }
        }
    }
    for (const std::string &text :
         {explain_undefined(result.log, capability), explain_duplicate(result.log)}) {
        user_assert(text.empty()) << text;
    }
    user_error << "module " << module_.name << " does not link with its linkables for " << target
               << ": nvJitLink answered " << result.code << "\n"
               << result.log;
}

// "Undefined reference to 'NAME' in 'INPUT'", of which the first is explained; with LTO
// "Unresolved extern function 'NAME'".
std::string LinkedModule::explain_undefined(const std::string &log, Capability capability) const {
    std::string symbol = quoted_behind(log, "Undefined reference to ");
    for (const char *words : {"Unresolved extern function ", "Unresolved extern variable "}) {
        symbol = symbol.empty() ? quoted_behind(log, words) : symbol;
    }
    if (symbol.empty()) {
        return "";
    }
    const std::string input = quoted_behind(log, "Undefined reference to '" + symbol + "' in ");
    std::string text = "device function " + symbol + ", which " + who_needs(symbol, input);
    if (starts_with(symbol, "NRT_") && !has_device_runtime_) {
        return text + " calls, belongs to the device runtime, which is not linked: add nrt to the "
                      "linkable that calls it";
    }
    text +=
        " calls, is defined neither by the kernels nor by " + join(titles_for(capability), " or ");
    const bool may_be_dropped =
        !is_lto_ && std::any_of(parts_.begin(), parts_.end(), [](const Part &part) {
            return std::any_of(part.data.images.begin(), part.data.images.end(), holds_lto_ir);
        });
    return may_be_dropped ? text + "; LTO-IR that has kernels of its own loses functions that only "
                                   "PTX calls: ask for lto=require, or add PTX"
                          : text;
}

// "INPUT: link error: error: Linking globals named 'NAME': symbol multiply defined!" of LTO-IR.
std::string LinkedModule::explain_duplicate(const std::string &log) const {
    const std::string symbol = quoted_behind(log, "Linking globals named ");
    const std::string input = log.substr(0, log.find(": link error: "));
    return symbol.empty() ? ""
                          : symbol + " is defined twice: by " +
                                title_of_input(input.substr(input.rfind('\n') + 1)) +
                                " and by what stands before it";
}

std::string LinkedModule::title_of_input(const std::string &input) const {
    for (const Part &part : parts_) {
        if (part.data.name == input) {
            return linkable_title(part.data);
        }
    }
    return "module " + module_.name;
}

std::string LinkedModule::who_needs(const std::string &symbol, const std::string &input) const {
    for (const Part &part : parts_) {
        if (part.is_inlined) {
            const BitcodeImage bitcode = {&part.data, find_kind(part.data, CALOTYPE_BITCODE)};
            if (bitcode_symbols(bitcode).undefined.count(symbol)) {
                return linkable_title(part.data, *bitcode.image);
            }
        }
    }
    // The linker does not say which LTO-IR it was.
    std::vector<std::string> titles;
    for (const Part &part : parts_) {
        if (part.data.name == input || module_.linked.functions.count(symbol)) {
            return title_of_input(input);
        }
        if (find_kind(part.data, CALOTYPE_LTOIR)) {
            titles.push_back(linkable_title(part.data));
        }
    }
    return titles.empty() ? title_of_input(input) : join(titles, " or ");
}

std::vector<DeviceLinkable> LinkedModule::travelling(const std::vector<Capability> &linked,
                                                     bool *ptx_links) {
    const Capability oldest = is_lto_ ? compilable(oldest_cubin_, toolkit_) : oldest_;
    std::vector<DeviceLinkable> result;
    for (const Part &part : parts_) {
        DeviceLinkable l{part.data, part.content, join(part.how, ", ")};
        l.data.images.clear();
        for (const LinkableImage &image : part.data.images) {
            if (!part.is_inlined && is_needed_later(part.data, image, oldest, linked)) {
                l.data.images.push_back(image);
            }
        }
        const bool has_code = !part.data.images.empty();
        *ptx_links &= part.is_inlined || !has_code || !l.data.images.empty();
        if (part.is_inlined) {
            l.how = "LLVM bitcode inlined";
        } else if (!l.data.images.empty()) {
            l.how += (l.how.empty() ? "" : ", ") + image_titles(l.data) + " linked at load time" +
                     (linked.empty() ? "" : " for other devices");
        }
        result.push_back(std::move(l));
    }
    if (!*ptx_links) {
        for (DeviceLinkable &l : result) {
            l.data.images.clear();
        }
    }
    return result;
}

}  // namespace calotype::internal
