// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/scattered_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"

namespace calotype::internal {

namespace {

/// Of so many lanes that are put into their places one by one the addresses are no longer in registers.
constexpr int many_lanes = 32;
/// To put a byte into its lane takes as long as so many operations on one element save in lanes.
constexpr int operations_of_a_lane = 14;
/// The same for elements that machines gather, some of them as slowly as they load lane by lane.
constexpr int operations_of_a_gathered_lane = 7;
constexpr int register_bits = 256;
/// LLVM loads up to so many neighbours together for several iterations, and takes them apart in registers.
constexpr int64_t most_loaded_together = 8;
/// Fewer elements are no vector.
constexpr size_t few_neighbours = 8;
/// So many terms and operations are looked at.
constexpr size_t most_leaves = 128;

/// By how much values change from one iteration of a loop to the next.
class Steps {
public:
    explicit Steps(const std::string &variable) {
        names_[variable] = 1;
    }

    void bind(const std::string &name, const Expr &value) {
        names_[name] = value.type() == Int(32) ? of(value) : std::nullopt;
    }

    /// None if that is not constant.
    std::optional<int64_t> of(const Expr &e) {
        const auto found = known_.find(e.get());
        if (found != known_.end()) {
            return found->second.second;
        }
        const std::optional<int64_t> step = find(e);
        known_.emplace(e.get(), std::make_pair(e, step));
        return step;
    }

private:
    std::optional<int64_t> find(const Expr &e) {
        if (const Variable *op = e.as<Variable>()) {
            const auto name = names_.find(op->name);
            return name == names_.end() ? 0 : name->second;
        }
        if (const Add *op = e.as<Add>()) {
            return sum(of(op->a), of(op->b), 1);
        }
        if (const Sub *op = e.as<Sub>()) {
            return sum(of(op->a), of(op->b), -1);
        }
        const Mul *product = e.as<Mul>();
        const std::optional<int64_t> factor = product ? as_const_int(product->b) : std::nullopt;
        if (factor) {
            return sum(0, of(product->a), *factor);
        }
        const bool changes = contains<Variable>(e, [&](const Variable *op) {
            const auto name = names_.find(op->name);
            return name != names_.end() && name->second != 0;
        });
        return changes ? std::nullopt : std::optional<int64_t>(0);
    }

    /// a + b*factor, all of which fit 32 bits, as the indices of any array of bytes that a loop walks through.
    static std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b,
                                      int64_t factor) {
        const auto fits = [](int64_t i) {
            return i >= INT32_MIN && i <= INT32_MAX;
        };
        return a && b && fits(factor) && fits(*a + *b * factor) ? std::optional(*a + *b * factor)
                                                                : std::nullopt;
    }

    std::unordered_map<std::string, std::optional<int64_t>> names_;
    std::unordered_map<const ExprNode *, std::pair<Expr, std::optional<int64_t>>> known_;
};

/// Accesses of a loop to bytes or shorts at places without a constant step, and operations on values and indices.
class CountAccesses : public GraphVisitor {
public:
    explicit CountAccesses(const std::string &variable) : steps_(variable) {
    }
    int scattered = 0, operations = 0;
    int gathered = 0;  ///< loads of wider elements at such places
    int apart = 0;     ///< accesses to bytes or shorts that have a constant step, of more than two
    int conversions = 0;  ///< of floats to 64-bit integers
    int widest_bits = 8;  ///< of all elements

    /// That vectors of the loop would have to put or take out for themselves.
    int lanes() const {
        return (scattered + apart) * register_bits / widest_bits;
    }

    using GraphVisitor::operator();
    void operator()(const Expr &e) override {
        operations += e.defined() ? operations_of(e) : 0;
        GraphVisitor::operator()(e);
    }

private:
    using GraphVisitor::visit;

    void visit(const LetStmt *op) override {
        steps_.bind(op->name, op->value);
        GraphVisitor::visit(op);
    }
    void visit(const Let *op) override {
        steps_.bind(op->name, op->value);
        GraphVisitor::visit(op);
    }
    void visit(const Cast *op) override {
        conversions += op->type.is_int_or_uint() && op->type.bits() == 64 && op->type.is_scalar() &&
                       op->value.type().is_float();
        GraphVisitor::visit(op);
    }
    void visit(const Load *op) override {
        gathered += op->type.is_scalar() && op->type.bits() >= 32 && !steps_.of(op->index);
        look_at(op->type, op->index);
    }
    void visit(const Store *op) override {
        look_at(op->value.type(), op->index);
        (*this)(op->value);
    }

