// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What bytes hold is found from the bytes alone (content_of); the extension or `kind=` says what
// they must hold. Files with a length of their own (ELF, fatbin, archive, wrapped bitcode) are
// checked against it, so that a truncated one is found when the generator runs.
#include "linkables/linkable_image.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "support/error.h"
#include "support/file.h"
#include "support/ptx_tokens.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

/// What bytes may turn out to be: the kinds, and what is none.
enum class Content {
    Ptx,
    Cubin,
    Fatbin,
    DeviceObject,
    HostObject,
    Archive,
    ThinArchive,
    LtoIr,
    Bitcode,
    Text,
    Other,
};

const char *describe(Content content) {
    switch (content) {
    case Content::Ptx:
        return "PTX";
    case Content::Cubin:
        return "a cubin";
    case Content::Fatbin:
        return "a fatbin";
    case Content::DeviceObject:
        return "an object with device code";
    case Content::HostObject:
        return "an object without device code";
    case Content::Archive:
        return "an archive";
    case Content::ThinArchive:
        return "a thin archive, which has no members of its own";
    case Content::LtoIr:
        return "LTO-IR";
    case Content::Bitcode:
        return "LLVM bitcode";
    case Content::Text:
        return "text";
    case Content::Other:
        return "bytes of no known kind";
    }
    return "";
}

struct KindRow {
    calotype_kind kind;
    const char *name;
    Content content;
    const char *wanted;  ///< in messages: "must hold ..."
    std::vector<const char *> extensions;
};

const std::vector<KindRow> &kinds() {
    static const std::vector<KindRow> rows = {
        {CALOTYPE_PTX, "ptx", Content::Ptx, "PTX", {"ptx"}},
        {CALOTYPE_CUBIN, "cubin", Content::Cubin, "a cubin", {"cubin"}},
        {CALOTYPE_FATBIN, "fatbin", Content::Fatbin, "a fatbin", {"fatbin"}},
        {CALOTYPE_OBJECT,
         "object",
         Content::DeviceObject,
         "an object with device code",
         {"o", "obj"}},
        {CALOTYPE_ARCHIVE, "archive", Content::Archive, "an archive", {"a", "lib"}},
        {CALOTYPE_LTOIR, "ltoir", Content::LtoIr, "LTO-IR", {"ltoir"}},
        {CALOTYPE_CU, "cu", Content::Text, "CUDA C++", {"cu"}},
        {CALOTYPE_OPENCL_C, "opencl_c", Content::Text, "OpenCL C", {"cl", "ocl"}},
        {CALOTYPE_BITCODE, "bitcode", Content::Bitcode, "LLVM bitcode", {"bc"}},
        {CALOTYPE_HOST_ONLY, "host_only", Content::Other, "nothing", {}},
    };
    return rows;
}

const KindRow &row_of(calotype_kind kind) {
    for (const KindRow &row : kinds()) {
        if (row.kind == kind) {
            return row;
        }
    }
    user_error << "there is no kind of linkable of number " << int(kind);
}

std::string extension_of(const std::string &path) {
    const std::string name(file_name_of(path));
    const size_t dot = name.rfind('.');
    return dot == std::string::npos || dot == 0 ? "" : name.substr(dot + 1);
}

const KindRow *row_of_extension(const std::string &extension) {
    for (const KindRow &row : kinds()) {
        for (const char *known : row.extensions) {
            if (extension == known) {
                return &row;
            }
        }
    }
    return nullptr;
}

std::string all_extensions() {
    std::vector<std::string> all;
    for (const KindRow &row : kinds()) {
        for (const char *known : row.extensions) {
            all.push_back("." + std::string(known));
        }
    }
    return join(all, ", ");
}

// ---- reading bytes ----

template<typename T>
T read_at(const std::string &bytes, uint64_t offset) {
    T value{};
    if (offset <= bytes.size() && sizeof(T) <= bytes.size() - offset) {
        std::memcpy(&value, bytes.data() + offset, sizeof(T));
    }
    return value;
}

