// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/matrix/select_matrix_instructions.h"

#include <functional>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/gpu/matrix/matrix_fragments.h"
#include "lower/gpu/matrix/tile_copy.h"
#include "lower/gpu/matrix/warpgroup_product.h"
#include "pipeline/schedule.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

constexpr int least_capability = 80;

/// f for each place of the tiles, the last loop innermost.
void for_each_place(const std::vector<MatrixLoop> &loops,
                    const std::function<void(const TilePlace &)> &f) {
    TilePlace place;
    const std::function<void(size_t)> from = [&](size_t i) {
        if (i == loops.size()) {
            f(place);
            return;
        }
        for (int value = 0; value < loops[i].extent; value++) {
            place[loops[i].name] = value;
            from(i + 1);
        }
    };
    from(0);
}

/// The statements of one product.
class ProductWriter {
public:
    ProductWriter(const MatrixProduct &product, const std::vector<KernelLoop> &threads,
                  const std::set<std::string> &shared, LowerContext &ctx)
        : product_(product), fragments_(product, threads, shared, ctx), ctx_(ctx) {
        for (const MatrixLoop &loop : product.tiles) {
            if (uses_var(product.a, loop.name)) {
                of_a_.push_back(loop);
            }
            if (uses_var(product.b, loop.name)) {
                of_b_.push_back(loop);
            }
        }
    }

    Stmt run() {
        const int step = product_.step(), n = product_.depth.extent / step;
        std::vector<Stmt> all;
        for (int i = 0; i < n;) {
            const bool in_pairs = i + 1 < n && add_pairs_of_b(i * step);
            all.push_back(one_step(i * step, in_pairs ? 0 : -1));
            i++;
            if (in_pairs) {
                all.back() = Block::make(all.back(), one_step(i * step, 1));
                i++;
            }
            all.back() = wrap_in_lets(pairs_, all.back());
            pairs_.clear();
        }
        return Block::make(all);
    }

private:
    /// The place in loops that an operand has.
    static std::string key(const std::vector<MatrixLoop> &loops, const TilePlace &place) {
        std::string result;
        for (const MatrixLoop &loop : loops) {
            result += std::to_string(*as_const_int(place.at(loop.name))) + ",";
        }
        return result;
    }

    Expr named(std::vector<std::pair<std::string, Expr>> &lets, const char *what,
               const Expr &value) const {
        const std::string name = ctx_.names.unique(product_.store->name + what);
        lets.emplace_back(name, value);
        return Variable::make(value.type(), name);
    }

    /// Parts of b for two steps, by as many loads as for one.
    bool add_pairs_of_b(int depth) {
        bool all = true;
        for_each_place(of_b_, [&](const TilePlace &place) {
            const Expr both = all ? fragments_.two_of_b(place, depth) : Expr();
            all = all && both.defined();
            if (all) {
                pair_of_b_[key(of_b_, place)] = named(pairs_, ".b", both);
            }
        });
        if (!all) {
            pairs_.clear();
        }
        return all;
    }

    /// Products of one instruction each. `half` of the pairs of b, if these are there.
    Stmt one_step(int depth, int half) {
        std::vector<std::pair<std::string, Expr>> lets;
        std::map<std::string, Expr> a, b;
        for_each_place(of_a_, [&](const TilePlace &place) {
            a[key(of_a_, place)] = named(lets, ".a", fragments_.a(place, depth));
        });
        for_each_place(of_b_, [&](const TilePlace &place) {
            if (half < 0) {
                b[key(of_b_, place)] = named(lets, ".b", fragments_.b(place, depth));
                return;
            }
            const Expr both = pair_of_b_.at(key(of_b_, place));
            const int lanes = both.type().lanes() / 2;
            b[key(of_b_, place)] = Shuffle::make_slice(both, half * lanes, 1, lanes);
        });
        std::vector<Stmt> all;
        for_each_place(product_.tiles, [&](const TilePlace &place) {
            all.push_back(added(place, a.at(key(of_a_, place)), b.at(key(of_b_, place))));
        });
        return wrap_in_lets(lets, Block::make(all));
    }

    /// c += a*b for one tile of 16 by 8, of which the thread has two columns in two rows.
    Stmt added(const TilePlace &place, const Expr &a, const Expr &b) const {
        const Store *store = product_.store;
        std::vector<Expr> index;
        for (int i = 0; i < 4; i++) {
            TilePlace here = place;
            here[product_.row.name] = i / 2;
            here[product_.column.name] = i % 2;
            index.push_back(simplify(substitute(here, store->index)));
        }
        const Expr sums =
            Call::make(store->value.type().with_lanes(4), Intrinsic::matrix_multiply_add,
                       {a, b, load_sums(product_, index)});
        const std::string name = ctx_.names.unique(store->name + ".sums");
        return LetStmt::make(name, sums,
                             store_sums(product_, index, Variable::make(sums.type(), name)));
    }

