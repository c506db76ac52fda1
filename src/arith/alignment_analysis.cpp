// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/alignment_analysis.h"

#include <unordered_map>

#include "arith/integer_info.h"
#include "ir/expr_nodes.h"

namespace calotype::internal {

namespace {

class AlignmentFinder {
public:
    explicit AlignmentFinder(const Scope<Alignment> &vars) : vars_(vars) {
    }

    IntegerInfo find(const Expr &e) {
        if (!e.type().is_int_or_uint()) {
            return {};
        }
        if (auto it = memo_.find(e.get()); it != memo_.end()) {
            return it->second;
        }
        const IntegerInfo result = compute(e);
        memo_.emplace(e.get(), result);
        return result;
    }

private:
    IntegerInfo compute(const Expr &e) {
        if (const Variable *op = e.as<Variable>()) {
            if (const IntegerInfo *let = lets_.find(op->name)) {
                return *let;
            }
            const Alignment *known = vars_.find(op->name);
            return {ConstRange::of_type(op->type), known ? *known : Alignment()};
        }
        if (const Let *op = e.as<Let>()) {
            const IntegerInfo value = find(op->value);
            std::unordered_map<const ExprNode *, IntegerInfo> outside;
            std::swap(outside, memo_);
            const ScopedBinding<IntegerInfo> bind(lets_, op->name, value);
            const IntegerInfo body = find(op->body);
            std::swap(outside, memo_);
            return body;
        }
        return info_of_operation(e, [this](const Expr &operand) { return find(operand); });
    }

    const Scope<Alignment> &vars_;
    Scope<IntegerInfo> lets_;
    std::unordered_map<const ExprNode *, IntegerInfo> memo_;
};

}  // namespace

Alignment alignment_of(const Expr &e, const Scope<Alignment> &vars) {
    return AlignmentFinder(vars).find(e).alignment;
}

bool reduce_modulo(const Expr &e, int64_t modulus, int64_t *remainder,
                   const Scope<Alignment> &vars) {
    const Alignment a = alignment_of(e, vars);
    const bool known = modulus > 0 && (a.modulus == 0 || a.modulus % modulus == 0);
    if (known) {
        *remainder = euclidean_mod(a.remainder, modulus);
    }
    return known;
}

}  // namespace calotype::internal
