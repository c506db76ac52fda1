// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One allocation at a time. First all products in it are read: they say how large tiles are, and how
// many there are. Then its body is rewritten from the outside in. In between, registers hold the
// values of the tiles, and memory does too while `in_memory_`.
#include "lower/tiles/select_tile_instructions.h"

#include <algorithm>

#include "arith/monotonic.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/checks/error_call.h"
#include "lower/let_scope.h"
#include "lower/tiles/tile_product.h"

namespace calotype::internal {

namespace {

constexpr int registers = 8, max_rows = 16, max_row_bytes = 64;

Stmt instruction(Intrinsic id, const std::vector<Expr> &args) {
    return Evaluate::make(Call::make(Int(32), id, args));
}

/// Whether a statement loads, stores or names storage.
class FindUses : public Visitor {
public:
    explicit FindUses(const std::string &buffer) : buffer_(buffer) {
    }
    bool loads = false, stores = false, is_handed_out = false, has_sums = false;

    bool any() const {
        return loads || stores || is_handed_out;
    }

private:
    using Visitor::visit;
    void visit(const Load *op) override {
        loads = loads || op->name == buffer_;
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        stores = stores || op->name == buffer_;
        Visitor::visit(op);
    }
    void visit(const Variable *op) override {
        is_handed_out = is_handed_out || op->name == buffer_;
    }
    void visit(const For *op) override {
        if (op->for_type == ForType::Vectorized) {
            for (const TileNest &nest : read_tile_nests(op)) {
                has_sums = has_sums || (nest.store()->name == buffer_ && has_sum(nest));
            }
        }
        Visitor::visit(op);
    }

    const std::string &buffer_;
};

FindUses uses_in(const Stmt &s, const std::string &buffer) {
    FindUses find(buffer);
    find(s);
    return find;
}

/// The same loops one iteration after the other.
class MakeSerial : public Mutator {
    using Mutator::visit;
    Stmt visit(const For *op) override {
        return with(op, &For::for_type,
                    op->for_type == ForType::Vectorized ? ForType::Serial : op->for_type,
                    &For::body, mutate(op->body));
    }
};

/// What all products of an allocation have in common.
struct TileShape {
    int rows = 0, columns = 0, depth_bytes = 0;
    int64_t step = 0;
    bool operator==(const TileShape &other) const {
        return rows == other.rows && columns == other.columns && step == other.step &&
               depth_bytes == other.depth_bytes;
    }
};

/// The registers that hold operands of one side, and of which place.
class OperandRegisters {
public:
    void set_range(int first, int count) {
        first_ = first;
        held_.assign(size_t(count), TilePlace());
        next_ = 0;
    }
    /// The register for the operand; `is_new` if it has to be loaded.
    int find(const TilePlace &place, bool *is_new) {
        for (size_t i = 0; i < held_.size(); i++) {
            const TilePlace &held = held_[i];
            if (held.buffer == place.buffer && equal(held.first, place.first) &&
                equal(held.step, place.step)) {
                *is_new = false;
                return first_ + int(i);
            }
        }
        const size_t i = next_;
        next_ = (next_ + 1) % held_.size();
        held_[i] = place;
        *is_new = true;
        return first_ + int(i);
    }
    void forget() {
        std::fill(held_.begin(), held_.end(), TilePlace());
    }
    /// What lies at a place that the name says: it ends to mean that.
    void forget(const std::string &name) {
        for (TilePlace &held : held_) {
            if (held.first.defined() && (uses_var(held.first, name) || uses_var(held.step, name))) {
                held = TilePlace();
            }
        }
    }

private:
    int first_ = 0;
    size_t next_ = 0;
    std::vector<TilePlace> held_;
};

class TileAllocation {
public:
    TileAllocation(const Allocate *op, LetScope &lets) : op_(op), lets_(lets) {
    }

    Stmt rewrite() {
        read_products(op_->body, &TileAllocation::add_shape);
        user_assert(shape_.rows > 0)
            << subject()
            << ", but no matrix multiply operation was found in it: no update of it adds up over "
            << "a vectorized loop";
        read_products(op_->body, &TileAllocation::add_place);
        check_shape();
        choose_registers();
        const Stmt body = Block::make(
            {configure(), rewrite(op_->body), instruction(Intrinsic::tile_release, {})});
        return needs_memory_ ? Allocate::make(op_->name, op_->type, MemoryType::Auto, op_->extents,
                                              op_->condition, body)
                             : body;
    }

private:
    std::string subject() const {
        return "func " + op_->name + " is stored in amx_tile";
    }

