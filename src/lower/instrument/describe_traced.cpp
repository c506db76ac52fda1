// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/instrument/describe_traced.h"

#include <algorithm>
#include <string>
#include <vector>

#include "arith/box.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "lower/instrument/trace_event.h"

namespace calotype::internal {

namespace {

class DescribeTraced : public StmtMutator {
public:
    explicit DescribeTraced(const LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    /// What is traced stands inside of the let that begins the pipeline.
    Stmt visit(const LetStmt *op) override {
        if (op->name != pipeline_trace_id()) {
            return Mutator::visit(op);
        }
        std::vector<Stmt> tags;
        const auto add = [&](const std::string &name, const std::vector<Type> &types) {
            const Box box = box_touched(op->body, name, Scope<Interval>(), ctx_.func_bounds);
            const bool is_bounded = std::all_of(box.begin(), box.end(),
                                                [](const Interval &i) { return i.is_bounded(); });
            if (!box.empty() && is_bounded) {
                tags.push_back(description(name, types, box));
            }
        };
        for (const auto &[name, p] : ctx_.used.parameters) {
            if (traces_loads(p, ctx_)) {
                add(name, {p.type()});
            }
        }
        for (const std::string &name : ctx_.order) {
            const Function &f = ctx_.env.at(name);
            if (is_traced(f, ctx_)) {
                add(name, f.output_types());
            }
        }
        tags.push_back(op->body);
        return LetStmt::make(op->name, op->value, Block::make(tags));
    }

    static Stmt description(const std::string &name, const std::vector<Type> &types,
                            const Box &box) {
        std::string text = "func_type_and_dim: " + std::to_string(types.size());
        for (const Type &t : types) {
            for (const int number : {int(t.code()), t.bits(), t.lanes()}) {
                text += " " + std::to_string(number);
            }
        }
        std::vector<Expr> parts = {StringImm::make(text + " " + std::to_string(box.size()))};
        for (const Interval &i : box) {
            for (const Expr &number : {i.min, i.max - i.min + 1}) {
                parts.push_back(StringImm::make(" "));
                parts.push_back(simplify(number));
            }
        }
        TraceEvent e{name, calotype_trace_tag};
        e.parent = Variable::make(Int(32), pipeline_trace_id());
        e.tag = Call::make(type_of<const char *>(), Intrinsic::stringify, parts);
        return Evaluate::make(e.call());
    }

    const LowerContext &ctx_;
};

}  // namespace

Stmt describe_traced(const Stmt &s, LowerContext &ctx) {
    return DescribeTraced(ctx).mutate(s);
}

}  // namespace calotype::internal
