// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_updates.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace calotype::test {

namespace {

using Kind = Term::Kind;

constexpr int table_size = 16;

int wrapped(int a, int n) {
    return ((a % n) + n) % n;
}

int first_value(int x, int v, int value, int width) {
    return wrapped(x * 7 + v * 3 + value * 5, width);
}

int table_entry(int i) {
    return wrapped(i * i * 5 + 3, 11);
}

/// How a place is made of a number.
enum class Range {
    Known,    ///< an element: that and the min
    Clamped,  ///< the nearest place
    Wrapped,  ///< the number modulo the width, and the min
};

Range range_of(const Term &t) {
    return t.kind == Kind::Element                       ? Range::Known
           : t.kind == Kind::Sum || t.kind == Kind::Loop ? Range::Clamped
                                                         : Range::Wrapped;
}

bool uses_loop(const Term &t) {
    return t.kind == Kind::Loop || std::any_of(t.terms.begin(), t.terms.end(), uses_loop);
}

class Drawing {
public:
    Drawing(Dice &dice, int values, int loops) : dice_(dice), values_(values), loops_(loops) {
    }

    Term term(int depth) {
        const auto some = [&](size_t n) {
            std::vector<Term> terms;
            while (terms.size() < n) {
                terms.push_back(term(depth - 1));
            }
            return terms;
        };
        switch (dice_(depth > 0 ? 14 : 4)) {
        case 0:
            return {Kind::Constant, dice_(9) - 3, {}};
        case 1:
            return {Kind::Row, 0, {}};
        case 2:
        case 3:
            return {Kind::Loop, dice_(loops_), {}};
        case 4:
        case 5:
        case 6:
        case 7:
            return {Kind::Element, dice_(values_), some(1)};
        case 8:
            return {Kind::Entry, 0, some(1)};
        case 9:
        case 10:
            return {Kind::Sum, 0, some(2)};
        case 11:
            return {Kind::Product, 0, some(2)};
        case 12:
            return {dice_.chance(50) ? Kind::Smaller : Kind::Larger, 0, some(2)};
        default:
            return {Kind::Choice, 0, some(4)};
        }
    }

    ScatterUpdate update() {
        ScatterUpdate u;
        for (int i = 0; i < loops_; i++) {
            u.mins.push_back(dice_(5) - 2);
            u.extents.push_back(1 + dice_(i == 0 ? 12 : 4));
        }
        u.place = dice_.chance(60) ? Term{Kind::Element, dice_(values_), {term(1)}} : term(2);
        for (int i = 0; i < values_; i++) {
            u.values.push_back(term(2));
            if (dice_.chance(50)) {  // of what is there, too
                u.values.back() = {Kind::Sum, 0, {u.values.back(), {Kind::Element, i, {u.place}}}};
            }
        }
        if (!uses_loop(u.place) && std::none_of(u.values.begin(), u.values.end(), uses_loop)) {
            u.values[0] = {
                Kind::Sum, 0, {u.values[0], {Kind::Loop, 0, {}}}};  // else there is no domain
        }
        if (dice_.chance(30)) {
            u.condition = {term(1), term(2)};
        }
        return u;
    }

private:
    Dice &dice_;
    int values_, loops_;
};

/// One row of f, changed by one iteration after another.
class RowEvaluator {
public:
    RowEvaluator(const RandomUpdates &p, int v) : p_(p), v_(v), row_(size_t(p.values)) {
        for (int i = 0; i < p.values; i++) {
            for (int x = p.min; x < p.min + p.width; x++) {
                row_[size_t(i)].push_back(first_value(x, v, i, p.width));
            }
        }
    }