    const MatrixProduct &product_;
    const MatrixFragments fragments_;
    LowerContext &ctx_;
    std::vector<MatrixLoop> of_a_, of_b_;
    std::vector<std::pair<std::string, Expr>> pairs_;
    std::map<std::string, Expr> pair_of_b_;
};

/// The same sums by loops: those over results unrolled, so that these stay in registers.
Stmt as_plain_loops(const MatrixProduct &product) {
    std::vector<MatrixLoop> results = product.tiles;
    results.push_back(product.row);
    results.push_back(product.column);
    std::vector<Stmt> all;
    for_each_place(results, [&](const TilePlace &place) {
        all.push_back(simplify(substitute(place, product.statement)));
    });
    return For::make(product.depth.name, 0, product.depth.extent, ForType::Serial, Partition::Never,
                     DeviceAPI::None, Block::make(all));
}

/// True if the code is for the architecture alone that has products of warpgroups.
bool has_warpgroups(const Target &target) {
    return target.has_feature(Target::CUDACapability90a) &&
           target.get_cuda_capability_lower_bound() == 90;
}

using SharedStorage = std::map<std::string, const Allocate *>;

/// Operands that warpgroups read, which are laid out for them.
class PanelFinder : public Visitor {
public:
    explicit PanelFinder(const KernelNest &nest) : nest_(nest) {
        (*this)(nest.body);
    }
    std::map<std::string, PanelLayout> found;

private:
    using Visitor::visit;
    void visit(const Allocate *op) override {
        if (is_gpu_shared(op->memory_type)) {
            shared_[op->name] = op;
        }
        Visitor::visit(op);
    }
    void visit(const For *op) override {
        if (op->for_type != ForType::Matrix) {
            Visitor::visit(op);
            return;
        }
        const MatrixMatch match = match_matrix_product(op, nest_.threads);
        WarpgroupProduct form;
        if (match.why_not.empty() &&
            match_warpgroup_product(match.product, nest_.threads, shared_, nest_.body, &form)) {
            found[form.a.load->name] = form.a.layout;
            found[form.b.load->name] = form.b.layout;
        }
    }
    const KernelNest &nest_;
    SharedStorage shared_;
};

/// What fills panels that are copied ahead of their use may be a copy of a tile.
class TileOfferer : public StmtMutator {
public:
    TileOfferer(const std::map<std::string, PanelLayout> &panels, const KernelNest &nest,
                const std::map<std::string, Expr> &lets, const LowerContext &ctx)
        : panels_(panels), nest_(nest), lets_(lets), ctx_(ctx) {
    }

private:
    using Mutator::visit;
    Stmt visit(const Allocate *op) override {
        const bool is_async =
            op->memory_type == MemoryType::GPUSharedAsync && panels_.count(op->name);
        const ScopedBinding<> bind(is_async, ahead_, op->name);
        return Mutator::visit(op);
    }
    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer || !ahead_.contains(op->name)) {
            return Mutator::visit(op);
        }
        const PanelLayout &layout = panels_.at(op->name);
        const auto tile = match_tile_copy(op->body, op->name, layout, nest_.threads, lets_, ctx_);
        if (!tile) {
            return op;
        }
        std::vector<Expr> args = {Variable::make(Handle(), op->name),
                                  Variable::make(Handle(), tile->from),
                                  layout.width,
                                  layout.rows,
                                  tile->dimension,
                                  make_zero(tile->type)};
        args.insert(args.end(), tile->coordinates.begin(), tile->coordinates.end());
        const Expr offer = Call::make(Bool(), Intrinsic::gpu_tile_offer, args);
        return ProducerConsumer::make(op->name, true, IfThenElse::make(!offer, op->body));
    }

    const std::map<std::string, PanelLayout> &panels_;
    const KernelNest &nest_;
    const std::map<std::string, Expr> &lets_;
    const LowerContext &ctx_;
    Scope<> ahead_;
};

class ProductSelector : public StmtMutator {
public:
    ProductSelector(const KernelNest &nest, const std::map<std::string, Expr> &lets,
                    LowerContext &ctx)
        : nest_(nest), lets_(lets), ctx_(ctx),
          has_instructions_(nest.api == DeviceAPI::CUDA &&
                            ctx.target.get_cuda_capability_lower_bound() >= least_capability) {
        if (has_instructions_ && has_warpgroups(ctx.target)) {
            panels_ = PanelFinder(nest).found;
        }
        for (size_t d = 0; d < nest.threads.size() && d < 2; d++) {
            of_warp_.push(nest.threads[d].name);
        }
    }

