// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of what a buffer argument consists of, and of the arguments that nobody declares. Names
// that users give have no dots, so that these are never theirs.
#pragma once

#include <string>

namespace calotype::internal::names {

/// The context that an application gives a call, a handle.
inline const char *const user_context = "__user_context";

/// The shape of buffer `name`.
std::string buffer_min(const std::string &name, int d);
std::string buffer_extent(const std::string &name, int d);
std::string buffer_stride(const std::string &name, int d);
/// The calotype_buffer_t * itself.
std::string buffer(const std::string &name);

}  // namespace calotype::internal::names
