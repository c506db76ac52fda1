// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/access/shift_accesses.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"

namespace calotype::internal {

namespace {

class Shift : public GraphMutator {
public:
    Shift(const std::string &buffer, const std::string &new_name, const Expr &offset)
        : buffer_(buffer), new_name_(new_name), offset_(offset) {
    }

private:
    using GraphMutator::visit;

    Expr shifted(const Expr &index) const {
        if (is_const_zero(offset_)) {
            return index;
        }
        const Type t = index.type().element_of();
        const Expr offset = offset_.type() == t ? offset_ : Cast::make(t, offset_);
        return simplify(index.type().is_scalar()
                            ? index + offset
                            : index + Broadcast::make(offset, index.type().lanes()));
    }

    Alignment shifted(const Alignment &a) const {
        return is_const_zero(offset_) ? a : Alignment();
    }

    Expr visit(const Load *op) override {
        const Expr e = GraphMutator::visit(op);
        op = e.as<Load>();
        return op->name != buffer_ ? e
                                   : Load::make(op->type, new_name_, shifted(op->index),
                                                op->predicate, shifted(op->alignment), op->symbol);
    }

    Stmt visit(const Store *op) override {
        const Stmt s = GraphMutator::visit(op);
        op = s.as<Store>();
        return op->name != buffer_ ? s
                                   : Store::make(new_name_, op->value, shifted(op->index),
                                                 op->predicate, shifted(op->alignment), op->symbol);
    }

    Stmt visit(const Free *op) override {
        return op->name == buffer_ ? Stmt() : Stmt(op);
    }

    /// The handle, as asynchronous copies take it, (to, index, from, index, number), loads of
    /// matrices, (from, index, transposed), products, (a, index, b, index, ...), copies of tiles, (to,
    /// index, arrivals, index, ...), and what is done to arrivals.
    Expr visit(const Call *op) override {
        const Expr e = GraphMutator::visit(op);
        op = e.as<Call>();
        if (!op->is_intrinsic({Intrinsic::gpu_async_copy, Intrinsic::gpu_load_matrix,
                               Intrinsic::gpu_warpgroup_multiply_add, Intrinsic::gpu_tile_copy,
                               Intrinsic::gpu_arrivals_begin, Intrinsic::gpu_arrivals_expect,
                               Intrinsic::gpu_arrivals_wait, Intrinsic::gpu_arrivals_end})) {
            return e;
        }
        std::vector<Expr> args = op->args;
        for (size_t i = 0; i + 1 < args.size(); i += 2) {
            const Variable *handle = args[i].as<Variable>();
            if (handle && handle->name == buffer_) {
                args[i] = Variable::make(Handle(), new_name_);
                args[i + 1] = shifted(args[i + 1]);
            }
        }
        return Call::make(op->type, op->intrinsic, args);
    }

    const std::string &buffer_, &new_name_;
    const Expr offset_;
};

}  // namespace

Stmt shift_accesses(const std::string &buffer, const std::string &new_name, const Expr &offset,
                    const Stmt &s) {
    return Shift(buffer, new_name, offset).mutate(s);
}

}  // namespace calotype::internal