    // ---- what there is ----

    /// With what the lets around say of alignment: columns may be taken apart by quotients.
    std::vector<TileNest> nests_of(const Stmt &s) const {
        std::vector<TileNest> nests = read_tile_nests(s);
        for (TileNest &nest : nests) {
            for (const std::string &name : free_variables(nest.statement)) {
                const Expr value = lets_.binds(name)
                                       ? lets_.expand_while_small(Variable::make(Int(32), name))
                                       : Expr();
                if (value.defined() && value.type() == Int(32)) {
                    nest.alignments[name] = modulus_remainder(remove_likelies(value));
                }
            }
        }
        return nests;
    }

    bool is_sum(const TileNest &nest) const {
        return nest.store()->name == op_->name && has_sum(nest);
    }

    using AddProduct = void (TileAllocation::*)(const TileProduct &);

    /// Calls `add` for all products. CompileError for a sum that is none.
    void read_products(const Stmt &s, AddProduct add) {
        class Read : public Visitor {
        public:
            Read(TileAllocation &tiles, AddProduct add) : tiles_(tiles), add_(add) {
            }

        private:
            using Visitor::visit;
            void visit(const LetStmt *op) override {
                LetScope::Inside inside(tiles_.lets_, op->name, op->value);
                Visitor::visit(op);
            }
            void visit(const For *op) override {
                if (op->for_type == ForType::Vectorized) {
                    tiles_.read_sums(tiles_.nests_of(op), add_);
                    return;
                }
                Visitor::visit(op);
            }
            TileAllocation &tiles_;
            AddProduct add_;
        };
        Read(*this, add)(s);
    }

    void read_sums(const std::vector<TileNest> &nests, AddProduct add) {
        for (const TileNest &nest : nests) {
            if (!is_sum(nest)) {
                continue;
            }
            const TileProductMatch match = match_tile_product(nest);
            user_assert(match.product)
                << subject() << ", but an update of it is no product of tiles: " << match.why_not;
            (this->*add)(*match.product);
        }
    }

    void add_shape(const TileProduct &p) {
        const auto step = as_const_int(p.sums.step);
        user_assert(step) << subject() << " with rows " << to_string(p.sums.step)
                          << " elements apart: that must be a constant";
        const TileShape shape = {p.rows, p.columns, p.depth * p.a.type.bytes(), *step};
        user_assert(shape_.rows == 0 || shape == shape_)
            << subject() << ", but one product in it has " << text_of(shape_) << ", another "
            << text_of(shape) << ": it does not have the same shape, but has different size and "
            << "strides";
        shape_ = shape;
    }

    void add_place(const TileProduct &p) {
        const auto place = place_of(p.sums.first);
        user_assert(place) << subject() << ", but a tile of it begins at "
                           << to_string(p.sums.first)
                           << ", which is not constant: unroll the loops over its tiles";
        if (number_of(*place) < 0) {
            places_.push_back(*place);
        }
    }

    static std::string text_of(const TileShape &shape) {
        return std::to_string(shape.rows) + " rows, " + std::to_string(shape.columns) +
               " columns and " + std::to_string(shape.depth_bytes) + " bytes of depth";
    }

    std::optional<int64_t> place_of(const Expr &first) const {
        return as_const_int(simplify(remove_likelies(lets_.expand_while_small(first))));
    }
    /// The register of the tile that begins there, or -1.
    int number_of(int64_t place) const {
        const auto it = std::find(places_.begin(), places_.end(), place);
        return it == places_.end() ? -1 : int(it - places_.begin());
    }

    void check_shape() const {
        user_assert(shape_.rows <= max_rows && shape_.columns * 4 <= max_row_bytes &&
                    shape_.depth_bytes <= max_row_bytes)
            << subject() << " with " << text_of(shape_)
            << ", too large to fit in a tile: that has at most " << max_rows << " rows, "
            << max_row_bytes / 4 << " columns and " << max_row_bytes << " bytes of depth";
        user_assert(int(places_.size()) <= registers - 2)
            << subject() << " and has " << places_.size() << " tiles, must have at most "
            << registers - 2 << ": there are " << registers
            << " registers, and operands need one each";
    }

