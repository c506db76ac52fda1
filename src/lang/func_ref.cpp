// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/func_ref.h"

#include <algorithm>
#include <set>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/walk/search.h"
#include "lang/stage.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

namespace internal {

std::vector<Expr> as_coordinates(const std::string &what, const std::vector<Expr> &args) {
    std::vector<Expr> result;
    for (size_t i = 0; i < args.size(); i++) {
        const Expr &e = args[i];
        user_assert(e.defined()) << "coordinate " << i << " of a call to " << what
                                 << " is undefined";
        const Type t = e.type();
        user_assert(Int(32).can_represent(t.element_of()) ||
                    (is_const(e) && t.is_int_or_uint() && as_const_int(e) &&
                     Int(32).can_represent(*as_const_int(e))))
            << "coordinate " << i << " of a call to " << what << " has type " << t
            << ", must fit in int32";
        result.push_back(cast(Int(32), e));
    }
    return result;
}

int expand_placeholder(const std::string &what, std::vector<Expr> &args, int dimensions,
                       int *count) {
    int position = -1;
    for (size_t i = 0; i < args.size(); i++) {
        const Variable *v = args[i].as<Variable>();
        if (v && !v->symbol.defined() && Var::is_placeholder(v->name)) {
            user_assert(position < 0) << "a call to " << what << " has _ at two coordinates";
            position = int(i);
        }
    }
    *count = 0;
    if (position < 0) {
        return -1;
    }
    args.erase(args.begin() + position);
    *count = std::max(0, dimensions - int(args.size()));
    for (int i = 0; i < *count; i++) {
        args.insert(args.begin() + position + i, Var::implicit(i));
    }
    return position;
}

Expr make_func_call(const Function &f, const std::vector<Expr> &args, int index) {
    const std::string what = "func " + f.name();
    user_assert(f.has_pure_definition() || f.has_extern_definition())
        << what << " is called before it is defined";
    user_assert(int(args.size()) == f.dimensions())
        << what << " is called with " << args.size() << " coordinates, it has " << f.dimensions()
        << " dimensions";
    return Call::make(f.output_types()[size_t(index)], f.name(), as_coordinates(what, args),
                      CallKind::Func, index, f.contents());
}

}  // namespace internal

namespace {

// One more than the highest index of an implicit variable.
int count_implicit(const Expr &e) {
    int count = 0;
    for_each<Variable>(
        e, [&](const Variable *op) { count = std::max(count, 1 + Var::implicit_index(op->name)); });
    return count;
}

bool is_defined(const Function &f) {
    return f.has_pure_definition() || f.has_extern_definition();
}

const Variable *as_var(const Expr &e) {
    const Variable *v = e.as<Variable>();
    return v && !v->symbol.defined() ? v : nullptr;
}

}  // namespace

FuncRef::FuncRef(const Function &f, const std::vector<Expr> &args, int placeholder,
                 int implicit_count)
    : func_(f), placeholder_(placeholder), implicit_count_(implicit_count), args_(args) {
    // f(_, _0) would be the same variable twice.
    for (const Expr &e : args_) {
        user_assert(e.defined()) << "a coordinate of func " << f.name() << " is undefined";
    }
}

FuncRef::FuncRef(const Function &f, const std::vector<Var> &args, int placeholder,
                 int implicit_count)
    : FuncRef(f, std::vector<Expr>(args.begin(), args.end()), placeholder, implicit_count) {
}

// The coordinates of a definition with these values: where _ stood come the implicit variables that
// they use.
std::vector<Expr> FuncRef::args_for(const std::vector<Expr> &values) const {
    if (placeholder_ < 0 || implicit_count_ > 0 || is_defined(func_)) {
        return args_;
    }
    int count = 0;
    for (const Expr &e : values) {
        count = std::max(count, count_implicit(e));
    }
    std::vector<Expr> args = args_;
    for (int i = 0; i < count; i++) {
        args.insert(args.begin() + placeholder_ + i, Var::implicit(i));
    }
    return args;
}

