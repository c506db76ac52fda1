// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operand fits if its index grows by the same step from each row (or column) of the tile to the
// next, whichever of the tile's loops and threads counts them. PTX ISA, "Asynchronous warpgroup level
// matrix instructions": warp w of four has rows 16*w and on, thread (x, y) of it the columns 2*x and
// 2*x + 1 of each 8, in rows y and y + 8, as of one tile of mma.
#include "lower/gpu/matrix/warpgroup_product.h"

#include <algorithm>

#include "arith/monotonic.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

constexpr int warps_of_group = 4, max_columns = 256;

class WarpgroupMatcher {
public:
    WarpgroupMatcher(const MatrixProduct &product, const std::vector<KernelLoop> &threads,
                     const std::map<std::string, const Allocate *> &shared, const Stmt &kernel)
        : product_(product), threads_(threads), shared_(shared), kernel_(kernel),
          context_(ranges_of_threads(threads)) {
    }
    WarpgroupProduct form;

    bool run() {
        const auto warps =
            threads_.size() == 3 ? as_const_int(threads_[2].extent) : std::optional<int64_t>();
        if (!warps || *warps % warps_of_group != 0 || !split_tiles()) {
            return false;
        }
        form.columns.extent = std::max(form.columns.extent, 1);
        const int n = 8 * form.columns.extent;
        const bool fits = product_.kind != MatrixKind::Int8 || n <= 24 || n % 16 == 0;
        // Bytes of different kinds need a driver newer than what else is asked for.
        return n <= max_columns && fits && product_.a.type() == product_.b.type() &&
               match(product_.a, form.a) && match(product_.b, form.b) && rows_follow() &&
               columns_follow() && depth_is_aligned();
    }

private:
    /// Loops over tiles are of rows or of columns, and at most one of columns.
    bool split_tiles() {
        for (const MatrixLoop &loop : product_.tiles) {
            const bool of_a = uses_var(product_.a, loop.name),
                       of_b = uses_var(product_.b, loop.name);
            if (of_a == of_b || (of_b && form.columns.extent > 0)) {
                return false;
            }
            if (of_b) {
                form.columns = loop;
            } else {
                form.rows.push_back(loop);
            }
        }
        return true;
    }

    bool match(const Expr &operand, WarpgroupOperand &result) const {
        result.load = as_read(operand).as<Load>();
        const auto it = result.load ? shared_.find(result.load->name) : shared_.end();
        if (it == shared_.end() || !is_trivially_true(result.load->predicate) ||
            !result.load->index.type().is_scalar()) {
            return false;
        }
        const auto layout = panel_layout_of(it->second);
        if (!layout || !can_be_in_panels(kernel_, result.load->name, *layout)) {
            return false;
        }
        result.layout = *layout;
        const auto by_depth = constant_step_of(result.load->index, product_.depth.name);
        result.by_depth = by_depth == 1;
        // Elements of other sizes than two bytes are multiplied along rows only.
        return result.by_depth || (by_depth == layout->width && result.load->type.bytes() == 2);
    }

    /// What is in memory: of floats the instructions drop the bits that TF32 has not.
    static Expr as_read(const Expr &operand) {
        const Call *op = Call::as_intrinsic(operand, Intrinsic::trunc_to_tf32);
        return op ? op->args[0] : operand;
    }

    /// What the index of an operand grows by from a row or column to the next.
    static int64_t step_across(const WarpgroupOperand &operand) {
        return operand.by_depth ? operand.layout.width : 1;
    }

    bool grows(const WarpgroupOperand &operand, const std::string &name, int rows) const {
        return constant_step_of(operand.load->index, name) == rows * step_across(operand);
    }

    bool rows_follow() const {
        const int64_t width = form.a.layout.panel_width();
        if (!grows(form.a, threads_[1].name, 1) || !grows(form.a, product_.row.name, 8) ||
            !grows(form.a, threads_[2].name, 16) ||
            uses_var(form.b.load->index, threads_[2].name)) {
            return false;
        }
        // Of rows that lie along a panel, 64 are one.
        return form.a.by_depth ||
               (width == 64 && is_at_multiple_of(first_row(form.a.load->index), 64));
    }

    bool columns_follow() const {
        const int64_t width = form.b.layout.panel_width();
        return grows(form.b, product_.column.name, 1) && grows(form.b, threads_[0].name, 2) &&
               (form.columns.extent == 1 || grows(form.b, form.columns.name, 8)) &&
               (form.b.by_depth || is_at_multiple_of(first_column(form.b.load->index), width));
    }

    /// Steps of depth begin where the hardware can add them to an address.
    bool depth_is_aligned() const {
        return is_aligned(form.a, first_row(form.a.load->index)) &&
               is_aligned(form.b, first_column(form.b.load->index));
    }
    bool is_aligned(const WarpgroupOperand &operand, const Expr &index) const {
        const int width = operand.layout.width, cycle = PanelLayout::row_cycle;
        return operand.by_depth ? is_at_multiple_of(index, width * cycle)
                                : is_at_multiple_of(index / width, cycle);
    }

    Expr first_row(const Expr &index) const {
        const Expr warp = Variable::make(Int(32), threads_[2].name);
        TilePlaceMap zero = {{product_.row.name, 0},
                             {threads_[1].name, 0},
                             {product_.depth.name, 0},
                             {threads_[2].name, warp / warps_of_group * warps_of_group}};
        return simplify(substitute(zero, index));
    }
    Expr first_column(const Expr &index) const {
        TilePlaceMap zero = {
            {product_.column.name, 0}, {threads_[0].name, 0}, {product_.depth.name, 0}};
        if (!form.columns.name.empty()) {
            zero[form.columns.name] = 0;
        }
        return simplify(substitute(zero, index));
    }