    void choose_registers() {
        const int sums = int(places_.size()), free = registers - sums;
        a_.set_range(sums, free / 2);
        b_.set_range(sums + free / 2, free - free / 2);
    }

    Stmt configure() const {
        std::vector<Expr> args;
        const int sums = int(places_.size()), of_a = (registers - sums) / 2;
        for (int i = 0; i < registers; i++) {
            const bool is_b = i >= sums + of_a, is_a = i >= sums && !is_b;
            args.push_back(make_const(Int(32), is_b ? shape_.depth_bytes / 4 : shape_.rows));
            args.push_back(make_const(Int(32), is_a ? shape_.depth_bytes : shape_.columns * 4));
        }
        return instruction(Intrinsic::tile_configure, args);
    }

    // ---- the code ----

    Stmt rewrite(const Stmt &s) {
        const std::vector<Stmt> statements = statements_of(s);
        std::vector<Stmt> result;
        for (size_t i = 0; i < statements.size();) {
            const Stmt products = conditional_products(statements, &i);
            result.push_back(products.defined() ? products : rewrite_one(statements[i++]));
        }
        return Block::make(result);
    }

    Stmt rewrite_one(const Stmt &s) {
        const FindUses uses = uses_in(s, op_->name);
        if (!uses.any()) {
            forget_operands();
            return s;
        }
        if (const LetStmt *op = s.as<LetStmt>()) {
            LetScope::Inside inside(lets_, op->name, op->value);
            const Stmt body = rewrite(op->body);
            a_.forget(op->name);  // copies of unrolled loops have lets of one name
            b_.forget(op->name);
            return LetStmt::make(op->name, op->value, body);
        }
        if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
            return ProducerConsumer::make(op->name, op->is_producer, rewrite(op->body));
        }
        if (const Stmt tiles = rewrite_nests(s); tiles.defined()) {
            return tiles;
        }
        return uses.has_sums ? rewrite_around_sums(s) : in_memory(s);
    }

    static std::vector<Stmt> statements_of(Stmt s) {
        std::vector<Stmt> result;
        for (const Block *op = s.as<Block>(); op; op = s.as<Block>()) {
            const std::vector<Stmt> first = statements_of(op->first);
            result.insert(result.end(), first.begin(), first.end());
            s = op->rest;
        }
        result.push_back(s);
        return result;
    }

    /// A statement in which products are.
    Stmt rewrite_around_sums(const Stmt &s) {
        forget();
        Stmt result;
        if (const For *op = s.as<For>()) {
            user_assert(op->for_type == ForType::Serial)
                << subject() << ", but its products are in the loop " << op->name << " within it, "
                << "which is " << to_string(op->for_type)
                << ": the registers are those of one thread";
            result = with(op, &For::body, rewrite(op->body));
        } else if (const IfThenElse *op = s.as<IfThenElse>()) {
            const Stmt then_case = rewrite(op->then_case);
            forget();
            result = IfThenElse::make(op->condition, then_case,
                                      op->else_case.defined() ? rewrite(op->else_case) : Stmt());
        } else if (const Allocate *op = s.as<Allocate>()) {
            user_assert(op->memory_type != MemoryType::AMXTile)
                << subject() << " while func " << op->name
                << " is: the registers hold one func at a time";
            result = with(op, &Allocate::body, rewrite(op->body));
        } else {
            user_error << subject() << ", but its products are in an async producer or in a stage "
                       << "that other threads take part in";
        }
        forget();
        return result;
    }

    void forget_operands() {
        a_.forget();
        b_.forget();
    }
    void forget() {
        forget_operands();
        in_memory_ = false;
    }

    /// Products, tiles of zeros, and stores of tiles; undefined if the statement is anything else.
    Stmt rewrite_nests(const Stmt &s) {
        const For *loop = s.as<For>();
        if (!s.as<Store>() && !(loop && loop->for_type == ForType::Vectorized)) {
            return Stmt();
        }
        std::vector<Stmt> result;
        for (const TileNest &nest : nests_of(s)) {
            const Stmt tiles =
                is_sum(nest) ? product(*match_tile_product(nest).product) : move(nest);
            if (!tiles.defined()) {
                return Stmt();
            }
            result.push_back(tiles);
        }
        return result.empty() ? Stmt() : Block::make(result);
    }

