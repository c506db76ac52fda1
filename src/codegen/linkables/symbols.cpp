// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/linkables/symbols.h"

#include <algorithm>

#include "codegen/linkables/bitcode.h"
#include "codegen/linkables/device_parts.h"
#include "codegen/linkables/linkable.h"
#include "codegen/nvptx/cubin.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

ImageSymbols cubin_symbols(const std::string &cubin) {
    ImageSymbols result;
    for (const CubinSymbol &symbol : read_cubin_symbols(cubin)) {
        if (symbol.is_global && symbol.is_defined) {
            result.defined.insert(symbol.name);
            if (symbol.is_function) {
                result.functions.insert(symbol.name);
            }
            if (symbol.is_weak) {
                result.weak.insert(symbol.name);
            }
        } else if (symbol.is_global && !symbol.name.empty()) {
            result.undefined.insert(symbol.name);
        }
    }
    return result;
}

/// "(4, 16) and a result of 4 bytes"
std::string to_text(const PtxSignature &s) {
    std::vector<std::string> sizes;
    for (int bytes : s.parameters) {
        sizes.push_back(std::to_string(bytes));
    }
    return (sizes.empty() ? "no parameters" : "parameters of " + join(sizes, ", ") + " bytes") +
           (s.result ? " and a result of " + std::to_string(s.result) + " bytes"
                     : " and no result");
}

/// Small integers are passed in 32 bits.
int passed_bytes(Type t) {
    bool is_small_integer = t.is_scalar() && t.is_int_or_uint() && t.bits() < 32;
    return is_small_integer ? 4 : t.bits() == 0 ? 0 : t.bytes() * t.lanes();
}

/// Where functions are looked for.
std::string titles(const LinkedCode &linked, const std::vector<UsedImage> &images) {
    std::vector<std::string> list;
    for (const UsedImage &i : images) {
        list.push_back(linkable_title(*i.linkable, *i.image));
    }
    if (!list.empty() || linked.linkables.empty()) {
        return list.empty() ? "any linkable" : join(list, ", ");
    }
    for (const LinkableData &l : linked.linkables) {
        list.push_back(linkable_title(l));
    }
    return join(list, ", ") + (list.size() == 1 ? ", which has" : ", which have") +
           " no code for this device";
}

/// "function f of linkable rng (parameter noise, in/rng.cl)"
std::string function_title(const std::string &name, const UsedImage &used) {
    return "function " + name + " of " + linkable_title(*used.linkable, *used.image);
}

/// Of functions whose signature is written down.
void check_signature(const std::string &name, const LinkedFunction &function,
                     const UsedImage &used) {
    const PtxSignature expected = ptx_signature(function);
    const PtxSignature *found = nullptr;
    if (used.symbols) {
        auto it = used.symbols->signatures.find(name);
        found = it == used.symbols->signatures.end() ? nullptr : &it->second;
    }
    user_assert(!found || *found == expected)
        << function_title(name, used) << " has " << to_text(*found) << ", but is called with "
        << to_text(expected);
}

/// "" if the call is as the function is written, as far as that is known.
std::string opencl_difference(const OpenclSignature &found, const LinkedFunction &call) {
    for (size_t i = 0; found.is_known && i < call.parameters.size(); i++) {
        const auto &written = found.parameters[i];
        if (written && !written->is(call.parameters[i])) {
            return "takes " + written->text + " as parameter " + std::to_string(i + 1) +
                   ", but is called with " + to_string(call.parameters[i]);
        }
    }
    const bool is_used = call.result.bits() != 0;
    return is_used && found.result && !found.result->is(call.result)
               ? "gives " + found.result->text + ", but is called for " + to_string(call.result)
               : "";
}

/// Of functions of OpenCL C: as one of those that the preprocessor may choose.
void check_opencl_signature(const std::string &name, const LinkedFunction &call,
                            const UsedImage &used) {
    if (!used.symbols || !used.symbols->opencl.count(name)) {
        return;
    }
    std::set<size_t> counts;
    std::string difference;
    bool has_count = false;
    for (const OpenclSignature &found : used.symbols->opencl.at(name)) {
        if (found.is_known && found.parameters.size() != call.parameters.size()) {
            counts.insert(found.parameters.size());
            continue;
        }
        const std::string different = opencl_difference(found, call);
        if (different.empty()) {
            return;
        }
        has_count = true;
        difference = difference.empty() ? different : difference;
    }
    user_assert(!has_count) << function_title(name, used) << " " << difference;
    std::vector<std::string> known;
    for (size_t count : counts) {
        known.push_back(std::to_string(count));
    }
    user_assert(has_count) << function_title(name, used) << " has " << join(known, " or ")
                           << (known.back() == "1" ? " parameter" : " parameters")
                           << ", but is called with " << call.parameters.size();
}

/// "; nearest is rng_next2", or that it is there as a function of C++, or "".
std::string nearest(const std::string &name, const std::vector<UsedImage> &images) {
    std::vector<std::string> candidates;
    for (const UsedImage &u : images) {
        if (u.symbols) {
            candidates.insert(candidates.end(), u.symbols->functions.begin(),
                              u.symbols->functions.end());
        }
    }
    const std::string mangled = "_Z" + std::to_string(name.size()) + name;
    for (const std::string &candidate : candidates) {
        if (starts_with(candidate, mangled)) {
            return "; it holds " + candidate + ", to be declared extern \"C\"";
        }
    }
    auto best = nearest_name(name, candidates);
    return best ? "; nearest is " + *best : "";
}