Stage FuncRef::operator=(const Expr &e) {
    return *this = Tuple(std::vector<Expr>{e});
}

Stage FuncRef::operator=(const FuncRef &other) {
    return *this = Tuple(other);
}

Stage FuncRef::operator=(const Tuple &values) {
    const std::vector<Expr> args = args_for(values.as_vector());
    user_assert(!func_.has_extern_definition())
        << "func " << func_.name() << " has an extern definition and can have no other";
    if (func_.has_pure_definition()) {
        func_.define_update(internal::as_coordinates("func " + func_.name(), args),
                            values.as_vector());
        return Stage(func_, func_->updates.back(), func_->updates.size());
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < args.size(); i++) {
        const Variable *v = as_var(args[i]);
        user_assert(v) << "coordinate " << i << " of the pure definition of func " << func_.name()
                       << " is " << args[i] << ", must be a Var";
        names.push_back(v->name);
    }
    func_.define(names, values.as_vector());
    return Stage(func_, func_->init, 0);
}

// This reference, after the Func got a pure definition of `initial` everywhere, if it had none.
FuncRef FuncRef::with_base_case(const std::vector<Expr> &values, int initial) const {
    const std::vector<Expr> args = args_for(values);
    if (is_defined(func_)) {
        return FuncRef(func_, args);
    }
    std::vector<std::string> pure;
    std::set<std::string> used;
    for (const Expr &e : args) {
        const Variable *v = as_var(e);
        const bool usable = v && used.insert(v->name).second;
        pure.push_back(usable ? v->name : Var().name());
    }
    // What is declared need not be the type of what is added.
    const std::vector<Type> &declared = func_->required_types;
    std::vector<Expr> initial_values;
    for (size_t i = 0; i < values.size(); i++) {
        user_assert(values[i].defined())
            << "a value of an update of func " << func_.name() << " is undefined";
        const Type t = declared.size() == values.size() ? declared[i] : values[i].type();
        initial_values.push_back(make_const(t, initial));
    }
    Function f = func_;
    f.define(pure, initial_values);
    return FuncRef(func_, args);
}

Stage FuncRef::update(Op op, const std::vector<Expr> &values) {
    FuncRef ref = with_base_case(values, op == Op::Mul || op == Op::Div ? 1 : 0);
    user_assert(values.size() == ref.size())
        << "an update of func " << func_.name() << " has " << values.size()
        << " values, the func has " << ref.size();
    std::vector<Expr> updated;
    for (size_t i = 0; i < values.size(); i++) {
        const Expr old = internal::make_func_call(func_, ref.args_, int(i));
        const Expr &v = values[i];
        updated.push_back(op == Op::Add   ? old + v
                          : op == Op::Sub ? old - v
                          : op == Op::Mul ? old * v
                                          : old / v);
    }
    return ref = Tuple(updated);
}

Stage FuncRef::update(Op op, const FuncRef &other) {
    return update(op, Tuple(other).as_vector());
}

Stage FuncRef::operator+=(const Expr &e) {
    return update(Op::Add, std::vector<Expr>{e});
}

Stage FuncRef::operator+=(const Tuple &values) {
    return update(Op::Add, values.as_vector());
}

Stage FuncRef::operator+=(const FuncRef &other) {
    return update(Op::Add, other);
}

Stage FuncRef::operator-=(const Expr &e) {
    return update(Op::Sub, std::vector<Expr>{e});
}

Stage FuncRef::operator-=(const Tuple &values) {
    return update(Op::Sub, values.as_vector());
}

Stage FuncRef::operator-=(const FuncRef &other) {
    return update(Op::Sub, other);
}

Stage FuncRef::operator*=(const Expr &e) {
    return update(Op::Mul, std::vector<Expr>{e});
}