    void look_at(const Type &t, const Expr &index) {
        widest_bits = std::max(widest_bits, t.bits());
        if (t.is_scalar() && t.bits() < 32) {
            const std::optional<int64_t> step = steps_.of(index);
            scattered += !step;
            apart += step && std::abs(*step) > 2;
        }
        (*this)(index);
    }

    static int operations_of(const Expr &e) {
        switch (e.kind()) {
        case NodeKind::IntImm:
        case NodeKind::UIntImm:
        case NodeKind::FloatImm:
        case NodeKind::Variable:
        case NodeKind::Let:
            return 0;
        case NodeKind::Div:
        case NodeKind::Mod:
            return is_const(e.as<Div>() ? e.as<Div>()->b : e.as<Mod>()->b) ? 3 : 8;
        case NodeKind::Call:
            return operations_of_a_lane;
        default:
            return 1;
        }
    }

    Steps steps_;
};

/// Places that the iterations of a loop go through in one large step: those of one array that are constants apart.
struct Neighbours {
    std::string array;
    Expr first;
    int64_t step;
    std::set<int64_t> offsets;
    std::vector<Expr> values;  ///< that are stored there

    bool are_dense() const {
        return offsets.size() >= few_neighbours && std::abs(step) > most_loaded_together &&
               2 * int64_t(offsets.size()) >= std::abs(step) &&
               *offsets.rbegin() - *offsets.begin() < 2 * std::abs(step);
    }
};

/// An index as a sum of what varies and a constant.
std::pair<Expr, int64_t> without_constant(const Expr &index) {
    const Add *sum = index.as<Add>();
    const std::optional<int64_t> constant = sum ? as_const_int(sum->b) : std::nullopt;
    if (const std::optional<int64_t> all = as_const_int(index)) {
        return {make_const(index.type(), 0), *all};
    }
    const Sub *difference = index.as<Sub>();
    if (const auto from = difference ? as_const_int(difference->a) : std::nullopt) {
        return {difference->b, *from};
    }
    return {constant ? sum->a : index, constant.value_or(0)};
}

/// The leaves of a sum or the like of integers, which may be added up in any order.
void collect_reduced(const Expr &e, const Expr &root, std::vector<Expr> *leaves) {
    const auto bits_of = [](const Expr &of) {
        return Call::as_intrinsic(
            of, {Intrinsic::bitwise_or, Intrinsic::bitwise_and, Intrinsic::bitwise_xor});
    };
    const auto both = [&](const Expr &a, const Expr &b) {
        collect_reduced(a, root, leaves);
        collect_reduced(b, root, leaves);
    };
    const Call *bits = bits_of(e);
    if (leaves->size() >= most_leaves) {
        return;
    }
    if (const Add *op = e.as<Add>(); op && root.as<Add>()) {
        both(op->a, op->b);
    } else if (const Min *op = e.as<Min>(); op && root.as<Min>()) {
        both(op->a, op->b);
    } else if (const Max *op = e.as<Max>(); op && root.as<Max>()) {
        both(op->a, op->b);
    } else if (bits && bits_of(root) && bits->name == bits_of(root)->name) {
        both(bits->args[0], bits->args[1]);
    } else {
        leaves->push_back(e);
    }
}

/// The operations of a value in their order, with what loads and names stand for.
class ListOperations : public Visitor {
public:
    struct Operation {
        NodeKind kind;
        Type type;
        std::string name;
        Expr value;  ///< of what has to be the same: a divisor, or an index without its constant
        int64_t offset = 0;
    };

    explicit ListOperations(const std::unordered_map<std::string, Expr> &lets) : lets_(lets) {
    }
    std::vector<Operation> all;

    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (all.size() >= most_leaves) {
            return;
        }
        const Variable *variable = e.as<Variable>();
        const auto let = variable ? lets_.find(variable->name) : lets_.end();
        if (let != lets_.end()) {
            (*this)(let->second);
            return;
        }
        all.push_back({e.kind(), e.type(), variable ? variable->name : "", {}});
        const Expr divisor = e.as<Div>() ? e.as<Div>()->b : e.as<Mod>() ? e.as<Mod>()->b : Expr();
        all.back().value = divisor;
        Visitor::operator()(e);
    }

    /// Lanes of one operation each: their loads are all as far from each other.
    bool are_lanes_with(const ListOperations &other) const {
        std::optional<int64_t> distance;
        const auto matches = [&](const Operation &a, const Operation &b) {
            const bool are_loads = a.kind == NodeKind::Load && b.kind == NodeKind::Load;
            const int64_t apart = b.offset - a.offset;
            const bool agree = !are_loads || apart == distance.value_or(apart);
            distance = are_loads ? apart : distance;
            return agree && a.kind == b.kind && a.type == b.type && a.name == b.name &&
                   a.value.defined() == b.value.defined() &&
                   (!a.value.defined() || equal(a.value, b.value));
        };
        return all.size() < most_leaves &&
               std::equal(all.begin(), all.end(), other.all.begin(), other.all.end(), matches);
    }

private:
    using Visitor::visit;

