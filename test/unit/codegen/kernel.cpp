// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/codegen/kernel.h"

#include <gtest/gtest.h>

#include "ir/constants.h"

namespace calotype::internal {

const std::vector<Target> &runnable_targets() {
    static const std::vector<Target> targets = [] {
        Target host = get_host_target();
        std::vector<Target> all = {Target("x86-64-linux-sse41")};
        if (host.has_feature(Target::AVX2) && host.has_feature(Target::FMA)) {
            all.push_back(Target("x86-64-linux-avx2-fma-f16c"));
        }
        if (host != all.back()) {
            all.push_back(host);
        }
        return all;
    }();
    return targets;
}

LoweredArgument pointer_argument(const std::string &name) {
    return scalar_argument(name, Handle());
}

LoweredArgument scalar_argument(const std::string &name, Type t) {
    return LoweredArgument(Argument(name, Argument::InputScalar, t, 0, {}));
}

LoweredArgument buffer_argument(const std::string &name, Type t, int dimensions) {
    return LoweredArgument(Argument(name, Argument::InputBuffer, t, dimensions, {}));
}

LoweredModule one_function(const std::vector<LoweredArgument> &args, const Stmt &body,
                           LinkageType linkage) {
    LoweredModule module;
    module.name = "test";
    module.target = "test-target";
    module.functions.push_back({"f", args, body, linkage, NameMangling::C});
    return module;
}

Expr load(Type t, const char *name) {
    return Load::make(t, name, Ramp::make(0, 1, t.lanes()), const_true(t.lanes()), Alignment());
}

std::string assembly(const char *target, const Expr &e) {
    const int lanes = e.type().lanes();
    const Stmt store =
        Store::make("out", e, Ramp::make(0, 1, lanes), const_true(lanes), Alignment());
    const LoweredModule module = one_function({pointer_argument("out"), pointer_argument("a"),
                                               pointer_argument("b"), pointer_argument("c")},
                                              store);
    return CompiledModule(module, Target(target)).assembly();
}

size_t count(const std::string &text, const std::string &what) {
    size_t found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        found++;
    }
    return found;
}

std::shared_ptr<JitLibrary> load_module(const LoweredModule &module, const Target &target,
                                        const JitSymbols &symbols) {
    return JitLibrary::load(CompiledModule(module, target).object(), symbols);
}

void map_vectors(const Target &target, int lanes, int count, const VectorFunction &f,
                 const std::vector<std::pair<Type, const void *>> &operands, void *out) {
    ASSERT_EQ(count % lanes, 0);
    ASSERT_LE(operands.size(), 3u);
    Expr i = Variable::make(Int(32), "i");
    Expr first = i * lanes;
    Expr index = lanes == 1 ? first : Ramp::make(first, 1, lanes);
    std::vector<LoweredArgument> args = {pointer_argument("out")};
    std::vector<Expr> loads;
    const void *pointers[3] = {};
    for (size_t k = 0; k < operands.size(); k++) {
        std::string name = "in" + std::to_string(k);
        args.push_back(pointer_argument(name));
        loads.push_back(Load::make(operands[k].first.with_lanes(lanes), name, index,
                                   const_true(lanes), Alignment()));
        pointers[k] = operands[k].second;
    }
    Stmt store = Store::make("out", f(loads), index, const_true(lanes), Alignment());
    Stmt loop =
        For::make("i", 0, count / lanes, ForType::Serial, Partition::Auto, DeviceAPI::None, store);
    while (args.size() < 4) {
        args.push_back(pointer_argument("unused" + std::to_string(args.size())));
    }
    auto library = load_module(one_function(args, loop), target);
    auto *function = library->function<int(void *, const void *, const void *, const void *)>("f");
    ASSERT_NE(function, nullptr);
    ASSERT_EQ(function(out, pointers[0], pointers[1], pointers[2]), 0);
}

}  // namespace calotype::internal
