// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/tiles/tile_product.h"

#include "arith/monotonic.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

constexpr int64_t max_extent = 4096;

/// Takes statements apart, from the outside in.
class NestReader {
public:
    bool read(const Stmt &s, TileNest nest) {
        if (const LetStmt *let = s.as<LetStmt>(); let && is_pure(let->value)) {
            return read(substitute(let->name, let->value, let->body), std::move(nest));
        }
        if (const IfThenElse *branch = s.as<IfThenElse>(); branch && !branch->else_case.defined()) {
            nest.conditions.push_back(branch->condition);
            return read(branch->then_case, std::move(nest));
        }
        if (const Atomic *atomic = s.as<Atomic>(); atomic && atomic->mutex_name.empty()) {
            return read(atomic->body, std::move(nest));
        }
        if (const Block *block = s.as<Block>()) {
            // All iterations are done with one statement before any goes on to the next.
            return read(block->first, nest) && read(block->rest, nest);
        }
        if (const For *loop = s.as<For>()) {
            return read_loop(loop, std::move(nest));
        }
        if (!s.as<Store>()) {
            return false;
        }
        nest.statement = s;
        nests.push_back(std::move(nest));
        return true;
    }

    std::vector<TileNest> nests;

private:
    bool read_loop(const For *op, TileNest nest) {
        const auto extent = as_const_int(simplify(op->extent));
        if (op->for_type != ForType::Vectorized || !extent || *extent < 1 || *extent > max_extent) {
            return false;
        }
        if (*extent == 1) {
            return read(substitute(op->name, op->min, op->body), std::move(nest));
        }
        nest.loops.push_back({op->name, int(*extent)});
        return read(
            is_const_zero(op->min)
                ? op->body
                : substitute(op->name, op->min + Variable::make(Int(32), op->name), op->body),
            std::move(nest));
    }
};

bool uses_loop(const Expr &e, const std::vector<TileLoop> &loops) {
    for (const TileLoop &loop : loops) {
        if (uses_var(e, loop.name)) {
            return true;
        }
    }
    return false;
}

/// An index as first + the sum of each loop's variable times its step.
struct Plane {
    Expr first;
    std::vector<Expr> steps;  ///< as the loops
};

std::optional<Plane> as_plane(const Expr &index, const std::vector<TileLoop> &loops,
                              const SimplifyContext &context) {
    Plane result;
    std::map<std::string, Expr> zeros;
    for (const TileLoop &loop : loops) {
        SimplifyContext but_last = context;
        but_last.bound(loop.name, 0, loop.extent - 2);
        result.steps.push_back(step_of(index, loop.name, but_last));
        if (uses_loop(result.steps.back(), loops)) {
            return std::nullopt;
        }
        zeros[loop.name] = make_zero(Int(32));
    }
    result.first = simplify(substitute(zeros, index));
    return result;
}

/// Which loop (an index, or -1 for a missing one) is what.
struct Roles {
    int row = -1, column = -1, depth = -1;
};

class ProductMatcher {
public:
    explicit ProductMatcher(const TileNest &nest) : nest_(nest), context_(nest.context()) {
    }

    TileProductMatch run() {
        if (match_sum() && match_operands()) {
            match_layout();
        }
        return {std::move(product_), why_not_};
    }

private:
    bool fail(const std::string &why_not) {
        why_not_ = why_not;
        return false;
    }

    /// c[i] = c[i] + a*b, in any order.
    bool match_sum() {
        const Store *store = nest_.store();
        const Add *sum = store->value.as<Add>();
        const auto is_old_value = [&](const Expr &e) {
            const Load *load = e.as<Load>();
            return load && load->name == store->name && equal(load->index, store->index);
        };
        Expr added;
        if (sum && is_old_value(sum->a)) {
            added = sum->b;
        } else if (sum && is_old_value(sum->b)) {
            added = sum->a;
        }
        if (!added.defined() || !take_factors(added) || !is_trivially_true(store->predicate)) {
            return fail("it must add a product to its own value, but computes " +
                        to_string(store->value) +
                        ": such operand or result types are not supported");
        }
        return true;
    }

