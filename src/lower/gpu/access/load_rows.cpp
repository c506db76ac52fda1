// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/access/load_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arith/bounds/ends.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "lower/effects.h"
#include "lower/gpu/access/kernel_mutator.h"
#include "lower/gpu/access/wide_access.h"
#include "lower/gpu/uniform.h"
#include "lower/let_scope.h"
#include "lower/sure_loads.h"

namespace calotype::internal {

namespace {

/// Nodes of the iterations that are done at once.
constexpr int most_nodes = 768;

/// Statements that each iteration comes to, without effects but their stores.
bool is_straight(const Stmt &s) {
    if (const Block *block = s.as<Block>()) {
        return is_straight(block->first) && is_straight(block->rest);
    }
    if (const LetStmt *let = s.as<LetStmt>()) {
        return !has_effects(let->value) && is_straight(let->body);
    }
    const Store *store = s.as<Store>();
    return store && !has_effects(store->value) && !has_effects(store->index) &&
           is_const_one(store->predicate);
}

int nodes_of(const Stmt &s) {
    int nodes = 0;
    for_each<Store>(s, [&](const Store *op) {
        nodes += ends::tree_size(op->value, most_nodes) + ends::tree_size(op->index, most_nodes);
    });
    for_each<LetStmt>(s,
                      [&](const LetStmt *op) { nodes += ends::tree_size(op->value, most_nodes); });
    return nodes;
}

/// A load of single elements that follow one another.
struct Row {
    const Load *load;
    Expr index;  ///< in terms of what is outside of the loop, and of its variable

    /// The elements of one access.
    int lanes() const {
        return max_access_bytes / load->type.bytes();
    }
};

/// The loads of one iteration, from the vectors that were read for several.
class UseRows : public Mutator {
public:
    std::map<const Load *, Expr> elements;

private:
    using Mutator::visit;

    Expr visit(const Load *op) override {
        const auto found = elements.find(op);
        return found == elements.end() ? Mutator::visit(op) : found->second;
    }
};

class RowLoader : public KernelMutator {
public:
    RowLoader(const Polynomials &known, LowerContext &ctx) : ctx_(ctx), known_(known) {
    }

private:
    using KernelMutator::visit;

    Stmt visit(const For *op) override {
        const ScopedBinding<> own(in_kernel_ || is_gpu(op->for_type), differ_, op->name);
        const Stmt s = KernelMutator::visit(op);
        const For *loop = s.as<For>();
        return in_kernel_ && loop && loop->for_type == ForType::Serial ? by_rows(loop) : s;
    }

    Stmt visit(const Allocate *op) override {
        const ScopedBinding<> own(in_kernel_, own_storage_, op->name);
        return KernelMutator::visit(op);
    }

    Stmt visit(const LetStmt *op) override {
        if (!in_kernel_) {
            return Mutator::visit(op);
        }
        const NamedPolynomial known(known_, op->name, op->value, false);
        const ScopedBinding<> own(differ_, op->name);
        return Mutator::visit(op);
    }

    Stmt by_rows(const For *loop) {
        if (!is_straight(loop->body)) {
            return loop;
        }
        std::vector<Row> rows = rows_of(loop);
        int at_once = 1;
        for (const Row &row : rows) {
            at_once = std::max(at_once, row.lanes());
        }
        // Two steps at least: the loop around one would be the innermost, and be unrolled as well.
        const int64_t most = as_const_int(loop->extent).value_or(2 * at_once) / 2;
        const int nodes = nodes_of(loop->body);
        while (at_once > 1 && (at_once > most || at_once * nodes > most_nodes)) {
            at_once /= 2;
        }
        return at_once > 1 ? in_steps(loop, rows, at_once) : Stmt(loop);
    }

    /// Those that may be read as vectors, each once.
    std::vector<Row> rows_of(const For *loop) {
        std::set<std::string> stored;
        for_each<Store>(loop->body, [&](const Store *op) { stored.insert(op->name); });
        SureLoads loads([&](const std::string &buffer) {
            return !stored.count(buffer) && !own_storage_.contains(buffer);
        });
        const std::vector<std::string> own_names = bound_names(loop->body);
        LetScope lets;
        std::vector<Row> rows;
        const auto read = [&](const Expr &value) {
            const size_t before = loads.found.size();
            loads(value);
            for (size_t i = before; i < loads.found.size(); i++) {
                const Row row = {loads.found[i], lets.expand(loads.found[i]->index)};
                if (is_row(row, loop) && !uses_any_var(row.index, own_names)) {
                    rows.push_back(row);
                }
            }
        };
        for (Stmt s = loop->body; s.defined();) {
            const Block *block = s.as<Block>();
            const Stmt first = block ? block->first : s;
            if (const LetStmt *let = first.as<LetStmt>()) {
                if (block) {
                    break;
                }
                read(let->value);
                lets.push(let->name, let->value);
                s = let->body;
                continue;
            }
            if (const Store *store = first.as<Store>()) {
                read(store->value);
            }
            s = block ? block->rest : Stmt();
        }
        return rows;
    }