/// The end of a part, or the largest number where it overflows.
uint64_t end_of(uint64_t offset, uint64_t size) {
    return size > UINT64_MAX - offset ? UINT64_MAX : offset + size;
}

/// The little-endian 64-bit ELF files that CUDA's tools write.
struct Elf {
    static constexpr uint64_t header_size = 64, section_size = 64, segment_size = 56;
    static constexpr uint16_t cuda_machine = 190;
    static constexpr uint32_t no_bits = 8;  ///< a section that takes no space in the file

    explicit Elf(const std::string &bytes) : bytes(bytes) {
    }
    const std::string &bytes;

    bool is_cuda() const {
        return read_at<uint16_t>(bytes, 18) == cuda_machine;
    }
    uint64_t sections() const {
        return read_at<uint64_t>(bytes, 40);
    }
    uint16_t section_count() const {
        return read_at<uint16_t>(bytes, 60);
    }
    uint64_t section(uint16_t i) const {
        return end_of(sections(), uint64_t(i) * section_size);
    }
    /// Where the last of its parts ends.
    uint64_t size() const {
        const uint16_t segments = read_at<uint16_t>(bytes, 56);
        uint64_t end =
            std::max(header_size, end_of(read_at<uint64_t>(bytes, 32), segments * segment_size));
        end = std::max(end, end_of(sections(), section_count() * section_size));
        for (uint16_t i = 0; i < section_count(); i++) {
            if (read_at<uint32_t>(bytes, section(i) + 4) != no_bits) {
                end = std::max(end, end_of(read_at<uint64_t>(bytes, section(i) + 24),
                                           read_at<uint64_t>(bytes, section(i) + 32)));
            }
        }
        return end;
    }
    bool has_section(const char *name) const {
        const uint16_t names = read_at<uint16_t>(bytes, 62);
        const uint64_t text = read_at<uint64_t>(bytes, section(names) + 24);
        for (uint16_t i = 0; i < section_count(); i++) {
            const uint64_t at = end_of(text, read_at<uint32_t>(bytes, section(i)));
            if (at < bytes.size() &&
                bytes.compare(at, std::strlen(name) + 1, name, std::strlen(name) + 1) == 0) {
                return true;
            }
        }
        return false;
    }
};

bool is_elf(const std::string &bytes) {
    return starts_with(bytes, std::string_view("\x7f"
                                               "ELF\x02\x01",
                                               6));
}

bool is_text(std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(),
                       [](char c) {
                           return static_cast<unsigned char>(c) >= ' ' ||
                                  std::strchr("\t\n\v\f\r", c);
                       }) &&
           bytes.find('\0') == std::string_view::npos;
}

constexpr uint32_t fatbin_magic = 0xBA55ED50, ltoir_magic = 0x7F4E43ED, wrapper_magic = 0x0B17C0DE;

Content content_of(const std::string &bytes) {
    const auto magic = read_at<uint32_t>(bytes, 0);
    if (is_elf(bytes)) {
        const Elf elf(bytes);
        return elf.is_cuda() ? Content::Cubin
               : elf.has_section(".nv_fatbin") || elf.has_section("__nv_relfatbin")
                   ? Content::DeviceObject
                   : Content::HostObject;
    }
    if (starts_with(bytes, "!<arch>\n")) {
        return Content::Archive;
    }
    if (starts_with(bytes, "!<thin>\n")) {
        return Content::ThinArchive;
    }
    if (magic == fatbin_magic) {
        return Content::Fatbin;
    }
    if (magic == ltoir_magic) {
        return Content::LtoIr;
    }
    if (magic == wrapper_magic || starts_with(bytes, "BC\xc0\xde")) {
        return Content::Bitcode;
    }
    if (is_text(bytes)) {
        return PtxTokens(bytes).next() == ".version" ? Content::Ptx : Content::Text;
    }
    return Content::Other;
}

