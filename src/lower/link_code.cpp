// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/link_code.h"

#include <set>

#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// Names in code that linkables supply.
class Uses : public GraphVisitor {
public:
    explicit Uses(const LinkPlan &plan) : plan_(plan) {
    }
    LinkedNames names;

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        if (!op->is_intrinsic() && plan_.supplies_function(op->name)) {
            names.functions.insert(op->name);
        } else if (op->is_intrinsic(Intrinsic::linked_symbol)) {
            const std::string &symbol = op->args[0].as<StringImm>()->value;
            internal_assert(plan_.supplies_symbol(symbol)) << "nobody supplies " << symbol;
            names.symbols.insert(symbol);
        }
        GraphVisitor::visit(op);
    }
    const LinkPlan &plan_;
};

}  // namespace

void link_code(LoweredModule &module, const LowerContext &ctx) {
    Uses of_host(ctx.link_plan);
    for (const LoweredFunction &f : module.functions) {
        of_host(f.body);
    }
    module.linked = ctx.link_plan.code_for(of_host.names, false);
    std::set<std::string> linked;
    for (const LinkableData &l : module.linked.linkables) {
        linked.insert(l.name);
    }
    for (DeviceModule &device : module.device_modules) {
        Uses of_device(ctx.link_plan);
        for (const DeviceKernel &k : device.kernels) {
            of_device(k.body);
        }
        // With what lowering itself calls there.
        const LinkedCode own = device.linked;
        device.linked = ctx.link_plan.code_for(of_device.names, true);
        merge_linked_code(device.linked, own);
        for (const LinkableData &l : device.linked.linkables) {
            linked.insert(l.name);
        }
    }
    for (const LinkableData &l : ctx.link_plan.linkables()) {
        // A target of the processor alone has no module that could hold what is pinned.
        const bool is_as_meant = l.is_pinned && !ctx.target.has_gpu_feature();
        if (!linked.count(l.name) && !is_as_meant) {
            user_warning << "pipeline " << ctx.pipeline_name << ": linkable "
                         << linkable_description(l) << " is not linked: "
                         << (l.is_pinned ? "there are no kernels"
                                         : "nothing calls it, and it is not pinned");
        }
    }
}

}  // namespace calotype::internal