    bool is_row(const Row &row, const For *loop) const {
        const Load *load = row.load;
        if (!load->type.is_scalar() || load->type.is_bool() || !is_const_one(load->predicate) ||
            row.lanes() < 2 || !row.index.defined() || !is_speculatable(row.index)) {
            return false;
        }
        const Expr r = Variable::make(loop->min.type(), loop->name);
        const Expr step = simplify(substitute(loop->name, r + 1, row.index) - row.index);
        return is_const_one(step) && may_be_aligned(row, loop);
    }

    /// Whether something that is the same for the whole launch makes its address a multiple of the vector's size.
    bool may_be_aligned(const Row &row, const For *loop) const {
        const auto index = polynomial_of(substitute(loop->name, loop->min, row.index), known_);
        return index && may_be_multiple(*index, row.lanes(), [&](const Expr &factor) {
                   return is_uniform(
                       factor, [&](const std::string &name) { return differ_.contains(name); });
               });
    }

    /// The vectors of a row that a step reads, by names that stand for them.
    std::vector<std::pair<std::string, Expr>> vectors_of(const Row &row, const For *loop,
                                                         const Expr &first, int at_once) {
        const int lanes = std::min(row.lanes(), at_once);
        std::vector<std::pair<std::string, Expr>> vectors;
        for (int i = 0; i < at_once; i += lanes) {
            const Expr index = simplify(substitute(loop->name, first + i, row.index));
            vectors.emplace_back(ctx_.names.unique(row.load->name + ".row"),
                                 Load::make(row.load->type.with_lanes(lanes), row.load->name,
                                            Ramp::make(index, 1, lanes), const_true(lanes),
                                            Alignment()));
        }
        return vectors;
    }

    /// So many iterations from `first` on.
    Stmt step_of(const For *loop, const std::vector<Row> &rows, const Expr &first, int at_once) {
        std::vector<UseRows> uses(static_cast<size_t>(at_once));
        std::vector<std::pair<std::string, Expr>> lets;
        for (const Row &row : rows) {
            const auto vectors = vectors_of(row, loop, first, at_once);
            const int lanes = vectors[0].second.type().lanes();
            for (int i = 0; i < at_once; i++) {
                const auto &[name, vector] = vectors[size_t(i / lanes)];
                uses[size_t(i)].elements[row.load] =
                    Shuffle::make({Variable::make(vector.type(), name)}, {i % lanes});
            }
            lets.insert(lets.end(), vectors.begin(), vectors.end());
        }
        std::vector<Stmt> iterations;
        for (int i = 0; i < at_once; i++) {
            iterations.push_back(
                substitute(loop->name, simplify(first + i), uses[size_t(i)].mutate(loop->body)));
        }
        Stmt step = Block::make(iterations);
        for (size_t i = lets.size(); i-- > 0;) {
            step = LetStmt::make(lets[i].first, lets[i].second, step);
        }
        return step;
    }

    Stmt in_steps(const For *loop, const std::vector<Row> &rows, int at_once) {
        const Expr extent = is_positive_const(loop->extent) ? loop->extent : max(loop->extent, 0);
        const Expr steps = simplify(extent / at_once), rest = simplify(extent % at_once);
        const std::string name = ctx_.names.unique(loop->name + ".step");
        const Expr first = simplify(Variable::make(loop->min.type(), name) * at_once + loop->min);
        const Stmt s = with(loop, &For::name, name, &For::min, Expr(0), &For::extent, steps,
                            &For::body, step_of(loop, rows, first, at_once));
        return is_const_zero(rest)
                   ? s
                   : Block::make(s, with(loop, &For::min, simplify(loop->min + steps * at_once),
                                         &For::extent, rest));
    }

    LowerContext &ctx_;
    Scope<> differ_;       ///< names that the kernel binds
    Scope<> own_storage_;  ///< storage that it allocates
    Polynomials known_;
};

}  // namespace

Stmt load_rows(const For *kernel, const Polynomials &known, LowerContext &ctx) {
    return RowLoader(known, ctx).mutate(Stmt(kernel));
}

}  // namespace calotype::internal
