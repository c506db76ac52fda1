// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three steps, each linear in the number of distinct nodes:
//   1. number: bottom up, give structurally equal nodes one number (Lets are looked through). A
//   node's
//      key is its own fields with the numbers of its children in place of them.
//   2. count: top down, how often each node would be written out if only what is chosen gets a
//   name.
//   3. rebuild: bottom up, with a variable for each chosen node; the definitions go around the
//   result,
//      in the order of their numbers, so that each uses only earlier ones.
#include "arith/cse.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "arith/bounds/ends.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/field_walk.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "support/hash.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// Names t0, t1, ... without those in use.
class FreshNames {
public:
    explicit FreshNames(std::set<std::string> used) : used_(std::move(used)) {
    }
    std::string next() {
        std::string name;
        do {
            name = "t" + std::to_string(count_++);
        } while (used_.count(name));
        return name;
    }

private:
    std::set<std::string> used_;
    int count_ = 0;
};

template<typename T>
FreshNames fresh_names_for(const T &code) {
    std::set<std::string> names = names_used(code);
    for (std::string &name : bound_names(code)) {
        names.insert(std::move(name));
    }
    return FreshNames(std::move(names));
}

/// What distinguishes a node, as words: kind, type, own fields, numbers of children.
class KeyBuilder {
public:
    explicit KeyBuilder(const std::unordered_map<const ExprNode *, int> &numbers)
        : numbers_(numbers) {
    }

    std::vector<uint64_t> key;

    template<typename T>
    void add_node(const T *op) {
        key = {uint64_t(op->kind), uint64_t(op->type.code()), uint64_t(op->type.bits()),
               uint64_t(op->type.lanes())};
        for_each_field(*op, *this);
    }

    void operator()(const Expr &e) {
        key.push_back(e.defined() ? uint64_t(numbers_.at(e.get())) : ~uint64_t(0));
    }
    void operator()(const std::vector<Expr> &v) {
        key.push_back(v.size());
        for (const Expr &e : v) {
            (*this)(e);
        }
    }
    void operator()(const std::string &s) {
        key.push_back(s.size());
        for (char c : s) {
            key.push_back(uint64_t(uint8_t(c)));
        }
    }
    void operator()(const std::vector<int> &v) {
        key.push_back(v.size());
        for (int i : v) {
            key.push_back(uint64_t(i));
        }
    }
    void operator()(const Alignment &a) {
        key.push_back(uint64_t(a.modulus));
        key.push_back(uint64_t(a.remainder));
    }
    void operator()(double d) {
        uint64_t bits;
        static_assert(sizeof bits == sizeof d);
        __builtin_memcpy(&bits, &d, sizeof bits);
        key.push_back(bits);
    }
    template<typename Number>
    std::enable_if_t<std::is_integral_v<Number> || std::is_enum_v<Number>>
    operator()(const Number &n) {
        key.push_back(uint64_t(n));
    }

private:
    const std::unordered_map<const ExprNode *, int> &numbers_;
};

struct KeyHash {
    size_t operator()(const std::vector<uint64_t> &key) const {
        uint64_t h = key.size();
        for (uint64_t word : key) {
            h = hash_combine(h, word);
        }
        return size_t(h);
    }
};

/// Has an effect, or a result that depends on when it is evaluated: equal calls are not the same.
bool is_distinct(const ExprNode *node) {
    if (node->kind != NodeKind::Call) {
        return false;
    }
    const Call *c = static_cast<const Call *>(node);
    const bool reads = c->call_type == CallKind::Image || c->call_type == CallKind::Func;
    return !reads && !c->is_pure();
}

bool reads_memory(const ExprNode *node) {
    if (node->kind == NodeKind::Load) {
        return true;
    }
    if (node->kind != NodeKind::Call) {
        return false;
    }
    const Call *c = static_cast<const Call *>(node);
    return c->call_type == CallKind::Image || c->call_type == CallKind::Func ||
           c->is_intrinsic(Intrinsic::image_load);
}