/// Where the members of an archive lie, as their headers say; the last may end behind the file.
struct Member {
    uint64_t begin, end;
};
std::vector<Member> members_of(const std::string &bytes) {
    constexpr uint64_t magic = 8, header = 60;
    std::vector<Member> members;
    for (uint64_t at = magic; at < bytes.size();) {
        const std::string size = at + header <= bytes.size() ? bytes.substr(at + 48, 10) : "";
        const uint64_t begin = end_of(at, header);
        at = end_of(begin, std::strtoull(size.c_str(), nullptr, 10));
        members.push_back({begin, at});
        at += at < bytes.size() ? at % 2 : 0;
    }
    return members;
}

uint64_t archive_size(const std::string &bytes) {
    const std::vector<Member> members = members_of(bytes);
    return members.empty() ? 0 : members.back().end;
}

bool is_device_code(const std::string &bytes) {
    switch (content_of(bytes)) {
    case Content::Ptx:
    case Content::Cubin:
    case Content::Fatbin:
    case Content::DeviceObject:
    case Content::LtoIr:
        return true;
    default:
        return false;
    }
}

/// What a file of the right kind lacks: "has no members", or "".
std::string explain_no_code(Content content, const std::string &bytes) {
    if (content == Content::Fatbin) {
        return read_at<uint64_t>(bytes, 8) == 0 ? "is a fatbin without code" : "";
    }
    if (content != Content::Archive) {
        return "";
    }
    const std::vector<Member> members = members_of(bytes);
    const bool has_code = std::any_of(members.begin(), members.end(), [&](const Member &m) {
        return is_device_code(bytes.substr(m.begin, m.end - m.begin));
    });
    return members.empty() ? "is an archive without members"
           : has_code      ? ""
                           : "is an archive without device code in its " +
                            std::to_string(members.size()) + " members";
}

/// How long the bytes say they are; 0 if they do not.
uint64_t promised_size(Content content, const std::string &bytes) {
    switch (content) {
    case Content::Cubin:
    case Content::DeviceObject:
    case Content::HostObject:
        return Elf(bytes).size();
    case Content::Fatbin:
        return end_of(std::max<uint64_t>(16, read_at<uint16_t>(bytes, 6)),
                      read_at<uint64_t>(bytes, 8));
    case Content::Archive:
        return archive_size(bytes);
    case Content::LtoIr:
        return 32;  // its header
    case Content::Bitcode:
        return read_at<uint32_t>(bytes, 0) == wrapper_magic
                   ? end_of(read_at<uint32_t>(bytes, 8), read_at<uint32_t>(bytes, 12))
                   : 8;
    default:
        return 0;
    }
}

// ---- architectures ----

/// Those that CUDA's tools know by number; newer content says itself what it is for.
constexpr uint32_t architectures[] = {30, 32, 35, 37, 50, 52, 53,  60,  61,  62,  70,  72, 75,
                                      80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};
/// The first that have code for themselves alone, and for their family.
constexpr uint32_t first_with_a = 90, first_with_f = 100;

bool is_architecture(uint32_t sm, char suffix) {
    return std::find(std::begin(architectures), std::end(architectures), sm) !=
               std::end(architectures) &&
           (!suffix || sm >= (suffix == 'a' ? first_with_a : first_with_f));
}

std::string all_architectures() {
    std::vector<std::string> numbers;
    for (const uint32_t sm : architectures) {
        numbers.push_back(std::to_string(sm));
    }
    return join(numbers, ", ") + ", with an a behind it from " + std::to_string(first_with_a) +
           " on, with an f from " + std::to_string(first_with_f) + " on";
}

/// At the beginning of "90a".
Architecture leading_architecture(const std::string &text) {
    char *end = nullptr;
    const auto sm = uint32_t(std::strtoul(text.c_str(), &end, 10));
    return {sm, *end == 'a' || *end == 'f' ? *end : '\0'};
}

