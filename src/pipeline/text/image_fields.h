// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fields of constant images in the text of a pipeline, as those in pipeline/fields.h.
#pragma once

#include "pipeline/fields.h"
#include "pipeline/text/pipeline_text.h"

namespace calotype::internal {

template<MaybeConst<ConstantImageText::Dimension> S>
auto fields(S &d) {
    return std::tuple(field("min", d.min), field("extent", d.extent), field("stride", d.stride));
}
template<MaybeConst<ConstantImageText> S>
auto fields(S &i) {
    return std::tuple(field("name", i.name), field("type", i.type), field("dims", i.dims),
                      field("bytes", i.bytes));
}

}  // namespace calotype::internal