/// So cheap that a name would not pay: constants, variables, and one operation with a constant.
bool is_cheap(const ExprNode *node, bool lift_all) {
    switch (node->kind) {
    case NodeKind::IntImm:
    case NodeKind::UIntImm:
    case NodeKind::FloatImm:
    case NodeKind::StringImm:
    case NodeKind::Variable:
        return true;
    default:
        break;
    }
    if (is_const(Expr(node))) {
        return true;
    }
    // What only holds operands together, and what has no value, cannot get a name.
    if (node->kind == NodeKind::Call) {
        const Call *call = static_cast<const Call *>(node);
        if (call->is_intrinsic(Intrinsic::bundle) || call->is_intrinsic(Intrinsic::undef)) {
            return true;
        }
    }
    if (lift_all) {
        return false;
    }
    return dispatch(node, [](const auto *op) {
        using T = std::decay_t<decltype(*op)>;
        if constexpr (std::is_same_v<T, Broadcast> || std::is_same_v<T, Cast> ||
                      std::is_same_v<T, Reinterpret>) {
            return true;
        } else if constexpr (std::is_same_v<T, Add> || std::is_same_v<T, Sub> ||
                             std::is_same_v<T, Mul>) {
            return is_const(op->a) || is_const(op->b);
        } else if constexpr (std::is_same_v<T, Div>) {
            return as_const_power_of_two(op->b).has_value();
        } else if constexpr (std::is_same_v<T, Ramp>) {
            return is_const(op->stride);
        } else if constexpr (std::is_same_v<T, Shuffle>) {
            // Code generation makes one operation of the lanes of a vector and what widens them.
            return op->is_slice() && op->vectors.size() == 1 && op->slice_stride() <= 4;
        } else {
            return false;
        }
    });
}

/// What there is to know of the Lets in an expression before they are dissolved.
class LetSurvey : public GraphVisitor {
public:
    explicit LetSurvey(const Expr &e) {
        (*this)(e);
        unique_ = unique_ && (names_.empty() || !uses_any_var(e, names_));
    }
    /// No name is bound twice, or free elsewhere.
    bool names_are_unique() const {
        return unique_;
    }
    /// Some Let has a value whose evaluation is an effect: it must stay where it is.
    bool has_effects() const {
        return effects_;
    }

protected:
    using GraphVisitor::visit;
    void visit(const Let *op) override {
        unique_ = names_.insert(op->name).second && unique_;
        lets_++;
        GraphVisitor::visit(op);
        lets_--;
    }
    void visit(const Call *op) override {
        effects_ = effects_ || (lets_ > 0 && is_distinct(op));
        GraphVisitor::visit(op);
    }

private:
    std::set<std::string> names_;
    bool unique_ = true, effects_ = false;
    int lets_ = 0;
};

/// One distinct value of the expression.
struct Value {
    Expr node;                   ///< with Lets still in place below it
    std::vector<int> children;   ///< numbers, in the order of the fields
    int uses = 0;                ///< how often it is written out, at most 2
    bool unconditional = false;  ///< used outside of branches of if_then_else
    bool reads = false;          ///< it, or something below it, reads memory
    bool distinct = false;       ///< it, or something below it, has an effect
    bool chosen = false;         ///< gets a name
};

class Numbering {
public:
    Numbering(bool lift_all, FreshNames &names) : lift_all_(lift_all), names_(names) {
    }

    Expr run(const Expr &e) {
        LetSurvey survey(e);
        if (survey.has_effects()) {
            return e;
        }
        lets_are_unique_ = survey.names_are_unique();
        const int root = number(e);
        values_[root].uses = 1;
        mark_unconditional(root);
        choose();
        return rebuild(root);
    }

private:
    int number(const Expr &e) {
        if (auto it = numbers_.find(e.get()); it != numbers_.end()) {
            return it->second;
        }
        const int n = e.as<Let>()        ? number_let(e.as<Let>())
                      : e.as<Variable>() ? number_variable(e.as<Variable>())
                                         : number_node(e);
        numbers_[e.get()] = n;
        return n;
    }

    /// The body, where the name has the number of the value.
    int number_let(const Let *op) {
        const int value = number(op->value);
        if (lets_are_unique_) {
            const ScopedBinding<int> bind(lets_, op->name, value);
            return number(op->body);
        }
        // Nodes inside may mean something else than outside.
        auto outside = std::move(numbers_);
        numbers_.clear();
        int body;
        {
            const ScopedBinding<int> bind(lets_, op->name, value);
            body = number(op->body);
        }
        numbers_ = std::move(outside);
        return body;
    }

    int number_variable(const Variable *op) {
        if (const int *let = lets_.find(op->name)) {
            return *let;
        }
        return number_node(Expr(op));
    }

