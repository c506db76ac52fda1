// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/linkables/linked.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "codegen/nvptx/cubin.h"
#include "codegen/nvptx/nvjitlink.h"
#include "codegen/nvptx/toolkit.h"
#include "ir/constants.h"
#include "support/text.h"

namespace calotype::internal {

std::string linked_input(const std::string &name) {
    std::ifstream file(CALOTYPE_LINKED_INPUTS "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

LinkableImage image_of(calotype_kind kind, uint32_t sm, const std::string &bytes,
                       const std::string &origin) {
    LinkableImage image;
    image.kind = kind;
    image.sm = sm;
    image.bytes = bytes;
    image.origin = origin;
    return image;
}

void add_image(LinkableData &linkable, const std::string &file) {
    const struct {
        const char *ending;
        calotype_kind kind;
        uint32_t sm;
    } forms[] = {
        {"rng.cubin", CALOTYPE_CUBIN, 90},  {"80.cubin", CALOTYPE_CUBIN, 80},
        {"90a.ltoir", CALOTYPE_LTOIR, 90},  {"90a.cubin", CALOTYPE_CUBIN, 90},
        {"new.ltoir", CALOTYPE_LTOIR, 100}, {".ltoir", CALOTYPE_LTOIR, 80},
        {".ptx", CALOTYPE_PTX, 80},         {".fatbin", CALOTYPE_FATBIN, 0},
        {".o", CALOTYPE_OBJECT, 0},         {".a", CALOTYPE_ARCHIVE, 0},
        {".bc", CALOTYPE_BITCODE, 0},       {".cu", CALOTYPE_CU, 0},
        {".cl", CALOTYPE_OPENCL_C, 0},
    };
    for (const auto &form : forms) {
        if (ends_with(file, form.ending)) {
            // Sources include headers that lie beside them.
            const bool is_source = form.kind == CALOTYPE_CU;
            const std::string folder = is_source ? CALOTYPE_LINKED_INPUTS "/" : "in/";
            linkable.images.push_back(
                image_of(form.kind, form.sm, linked_input(file), folder + file));
            return;
        }
    }
}

LinkableData linkable_of(const std::string &file, const std::string &name) {
    LinkableData linkable;
    linkable.name = name;
    add_image(linkable, file);
    return linkable;
}

Expr linked_call(Type t, const std::string &name, const std::vector<Expr> &args, int value_index,
                 CallKind kind) {
    return Call::make(t, name, args, kind, value_index);
}

Expr load_out(int index) {
    return Load::make(Int(32), "out", make_const(Int(32), index), const_true(), Alignment());
}

Stmt store_out(int index, const Expr &value) {
    return Store::make("out", value, make_const(Int(32), index), const_true(), Alignment());
}

DeviceModule linked_module(DeviceAPI api, const Stmt &body) {
    DeviceKernel k;
    k.name = "k";
    KernelArgument out;
    out.name = "out";
    out.type = Int(32);
    out.is_buffer = out.read = out.written = true;
    k.args = {out};
    k.body = body;
    std::fill(k.block_size, k.block_size + 3, 1);
    DeviceModule module;
    module.api = api;
    module.name = "test";
    module.kernels = {k};
    return module;
}

DeviceModule calling_rng_next(const std::vector<LinkableData> &linkables, DeviceAPI api) {
    DeviceModule module = linked_module(
        api, store_out(0, linked_call(Int(32), "rng_next", {load_out(1), load_out(2)})));
    module.linked.linkables = linkables;
    module.linked.functions["rng_next"] = {Int(32), {Int(32), Int(32)}};
    return module;
}

std::string cubin_for(const DeviceCode &code, uint32_t sm) {
    for (const DeviceImage &image : code.images) {
        if (image.kind == CALOTYPE_CUBIN && image.sm == sm) {
            return image.bytes;
        }
    }
    return "";
}

bool defines(const std::string &cubin, const std::string &symbol) {
    for (const CubinSymbol &s : read_cubin_symbols(cubin)) {
        if (s.name == symbol && s.is_defined) {
            return true;
        }
    }
    return false;
}

std::string section(const std::string &elf, const std::string &name) {
    for (const ElfSection &s : read_elf_sections(elf)) {
        if (s.name == name) {
            return elf.substr(s.offset, s.size);
        }
    }
    return "";
}

std::vector<Instruction> instructions(const std::string &cubin, const std::string &function) {
    const std::string bytes = section(cubin, ".text." + function);
    std::vector<Instruction> result(bytes.size() / sizeof(Instruction));
    memcpy(result.data(), bytes.data(), result.size() * sizeof(Instruction));
    return result;
}

bool has_nvjitlink() {
    return can_link(find_cuda_toolkit());
}

bool has_nvrtc() {
    return !find_cuda_toolkit().nvrtc.empty();
}

}  // namespace calotype::internal
