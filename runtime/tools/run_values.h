// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of the command line, and the values of scalars. What cannot be understood throws
// std::runtime_error with a message that names it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../abi/metadata.h"

namespace calotype {
namespace run {

[[noreturn]] void fail(const std::string &message);

std::vector<std::string> split(const std::string &text, char separator);

/** "uint8", "float32". */
std::string name_of_type(calotype_type_t type);

/** `what` says in messages whose value the text is. */
int64_t parse_int(const std::string &what, const std::string &text, int64_t min, int64_t max);
double parse_float(const std::string &what, const std::string &text);
/** "true", "false", "1", "0"; an empty text is true. */
bool parse_bool(const std::string &what, const std::string &text);

/** "[640,480,3]": each at least 0. */
std::vector<int> parse_extents(const std::string &what, const std::string &text);

/** A value of the type, which must be able to hold it. */
calotype_scalar_value_t parse_value(const std::string &what, const std::string &text,
                                    calotype_type_t type);

}  // namespace run
}  // namespace calotype