    /// A product of 32 bits, or one of 16 that is widened.
    bool take_factors(const Expr &e) {
        const Cast *cast = e.as<Cast>();
        const Expr product = cast && cast->type.can_represent(cast->value.type()) ? cast->value : e;
        if (const Call *call = Call::as_intrinsic(product, {Intrinsic::widening_mul})) {
            factors_[0] = call->args[0];
            factors_[1] = call->args[1];
            return true;
        }
        const Mul *mul = e.as<Mul>();
        if (mul) {
            factors_[0] = mul->a;
            factors_[1] = mul->b;
        }
        return mul != nullptr;
    }

    static bool is_byte(Type t) {
        return t.bits() == 8 && (t.is_int() || t.is_uint());
    }

    bool match_operands() {
        for (int i = 0; i < 2; i++) {
            Expr e = factors_[i];
            for (const Cast *cast = e.as<Cast>();
                 cast && cast->type.can_represent(cast->value.type()); cast = e.as<Cast>()) {
                e = cast->value;
            }
            loads_[i] = e.as<Load>();
            if (const Cast *cast = e.as<Cast>(); cast && cast->value.as<Load>()) {
                return fail("an operand is cast after being loaded, to values that tiles do not "
                            "hold: " +
                            to_string(e));
            }
            if (!loads_[i] || !is_trivially_true(loads_[i]->predicate) ||
                has_gather(loads_[i]->index)) {
                return fail("its operands are not loads with affine indices: " + to_string(e));
            }
        }
        const Type sum = nest_.store()->value.type(), a = loads_[0]->type, b = loads_[1]->type;
        const bool is_bfloat = sum == Float(32) && a == BFloat(16) && b == BFloat(16);
        const bool is_int = sum.is_int() && sum.bits() == 32 && is_byte(a) && is_byte(b);
        if (!is_bfloat && !is_int) {
            return fail("its operand or result types are not supported: it adds products of " +
                        to_string(a) + " and " + to_string(b) + " to " + to_string(sum) +
                        "; tiles hold integers of 8 bits, added to int32, and bfloat16, added to "
                        "float32");
        }
        return true;
    }

    bool has_gather(const Expr &index) const {
        return contains<Load>(
            index, [&](const Load *load) { return uses_loop(load->index, nest_.loops); });
    }

    bool match_layout() {
        const size_t n = nest_.loops.size();
        const auto sums = as_plane(nest_.store()->index, nest_.loops, context_);
        if (!sums || n > 3) {
            return fail("it stores at " + to_string(nest_.store()->index) +
                        ", which is no tile of rows and columns");
        }
        Roles roles;
        std::vector<int> others;
        for (size_t i = 0; i < n; i++) {
            if (is_const_zero(sums->steps[i])) {
                roles.depth = int(i);
            } else {
                others.push_back(int(i));
            }
        }
        if (roles.depth < 0 || others.size() + 1 != n) {
            return fail("it sums over no vectorized loop, or over more than one");
        }
        // One loop alone may run down or across; of two, either may be the rows.
        const int first = others.empty() ? -1 : others[0],
                  second = others.size() < 2 ? -1 : others[1];
        for (const auto &[row, column] : {std::pair(first, second), std::pair(second, first)}) {
            roles.row = row;
            roles.column = column;
            for (int lhs = 0; lhs < 2; lhs++) {
                if (match_roles(*sums, roles, lhs)) {
                    return true;
                }
            }
        }
        return fail("the storage layout for a matrix multiply operand is unsupported. Its loads " +
                    to_string(loads_[0]) + " and " + to_string(loads_[1]) +
                    " must be one of a(k, y), with neighbouring k, and one of b(k % n, x, k / n), "
                    "with neighbouring k % n and n elements from one x to the next, where n "
                    "elements have 32 bits");
    }