    int number_node(const Expr &e) {
        Value v;
        v.node = e;
        v.reads = reads_memory(e.get());
        v.distinct = is_distinct(e.get());
        const bool own_number = v.distinct;
        dispatch(e.get(), [&](const auto *op) {
            for_each_child(*op, [&](const auto &child) {
                if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) {
                    if (child.defined()) {
                        const int n = number(child);
                        v.children.push_back(n);
                        v.reads = v.reads || values_[n].reads;
                        v.distinct = v.distinct || values_[n].distinct;
                    }
                }
            });
        });
        const int fresh = int(values_.size());
        if (!own_number) {
            KeyBuilder builder(numbers_);
            dispatch(e.get(), [&](const auto *op) { builder.add_node(op); });
            const auto [it, is_new] = by_key_.emplace(std::move(builder.key), fresh);
            if (!is_new) {
                return it->second;
            }
        }
        values_.push_back(std::move(v));
        return fresh;
    }

    static bool is_branch(const Value &v, size_t child) {
        return child > 0 && Call::as_intrinsic(v.node, Intrinsic::if_then_else);
    }

    void mark_unconditional(int n) {
        Value &v = values_[n];
        if (v.unconditional) {
            return;
        }
        v.unconditional = true;
        for (size_t i = 0; i < v.children.size(); i++) {
            if (!is_branch(v, i)) {
                mark_unconditional(values_[n].children[i]);
            }
        }
    }

    /// From users to what they use: numbers of children are smaller.
    void choose() {
        for (size_t n = values_.size(); n-- > 0;) {
            Value &v = values_[n];
            const bool may_move = v.unconditional || !(v.reads || v.distinct);
            v.chosen = v.uses > 1 && may_move && !is_cheap(v.node.get(), lift_all_);
            const int written = v.chosen ? 1 : v.uses;
            for (int child : v.children) {
                values_[child].uses = std::min(2, values_[child].uses + written);
            }
        }
    }

    /// Replaces the children of one node, in the order of its fields.
    class Replacer : public Mutator {
    public:
        explicit Replacer(std::vector<Expr> children) : children_(std::move(children)) {
        }
        using Mutator::mutate;
        Expr mutate(const Expr &e) override {
            return e.defined() ? children_[next_++] : e;
        }
        Expr rebuild(const Expr &e) {
            return Mutator::mutate(e);
        }

    private:
        std::vector<Expr> children_;
        size_t next_ = 0;
    };

    Expr rebuild(int root) {
        std::vector<Expr> built(values_.size());
        std::vector<std::pair<std::string, Expr>> definitions;
        for (size_t n = 0; n < values_.size(); n++) {
            const Value &v = values_[n];
            if (v.uses == 0) {
                continue;
            }
            std::vector<Expr> children;
            for (int child : v.children) {
                children.push_back(built[child]);
            }
            built[n] = children.empty() ? v.node : Replacer(std::move(children)).rebuild(v.node);
            if (v.chosen && int(n) != root) {
                const std::string name = names_.next();
                definitions.emplace_back(name, built[n]);
                built[n] = Variable::make(built[n].type(), name);
            }
        }
        Expr result = built[root];
        for (size_t i = definitions.size(); i-- > 0;) {
            result = Let::make(definitions[i].first, definitions[i].second, result);
        }
        return result;
    }

    const bool lift_all_;
    FreshNames &names_;
    std::vector<Value> values_;
    std::unordered_map<const ExprNode *, int> numbers_;
    std::unordered_map<std::vector<uint64_t>, int, KeyHash> by_key_;
    Scope<int> lets_;
    bool lets_are_unique_ = true;
};

Expr eliminate(const Expr &e, bool lift_all, FreshNames &names) {
    if (!e.defined()) {
        return e;
    }
    return Numbering(lift_all, names).run(e);
}

enum class Where { Everywhere, Repetitive };

/// Each expression of a statement by itself; what makes up one Store or Provide together.
class StatementEliminator : public Mutator {
public:
    StatementEliminator(bool lift_all, Where where, FreshNames names)
        : lift_all_(lift_all), where_(where), names_(std::move(names)) {
    }

    using Mutator::mutate;
    Expr mutate(const Expr &e) override {
        const bool wanted = where_ == Where::Everywhere || is_repetitive(e);
        return wanted ? eliminate(e, lift_all_, names_) : e;
    }

protected:
    using Mutator::visit;

    Stmt visit(const Atomic *op) override {
        const bool outside = std::exchange(in_atomic_, true);
        const Stmt s = Mutator::visit(op);
        in_atomic_ = outside;
        return s;
    }

    Stmt visit(const Store *op) override {
        std::vector<Expr> parts = {op->value, op->index, op->predicate};
        Lets lets = together(&parts);
        if (lets.empty() && where_ == Where::Repetitive) {
            return op;
        }
        std::vector<Expr> value = {parts[0]};
        keep_update_whole(op->name, &lets, &value, {parts[1], parts[2]});
        return wrap_in_lets(lets, Store::make(op->name, value[0], parts[1], parts[2], op->alignment,
                                              op->symbol, op->is_streaming));
    }