    Stmt run() {
        Stmt s = mutate(nest_.body);
        if (!ctx_.target.has_feature(Target::CUDAGraphs)) {  // recorded arguments are of 8 bytes
            s = TileOfferer(panels_, nest_, lets_, ctx_).mutate(s);
        }
        for (const auto &panel : panels_) {
            s = move_to_panels(s, panel.first, panel.second, ranges_of_threads(nest_.threads));
        }
        return s;
    }

private:
    using Mutator::visit;

    /// True if threads of a warp may find different values.
    bool differs(const Expr &e) const {
        return contains_kind(e, NodeKind::Load) || uses_any_var(e, of_warp_);
    }

    /// True if warps may find different values.
    bool is_of_warps(const Expr &e) const {
        return differs(e) || (nest_.threads.size() > 2 && uses_var(e, nest_.threads[2].name));
    }

    Stmt visit(const For *op) override {
        if (op->for_type == ForType::Matrix) {
            return product(op);
        }
        const bool varies = differs(op->min) || differs(op->extent);
        const ScopedBinding<> bind(varies, of_warp_, op->name);
        return under(varies, is_of_warps(op->min) || is_of_warps(op->extent), op);
    }

    Stmt visit(const LetStmt *op) override {
        const ScopedBinding<> bind(differs(op->value), of_warp_, op->name);
        return Mutator::visit(op);
    }

    Stmt visit(const IfThenElse *op) override {
        return under(differs(op->condition), is_of_warps(op->condition), op);
    }

    Stmt visit(const Allocate *op) override {
        if (is_gpu_shared(op->memory_type)) {
            shared_[op->name] = op;
            if (!panels_.count(op->name)) {
                in_rows_.insert(op->name);
            }
        }
        return Mutator::visit(op);
    }

    template<typename T>
    Stmt under(bool varies, bool varies_in_group, const T *op) {
        divergent_ += varies;
        divergent_warps_ += varies_in_group;
        const Stmt s = Mutator::visit(op);
        divergent_ -= varies;
        divergent_warps_ -= varies_in_group;
        return s;
    }

    Stmt product(const For *op) {
        MatrixMatch match = match_matrix_product(op, nest_.threads);
        const MatrixProduct &product = match.product;
        if (match.why_not.empty() && product.depth.extent % product.step() != 0) {
            match.why_not = "the extent of loop " + product.depth.name + " is " +
                            std::to_string(product.depth.extent) + ", must be a multiple of " +
                            std::to_string(product.step()) + " for these operands";
        }
        if (match.why_not.empty() && divergent_ > 0) {
            match.why_not = "it stands under a condition that the threads of a warp decide "
                            "differently";
        }
        user_assert(match.why_not.empty())
            << "the loops of gpu_matrix_multiply that begin with " << op->name
            << " are not a matrix product: " << match.why_not;
        WarpgroupProduct form;
        if (!has_instructions_) {
            return as_plain_loops(product);
        }
        if (!panels_.empty() && divergent_warps_ == 0 &&
            match_warpgroup_product(product, nest_.threads, shared_, nest_.body, &form)) {
            return write_warpgroup_product(product, form, nest_.threads, ctx_);
        }
        return ProductWriter(product, nest_.threads, in_rows_, ctx_).run();
    }

    const KernelNest &nest_;
    const std::map<std::string, Expr> &lets_;  ///< all of the pipeline
    LowerContext &ctx_;
    const bool has_instructions_;
    Scope<> of_warp_;  ///< names that threads of a warp have different values of
    std::map<std::string, PanelLayout> panels_;
    SharedStorage shared_;
    std::set<std::string> in_rows_;  ///< of these, those that are laid out as the pipeline says
    int divergent_ = 0, divergent_warps_ = 0;
};

}  // namespace

Stmt select_matrix_instructions(const Stmt &s, LowerContext &ctx) {
    std::map<std::string, Expr> lets;  // names are unique
    if (has_warpgroups(ctx.target)) {
        for_each<LetStmt>(s, [&](const LetStmt *op) { lets[op->name] = op->value; });
    }
    return rewrite_kernels(s, [&](const For *op) {
        KernelNest nest = match_kernel(op);
        nest.body = ProductSelector(nest, lets, ctx).run();
        return nest.to_stmt();
    });
}

}  // namespace calotype::internal