    void visit(const Load *op) override {
        const auto [first, offset] = without_constant(op->index);
        all.back().name = op->name;
        all.back().value = first;
        all.back().offset = offset;
    }
    void visit(const Call *op) override {
        all.back().name = op->name;
        Visitor::visit(op);
    }

    const std::unordered_map<std::string, Expr> &lets_;
};

/// The neighbours that an iteration loads and stores, and the values that it computes alike and stores or reduces.
class FindNeighbours : public GraphVisitor {
public:
    explicit FindNeighbours(const std::string &variable) : steps_(variable) {
    }
    std::vector<Neighbours> loaded;

    bool packs_any() const {
        const auto are_dense = [](const Neighbours &n) {
            return n.are_dense();
        };
        return std::any_of(loaded.begin(), loaded.end(), are_dense) &&
               (reduces_ || std::any_of(stored_.begin(), stored_.end(), [&](const Neighbours &n) {
                    return are_dense(n) && are_alike(n.values);
                }));
    }

private:
    using GraphVisitor::visit;

    void visit(const LetStmt *op) override {
        steps_.bind(op->name, op->value);
        lets_[op->name] = op->value;
        GraphVisitor::visit(op);
    }
    void visit(const Let *op) override {
        steps_.bind(op->name, op->value);
        lets_[op->name] = op->value;
        GraphVisitor::visit(op);
    }
    void visit(const Load *op) override {
        note(op->type, op->name, op->index, Expr(), &loaded);
        GraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        note(op->value.type(), op->name, op->index, op->value, &stored_);
        std::vector<Expr> leaves;
        if (op->value.type().is_int_or_uint()) {
            collect_reduced(op->value, op->value, &leaves);
        }
        reduces_ |= are_alike(leaves);
        GraphVisitor::visit(op);
    }

    void note(const Type &t, const std::string &array, const Expr &index, const Expr &value,
              std::vector<Neighbours> *all) {
        const std::optional<int64_t> step = t.is_scalar() ? steps_.of(index) : std::nullopt;
        if (!step || *step == 0) {
            return;
        }
        const auto [first, offset] = without_constant(index);
        const Expr &varying = first;
        const auto found = std::find_if(all->begin(), all->end(), [&](const Neighbours &other) {
            return other.array == array && other.step == *step && equal(other.first, varying);
        });
        Neighbours &places = found == all->end()
                                 ? all->emplace_back(Neighbours{array, first, *step, {}, {}})
                                 : *found;
        places.offsets.insert(offset);
        places.values.push_back(value);
    }

    /// All but one or two, which may have been simplified, are the same operations on neighbours.
    bool are_alike(const std::vector<Expr> &values) const {
        if (values.size() < few_neighbours) {
            return false;
        }
        const auto operations = [&](const Expr &value) {
            ListOperations list(lets_);
            list(value);
            return list;
        };
        const ListOperations one = operations(values[values.size() / 2]);
        const auto alike =
            size_t(std::count_if(values.begin(), values.end(), [&](const Expr &value) {
                return one.are_lanes_with(operations(value));
            }));
        return alike >= few_neighbours && alike + 2 >= values.size();
    }

    std::unordered_map<std::string, Expr> lets_;
    std::vector<Neighbours> stored_;
    bool reduces_ = false;
    Steps steps_;
};

}  // namespace

bool touches_scattered_bytes(const For *loop) {
    CountAccesses count(loop->name);
    count(loop->body);
    return count.scattered > 0 && count.lanes() >= many_lanes &&
           count.operations <= count.scattered * operations_of_a_lane;
}

bool does_little_but_gather(const For *loop, int vector_bits) {
    CountAccesses count(loop->name);
    count(loop->body);
    return count.gathered > (vector_bits > 256 ? 0 : 1) &&
           count.operations <= count.gathered * operations_of_a_gathered_lane;
}

bool does_little_but_convert_to_long(const For *loop) {
    CountAccesses count(loop->name);
    count(loop->body);
    return count.conversions > 0 &&
           count.operations <= count.conversions * operations_of_a_gathered_lane;
}

bool packs_neighbours_of_iteration(const For *loop) {
    FindNeighbours found(loop->name);
    found(loop->body);
    return found.packs_any();
}

}  // namespace calotype::internal
