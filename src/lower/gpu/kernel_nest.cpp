// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/kernel_nest.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/with.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

class KernelRewriter : public StmtMutator {
public:
    explicit KernelRewriter(const std::function<Stmt(const For *)> &rewrite) : rewrite_(rewrite) {
    }

private:
    using Mutator::visit;
    Stmt visit(const For *op) override {
        return op->for_type == ForType::GPUBlock ? rewrite_(op) : Mutator::visit(op);
    }
    const std::function<Stmt(const For *)> &rewrite_;
};

constexpr const char *step_name = "gpu_step";

class StepDropper : public Mutator {
    using Mutator::visit;
    Expr visit(const Call *op) override {
        const bool is_step = op->call_type == CallKind::Extern && op->name == step_name;
        return is_step ? const_true() : Mutator::visit(op);
    }
    Stmt visit(const IfThenElse *op) override {
        const Expr condition = mutate(op->condition);
        if (is_const_one(condition)) {
            return mutate(op->then_case);
        }
        const Stmt else_case = op->else_case.defined() ? mutate(op->else_case) : Stmt();
        return IfThenElse::make(condition, mutate(op->then_case), else_case);
    }
};

Stmt wrap_in_loops(const std::vector<KernelLoop> &loops, ForType type, DeviceAPI api, Stmt body) {
    for (const KernelLoop &loop : loops) {
        body = For::make(loop.name, 0, loop.extent, type, Partition::Never, api, body);
    }
    return body;
}

}  // namespace

Stmt KernelNest::to_stmt() const {
    const Stmt inside = wrap_in_loops(threads, ForType::GPUThread, api, wrap_in_lets(lets, body));
    return wrap_in_loops(blocks, ForType::GPUBlock, api, inside);
}

Expr KernelNest::block_size(int d) const {
    return size_t(d) < threads.size() ? threads[size_t(d)].extent : Expr(1);
}

Expr KernelNest::grid_size(int d) const {
    return size_t(d) < blocks.size() ? blocks[size_t(d)].extent : Expr(1);
}

KernelNest match_kernel(const For *outermost) {
    KernelNest nest;
    nest.api = outermost->device_api;
    Stmt s = outermost;
    for (;;) {
        if (const LetStmt *let = s.as<LetStmt>()) {
            nest.lets.emplace_back(let->name, let->value);
            s = let->body;
            continue;
        }
        const For *loop = s.as<For>();
        if (!loop || !is_gpu(loop->for_type)) {
            break;
        }
        (loop->for_type == ForType::GPUBlock ? nest.blocks : nest.threads)
            .push_back({loop->name, loop->extent});
        s = loop->body;
    }
    internal_assert(nest.blocks.size() <= max_gpu_dims && nest.threads.size() <= max_gpu_dims)
        << "kernel " << outermost->name << " has too many dimensions";
    std::reverse(nest.blocks.begin(), nest.blocks.end());
    std::reverse(nest.threads.begin(), nest.threads.end());
    nest.body = s;
    return nest;
}

Stmt rewrite_kernels(const Stmt &s, const std::function<Stmt(const For *)> &rewrite) {
    return KernelRewriter(rewrite).mutate(s);
}

Stmt make_step(int number, const Stmt &body) {
    return IfThenElse::make(Call::make(Bool(), step_name, {Expr(number)}, CallKind::Extern), body);
}

Stmt drop_steps(const Stmt &s) {
    return StepDropper().mutate(s);
}

}  // namespace calotype::internal
