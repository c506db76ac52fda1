// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_ir.h"

#include "ir/conventions/prefetch.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/with.h"

namespace calotype {
namespace Internal {

namespace {

Expr halide_form(const Call &call) {
    if (call.is_intrinsic(Call::prefetch) && call.args.size() == 2) {
        return Call::make(call.type, Call::prefetch,
                          {call.args[0], call.args[1], 1, internal::elements_fetched(call.type)});
    }
    const std::string prefix = "calotype_";
    const bool is_of_runtime =
        call.call_type == CallKind::Extern && internal::find_runtime_function(call.name);
    return is_of_runtime
               ? internal::with(&call, &Call::name, "halide_" + call.name.substr(prefix.size()))
               : Expr(&call);
}

}  // namespace

Expr HalideForms::of(const Expr &e) {
    const Call *call = e.as<Call>();
    if (!call) {
        return e;
    }
    const auto found = made_.find(call);
    if (found != made_.end()) {
        return found->second.second;
    }
    const Expr form = halide_form(*call);
    if (!form.same_as(e)) {
        made_[call] = {e, form};
    }
    return form;
}

}  // namespace Internal
}  // namespace calotype
