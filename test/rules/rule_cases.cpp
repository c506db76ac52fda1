// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All values are doubles: those of small integers are exact, and one reading serves all domains.
#include "rules/rule_cases.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "support/error.h"

namespace calotype::test {

using namespace internal;

using internal::PatternNode;
using internal::PatternOp;
using internal::Rule;

double Domain::settle(double exact) const {
    if (kind != Wrapping) {
        return exact;
    }
    const double size = std::ldexp(1.0, bits);
    double r = exact - std::floor(exact / size) * size;
    return is_signed && bits > 1 && r >= size / 2 ? r - size : r;
}

std::vector<double> Domain::values() const {
    if (kind == Finite) {
        return {-3, -1.5, -1, 0, 0.25, 1, 2, 1024};
    }
    if (kind == Floating) {
        return {NAN, -INFINITY, -3, -1.5, -0.0, 0, 0.25, 1, 2, INFINITY};
    }
    if (kind == Unbounded) {
        return {-17, -8, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 100};
    }
    std::vector<double> all;
    for (int i = 0; i < 1 << bits; i++) {
        all.push_back(settle(double(i)));
    }
    return all;
}

std::string Domain::name() const {
    return kind == Floating    ? "floats"
           : kind == Finite    ? "finite floats"
           : kind == Unbounded ? "unbounded integers"
                               : (is_signed ? "int" : "uint") + std::to_string(bits);
}

std::string Symbol::name() const {
    return op == PatternOp::Wild ? std::string(1, "xyzwuvab"[slot])
                                 : (op == PatternOp::Const ? "c" : "l") + std::to_string(slot);
}

namespace {

void collect(const Rule &rule, int n, std::vector<Symbol> &out) {
    const PatternNode &p = rule.nodes[n];
    if (p.op == PatternOp::Wild || p.op == PatternOp::Const || p.op == PatternOp::Lanes) {
        const int source = p.op == PatternOp::Wild    ? Rule::type_of_wild + p.slot
                           : p.op == PatternOp::Const ? Rule::type_of_const + p.slot
                                                      : -1;
        const auto &values = rule.value_slots;
        const bool is_value = std::find(values.begin(), values.end(), source) != values.end();
        const bool known = std::any_of(out.begin(), out.end(), [&](const Symbol &s) {
            return s.op == p.op && s.slot == p.slot;
        });
        if (!known) {
            out.push_back({p.op, p.slot, p.op != PatternOp::Lanes && !is_value});
        }
    }
    for (int i = 0; i < p.arity; i++) {
        collect(rule, p.child[i], out);
    }
}

}  // namespace

std::vector<Symbol> symbols_of(const Rule &rule) {
    std::vector<Symbol> symbols;
    collect(rule, rule.pattern, symbols);
    return symbols;
}

double Assignment::get(PatternOp op, int slot) const {
    for (size_t i = 0; i < symbols_.size(); i++) {
        if (symbols_[i].op == op && symbols_[i].slot == slot) {
            return values_[i];
        }
    }
    internal_error << "rule '" << rule_.text << "': a symbol is not bound by the pattern";
}

int Assignment::lanes_of(int n) const {
    const PatternNode &p = rule_.nodes[n];
    int lanes = 1;
    const bool lanes_last = p.op == PatternOp::Ramp || p.op == PatternOp::Broadcast;
    for (int i = 0; i < p.arity - lanes_last; i++) {
        lanes = std::max(lanes, lanes_of(p.child[i]));
    }
    return lanes_last ? lanes * int(*folded(p.child[p.arity - 1])) : lanes;
}

std::optional<double> Assignment::folded(int n) const {
    const PatternNode &p = rule_.nodes[n];
    const Domain exact{domain_.is_float() ? domain_.kind : Domain::Unbounded};
    switch (p.op) {
    case PatternOp::Wild:
    case PatternOp::Const:
    case PatternOp::Lanes:
        return get(p.op, p.slot);
    case PatternOp::Literal:
        return double(p.value);
    case PatternOp::True:
        return 1;
    case PatternOp::False:
        return 0;
    case PatternOp::Fold:
    case PatternOp::Lo:
    case PatternOp::Hi:
        return folded(p.child[0]);
    case PatternOp::Negate:
        return -*folded(p.child[0]);
    case PatternOp::Not:
        return !*folded(p.child[0]);
    case PatternOp::Rem:
        return binary(PatternOp::Mod, *folded(p.child[0]), *folded(p.child[1]), exact);
    default:
        return binary(p.op, *folded(p.child[0]), *folded(p.child[1]), exact);
    }
}

bool Assignment::condition() const {
    return rule_.condition < 0 || *folded(rule_.condition) != 0;
}

std::optional<double> Assignment::binary(PatternOp op, double a, double b, const Domain &d) const {
    const bool whole = !d.is_float();
    const double rest = b == 0 ? 0 : a - std::fabs(b) * std::floor(a / std::fabs(b));
    switch (op) {
    case PatternOp::Add:
        return d.settle(a + b);
    case PatternOp::Sub:
        return d.settle(a - b);
    case PatternOp::Mul:
        return d.settle(a * b);
    case PatternOp::Div:
        return whole ? (b == 0 ? 0 : d.settle((a - rest) / b)) : a / b;
    case PatternOp::Mod:
        return rest;
    case PatternOp::Min:
        return a < b ? a : b;
    case PatternOp::Max:
        return a > b ? a : b;
    case PatternOp::EQ:
        return a == b;
    case PatternOp::NE:
        return a != b;
    case PatternOp::LT:
        return a < b;
    case PatternOp::LE:
        return a <= b;
    case PatternOp::And:
        return a && b;
    case PatternOp::Or:
        return a || b;
    default:
        internal_error << "rule '" << rule_.text << "': not a binary operator";
    }
}

std::optional<double> Assignment::value(int n, int lane) const {
    const PatternNode &p = rule_.nodes[n];
    switch (p.op) {
    case PatternOp::Wild:
    case PatternOp::Const:
        return get(p.op, p.slot);
    case PatternOp::Literal:
    case PatternOp::Fold: {
        const double exact = *folded(n);
        if (p.op == PatternOp::Fold && p.slot == internal::fold_must_fit &&
            domain_.settle(exact) != exact) {
            return std::nullopt;
        }
        return domain_.is_float() || std::fabs(exact) < 1e15 ? std::optional(domain_.settle(exact))
                                                             : std::nullopt;
    }
    case PatternOp::True:
        return 1;
    case PatternOp::False:
        return 0;
    case PatternOp::Not:
        return !*value(p.child[0], lane);
    case PatternOp::Likely:
        return value(p.child[0], lane);
    case PatternOp::Select:
        return *value(p.child[0], lane) ? value(p.child[1], lane) : value(p.child[2], lane);
    case PatternOp::Broadcast:
        return value(p.child[0], lane % lanes_of(p.child[0]));
    case PatternOp::Ramp: {
        const int inner = lanes_of(p.child[0]);
        const auto base = value(p.child[0], lane % inner), stride = value(p.child[1], lane % inner);
        const int step = lane / inner;
        return base && stride ? std::optional(domain_.settle(*base + *stride * step))
                              : std::nullopt;
    }
    default: {
        const auto a = value(p.child[0], lane), b = value(p.child[1], lane);
        return a && b ? binary(p.op, *a, *b, domain_) : std::nullopt;
    }
    }
}

std::string Assignment::text() const {
    std::ostringstream out;
    for (size_t i = 0; i < symbols_.size(); i++) {
        out << (i ? ", " : "") << symbols_[i].name() << " = " << values_[i];
    }
    return out.str();
}

const std::vector<NamedRule> &all_rules() {
    static const std::vector<NamedRule> rules = [] {
        std::vector<NamedRule> all;
        for (const internal::RuleFile &file : internal::rule_files()) {
            for (size_t i = 0; i < file.count; i++) {
                all.push_back({&file, internal::parse_rule(file.rules[i])});
            }
        }
        return all;
    }();
    return rules;
}

}  // namespace calotype::test
