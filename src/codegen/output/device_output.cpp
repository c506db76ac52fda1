// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device code of a module for people to read, and for tools of the devices' makers.
#include <iomanip>
#include <sstream>

#include "codegen/emit.h"
#include "codegen/linkables/linkable.h"
#include "codegen/opencl/device_source.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

std::string architecture(uint32_t sm, char suffix) {
    if (sm == 0) {
        return "any";
    }
    return "sm_" + std::to_string(sm) + (suffix ? std::string(1, suffix) : "");
}

bool is_text(const DeviceImage &image) {
    return image.kind == CALOTYPE_PTX || image.kind == CALOTYPE_OPENCL_C ||
           image.kind == CALOTYPE_CU;
}

std::string with_newline(const std::string &text) {
    return text.empty() || text.back() == '\n' ? text : text + "\n";
}

/// -1 stands for what is not known.
std::string figure(int value, const char *unit = "") {
    return value < 0 ? "-" : std::to_string(value) + unit;
}

struct Column {
    const char *title;
    int width;
    std::string (*cell)(const KernelFacts &);
};

const Column columns[] = {
    {"kernel", 24,
     [](const KernelFacts &f) {
         return f.kernel;
     }},
    {"for", 8,
     [](const KernelFacts &f) {
         return architecture(f.sm, f.suffix);
     }},
    {"registers", 11,
     [](const KernelFacts &f) {
         return figure(f.registers);
     }},
    {"spill st", 10,
     [](const KernelFacts &f) {
         return figure(f.spill_store_bytes);
     }},
    {"spill ld", 10,
     [](const KernelFacts &f) {
         return figure(f.spill_load_bytes);
     }},
    {"stack", 7,
     [](const KernelFacts &f) {
         return figure(f.stack_bytes);
     }},
    {"shared", 8,
     [](const KernelFacts &f) {
         return figure(f.static_shared_bytes);
     }},
    {"threads", 9,
     [](const KernelFacts &f) {
         return figure(f.threads);
     }},
    {"blocks/SM", 11,
     [](const KernelFacts &f) {
         return figure(f.blocks_per_sm);
     }},
    {"occupancy", 11,
     [](const KernelFacts &f) {
         return figure(f.occupancy_percent, "%");
     }},
    {"limited by", 0,
     [](const KernelFacts &f) {
         return f.limited_by.empty() ? "-" : f.limited_by;
     }},
};

void print_facts(std::ostream &out, const std::vector<KernelFacts> &facts) {
    out << std::left;
    for (const Column &c : columns) {
        out << std::setw(c.width) << c.title << (c.width ? " " : "\n");
    }
    for (const KernelFacts &f : facts) {
        for (const Column &c : columns) {
            out << std::setw(c.width) << c.cell(f) << (c.width ? " " : "\n");
        }
    }
}

/// "PTX sm_80 linked into cubin sm_90, setup rng_setup"
std::string summary(const DeviceLinkable &linkable) {
    const LinkableData &d = linkable.data;
    std::vector<std::string> parts;
    if (!linkable.how.empty()) {
        parts.push_back(linkable.how);
    }
    if (!d.setup.empty()) {
        parts.push_back("setup " + d.setup);
    }
    if (!d.teardown.empty()) {
        parts.push_back("teardown " + d.teardown);
    }
    return parts.empty() ? "not used" : join(parts, ", ");
}

void check_sizes(const LoweredModule &module, const std::vector<DeviceCode> &codes) {
    internal_assert(module.device_modules.size() == codes.size())
        << "device code of another module";
}

}  // namespace

std::string image_name(const DeviceImage &image) {
    const bool has_architecture =
        image.kind == CALOTYPE_PTX || image.kind == CALOTYPE_CUBIN || image.kind == CALOTYPE_LTOIR;
    const std::string kind = kind_name(image.kind);
    return has_architecture ? kind + " " + architecture(image.sm, image.suffix) : kind;
}

std::string ptx_text(const LoweredModule &module, const std::vector<DeviceCode> &codes) {
    check_sizes(module, codes);
    std::string text;
    for (const DeviceCode &code : codes) {
        for (const DeviceImage &image : code.images) {
            text += image.kind == CALOTYPE_PTX ? with_newline(image.bytes) : "";
        }
    }
    return text.empty() ? "// " + module.name + " has no CUDA kernels\n" : text;
}

std::string cuda_source_text(const LoweredModule &module, const Target &target) {
    std::string text;
    Target full = target.with_implied_features();
    full.set_feature(Target::StrictFloat,
                     module.any_strict_float || full.has_feature(Target::StrictFloat));
    for (const DeviceModule &m : module.device_modules) {
        if (m.api == DeviceAPI::CUDA) {
            text += device_source(m, full, Dialect::CUDA).text;
        }
    }
    return text.empty() ? "// " + module.name + " has no CUDA kernels\n" : text;
}

std::string cubin_bytes(const LoweredModule &module, const std::vector<DeviceCode> &codes) {
    check_sizes(module, codes);
    const DeviceImage *newest = nullptr;
    for (size_t i = 0; i < codes.size(); i++) {
        if (module.device_modules[i].api != DeviceAPI::CUDA) {
            continue;
        }
        for (const DeviceImage &image : codes[i].images) {
            if (image.kind == CALOTYPE_CUBIN && (!newest || image.sm > newest->sm)) {
                newest = &image;
            }
        }
        user_assert(newest) << "pipeline " << module.name
                            << " has no cubin: it was compiled to PTX "
                            << "alone; making cubins takes a CUDA toolkit";
    }
    return newest ? newest->bytes : "";
}

std::string device_code_text(const LoweredModule &module, const std::vector<DeviceCode> &codes) {
    check_sizes(module, codes);
    std::string text;
    for (size_t i = 0; i < codes.size(); i++) {
        for (const DeviceImage &image : codes[i].images) {
            if (is_text(image)) {
                text += "// " + module.device_modules[i].name + ": " + image_name(image) + "\n" +
                        with_newline(image.bytes);
            }
        }
    }
    return text.empty() ? "// " + module.name + " has no device code\n" : text;
}

std::string device_report_text(const LoweredModule &module, const Target &target,
                               const std::vector<DeviceCode> &codes) {
    check_sizes(module, codes);
    std::ostringstream out;
    out << "pipeline " << module.name << ", target " << target.to_string() << "\n";
    for (size_t i = 0; i < codes.size(); i++) {
        out << "\n"
            << to_string(module.device_modules[i].api) << ": " << codes[i].kernels.size()
            << " kernels\n";
        for (const DeviceImage &image : codes[i].images) {
            out << "image: " << image_name(image) << ", " << image.bytes.size() << " bytes"
                << (image.is_embedded ? "" : ", not embedded: nothing can use it") << "\n";
        }
        for (const DeviceLinkable &linkable : codes[i].linkables) {
            out << "linkable " << linkable.data.name << ": " << summary(linkable) << "\n";
        }
        if (!codes[i].facts.empty()) {
            out << "\n";
            print_facts(out, codes[i].facts);
        }
        for (const std::string &note : codes[i].notes) {
            out << "note: " << note << "\n";
        }
    }
    if (codes.empty()) {
        out << "no device code\n";
    }
    return out.str();
}

}  // namespace calotype::internal
