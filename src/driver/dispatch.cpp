// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/dispatch.h"

#include <cstring>

#include "ir/conventions/names.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/operators.h"
#include "ir/stmt_nodes.h"
#include "pipeline/parameter.h"
#include "runtime/abi/target_features.h"
#include "support/error.h"
#include "target/registers.h"

namespace calotype::internal {

namespace {

struct FeatureBit {
    const char *name;
    int bit;
};
constexpr FeatureBit feature_bits[] = {
#define CALOTYPE_TARGET_FEATURE(name, bit) {#name, bit},
#include "runtime/abi/target_features.def"
#undef CALOTYPE_TARGET_FEATURE
};

// The features that a machine must have, as the runtime counts them: bit i % 64 of word i / 64.
std::vector<uint64_t> feature_words(const Target &target) {
    const Target full = with_all_features(target);
    std::vector<uint64_t> words((calotype_target_feature_end + 63) / 64, 0);
    for (const FeatureBit &f : feature_bits) {
        const Target::Feature feature = Target::feature_from_name(f.name);
        if (feature != Target::FeatureEnd && full.has_feature(feature)) {
            words[size_t(f.bit) / 64] |= uint64_t(1) << (f.bit % 64);
        }
    }
    return words;
}

LoweredBuffer as_buffer(const std::string &name, const std::vector<uint64_t> &words) {
    LoweredBuffer buffer;
    buffer.name = name;
    buffer.type = UInt(64);
    buffer.dimensions = {{0, int32_t(words.size()), 1}};
    buffer.bytes.resize(words.size() * sizeof(uint64_t));
    std::memcpy(buffer.bytes.data(), words.data(), buffer.bytes.size());
    return buffer;
}

Stmt call(const LoweredFunction &f) {
    std::vector<Expr> args;
    for (const LoweredArgument &a : f.args) {
        args.push_back(a.is_buffer()
                           ? Variable::make(type_of<calotype_buffer_t *>(), names::buffer(a.name))
                           : Variable::make(a.type, a.name));
    }
    const Expr result = Variable::make(Int(32), "result");
    return LetStmt::make("result", Call::make(Int(32), f.name, args, CallKind::Extern),
                         AssertStmt::make(result == 0, result));
}

}  // namespace

void Dispatch::add(LoweredModule module, const Target &target) {
    internal_assert(module.functions.size() == 1) << "a choice is one function";
    choices_.push_back({std::move(module), target});
}

Stmt Dispatch::choose(size_t i, std::vector<LoweredBuffer> &buffers) const {
    const Stmt taken = call(choices_[i].module.functions[0]);
    if (i + 1 == choices_.size()) {
        return taken;
    }
    const std::vector<uint64_t> words = feature_words(choices_[i].target);
    buffers.push_back(as_buffer("features_" + std::to_string(i), words));
    const Expr buffer =
        Variable::make(type_of<calotype_buffer_t *>(), names::buffer(buffers.back().name));
    const Expr address = Call::make(Handle(), Intrinsic::buffer_get_host, {buffer});
    const Expr can_use =
        call_runtime(RuntimeFunction::can_use_target_features, {Expr(int(words.size())), address});
    return IfThenElse::make(can_use != 0, taken, choose(i + 1, buffers));
}

LoweredModule Dispatch::module(const std::string &name, const Target &target) const {
    LoweredModule module = choices_.back().module;
    module.name = name;
    module.target = target.to_string();
    module.buffers.clear();
    module.external_code.clear();
    module.device_modules.clear();
    LoweredFunction &f = module.functions[0];
    f.name = name;
    f.name_mangling =
        name.find("::") == std::string::npos ? NameMangling::Default : NameMangling::CPlusPlus;
    f.linkage = LinkageType::ExternalPlusMetadata;
    f.body = choose(0, module.buffers);
    return module;
}

}  // namespace calotype::internal