    Stmt visit(const Provide *op) override {
        if (contains_intrinsic(Stmt(op), Intrinsic::undef)) {
            return Mutator::visit(op);  // Where a value is undef, the statement is not run.
        }
        std::vector<Expr> parts = op->values;
        parts.insert(parts.end(), op->args.begin(), op->args.end());
        parts.push_back(op->predicate);
        Lets lets = together(&parts);
        if (lets.empty() && where_ == Where::Repetitive) {
            return op;
        }
        const auto middle = parts.begin() + op->values.size();
        std::vector<Expr> values(parts.begin(), middle);
        keep_update_whole(op->name, &lets, &values, {middle, parts.end()});
        return wrap_in_lets(
            lets, Provide::make(op->name, values, {middle, parts.end() - 1}, parts.back()));
    }

private:
    using Lets = std::vector<std::pair<std::string, Expr>>;

    /// Eliminate over all parts, and take the lets off.
    Lets together(std::vector<Expr> *parts) {
        std::vector<Expr> defined;
        for (const Expr &e : *parts) {
            if (e.defined()) {
                defined.push_back(e);
            }
        }
        Expr result = mutate(Call::make(Int(32), Intrinsic::bundle, defined));
        Lets lets;
        while (const Let *let = result.as<Let>()) {
            lets.emplace_back(let->name, let->value);
            result = Expr(let->body);
        }
        size_t next = 0;
        for (Expr &e : *parts) {
            e = e.defined() ? result.as<Call>()->args[next++] : e;
        }
        return lets;
    }

    /// An atomic update is one of the value that is there when it happens: what is made of that is named in the new
    /// value, not in front of the statement. Where it happens is known before.
    void keep_update_whole(const std::string &name, Lets *lets, std::vector<Expr> *values,
                           const std::vector<Expr> &where) const {
        if (!in_atomic_) {
            return;
        }
        const Lets all = std::exchange(*lets, {});
        const std::set<std::string> of_where = needed_by(where, all);
        Scope<> of_old;
        for (const auto &[let, value] : all) {
            if (!of_where.count(let) && (reads(value, name) || uses_any_var(value, of_old))) {
                of_old.push(let);
            } else {
                lets->emplace_back(let, value);
            }
        }
        for (Expr &value : *values) {
            for (size_t i = all.size(); i-- > 0;) {
                const auto &[let, of_let] = all[i];
                value = of_old.contains(let) && uses_var(value, let) ? Let::make(let, of_let, value)
                                                                     : value;
            }
        }
    }

    /// The names that the parts are made of, those of lets included.
    static std::set<std::string> needed_by(const std::vector<Expr> &parts, const Lets &lets) {
        std::set<std::string> needed;
        const auto add = [&](const Expr &e) {
            const std::vector<std::string> names =
                e.defined() ? free_variables(e) : std::vector<std::string>();
            needed.insert(names.begin(), names.end());
        };
        std::for_each(parts.begin(), parts.end(), add);
        for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
            if (needed.count(let->first)) {
                add(let->second);
            }
        }
        return needed;
    }

    static bool reads(const Expr &e, const std::string &name) {
        return contains<Load>(e, [&](const Load *op) { return op->name == name; }) ||
               contains<Call>(e, [&](const Call *op) {
                   return op->call_type == CallKind::Func && op->name == name;
               });
    }

    const bool lift_all_;
    const Where where_;
    FreshNames names_;
    bool in_atomic_ = false;
};

}  // namespace

bool is_repetitive(const Expr &e, int small) {
    struct Counter : GraphVisitor {
        using GraphVisitor::operator();
        void operator()(const Expr &e) override {
            edges++;
            GraphVisitor::operator()(e);
        }
        int edges = 0;
    };
    constexpr int often = 8;
    if (ends::tree_size(e, small) < small) {
        return false;
    }
    Counter counter;
    counter(e);
    const int limit = std::max(small, often * counter.edges);
    return ends::tree_size(e, limit) == limit;
}

Expr common_subexpression_elimination(const Expr &e, bool lift_all) {
    if (!e.defined()) {
        return e;
    }
    FreshNames names = fresh_names_for(e);
    return eliminate(e, lift_all, names);
}

Stmt common_subexpression_elimination(const Stmt &s, bool lift_all) {
    return s.defined()
               ? StatementEliminator(lift_all, Where::Everywhere, fresh_names_for(s)).mutate(s)
               : s;
}

Expr name_repeated(const Expr &e) {
    return e.defined() && is_repetitive(e) ? common_subexpression_elimination(e) : e;
}

Stmt name_repeated(const Stmt &s) {
    return s.defined() ? StatementEliminator(false, Where::Repetitive, fresh_names_for(s)).mutate(s)
                       : s;
}

}  // namespace calotype::internal