    bool match_roles(const Plane &sums, const Roles &roles, int lhs) {
        const auto loop = [&](int i) {
            return i < 0 ? TileLoop{"", 1} : nest_.loops[size_t(i)];
        };
        const TileLoop row = loop(roles.row), column = loop(roles.column),
                       depth = loop(roles.depth);
        const Load *a = loads_[lhs], *b = loads_[1 - lhs];
        const int packed = 32 / a->type.bits();
        if (depth.extent % packed != 0 ||
            (roles.column >= 0 && !is_const_one(sums.steps[size_t(roles.column)]))) {
            return false;
        }
        TileProduct p;
        p.rows = row.extent;
        p.columns = column.extent;
        p.depth = depth.extent;
        p.sums = {nest_.store()->name, nest_.store()->value.type(), sums.first,
                  roles.row < 0 ? make_const(Int(32), column.extent)
                                : sums.steps[size_t(roles.row)]};
        const auto of_a = as_plane(a->index, nest_.loops, context_);
        if (!of_a || !is_const_one(of_a->steps[size_t(roles.depth)]) ||
            (roles.column >= 0 && !is_const_zero(of_a->steps[size_t(roles.column)]))) {
            return false;
        }
        p.a = {a->name, a->type, of_a->first,
               roles.row < 0 ? make_const(Int(32), depth.extent) : of_a->steps[size_t(roles.row)]};
        // The depth is taken apart: where in 32 bits, and which of these.
        const std::string which = names::part(depth.name, "which"),
                          within = names::part(depth.name, "within");
        const Expr whole =
            Variable::make(Int(32), which) * packed + Variable::make(Int(32), within);
        const Expr index = substitute(depth.name, whole, b->index);
        SimplifyContext context = context_;
        context.bound(which, 0, depth.extent / packed - 1).bound(within, 0, packed - 1);
        std::vector<TileLoop> loops = {{which, depth.extent / packed}, {within, packed}};
        for (const TileLoop &other : {row, column}) {
            if (other.extent > 1) {
                loops.push_back(other);
            }
        }
        const auto of_b = as_plane(index, loops, context);
        if (!of_b || !is_const_one(of_b->steps[1])) {
            return false;
        }
        for (size_t i = 2; i < loops.size(); i++) {
            const int64_t wanted = loops[i].name == column.name ? packed : 0;
            if (as_const_int(of_b->steps[i]) != wanted) {
                return false;
            }
        }
        p.b = {b->name, b->type, of_b->first, of_b->steps[0]};
        product_ = p;
        return true;
    }

    const TileNest &nest_;
    const SimplifyContext context_;
    Expr factors_[2];
    const Load *loads_[2] = {};
    std::optional<TileProduct> product_;
    std::string why_not_;
};

}  // namespace

SimplifyContext TileNest::context() const {
    SimplifyContext result;
    result.alignments = alignments;
    for (const TileLoop &loop : loops) {
        result.bound(loop.name, 0, loop.extent - 1);
    }
    return result;
}

std::vector<TileNest> read_tile_nests(const Stmt &s) {
    NestReader reader;
    return reader.read(s, TileNest()) ? std::move(reader.nests) : std::vector<TileNest>();
}

TileProductMatch match_tile_product(const TileNest &nest) {
    return ProductMatcher(nest).run();
}

std::optional<TileMove> match_tile_move(const TileNest &nest) {
    const Store *store = nest.store();
    const Load *load = store->value.as<Load>();
    const auto to = as_plane(store->index, nest.loops, nest.context());
    const auto from =
        load ? as_plane(load->index, nest.loops, nest.context()) : std::optional<Plane>();
    if (!to || nest.loops.size() > 2 || (load ? !from : !is_const_zero(store->value)) ||
        !is_trivially_true(store->predicate) || (load && !is_trivially_true(load->predicate))) {
        return std::nullopt;
    }
    const int n = int(nest.loops.size());
    // Which loop has the columns: the one of neighbouring elements.
    for (int column = n - 1; column >= (n == 1 ? -1 : 0); column--) {
        const int row = n == 2 ? 1 - column : column < 0 ? n - 1 : -1;
        const auto is_one = [&](const Plane &plane) {
            return column < 0 || is_const_one(plane.steps[size_t(column)]);
        };
        if (!is_one(*to) || (load && !is_one(*from))) {
            continue;
        }
        TileMove result;
        result.rows = row < 0 ? 1 : nest.loops[size_t(row)].extent;
        result.columns = column < 0 ? 1 : nest.loops[size_t(column)].extent;
        const auto place = [&](const std::string &buffer, Type type, const Plane &plane) {
            return TilePlace{buffer, type, plane.first,
                             row < 0 ? make_const(Int(32), result.columns)
                                     : plane.steps[size_t(row)]};
        };
        result.to = place(store->name, store->value.type(), *to);
        if (load) {
            result.from = place(load->name, load->type, *from);
        }
        return result;
    }
    return std::nullopt;
}

bool has_sum(const TileNest &nest) {
    for (const TileLoop &loop : nest.loops) {
        if (!uses_var(nest.store()->index, loop.name)) {
            return true;
        }
    }
    return false;
}

}  // namespace calotype::internal