    /// Of each value.
    std::vector<std::vector<int>> run() {
        for (const ScatterUpdate &u : p_.updates) {
            const bool is_nest = u.extents.size() > 1;
            for (int outer = 0; outer < (is_nest ? u.extents[1] : 1); outer++) {
                for (int inner = 0; inner < u.extents[0]; inner++) {
                    loops_ = {u.mins[0] + inner, is_nest ? u.mins[1] + outer : 0};
                    iterate(u);
                }
            }
        }
        return row_;
    }

private:
    void iterate(const ScatterUpdate &u) {
        if (!u.condition.empty() && term(u.condition[0]) >= term(u.condition[1])) {
            return;
        }
        const size_t at = place(u.place);
        std::vector<int> values;
        for (const Term &t : u.values) {
            values.push_back(wrapped(term(t), p_.width));
        }
        for (size_t i = 0; i < values.size(); i++) {
            row_[i][at] = values[i];
        }
    }

    size_t place(const Term &t) const {
        const int number = term(t);
        switch (range_of(t)) {
        case Range::Known:
            return size_t(number);
        case Range::Clamped:
            return size_t(std::clamp(number, p_.min, p_.min + p_.width - 1) - p_.min);
        case Range::Wrapped:
            break;
        }
        return size_t(wrapped(number, p_.width));
    }

    int term(const Term &t) const {
        const auto at = [&](size_t i) {
            return term(t.terms[i]);
        };
        switch (t.kind) {
        case Kind::Constant:
            return t.number;
        case Kind::Loop:
            return loops_[size_t(t.number)];
        case Kind::Row:
            return v_;
        case Kind::Element:
            return row_[size_t(t.number)][place(t.terms[0])];
        case Kind::Entry:
            return table_entry(wrapped(at(0), table_size));
        case Kind::Sum:
            return at(0) + at(1);
        case Kind::Product:
            return wrapped(at(0) * at(1), p_.width);
        case Kind::Smaller:
            return std::min(at(0), at(1));
        case Kind::Larger:
            return std::max(at(0), at(1));
        case Kind::Choice:
            return at(0) < at(1) ? at(2) : at(3);
        }
        return 0;
    }

    const RandomUpdates &p_;
    const int v_;
    std::array<int, 2> loops_ = {0, 0};
    std::vector<std::vector<int>> row_;
};

class Builder {
public:
    Builder(const RandomUpdates &p, BuiltUpdates &built) : p_(p), b_(built) {
    }

    void build() {
        const Var i("i");
        b_.table(i) = (i * i * 5 + 3) % 11;
        std::vector<Expr> first;
        for (int value = 0; value < p_.values; value++) {
            first.push_back(cast(p_.type, (b_.x * 7 + b_.v * 3 + value * 5) % p_.width));
        }
        at(b_.x) = Tuple(first);
        for (const ScatterUpdate &u : p_.updates) {
            update(u);
        }
        Expr sum = 0;
        for (int value = 0; value < p_.values; value++) {
            sum += element(b_.x, value) * (value + 1);
        }
        b_.sum(b_.x, b_.v) = sum;
    }

private:
    FuncRef at(const Expr &x) {
        return p_.rows_first ? b_.f(b_.v, x) : b_.f(x, b_.v);
    }

    Expr element(const Expr &x, int value) {
        return cast<int>(p_.values > 1 ? Expr(at(x)[value]) : Expr(at(x)));
    }

    void update(const ScatterUpdate &u) {
        Region region;
        for (size_t i = 0; i < u.extents.size(); i++) {
            region.push_back({u.mins[i], u.extents[i]});
        }
        r_ = RDom(region, "r");
        b_.domains.push_back(r_);
        if (!u.condition.empty()) {
            r_.where(term(u.condition[0]) < term(u.condition[1]));
        }
        std::vector<Expr> values;
        for (const Term &t : u.values) {
            values.push_back(cast(p_.type, term(t) % p_.width));
        }
        at(place(u.place)) = Tuple(values);
    }

    Expr place(const Term &t) {
        const Expr number = term(t), last = b_.min + (p_.width - 1);
        switch (range_of(t)) {
        case Range::Known:
            return unsafe_promise_clamped(number + b_.min, b_.min, last);
        case Range::Clamped:
            return clamp(number, b_.min, last);
        case Range::Wrapped:
            break;
        }
        return number % p_.width + b_.min;
    }

