// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/access/load_rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "arith/bounds/ends.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/gpu/access/element_rows.h"
#include "lower/gpu/uniform.h"

namespace calotype::internal {

namespace {

/// Nodes of the iterations that are done at once.
constexpr int most_nodes = 768, most_wide_nodes = 192;

/// How far apart the elements of one iteration may lie from those of the next.
constexpr int64_t most_step = 64;

int nodes_of(const Stmt &s) {
    int nodes = 0;
    for_each<Store>(s, [&](const Store *op) {
        nodes += ends::tree_size(op->value, most_nodes) + ends::tree_size(op->index, most_nodes);
    });
    for_each<LetStmt>(s,
                      [&](const LetStmt *op) { nodes += ends::tree_size(op->value, most_nodes); });
    return nodes;
}

/// Vectors by names that stand for them.
using Vectors = std::vector<std::pair<std::string, Expr>>;

Stmt with_vectors(const Vectors &vectors, Stmt s) {
    for (size_t i = vectors.size(); i-- > 0;) {
        s = LetStmt::make(vectors[i].first, vectors[i].second, s);
    }
    return s;
}

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

class RowLoader : public StmtMutator {
public:
    RowLoader(const Polynomials &known, LowerContext &ctx) : ctx_(ctx), known_(known) {
    }

    using StmtMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        return is_straight(s) ? side_by_side(s) : StmtMutator::mutate(s);
    }

private:
    using StmtMutator::visit;

    Stmt visit(const For *op) override {
        const ScopedBinding<> own(differ_, op->name);
        const Stmt s = op->for_type == ForType::Serial ? by_rows(op) : Stmt();
        return s.defined() ? s : StmtMutator::visit(op);
    }

    Stmt visit(const Allocate *op) override {
        const ScopedBinding<> own(own_storage_, op->name);
        return StmtMutator::visit(op);
    }

    Stmt visit(const LetStmt *op) override {
        const NamedPolynomial known(known_, op->name, op->value, false);
        const ScopedBinding<> own(differ_, op->name);
        return StmtMutator::visit(op);
    }

    /// They are known by their form.
    Stmt visit(const Atomic *op) override {
        return op;
    }

    /// Undefined if it reads no rows.
    Stmt by_rows(const For *loop) {
        if (!is_straight(loop->body)) {
            return Stmt();
        }
        std::vector<Row> rows = aligned_rows_of(loop);
        int at_once = 1;
        for (const Row &row : rows) {
            const int lanes = row.first().most_lanes();
            at_once = std::max(at_once, lanes / int(std::gcd(row.step, int64_t(lanes))));
        }
        // Two steps at least: the loop around one would be the innermost, and be unrolled as well.
        const int64_t most = as_const_int(loop->extent).value_or(2 * at_once) / 2;
        // What an iteration reads as one vector already is not worth as much code.
        const bool is_wide =
            std::any_of(rows.begin(), rows.end(), [](const Row &row) { return row.lanes(1) > 1; });
        const int nodes = nodes_of(loop->body), limit = is_wide ? most_wide_nodes : most_nodes;
        while (at_once > 1 && (at_once > most || at_once * nodes > limit)) {
            at_once /= 2;
        }
        const auto is_single = [&](const Row &row) {
            return row.lanes(at_once) == 1;
        };
        rows.erase(std::remove_if(rows.begin(), rows.end(), is_single), rows.end());
        return rows.empty() ? Stmt() : in_steps(loop, rows, at_once);
    }

    /// Those that may be read as vectors. Each is in one of them.
    std::vector<Row> aligned_rows_of(const For *loop) const {
        std::vector<Row> rows;
        for (const Row &row : rows_of(loop->body, own_storage_)) {
            const Expr r = Variable::make(loop->min.type(), loop->name);
            const Expr &index = row.first().index;
            const auto step = as_const_int(simplify(substitute(loop->name, r + 1, index) - index));
            if (step && 0 < *step && *step <= most_step) {
                for (Row &part : row.within_steps(*step)) {
                    const Expr start = substitute(loop->name, loop->min, part.first().index);
                    if (part.is_dense() &&
                        may_be_aligned(start, part.first().most_lanes(), *step > 1)) {
                        rows.push_back(std::move(part));
                    }
                }
            }
        }
        return rows;
    }

    /// Whether something that is the same for the whole launch makes an address a multiple of the vector's size;
    /// if `as_it_is`, something that is zero in most launches.
    bool may_be_aligned(const Expr &start, int lanes, bool as_it_is) const {
        const auto index = polynomial_of(start, known_);
        return index && !(as_it_is && index->constant % lanes != 0) &&
               may_be_multiple(*index, lanes, [&](const Expr &factor) {
                   return is_uniform(
                       factor, [&](const std::string &name) { return differ_.contains(name); });
               });
    }

