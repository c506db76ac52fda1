// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/opencl/device_source.h"

#include "codegen/opencl/device_writer.h"
#include "codegen/symbol_name.h"

namespace calotype::internal {

namespace {

/// A C identifier of its own for each kernel.
std::string kernel_symbol(const std::string &name, std::set<std::string> &taken) {
    std::string base = c_identifier(name), symbol = base;
    for (int i = 1; is_reserved(symbol) || !taken.insert(symbol).second; i++) {
        symbol = base + "_" + std::to_string(i);
    }
    return symbol;
}

DeviceKernelCode facts(const DeviceKernel &kernel, const std::string &symbol, Dialect dialect) {
    DeviceKernelCode code;
    code.symbol = symbol;
    const int64_t *n = kernel.block_size;
    code.max_threads = n[0] > 0 && n[1] > 0 && n[2] > 0 ? uint32_t(n[0] * n[1] * n[2]) : 0;
    code.static_shared_bytes = uint32_t(kernel.shared_bytes);
    if (kernel.dynamic_shared && dialect == Dialect::OpenCL) {
        code.flags |= CALOTYPE_KERNEL_DYNAMIC_SHARED;
    }
    return code;
}

}  // namespace

DeviceSource device_source(const DeviceModule &module, const Target &target, Dialect dialect) {
    DeviceSource source;
    DeviceFile file{target,        dialect, {}, {}, {}, target.has_feature(Target::StrictFloat),
                    &module.linked};
    std::set<std::string> symbols;
    std::string kernels;
    for (const DeviceKernel &k : module.kernels) {
        source.kernels.push_back(facts(k, kernel_symbol(k.name, symbols), dialect));
        kernels += "\n" + DeviceWriter(file, k).write(source.kernels.back().symbol);
    }
    std::string head = "// " + std::string(word(dialect, Word::language)) + " of " +
                       c_identifier(module.name) + "\n";
    for (const std::string &extension : file.extensions) {
        head += "#pragma OPENCL EXTENSION " + extension + " : enable\n";
    }
    if (file.strict && dialect == Dialect::OpenCL) {
        head += "#pragma OPENCL FP_CONTRACT OFF\n";
    }
    for (const auto &[name, prototype] : file.externs) {
        head += prototype + "\n";
    }
    for (const auto &[name, text] : file.helpers) {
        head += "\n" + text;
    }
    source.text = head + kernels;
    return source;
}

}  // namespace calotype::internal