/// The header of LTO-IR holds pairs of u16, number and value, from where it says to the end of
/// them. That it is for a family is not said there.
Architecture architecture_of_ltoir(const std::string &bytes) {
    constexpr uint16_t architecture = 1, of_one_architecture = 0x20, end = 0x63;
    Architecture result = {0, 0};
    for (uint64_t at = read_at<uint16_t>(bytes, 12); at + 4 <= bytes.size(); at += 4) {
        const auto number = read_at<uint16_t>(bytes, at), value = read_at<uint16_t>(bytes, at + 2);
        if (number == end) {
            return result;
        }
        result.sm = number == architecture ? value / 10u : result.sm;
        result.suffix = number == of_one_architecture && value ? 'a' : result.suffix;
    }
    return result;
}

Architecture architecture_of(calotype_kind kind, const std::string &bytes) {
    if (kind == CALOTYPE_PTX) {
        return leading_architecture(ptx_target(bytes));
    }
    if (kind == CALOTYPE_LTOIR) {
        return architecture_of_ltoir(bytes);
    }
    if (kind != CALOTYPE_CUBIN) {
        return {0, 0};
    }
    // The flags hold the number; the letter is in the note of the tool that wrote the file.
    constexpr uint8_t abi_of_cuda_13 = 8;
    const auto flags = read_at<uint32_t>(bytes, 48);
    const uint32_t sm = (read_at<uint8_t>(bytes, 8) >= abi_of_cuda_13 ? flags >> 8 : flags) & 0xff;
    const std::string option = "-arch sm_";
    const size_t at = bytes.find(option);
    const Architecture note = leading_architecture(
        at == std::string::npos ? "" : bytes.substr(at + option.size(), sizeof "999a"));
    return {sm, note.sm == sm ? note.suffix : '\0'};
}

/// The kind that a file is expected to have and why: "because of its extension '.cubin'".
struct Expected {
    const KindRow *row;
    std::string reason;
};

Expected expected_kind(const std::string &path, std::optional<calotype_kind> given) {
    const std::string extension = extension_of(path);
    const KindRow *of_extension = row_of_extension(extension);
    if (given) {
        const KindRow &row = row_of(*given);
        user_assert(*given != CALOTYPE_HOST_ONLY)
            << "linkable file '" << path << "' is given as kind=host_only, which has no file";
        user_assert(!of_extension || of_extension == &row)
            << "linkable file '" << path << "' is " << of_extension->name
            << " by its extension, but kind=" << row.name << " is given";
        return {&row, "because of kind=" + std::string(row.name)};
    }
    user_assert(!extension.empty())
        << "linkable file '" << path
        << "' has no extension that tells its kind, which may be one of " << all_extensions()
        << "; give kind=";
    user_assert(of_extension) << "linkable file '" << path << "' has extension '." << extension
                              << "', which is none of " << all_extensions() << "; give kind=";
    return {of_extension, "because of its extension '." + extension + "'"};
}

