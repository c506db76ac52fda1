// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/schedule/eager_inline.h"

#include <map>

#include "ir/mutator.h"
#include "ir/queries.h"
#include "pipeline/fields.h"
#include "pipeline/inlined_calls.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

class InlineCalls : public GraphMutator {
public:
    explicit InlineCalls(const Function &f) : f_(f) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type != CallKind::Func || op->name != f_.name()) {
            return GraphMutator::visit(op);
        }
        const std::vector<Expr> args = mutate(op->args);
        const Expr &value = f_->init->values[size_t(op->value_index)];
        return calls_.of(value, args, [&] {
            std::map<std::string, Expr> arguments;
            for (size_t i = 0; i < args.size(); i++) {
                arguments[f_.args()[i]] = args[i];
            }
            return substitute(arguments, value);
        });
    }
    const Function &f_;
    InlinedCalls calls_;
};

}  // namespace

void inline_calls(const Function &f, Definition &definition) {
    user_assert(f.can_be_inlined())
        << "func " << f.name()
        << " cannot be inlined: it must have a pure definition, no updates and no specializations";
    InlineCalls calls(f);
    mutate_expressions(definition, [&](const Expr &e) { return calls.mutate(e); });
}

}  // namespace calotype::internal