/// Those that nobody else may define.
std::vector<std::string> strong_names(const UsedImage &used) {
    std::vector<std::string> names;
    if (used.symbols) {
        const std::set<std::string> &weak = used.symbols->weak;
        std::copy_if(used.symbols->defined.begin(), used.symbols->defined.end(),
                     std::back_inserter(names),
                     [&](const std::string &name) { return !weak.count(name); });
    }
    return names;
}

void check_duplicates(const std::vector<UsedImage> &images) {
    std::map<std::string, const UsedImage *> owners;
    for (const UsedImage &used : images) {
        user_assert(!used.symbols || used.symbols->twice.empty())
            << *used.symbols->twice.begin() << " is defined twice in "
            << linkable_title(*used.linkable, *used.image);
        for (const std::string &name : strong_names(used)) {
            const auto [known, is_new] = owners.insert({name, &used});
            const UsedImage &first = *known->second;
            user_assert(is_new || first.linkable == used.linkable)
                << name << " is defined twice: by " << linkable_title(*first.linkable, *first.image)
                << " and by " << linkable_title(*used.linkable, *used.image);
        }
    }
}

/// The first function of the device runtime that is called, but not in `defined`; or null.
const std::string *missing_of_device_runtime(const ImageSymbols &symbols,
                                             const std::set<std::string> &defined) {
    for (const std::string &name : symbols.undefined) {
        if (starts_with(name, "NRT_") && !defined.count(name)) {
            return &name;
        }
    }
    return nullptr;
}

void add(const ImageSymbols &part, ImageSymbols &all) {
    std::set_intersection(part.defined.begin(), part.defined.end(), all.defined.begin(),
                          all.defined.end(), std::inserter(all.twice, all.twice.end()));
    all.defined.insert(part.defined.begin(), part.defined.end());
    all.functions.insert(part.functions.begin(), part.functions.end());
    all.undefined.insert(part.undefined.begin(), part.undefined.end());
    all.weak.insert(part.weak.begin(), part.weak.end());
    all.signatures.insert(part.signatures.begin(), part.signatures.end());
}

/// All that the parts of a file define and want.
ImageSymbols symbols_of_parts(const LinkableImage &image, Capability capability) {
    ImageSymbols all;
    for (const DevicePart &part : device_parts(image)) {
        const auto form = readable_form(image, part, capability);
        all.is_whole &= form.has_value();
        if (form) {
            add(form->kind == CALOTYPE_PTX ? ptx_symbols(form->bytes) : cubin_symbols(form->bytes),
                all);
        }
    }
    for (const std::string &name : all.defined) {
        all.undefined.erase(name);
    }
    for (const std::string &name : all.weak) {
        all.twice.erase(name);
    }
    return all;
}

}  // namespace

PtxSignature ptx_signature(const LinkedFunction &function) {
    PtxSignature signature;
    for (const Type &t : function.parameters) {
        signature.parameters.push_back(passed_bytes(t));
    }
    signature.result = passed_bytes(function.result);
    return signature;
}

std::optional<ImageSymbols> symbols_of(const LinkableData &linkable, const LinkableImage &image,
                                       Capability capability) {
    switch (image.kind) {
    case CALOTYPE_PTX:
        return ptx_symbols(image.bytes);
    case CALOTYPE_CUBIN:
        return cubin_symbols(image.bytes);
    case CALOTYPE_FATBIN:
    case CALOTYPE_OBJECT:
    case CALOTYPE_ARCHIVE:
        return symbols_of_parts(image, capability);
    case CALOTYPE_OPENCL_C:
        return opencl_symbols(image.bytes);
    case CALOTYPE_BITCODE: {
        BitcodeSymbols symbols = bitcode_symbols({&linkable, &image});
        return ImageSymbols{
            symbols.defined, symbols.functions, symbols.undefined, symbols.weak, {}, {}, true, {}};
    }
    default:
        return std::nullopt;
    }
}

UsedImage used_image(const LinkableData &linkable, const LinkableImage &image,
                     Capability capability) {
    return {&linkable, &image, symbols_of(linkable, image, capability)};
}

void check_symbols(const LinkedCode &linked, const std::vector<UsedImage> &images) {
    check_duplicates(images);
    for (const auto &[name, function] : linked.functions) {
        bool is_there = false;
        for (const UsedImage &used : images) {
            is_there |=
                !used.symbols || !used.symbols->is_whole || used.symbols->functions.count(name) > 0;
            check_signature(name, function, used);
            check_opencl_signature(name, function, used);
        }
        user_assert(is_there) << "function " << name << " is not in " << titles(linked, images)
                              << nearest(name, images);
    }
}

void check_device_runtime(const std::vector<UsedImage> &images) {
    std::set<std::string> defined;
    for (const UsedImage &used : images) {
        if (!used.symbols || !used.symbols->is_whole) {
            return;  // it may be there
        }
        defined.insert(used.symbols->defined.begin(), used.symbols->defined.end());
    }
    for (const UsedImage &used : images) {
        const std::string *name = missing_of_device_runtime(*used.symbols, defined);
        user_assert(!name) << "device function " << *name << ", which "
                           << linkable_title(*used.linkable, *used.image)
                           << " calls, belongs to the device runtime, which is not linked: add nrt "
                           << "to the linkable that calls it";
    }
}

}  // namespace calotype::internal
