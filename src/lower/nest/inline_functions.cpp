// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/inline_functions.h"

#include "ir/mutator.h"
#include "ir/queries.h"
#include "lower/names.h"
#include "lower/nest/stage_loops.h"
#include "pipeline/inlined_calls.h"

namespace calotype::internal {

namespace {

/// No loads or calls, so cheap to repeat, and best seen by bounds analysis as it is.
bool is_cheap_to_duplicate(const Expr &e) {
    return !contains_kind(e, NodeKind::Call) && !contains_kind(e, NodeKind::Load) &&
           !contains_kind(e, NodeKind::Let);
}

class Inline : public GraphMutator {
public:
    explicit Inline(const Function &f) : f_(f) {
        for (const Expr &v : f.stage(0)->values) {
            values_.push_back(qualify(v, f, 0));
        }
    }

protected:
    Expr visit(const Call *op) override {
        if (op->call_type != CallKind::Func || op->name != f_.name()) {
            return Mutator::visit(op);
        }
        std::vector<Expr> args = mutate(op->args);
        internal_assert(args.size() == f_.args().size())
            << "call of " << f_.name() << " with " << args.size() << " coordinates";
        const Expr &value = values_[op->value_index];
        return calls_.of(value, args, [&] { return inlined(value, args); });
    }

private:
    Expr inlined(const Expr &value, const std::vector<Expr> &args) const {
        std::map<std::string, Expr> direct;
        std::vector<std::pair<std::string, Expr>> named;
        for (size_t i = 0; i < args.size(); i++) {
            std::string name = names::loop(f_.name(), 0, f_.args()[i]);
            if (is_cheap_to_duplicate(args[i])) {
                direct[name] = args[i];
            } else {
                named.emplace_back(name, args[i]);
            }
        }
        Expr body = substitute(direct, value);
        for (size_t i = named.size(); i-- > 0;) {
            body = Let::make(named[i].first, named[i].second, body);
        }
        return body;
    }

    const Function &f_;
    std::vector<Expr> values_;
    InlinedCalls calls_;
};

}  // namespace

Stmt inline_function(const Stmt &s, const Function &f) {
    return Inline(f).mutate(s);
}

Expr inline_function(const Expr &e, const Function &f) {
    return Inline(f).mutate(e);
}

}  // namespace calotype::internal
