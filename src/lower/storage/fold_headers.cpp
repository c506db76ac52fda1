// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an extern stage touches stands before its call (declare_box_touched). Headers are copied, not
// changed: with async, producer and consumer use the same one at the same time.
#include "lower/storage/fold_headers.h"

#include <set>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/with.h"
#include "lower/buffer_header.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "runtime/abi/buffer.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

class FoldHeaders : public Mutator {
public:
    FoldHeaders(const Function &f, int d, Expr factor, LowerContext &ctx)
        : f_(f), d_(d), factor_(std::move(factor)), ctx_(ctx) {
        for (int i = 0; i < f.outputs(); i++) {
            headers_.insert(names::buffer(f.buffer_name(i)));
        }
    }

private:
    using Mutator::visit;

    Expr visit(const Variable *op) override {
        user_assert(!headers_.count(op->name))
            << "func " << f_.name()
            << " cannot be folded: it is passed to an extern stage as a whole";
        return op;
    }

    Stmt visit(const Block *op) override {
        const Evaluate *evaluate = op->first.as<Evaluate>();
        const Call *touched = evaluate ? evaluate->value.as<Call>() : nullptr;
        if (!touched || !touched->is_intrinsic(Intrinsic::declare_box_touched)) {
            return Mutator::visit(op);
        }
        const Expr first = first_, last = last_;
        find_ends(touched);
        const Stmt rest = mutate(op->rest);
        first_ = first;
        last_ = last;
        return rest.same_as(op->rest) ? Stmt(op) : Block::make(op->first, rest);
    }

    /// Corners stand in pairs: the least coordinates, then the greatest.
    void find_ends(const Call *touched) {
        first_ = last_ = Expr();
        for (const Expr &corner : touched->args) {
            const Call *call = corner.as<Call>();
            if (!call || call->call_type != CallKind::Func || call->name != f_.name()) {
                continue;
            }
            const Expr &at = call->args[size_t(d_)];
            if (!first_.defined()) {
                first_ = at;
            } else if (!last_.defined()) {
                last_ = at;
            } else {
                first_ = min(first_, at);
                last_ = max(last_, at);
            }
        }
    }

    Stmt visit(const LetStmt *op) override {
        const Call *call = op->value.as<Call>();
        if (!last_.defined() || !call) {
            return Mutator::visit(op);
        }
        if (call->is_intrinsic(Intrinsic::buffer_crop) && is_header(call->args[2])) {
            return crop_of_places(op, call);
        }
        const bool is_call =
            call->call_type == CallKind::Extern || call->call_type == CallKind::ExternCPlusPlus;
        return is_call ? call_with_parts(op, call) : Mutator::visit(op);
    }

    bool is_header(const Expr &e) const {
        const Variable *v = e.as<Variable>();
        return v && headers_.count(v->name);
    }

    Expr place_of(const Expr &coordinate) const {
        return simplify(coordinate % factor_);
    }

    /// What is touched lies in the storage without a break.
    Stmt check_seam() const {
        const Expr extent = simplify(last_ - first_ + 1);
        const Expr fits = simplify(place_of(first_) + extent <= factor_);
        return is_const_one(extent)
                   ? Stmt()
                   : check(fits, "bad_extern_fold",
                           {StringImm::make(f_.name()), d_, first_, extent, first_, factor_});
    }

    Stmt crop_of_places(const LetStmt *op, const Call *crop) {
        const Call *mins = crop->args[3].as<Call>(), *extents = crop->args[4].as<Call>();
        const Expr min = mins->args[size_t(d_)], extent = extents->args[size_t(d_)];
        std::vector<Expr> places = mins->args, args = crop->args;
        places[size_t(d_)] = place_of(min);
        args[3] = Call::make(mins->type, mins->intrinsic, places);
        const Expr header = Variable::make(header_type(), op->name);
        const Expr stride = Call::make(Int(32), Intrinsic::buffer_get_stride, {header, d_});
        const Expr named = Call::make(header_type(), Intrinsic::buffer_set_bounds,
                                      {header, d_, min, extent, stride});
        return Block::make(check_seam(),
                           LetStmt::make(op->name, Call::make(crop->type, crop->intrinsic, args),
                                         Block::make(Evaluate::make(named), mutate(op->body))));
    }

    Stmt call_with_parts(const LetStmt *op, const Call *call) {
        std::vector<Expr> args = call->args;
        std::vector<std::pair<std::string, Expr>> parts;
        for (Expr &arg : args) {
            if (is_header(arg)) {
                parts.emplace_back(ctx_.names.unique(f_.name() + ".part"), part_of(arg));
                arg = Variable::make(header_type(), parts.back().first);
            }
        }
        if (parts.empty()) {
            return Mutator::visit(op);
        }
        const Stmt s = LetStmt::make(op->name,
                                     Call::make(call->type, call->name, args, call->call_type,
                                                call->value_index, call->symbol),
                                     mutate(op->body));
        return Block::make(check_seam(), wrap_in_lets(parts, s));
    }

    /// The whole storage, so numbered that what is touched has its own coordinates.
    Expr part_of(const Expr &header) const {
        const auto field = [&](Intrinsic get, const Type &t) {
            return Call::make(t, get, {header});
        };
        int value = 0;
        while (names::buffer(f_.buffer_name(value)) != header.as<Variable>()->name) {
            value++;
        }
        std::vector<HeaderDimension> shape;
        for (int i = 0; i < f_.dimensions(); i++) {
            const auto of_dimension = [&](Intrinsic get) {
                return Call::make(Int(32), get, {header, i});
            };
            const Expr min = i == d_ ? simplify(first_ - place_of(first_))
                                     : of_dimension(Intrinsic::buffer_get_min);
            shape.push_back({min, of_dimension(Intrinsic::buffer_get_extent),
                             of_dimension(Intrinsic::buffer_get_stride)});
        }
        const auto flag = [&](Intrinsic get, calotype_buffer_flags bit) {
            return cast(UInt(64), Call::make(Bool(), get, {header})) * make_const(UInt(64), bit);
        };
        const Expr whole = make_buffer_header(field(Intrinsic::buffer_get_host, Handle()),
                                              f_.output_types()[size_t(value)], shape);
        const Call *made = whole.as<Call>();
        std::vector<Expr> args = made->args;
        args[3] = field(Intrinsic::buffer_get_device, UInt(64));
        args[4] = field(Intrinsic::buffer_get_device_interface, Handle());
        args[9] = flag(Intrinsic::buffer_get_host_dirty, calotype_buffer_flag_host_dirty) +
                  flag(Intrinsic::buffer_get_device_dirty, calotype_buffer_flag_device_dirty);
        return Call::make(made->type, made->intrinsic, args);
    }

    const Function &f_;
    const int d_;
    const Expr factor_;
    LowerContext &ctx_;
    std::set<std::string> headers_;
    Expr first_, last_;  ///< what the extern stage touches; undefined if nothing of f
};

}  // namespace

Stmt fold_headers(const Stmt &s, const Function &func, int d, const Expr &factor,
                  LowerContext &ctx) {
    return FoldHeaders(func, d, factor, ctx).mutate(s);
}

}  // namespace calotype::internal