    Expr term(const Term &t) {
        const auto at = [&](size_t i) {
            return term(t.terms[i]);
        };
        switch (t.kind) {
        case Kind::Constant:
            return t.number;
        case Kind::Loop:
            return r_[t.number];
        case Kind::Row:
            return b_.v;
        case Kind::Element:
            return element(place(t.terms[0]), t.number);
        case Kind::Entry:
            return b_.table(at(0) % table_size);
        case Kind::Sum:
            return at(0) + at(1);
        case Kind::Product:
            return at(0) * at(1) % p_.width;
        case Kind::Smaller:
            return min(at(0), at(1));
        case Kind::Larger:
            return max(at(0), at(1));
        case Kind::Choice:
            return select(at(0) < at(1), at(2), at(3));
        }
        return Expr();
    }

    const RandomUpdates &p_;
    BuiltUpdates &b_;
    RDom r_;
};

}  // namespace

RandomUpdates::RandomUpdates(uint64_t seed) {
    Dice dice(seed);
    type = dice.pick<Type>({Int(32), Int(32), UInt(8), Int(16), Float(32)});
    values = 1 + dice(3);
    min = dice(9) - 4;
    width = 1 + dice(24);
    height = dice.chance(20) ? 1 : 1 + dice(20);
    is_output = dice.chance(60);
    rows_first = dice.chance(40);
    for (int i = 1 + dice(3); i > 0; i--) {
        updates.push_back(Drawing(dice, values, 1 + dice(2)).update());
    }
}

BuiltUpdates::BuiltUpdates(const RandomUpdates &p) {
    Builder(p, *this).build();
    output = p.is_output ? f : sum;
    min.set(p.min);
}

std::string text(const BuiltUpdates &built, const Directives &directives) {
    std::ostringstream out;
    const auto list = [&](const std::vector<Expr> &values) {
        for (const Expr &e : values) {
            out << (&e == &values[0] ? "" : ", ") << e;
        }
    };
    for (int i = 0; i < built.f.num_update_definitions(); i++) {
        out << "    f(";
        list(built.f.update_args(i));
        out << ") = ";
        list(built.f.update_values(i).as_vector());
        out << "\n";
    }
    return out.str() + directives.text();
}

std::vector<Buffer<void>> outputs_of(const RandomUpdates &p) {
    std::vector<Buffer<void>> outputs;
    const bool rows_first = p.is_output && p.rows_first;
    for (int i = 0; i < (p.is_output ? p.values : 1); i++) {
        outputs.emplace_back(p.is_output ? p.type : Int(32), rows_first
                                                                 ? std::vector{p.height, p.width}
                                                                 : std::vector{p.width, p.height});
        outputs.back().set_min(rows_first ? std::vector{0, p.min} : std::vector{p.min, 0});
    }
    return outputs;
}

std::string difference(const RandomUpdates &p, const std::vector<Buffer<void>> &outputs) {
    std::ostringstream first;
    const auto compare = [&](size_t output, int x, int v, int wanted) {
        const Buffer<void> &b = outputs[output];
        const bool rows_first = p.is_output && p.rows_first;
        const int64_t got = rows_first ? element(b, v, x) : element(b, x, v);
        if (got != wanted && first.tellp() == 0) {
            first << "output " << output << " at x = " << x << ", v = " << v << " is " << got
                  << ", not " << wanted;
        }
    };
    for (int v = 0; v < p.height; v++) {
        const std::vector<std::vector<int>> row = RowEvaluator(p, v).run();
        for (int x = 0; x < p.width; x++) {
            int sum = 0;
            for (size_t i = 0; i < row.size(); i++) {
                sum += row[i][size_t(x)] * int(i + 1);
                if (p.is_output) {
                    compare(i, p.min + x, v, row[i][size_t(x)]);
                }
            }
            if (!p.is_output) {
                compare(0, p.min + x, v, sum);
            }
        }
    }
    return first.str();
}

}  // namespace calotype::test
