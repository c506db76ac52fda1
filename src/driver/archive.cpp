// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/archive.h"

#include <charconv>

#include "driver/output_plan.h"
#include "support/embed_file.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

constexpr std::string_view magic = "!<arch>\n";
constexpr size_t header_size = 60;

// A number in a header's field or a long name's reference: decimal, blanks behind it.
size_t number_in(std::string_view field) {
    size_t value = 0;
    std::from_chars(field.data(), field.data() + field.size(), value);
    return value;
}

// "name.o/", or "/123": a place in the table of long names.
std::string member_name(std::string_view field, std::string_view long_names) {
    if (field[0] == '/') {
        const size_t begin = number_in(field.substr(1));
        return std::string(long_names.substr(begin, long_names.find("/\n", begin) - begin));
    }
    return std::string(field.substr(0, field.find('/')));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_static_library(std::string_view archive) {
    user_assert(starts_with(archive, magic)) << "not a static library";
    std::vector<std::pair<std::string, std::string>> members;
    std::string_view long_names;
    size_t at = magic.size();
    while (at + header_size <= archive.size()) {
        const std::string_view name = archive.substr(at, 16);
        const size_t size = number_in(archive.substr(at + 48, 10));
        at += header_size;
        user_assert(at + size <= archive.size()) << "a static library ends too early";
        const std::string_view bytes = archive.substr(at, size);
        at += size + size % 2;
        if (starts_with(name, "// ")) {
            long_names = bytes;
        } else if (!starts_with(name, "/ ") && !starts_with(name, "/SYM64/")) {
            members.emplace_back(member_name(name, long_names), std::string(bytes));
        }
    }
    return members;
}

}  // namespace calotype::internal

// The library's bytes, as the build made it.
CALOTYPE_EMBED_FILE(calotype_embedded_runtime, CALOTYPE_RUNTIME_ARCHIVE);

namespace calotype::internal {

std::string_view embedded_runtime() {
    return std::string_view(
        calotype_embedded_runtime_begin,
        size_t(calotype_embedded_runtime_end - calotype_embedded_runtime_begin));
}

std::string standalone_runtime(const Target &target) {
    const Target host = get_host_target();
    user_assert(target.arch == host.arch && target.os == host.os && target.bits == host.bits)
        << "this build of the compiler carries no runtime for " << target.to_string();
    return std::string(embedded_runtime());
}

}  // namespace calotype::internal