    /// Under what condition the nest is a product of whole tiles.
    Expr condition_of(const TileNest &nest) const {
        Expr result = const_true();
        for (const Expr &c : nest.conditions) {
            result = result && in_all_iterations(c, nest);
        }
        return simplify(result);
    }

    /// A product that is one of whole tiles under a condition alone.
    struct ConditionalProduct {
        TileProduct product;
        Expr condition;
    };

    /// What a statement is; none for products of whole tiles for sure, and for anything else.
    std::optional<ConditionalProduct> conditional_product(const Stmt &s) const {
        const For *loop = s.as<For>();
        if (!loop || loop->for_type != ForType::Vectorized) {
            return std::nullopt;
        }
        const std::vector<TileNest> nests = nests_of(s);
        for (const TileNest &nest : nests) {
            const Expr condition = is_sum(nest) ? condition_of(nest) : const_true();
            if (is_const_one(condition)) {
                continue;
            }
            user_assert(nests.size() == 1)
                << subject() << ", but there is more in the loop " << loop->name
                << " than a product of tiles under a condition";
            return ConditionalProduct{*match_tile_product(nest).product, condition};
        }
        return std::nullopt;
    }

    /// statements[i] and those after it that are products under one condition. Moves i past them.
    Stmt conditional_products(const std::vector<Stmt> &statements, size_t *i) {
        const auto first = conditional_product(statements[*i]);
        if (!first) {
            return Stmt();
        }
        forget();
        std::vector<Stmt> tiles, plain;
        for (auto next = first; next && equal(next->condition, first->condition);
             next = *i < statements.size() ? conditional_product(statements[*i]) : std::nullopt) {
            tiles.push_back(product(next->product));
            plain.push_back(MakeSerial().mutate(statements[(*i)++]));
        }
        forget();
        const Stmt others = in_memory(Block::make(plain));
        forget();
        return IfThenElse::make(first->condition, Block::make(tiles), others);
    }

    Stmt product(const TileProduct &p) {
        std::vector<Stmt> code;
        const int sums = number_of(*place_of(p.sums.first));
        const int a = operand(a_, p.a, &code), b = operand(b_, p.b, &code);
        code.push_back(instruction(Intrinsic::tile_multiply_add,
                                   {sums, a, b, make_zero(p.a.type), make_zero(p.b.type)}));
        in_memory_ = false;
        return Block::make(code);
    }

    int operand(OperandRegisters &side, const TilePlace &place, std::vector<Stmt> *code) {
        bool is_new = false;
        const int result = side.find(place, &is_new);
        if (is_new) {
            code->push_back(access(Intrinsic::tile_load, result, place));
        }
        return result;
    }

    static Stmt access(Intrinsic id, int number, const TilePlace &place) {
        return Evaluate::make(
            Call::make(place.type, id,
                       {number, Variable::make(Handle(), place.buffer), place.first, place.step}));
    }

    /// A condition that holds if c holds in all iterations.
    Expr in_all_iterations(const Expr &c, const TileNest &nest) const {
        if (const And *both = c.as<And>()) {
            return in_all_iterations(both->a, nest) && in_all_iterations(both->b, nest);
        }
        if (can_prove(lets_.expand_while_small(c), nest.context())) {
            return const_true();
        }
        const Expr result = in_worst_iteration(c, nest);
        user_assert(result.defined())
            << subject() << ", but its products stand under the condition " << to_string(c)
            << ", which must hold in all of a tile, or compare what is linear in its loops";
        return result;
    }

    /// a < b and a <= b in the iteration where b - a is least; undefined for other conditions and
    /// where it is not linear.
    static Expr in_worst_iteration(const Expr &c, const TileNest &nest) {
        const Expr e = remove_likelies(c);
        const LT *lt = e.as<LT>();
        const LE *le = e.as<LE>();
        if ((!lt && !le) || !(lt ? lt->a : le->a).type().is_int()) {
            return Expr();
        }
        const Expr difference = lt ? lt->b - lt->a : le->b - le->a;
        std::map<std::string, Expr> worst;
        for (const TileLoop &loop : nest.loops) {
            const auto step = constant_step_of(difference, loop.name, nest.context());
            if (!step) {
                return Expr();
            }
            worst[loop.name] = make_const(Int(32), *step < 0 ? loop.extent - 1 : 0);
        }
        return substitute(worst, c);
    }