Stage FuncRef::operator*=(const Tuple &values) {
    return update(Op::Mul, values.as_vector());
}

Stage FuncRef::operator*=(const FuncRef &other) {
    return update(Op::Mul, other);
}

Stage FuncRef::operator/=(const Expr &e) {
    return update(Op::Div, std::vector<Expr>{e});
}

Stage FuncRef::operator/=(const Tuple &values) {
    return update(Op::Div, values.as_vector());
}

Stage FuncRef::operator/=(const FuncRef &other) {
    return update(Op::Div, other);
}

FuncRef::operator Expr() const {
    user_assert(func_.outputs() <= 1) << "func " << func_.name() << " has " << func_.outputs()
                                      << " values and is used as one: choose a value with []";
    return internal::make_func_call(func_, args_, 0);
}

const Type &FuncRef::type() const {
    user_assert(types().size() == 1) << "func " << func_.name() << " has " << types().size()
                                     << " values, there is no single type";
    return types()[0];
}

const std::vector<Type> &FuncRef::types() const {
    const std::vector<Type> &t = is_defined(func_) ? func_.output_types() : func_->required_types;
    user_assert(!t.empty()) << "func " << func_.name() << " has no type: it is not defined yet";
    return t;
}

FuncTupleElementRef FuncRef::operator[](int i) const {
    user_assert(is_defined(func_)) << "func " << func_.name() << " is called before it is defined";
    user_assert(func_.outputs() > 1)
        << "func " << func_.name() << " has one value, [] is for those of several";
    user_assert(i >= 0 && i < func_.outputs())
        << "func " << func_.name() << " has no value " << i << ", it has " << func_.outputs();
    return FuncTupleElementRef(*this, i);
}

size_t FuncRef::size() const {
    return size_t(func_.outputs());
}

bool FuncRef::equivalent_to(const FuncRef &other) const {
    bool same = func_.same_as(other.func_) && args_.size() == other.args_.size();
    for (size_t i = 0; same && i < args_.size(); i++) {
        same = equal(args_[i], other.args_[i]);
    }
    return same;
}

FuncTupleElementRef::FuncTupleElementRef(const FuncRef &ref, int index) : ref_(ref), index_(index) {
}

Stage FuncTupleElementRef::assign(const Expr &e, const char *what) {
    const Function f = ref_.function();
    std::vector<Expr> values;
    for (int i = 0; i < f.outputs(); i++) {
        values.push_back(i == index_ ? e : internal::make_func_call(f, ref_.args_, i));
    }
    user_assert(e.defined()) << what << " of value " << index_ << " of func " << f.name()
                             << " is undefined";
    return ref_ = Tuple(values);
}

Stage FuncTupleElementRef::operator=(const Expr &e) {
    return assign(e, "the new value");
}

Stage FuncTupleElementRef::operator=(const FuncRef &e) {
    return assign(e, "the new value");
}

Stage FuncTupleElementRef::operator+=(const Expr &e) {
    return assign(Expr(*this) + e, "the sum");
}

Stage FuncTupleElementRef::operator-=(const Expr &e) {
    return assign(Expr(*this) - e, "the difference");
}

Stage FuncTupleElementRef::operator*=(const Expr &e) {
    return assign(Expr(*this) * e, "the product");
}

Stage FuncTupleElementRef::operator/=(const Expr &e) {
    return assign(Expr(*this) / e, "the quotient");
}

FuncTupleElementRef::operator Expr() const {
    return internal::make_func_call(ref_.function(), ref_.args_, index_);
}

Expr min(const FuncRef &a, const FuncRef &b) {
    return min(Expr(a), Expr(b));
}

Expr max(const FuncRef &a, const FuncRef &b) {
    return max(Expr(a), Expr(b));
}

Expr select(const Expr &condition, const FuncRef &true_value, const FuncRef &false_value) {
    return select(condition, Expr(true_value), Expr(false_value));
}

}  // namespace calotype