    bool is_at_multiple_of(const Expr &index, int64_t n) const {
        return is_const_zero(simplify(index % int(n), context_));
    }

    using TilePlaceMap = std::map<std::string, Expr>;
    const MatrixProduct &product_;
    const std::vector<KernelLoop> &threads_;
    const std::map<std::string, const Allocate *> &shared_;
    const Stmt &kernel_;
    const SimplifyContext context_;
};

/// The statements of one product.
class WarpgroupWriter {
public:
    WarpgroupWriter(const MatrixProduct &product, const WarpgroupProduct &form,
                    const std::vector<KernelLoop> &threads, LowerContext &ctx)
        : product_(product), form_(form), threads_(threads), ctx_(ctx),
          context_(ranges_of_threads(threads)) {
    }

    Stmt run() {
        std::vector<Stmt> all;
        for_rows(0, {}, all);
        return Block::make(all);
    }

private:
    using Place = std::map<std::string, Expr>;

    void for_rows(size_t i, Place place, std::vector<Stmt> &all) {
        if (i == form_.rows.size()) {
            all.push_back(one_tile(place));
            return;
        }
        for (int value = 0; value < form_.rows[i].extent; value++) {
            place[form_.rows[i].name] = value;
            for_rows(i + 1, place, all);
        }
    }

    /// 64 rows of a group of warps, all columns, all of the depth.
    Stmt one_tile(const Place &place) {
        const std::vector<Expr> index = indices(place);
        const Type t = product_.store->value.type().with_lanes(int(index.size()));
        std::vector<std::pair<std::string, Expr>> lets;
        const auto named = [&](const Expr &value) {
            lets.emplace_back(ctx_.names.unique(product_.store->name + ".sums"), value);
            return Variable::make(t, lets.back().first);
        };
        Expr sums = named(load_sums(product_, index));
        for (int depth = 0; depth < product_.depth.extent; depth += product_.step()) {
            sums = named(multiply_add(place, depth, sums));
        }
        sums = named(Call::make(t, Intrinsic::gpu_warpgroup_wait, {sums, 0}));
        const Stmt fence = Evaluate::make(Call::make(Int(32), Intrinsic::gpu_warpgroup_fence, {}));
        return Block::make(fence, wrap_in_lets(lets, store_sums(product_, index, sums)));
    }

    /// Of the sums that a thread has, in the order of the instruction's registers.
    std::vector<Expr> indices(const Place &place) const {
        std::vector<Expr> result;
        for (int tile = 0; tile < form_.columns.extent; tile++) {
            for (int i = 0; i < 4; i++) {
                Place here = place;
                here[product_.row.name] = i / 2;
                here[product_.column.name] = i % 2;
                if (!form_.columns.name.empty()) {
                    here[form_.columns.name] = tile;
                }
                result.push_back(simplify(substitute(here, product_.store->index), context_));
            }
        }
        return result;
    }

    Expr multiply_add(const Place &place, int depth, const Expr &sums) const {
        const Expr warp = Variable::make(Int(32), threads_[2].name);
        Place of_a = place, of_b = {{product_.column.name, 0}, {threads_[0].name, 0}};
        of_a[product_.row.name] = 0;
        of_a[threads_[1].name] = 0;
        of_a[threads_[2].name] = warp / warps_of_group * warps_of_group;
        if (!form_.columns.name.empty()) {
            of_b[form_.columns.name] = 0;
        }
        of_a[product_.depth.name] = of_b[product_.depth.name] = depth;
        const auto index = [&](const WarpgroupOperand &operand, const Place &at) {
            return operand.layout.unswizzled_place(
                simplify(substitute(at, operand.load->index), context_), context_);
        };
        const auto buffer = [](const WarpgroupOperand &operand) {
            return Variable::make(Handle(), operand.load->name);
        };
        return Call::make(sums.type(), Intrinsic::gpu_warpgroup_multiply_add,
                          {buffer(form_.a), index(form_.a, of_a), buffer(form_.b),
                           index(form_.b, of_b), sums, make_bool(!form_.a.by_depth),
                           make_bool(!form_.b.by_depth), form_.b.layout.panel_bytes(),
                           make_zero(form_.a.load->type), make_zero(form_.b.load->type),
                           make_bool(depth + product_.step() >= product_.depth.extent)});
    }

    const MatrixProduct &product_;
    const WarpgroupProduct &form_;
    const std::vector<KernelLoop> &threads_;
    LowerContext &ctx_;
    const SimplifyContext context_;
};

}  // namespace

bool match_warpgroup_product(const MatrixProduct &product, const std::vector<KernelLoop> &threads,
                             const std::map<std::string, const Allocate *> &shared,
                             const Stmt &kernel, WarpgroupProduct *result) {
    WarpgroupMatcher matcher(product, threads, shared, kernel);
    const bool matches = matcher.run();
    *result = matcher.form;
    return matches;
}

Stmt write_warpgroup_product(const MatrixProduct &product, const WarpgroupProduct &form,
                             const std::vector<KernelLoop> &threads, LowerContext &ctx) {
    return WarpgroupWriter(product, form, threads, ctx).run();
}

SimplifyContext ranges_of_threads(const std::vector<KernelLoop> &threads) {
    SimplifyContext context;
    for (const KernelLoop &loop : threads) {
        if (const auto size = as_const_int(loop.extent)) {
            context.bound(loop.name, 0, *size - 1);
        }
    }
    return context;
}

}  // namespace calotype::internal
