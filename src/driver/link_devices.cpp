// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/link_devices.h"

#include <map>
#include <set>

#include "ir/mutator.h"
#include "pipeline/linked_code.h"

namespace calotype::internal {

namespace {

using NewNames = std::map<std::string, std::string>;

class RenameLaunches : public GraphMutator {
public:
    explicit RenameLaunches(const NewNames &names) : names_(names) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        const bool launches =
            op->is_intrinsic(Intrinsic::gpu_launch) || op->is_intrinsic(Intrinsic::gpu_record);
        const StringImm *kernel = launches ? op->args[1].as<StringImm>() : nullptr;
        const auto renamed = kernel ? names_.find(kernel->value) : names_.end();
        if (renamed == names_.end()) {
            return GraphMutator::visit(op);
        }
        std::vector<Expr> args = mutate(op->args);
        args[1] = StringImm::make(renamed->second);
        return Call::make(op->type, op->intrinsic, args);
    }
    const NewNames &names_;
};

DeviceModule &module_for(LoweredModule &into, const DeviceModule &like) {
    for (DeviceModule &m : into.device_modules) {
        if (m.api == like.api) {
            return m;
        }
    }
    DeviceModule m;
    m.api = like.api;
    m.name = into.name;
    into.device_modules.push_back(m);
    return into.device_modules.back();
}

}  // namespace

void append_device_code(LoweredModule &into, const LoweredModule &from) {
    std::set<std::string> taken;
    for (const DeviceModule &m : into.device_modules) {
        for (const DeviceKernel &k : m.kernels) {
            taken.insert(k.name);
        }
    }
    NewNames names;
    for (const DeviceModule &m : from.device_modules) {
        DeviceModule &to = module_for(into, m);
        merge_linked_code(to.linked, m.linked);
        for (DeviceKernel k : m.kernels) {
            const std::string name = k.name;
            for (int i = 1; !taken.insert(k.name).second; i++) {
                k.name = name + "_" + std::to_string(i);
                names[name] = k.name;
            }
            to.kernels.push_back(std::move(k));
        }
    }
    merge_linked_code(into.linked, from.linked);
    RenameLaunches rename(names);
    for (LoweredFunction f : from.functions) {
        f.body = names.empty() ? f.body : rename.mutate(f.body);
        into.functions.push_back(std::move(f));
    }
}

}  // namespace calotype::internal
