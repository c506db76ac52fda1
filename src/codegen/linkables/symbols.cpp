// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/linkables/symbols.h"

#include "codegen/linkables/bitcode.h"
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

std::string titles(const std::vector<UsedImage> &images) {
    std::vector<std::string> list;
    for (const UsedImage &i : images) {
        list.push_back(linkable_title(*i.linkable, *i.image));
    }
    return join(list, ", ");
}

struct ReadImage {
    const UsedImage *used;
    ImageSymbols symbols;
};

/// "; nearest is rng_next2", or "".
std::string nearest(const std::string &name, const std::vector<ReadImage> &images) {
    std::vector<std::string> candidates;
    for (const ReadImage &r : images) {
        candidates.insert(candidates.end(), r.symbols.functions.begin(), r.symbols.functions.end());
    }
    auto best = nearest_name(name, candidates);
    return best ? "; nearest is " + *best : "";
}

void check_duplicates(const std::vector<ReadImage> &images) {
    std::map<std::string, const UsedImage *> owners;
    for (const ReadImage &r : images) {
        for (const std::string &name : r.symbols.defined) {
            if (r.symbols.weak.count(name)) {
                continue;
            }
            const auto [known, is_new] = owners.insert({name, r.used});
            const UsedImage &first = *known->second, &second = *r.used;
            user_assert(is_new || first.linkable == second.linkable)
                << name << " is defined twice: by " << linkable_title(*first.linkable, *first.image)
                << " and by " << linkable_title(*second.linkable, *second.image);
        }
    }
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

std::optional<ImageSymbols> symbols_of(const LinkableData &linkable, const LinkableImage &image) {
    switch (image.kind) {
    case CALOTYPE_PTX:
        return ptx_symbols(image.bytes);
    case CALOTYPE_CUBIN:
        return cubin_symbols(image.bytes);
    case CALOTYPE_OPENCL_C:
        return opencl_symbols(image.bytes);
    case CALOTYPE_BITCODE: {
        BitcodeSymbols symbols = bitcode_symbols({&linkable, &image});
        return ImageSymbols{
            symbols.defined, symbols.functions, symbols.undefined, symbols.weak, {}};
    }
    default:
        return std::nullopt;
    }
}

void check_symbols(const std::map<std::string, LinkedFunction> &functions,
                   const std::vector<UsedImage> &images) {
    std::vector<ReadImage> read;
    for (const UsedImage &used : images) {
        if (auto symbols = symbols_of(*used.linkable, *used.image)) {
            read.push_back({&used, *symbols});
        }
    }
    check_duplicates(read);
    for (const auto &[name, function] : functions) {
        bool is_there = read.size() < images.size();
        for (const ReadImage &r : read) {
            is_there |= r.symbols.functions.count(name) > 0;
            auto signature = r.symbols.signatures.find(name);
            if (signature != r.symbols.signatures.end()) {
                const PtxSignature expected = ptx_signature(function);
                user_assert(signature->second == expected)
                    << "function " << name << " of "
                    << linkable_title(*r.used->linkable, *r.used->image) << " has "
                    << to_text(signature->second) << ", but is called with " << to_text(expected);
            }
        }
        user_assert(is_there) << "function " << name << " is not in "
                              << (images.empty() ? "any linkable" : titles(images))
                              << nearest(name, read);
    }
}

}  // namespace calotype::internal