    /// The vectors of a row that a step reads.
    void add_vectors(const Row &row, const Expr &start, int at_once, Vectors &vectors,
                     std::vector<UseRows> &uses) {
        const int lanes = row.lanes(at_once);
        std::map<int64_t, Expr> by_place;
        for (int i = 0; i < at_once; i++) {
            for (size_t j = 0; j < row.elements.size(); j++) {
                const int64_t place = row.step * i + row.places[j];
                Expr &vector = by_place[place / lanes];
                if (!vector.defined()) {
                    vector = add_vector(row.first(), simplify(start + int(place / lanes * lanes)),
                                        lanes, vectors);
                }
                uses[size_t(i)].elements[row.elements[j].load] =
                    Shuffle::make({vector}, {int(place % lanes)});
            }
        }
    }

    Expr add_vector(const Element &e, const Expr &index, int lanes, Vectors &vectors) {
        const Type type = e.load->type.with_lanes(lanes);
        vectors.emplace_back(ctx_.names.unique(e.load->name + ".row"),
                             Load::make(type, e.load->name, Ramp::make(index, 1, lanes),
                                        const_true(lanes), Alignment()));
        return Variable::make(type, vectors.back().first);
    }

    /// So many iterations from `first` on.
    Stmt step_of(const For *loop, const std::vector<Row> &rows, const Expr &first, int at_once) {
        std::vector<UseRows> uses(static_cast<size_t>(at_once));
        Vectors vectors;
        for (const Row &row : rows) {
            add_vectors(row, simplify(substitute(loop->name, first, row.first().index)), at_once,
                        vectors, uses);
        }
        std::vector<Stmt> iterations;
        for (int i = 0; i < at_once; i++) {
            iterations.push_back(
                substitute(loop->name, simplify(first + i), uses[size_t(i)].mutate(loop->body)));
        }
        return with_vectors(vectors, side_by_side(Block::make(iterations)));
    }

    /// What a thread reads of neighbours without a loop. Nothing else is read.
    Stmt side_by_side(const Stmt &s) {
        Vectors vectors;
        UseRows uses;
        for (const Row &row : rows_of(s, own_storage_)) {
            std::map<int64_t, std::vector<const Load *>> loads;
            for (size_t i = 0; i < row.elements.size(); i++) {
                loads[row.places[i]].push_back(row.elements[i].load);
            }
            while (!loads.empty()) {
                const auto [first, count] = first_run(loads);
                const Expr start = simplify(row.first().index + int(first));
                const int lanes = lanes_of_run(start, count, row.first().most_lanes());
                for (int64_t i = 0; lanes > 1 && i < count; i++) {
                    if (i % lanes == 0) {
                        add_vector(row.first(), simplify(start + int(i)), lanes, vectors);
                    }
                    const Expr vector =
                        Variable::make(vectors.back().second.type(), vectors.back().first);
                    for (const Load *load : loads[first + i]) {
                        uses.elements[load] = Shuffle::make({vector}, {int(i % lanes)});
                    }
                }
                loads.erase(loads.begin(), loads.lower_bound(first + count));
            }
        }
        return vectors.empty() ? s : with_vectors(vectors, uses.mutate(s));
    }

    /// The first place, and how many follow one another from there on.
    static std::pair<int64_t, int64_t>
    first_run(const std::map<int64_t, std::vector<const Load *>> &loads) {
        const int64_t first = loads.begin()->first;
        int64_t count = 0;
        for (auto it = loads.begin(); it != loads.end() && it->first == first + count; ++it) {
            count++;
        }
        return {first, count};
    }

    /// The elements of one access. Where their number divides that of all, accesses can be aligned although the
    /// next thread's elements follow directly.
    int lanes_of_run(const Expr &start, int64_t count, int most) const {
        int lanes = most;
        while (lanes > 1 && (count % lanes != 0 || !may_be_aligned(start, lanes, true))) {
            lanes /= 2;
        }
        return lanes;
    }

    Stmt in_steps(const For *loop, const std::vector<Row> &rows, int at_once) {
        const Expr extent = is_positive_const(loop->extent) ? loop->extent : max(loop->extent, 0);
        const Expr steps = simplify(extent / at_once), rest = simplify(extent % at_once);
        const std::string name = ctx_.names.unique(loop->name + ".step");
        const ScopedBinding<> own(differ_, name);
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
