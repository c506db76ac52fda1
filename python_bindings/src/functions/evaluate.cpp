// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// evaluate: the value of an expression, computed now.
#include "bindings.h"
#include "run.h"

namespace calotype::python {

namespace {

nb::object evaluate_values(const std::vector<Expr> &values, bool may_use_gpu) {
    Func f;
    f() = Tuple(values);
    if (may_use_gpu && get_jit_target_from_environment().has_gpu_feature()) {
        f.gpu_single_thread();
    }
    nb::object result = realize(f.pipeline(), nb::make_tuple(), Target());
    if (values.size() == 1) {
        return result[nb::make_tuple()];
    }
    nb::list numbers;
    for (nb::handle buffer : nb::iter(result)) {
        numbers.append(buffer[nb::make_tuple()]);
    }
    return nb::tuple(numbers);
}

}  // namespace

void bind_evaluate(PythonModule &m) {
    m.def(
        "evaluate", [](nb::object e) { return evaluate_values(to_values(e), false); }, "expr"_a,
        "The value of an expression, or of each of a tuple, computed now in this process.",
        nb::sig("def evaluate(expr: calotype._types.ValueLike) -> typing.Any"));
    m.def(
        "evaluate_may_gpu", [](nb::object e) { return evaluate_values(to_values(e), true); },
        "expr"_a, "The same, on the GPU of the JIT target if it has one.",
        nb::sig("def evaluate_may_gpu(expr: calotype._types.ValueLike) -> typing.Any"));
}

}  // namespace calotype::python