    /// A tile set to zero or stored elsewhere as it is, all of it, for sure.
    Stmt move(const TileNest &nest) {
        const auto tile = match_tile_move(nest);
        if (!tile || tile->columns != shape_.columns || tile->rows != shape_.rows) {
            return Stmt();
        }
        const TilePlace &inside = tile->from ? *tile->from : tile->to;
        const auto place = place_of(inside.first), step = as_const_int(inside.step);
        const int number = place ? number_of(*place) : -1;
        const bool is_tile =
            inside.buffer == op_->name && number >= 0 && (shape_.rows == 1 || step == shape_.step);
        for (const Expr &c : nest.conditions) {
            if (!can_prove(lets_.expand_while_small(c), nest.context())) {
                return Stmt();
            }
        }
        if (!is_tile ||
            (tile->from && (tile->to.buffer == op_->name || tile->to.type != tile->from->type))) {
            return Stmt();
        }
        if (tile->from) {
            return access(Intrinsic::tile_store, number, tile->to);
        }
        in_memory_ = false;
        return instruction(Intrinsic::tile_zero, {number});
    }

    /// s, with the tiles in memory while it runs.
    Stmt in_memory(const Stmt &s) {
        needs_memory_ = true;
        const FindUses uses = uses_in(s, op_->name);
        std::vector<Stmt> code;
        if (!in_memory_) {
            move_all(Intrinsic::tile_store, &code);
        }
        code.push_back(s);
        forget_operands();
        if (uses.stores || uses.is_handed_out) {
            move_all(Intrinsic::tile_load, &code);
        }
        in_memory_ = true;
        return Block::make(code);
    }

    void move_all(Intrinsic id, std::vector<Stmt> *code) const {
        for (size_t i = 0; i < places_.size(); i++) {
            code->push_back(access(id, int(i),
                                   {op_->name, op_->type, make_const(Int(32), places_[i]),
                                    make_const(Int(32), shape_.step)}));
        }
    }

    const Allocate *op_;
    LetScope &lets_;
    TileShape shape_;
    std::vector<int64_t>
        places_;  ///< where tiles begin in the storage, in order of their registers
    OperandRegisters a_, b_;
    bool in_memory_ = false, needs_memory_ = false;
};

class SelectTileInstructions : public Mutator {
public:
    explicit SelectTileInstructions(LowerContext &ctx) : ctx_(ctx) {
    }
    bool found = false;

private:
    using Mutator::visit;

    Stmt visit(const LetStmt *op) override {
        LetScope::Inside inside(lets_, op->name, op->value);
        return Mutator::visit(op);
    }

    Stmt visit(const For *op) override {
        const bool outer = in_kernel_;
        in_kernel_ = in_kernel_ || is_gpu(op->for_type);
        const Stmt result = Mutator::visit(op);
        in_kernel_ = outer;
        return result;
    }

    Stmt visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::AMXTile) {
            return Mutator::visit(op);
        }
        user_assert(ctx_.target.arch == Target::X86 && !in_kernel_ &&
                    ctx_.target.has_feature(Target::AVX512_SapphireRapids))
            << "func " << op->name << " is stored in amx_tile, which "
            << (in_kernel_ ? "kernels do not have"
                           : "target " + ctx_.target.without_implied_features().to_string() +
                                 " does not have: that takes x86 with avx512_sapphirerapids");
        user_assert(op->type.bits() == 32 && !op->type.is_uint())
            << "func " << op->name << " is stored in amx_tile with elements of type "
            << to_string(op->type) << ", must yield 32-bit integers or float32";
        found = true;
        return TileAllocation(op, lets_).rewrite();
    }

    LowerContext &ctx_;
    LetScope lets_;
    bool in_kernel_ = false;
};

}  // namespace

Stmt select_tile_instructions(const Stmt &s, LowerContext &ctx) {
    SelectTileInstructions select(ctx);
    const Stmt result = select.mutate(s);
    if (!select.found) {
        return s;
    }
    const std::string status = ctx.names.unique("tiles.status");
    const Expr value = Variable::make(Int(32), status);
    return LetStmt::make(status,
                         call_runtime(RuntimeFunction::request_matrix_tiles, {user_context()}),
                         Block::make(AssertStmt::make(value == 0, value), result));
}

}  // namespace calotype::internal
