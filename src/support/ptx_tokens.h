// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PtxTokens: PTX text as words.
#pragma once

#include <string>
#include <string_view>

namespace calotype::internal {

/// Splits PTX into words, strings in quotes and single marks; comments are left out. A word begins
/// at a '.' or ends before one: ".param.b32" is two.
class PtxTokens {
public:
    /// The text must outlive it.
    explicit PtxTokens(std::string_view text) : text_(text) {
    }
    /// The next one; "" at the end.
    std::string next();
    /// What stands in braces that are open by now is passed over.
    void skip_body();

private:
    void skip_space_and_comments();

    std::string_view text_;
    size_t at_ = 0;
};

/// What stands behind "sm_" in the line ".target ..., sm_90a, ...", or "".
std::string ptx_target(std::string_view ptx);

}  // namespace calotype::internal