LinkableImage checked(const KindRow &expected, std::string bytes, const std::string &what,
                      const std::string &reason, const std::string &origin) {
    // A NUL at the end of a text is not part of it.
    const size_t text_size = bytes.find_last_not_of('\0') + 1;
    if (is_text(std::string_view(bytes).substr(0, text_size))) {
        bytes.resize(text_size);
    }
    user_assert(!bytes.empty()) << what << " is empty";
    const Content found = content_of(bytes);
    const uint64_t promised = promised_size(found, bytes);
    const bool is_whole = promised <= bytes.size();
    // A relocatable cubin may be called an object. In part of an object nothing is found.
    const bool is_device_object = expected.kind == CALOTYPE_OBJECT && found == Content::Cubin;
    const bool is_part_of_object =
        expected.kind == CALOTYPE_OBJECT && found == Content::HostObject && !is_whole;
    user_assert(found == expected.content || is_device_object || is_part_of_object)
        << what << " holds " << describe(found) << ", must hold " << expected.wanted << reason;
    user_assert(is_whole) << what << " is truncated: it has " << bytes.size()
                          << " bytes, its headers speak of " << promised;
    const std::string lack = explain_no_code(found, bytes);
    user_assert(lack.empty()) << what << " " << lack;
    LinkableImage image;
    image.kind = is_device_object ? CALOTYPE_CUBIN : expected.kind;
    const Architecture arch = architecture_of(image.kind, bytes);
    image.sm = arch.sm;
    image.suffix = arch.suffix;
    image.bytes = std::move(bytes);
    image.origin = origin;
    return image;
}

}  // namespace

std::string kind_name(calotype_kind kind) {
    return row_of(kind).name;
}

calotype_kind kind_from_name(const std::string &name) {
    std::vector<std::string> names;
    for (const KindRow &row : kinds()) {
        if (name == row.name) {
            return row.kind;
        }
        names.emplace_back(row.name);
    }
    const std::string hint = did_you_mean(name, names);
    user_error << "there is no kind '" << name << "'"
               << (hint.empty() ? ", there are " + join(names, ", ") : hint);
}

LinkableImage load_image(const std::string &path, std::optional<calotype_kind> kind) {
    const Expected expected = expected_kind(path, kind);
    const std::string title = "linkable file '" + path + "'";
    check_is_file(title, path);
    return checked(*expected.row, read_file(path), title, " " + expected.reason, path);
}

void check_is_file(const std::string &title, const std::string &path) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    user_assert(!std::filesystem::is_directory(status)) << title << " is a folder";
    user_assert(std::filesystem::exists(status)) << title << " does not exist";
    user_assert(std::filesystem::is_regular_file(status)) << title << " is not a regular file";
}

LinkableImage check_image(calotype_kind kind, std::string bytes, const std::string &name) {
    const KindRow &row = row_of(kind);
    user_assert(kind != CALOTYPE_HOST_ONLY)
        << "linkable '" << name << "' is given bytes of kind host_only, which has none";
    return checked(row, std::move(bytes), "linkable '" + name + "'", "", "");
}

void set_architecture(LinkableImage &image, uint32_t sm, char suffix) {
    const bool is_same = image.sm == sm && (!image.suffix || image.suffix == suffix);
    const std::string title = image.origin.empty() ? "the image" : "'" + image.origin + "'";
    const std::string given = architecture_name(sm, suffix).substr(3);
    user_assert(!image.sm || is_same)
        << title << " is for " << architecture_name(image.sm, image.suffix) << ", but sm=" << given
        << " is given";
    user_assert(image.sm || is_architecture(sm, suffix))
        << title << " is given sm=" << given << ", which is not an architecture: there are "
        << all_architectures();
    image.sm = sm;
    image.suffix = suffix;
}

std::string architecture_name(uint32_t sm, char suffix) {
    return "sm_" + std::to_string(sm) + (suffix ? std::string(1, suffix) : "");
}

Architecture architecture_from_text(const std::string &text) {
    const std::string digits = starts_with(text, "sm_") ? text.substr(3) : text;
    const size_t end = digits.find_first_not_of("0123456789");
    const std::string number = digits.substr(0, end);
    const std::string rest = end == std::string::npos ? "" : digits.substr(end);
    const uint32_t sm = number.empty() || number.size() > 3 ? 0 : uint32_t(std::stoul(number));
    user_assert(sm >= 10 && (rest.empty() || rest == "a" || rest == "f"))
        << "'" << text
        << "' is not an architecture, which is a number with perhaps an a or f behind "
        << "it, as 90a";
    return {sm, rest.empty() ? '\0' : rest[0]};
}

}  // namespace calotype::internal
