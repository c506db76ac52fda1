// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/matrix/panel_layout.h"

#include <algorithm>
#include <numeric>

#include "arith/alignment_analysis.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/gpu/access/wide_access.h"

namespace calotype::internal {

namespace {

class AccessChecker : public Visitor {
public:
    AccessChecker(const std::string &buffer, const PanelLayout &layout)
        : buffer_(buffer), piece_(PanelLayout::piece_bytes / layout.element_bytes) {
    }
    bool all_fit = true;

private:
    using Visitor::visit;
    void check(const std::string &name, const Expr &index) {
        if (name != buffer_ || index.type().is_scalar()) {
            return;
        }
        const Expr first = first_of_neighbours(index);
        const Alignment known = first.defined() ? alignment_of(first) : Alignment();
        const int64_t unit = std::gcd(known.modulus, piece_);  // a vector within one is in a piece
        all_fit =
            all_fit && first.defined() && known.remainder % unit + index.type().lanes() <= unit;
    }
    void visit(const Load *op) override {
        check(op->name, op->index);
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        check(op->name, op->index);
        Visitor::visit(op);
    }
    void visit(const Variable *op) override {
        all_fit = all_fit && op->name != buffer_;  // by its address
    }
    const std::string &buffer_;
    const int64_t piece_;
};

class Mover : public StmtMutator {
public:
    Mover(const std::string &buffer, const PanelLayout &layout, const SimplifyContext &context)
        : buffer_(buffer), layout_(layout), context_(context) {
    }
    using StmtMutator::mutate;
    Expr mutate(const Expr &e) override {
        return Mutator::mutate(e);
    }

private:
    using Mutator::visit;
    Expr moved(const Expr &index) const {
        const Expr place = layout_.place(first_of_neighbours(index), context_);
        return index.type().is_scalar() ? place : Ramp::make(place, 1, index.type().lanes());
    }
    Expr visit(const Load *op) override {
        if (op->name != buffer_) {
            return Mutator::visit(op);
        }
        return with(op, &Load::index, moved(op->index), &Load::alignment, Alignment());
    }
    Stmt visit(const Store *op) override {
        if (op->name != buffer_) {
            return Mutator::visit(op);
        }
        return with(op, &Store::value, mutate(op->value), &Store::index, moved(op->index),
                    &Store::alignment, Alignment());
    }
    const std::string &buffer_;
    const PanelLayout &layout_;
    const SimplifyContext &context_;
};

/// A row of the panels, the piece in it, and the element in that.
struct Place {
    Expr row, piece, element;
};

Place place_of(const PanelLayout &layout, const Expr &index, const SimplifyContext &context) {
    const int per_piece = PanelLayout::piece_bytes / layout.element_bytes;
    const int pieces = layout.width / per_piece, in_panel = PanelLayout::row_bytes / 16;
    const Expr number = simplify(index / per_piece, context);
    const Expr row = simplify(number / pieces, context),
               in_row = simplify(number % pieces, context);
    const Expr panel = simplify(in_row / in_panel, context);
    return {simplify(panel * layout.rows + row, context), simplify(in_row % in_panel, context),
            simplify(index % per_piece, context)};
}

}  // namespace

Expr PanelLayout::place(const Expr &index, const SimplifyContext &context) const {
    const int per_piece = piece_bytes / element_bytes, in_panel = row_bytes / piece_bytes;
    const Place p = place_of(*this, index, context);
    const Expr turned = Call::make(Int(32), Intrinsic::bitwise_xor,
                                   {p.piece, simplify(p.row % row_cycle, context)});
    return simplify((p.row * in_panel + turned) * per_piece + p.element, context);
}

Expr PanelLayout::unswizzled_place(const Expr &index, const SimplifyContext &context) const {
    const int per_piece = piece_bytes / element_bytes, in_panel = row_bytes / piece_bytes;
    const Place p = place_of(*this, index, context);
    return simplify((p.row * in_panel + p.piece) * per_piece + p.element, context);
}

std::optional<PanelLayout> panel_layout_of(const Allocate *op) {
    constexpr int64_t most = 1 << 20;
    int64_t width = 0, rows = 1;  // all dimensions but the first one count rows
    for (size_t d = 0; d < op->extents.size() && rows <= most; d++) {
        const int64_t extent = as_const_int(op->extents[d]).value_or(0);
        (d == 0 ? width : rows) = d == 0 ? extent : rows * std::min(extent, most);
    }
    const int bytes = op->type.bytes();
    if (op->extents.size() < 2 || op->padding != 0 || op->type.lanes() != 1 || bytes > 4 ||
        width <= 0 || width > most || width * bytes % PanelLayout::row_bytes != 0 || rows <= 0 ||
        rows > most || rows % PanelLayout::row_cycle != 0) {
        return std::nullopt;
    }
    return PanelLayout{bytes, int(width), int(rows)};
}

bool can_be_in_panels(const Stmt &s, const std::string &buffer, const PanelLayout &layout) {
    AccessChecker checker(buffer, layout);
    checker(s);
    return checker.all_fit;
}

Stmt move_to_panels(const Stmt &s, const std::string &buffer, const PanelLayout &layout,
                    const SimplifyContext &context) {
    return Mover(buffer, layout, context).mutate(s);
}

}  // namespace calotype::internal
