// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/loop_boxes.h"

#include "lower/func_slice.h"

namespace calotype::internal {

namespace {

Box one_of(const std::map<std::string, Box> &boxes, const std::string &func) {
    const auto it = boxes.find(func);
    return it == boxes.end() ? Box() : it->second;
}

}  // namespace

LoopBoxes::Of LoopBoxes::of(const For *loop, const std::string &func) {
    const auto [it, is_new] = known_.try_emplace(loop->name);
    OfAll &all = it->second;
    if (is_new) {
        const Stmt uses = slice_for_funcs(around_, loop->body);
        all.provided = boxes_provided(uses, around_, Scope<Interval>(), funcs_);
        all.required = boxes_required(uses, around_, Scope<Interval>(), funcs_);
    }
    return {one_of(all.provided, func), one_of(all.required, func)};
}

}  // namespace calotype::internal
