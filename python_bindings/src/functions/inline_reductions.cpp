// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sum, product, maximum and the like over an RDom.
#include "bindings.h"

namespace calotype::python {

namespace {

Expr to_python(const Expr &e) {
    return e;
}

nb::tuple to_python(const Tuple &t) {
    return nb::tuple(nb::cast(t.as_vector()));
}

/// The four forms of one reduction.
template<typename Result>
struct Forms {
    Result (*of_domain)(const RDom &, Expr, const std::string &);
    Result (*of_expr)(Expr, const std::string &);
    Result (*of_domain_in)(const RDom &, Expr, const Func &);
    Result (*of_expr_in)(Expr, const Func &);
};

template<typename Result>
void bind_reduction(PythonModule &m, const char *name, Forms<Result> forms) {
    m.def(
        name,
        [forms](const RDom &r, ExprArg e, const Func &f) {
            return to_python(forms.of_domain_in(r, e, f));
        },
        "rdom"_a, "expr"_a, "func"_a);
    m.def(
        name,
        [forms](const RDom &r, ExprArg e, const std::string &name) {
            return to_python(forms.of_domain(r, e, name));
        },
        "rdom"_a, "expr"_a, "name"_a = name);
    m.def(
        name, [forms](ExprArg e, const Func &f) { return to_python(forms.of_expr_in(e, f)); },
        "expr"_a, "func"_a);
    m.def(
        name,
        [forms](ExprArg e, const std::string &name) { return to_python(forms.of_expr(e, name)); },
        "expr"_a, "name"_a = name);
}

}  // namespace

void bind_inline_reductions(PythonModule &m) {
    bind_reduction<Expr>(m, "sum", {sum, sum, sum, sum});
    bind_reduction<Expr>(m, "saturating_sum",
                         {saturating_sum, saturating_sum, saturating_sum, saturating_sum});
    bind_reduction<Expr>(m, "product", {product, product, product, product});
    bind_reduction<Expr>(m, "maximum", {maximum, maximum, maximum, maximum});
    bind_reduction<Expr>(m, "minimum", {minimum, minimum, minimum, minimum});
    bind_reduction<Tuple>(m, "argmax", {argmax, argmax, argmax, argmax});
    bind_reduction<Tuple>(m, "argmin", {argmin, argmin, argmin, argmin});
}

}  // namespace calotype::python
