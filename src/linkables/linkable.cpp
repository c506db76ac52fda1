// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linkables/linkable.h"

#include <cctype>
#include <filesystem>
#include <sstream>

#include "linkables/linkable_image.h"
#include "linkables/linkable_text.h"
#include "support/error.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

namespace {

void check_c_name(const LinkableData &data, const char *what, const std::string &name) {
    bool is_good = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
    for (const char c : name) {
        is_good = is_good && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
    }
    user_assert(is_good) << "linkable '" << data.name << "': " << what << " '" << name
                         << "' is not the name of a C function or variable";
}

void check_name(const LinkableData &data, const char *what, const std::string &name) {
    user_assert(!name.empty()) << "linkable '" << data.name << "' " << what << " an empty name";
    user_assert(name.find('\0') == std::string::npos)
        << "linkable '" << data.name << "' " << what << " a name with a NUL in it, behind '"
        << name.c_str() << "'";
}

/// What stays in its file is found from any folder.
void check_files(LinkableData &data) {
    for (LinkableImage &image : data.images) {
        if (!data.is_embedded) {
            user_assert(!image.origin.empty())
                << "linkable '" << data.name << "' has an image that comes from no file, which "
                << "embed=0 needs";
            image.origin = std::filesystem::absolute(image.origin).lexically_normal().string();
        }
    }
}

std::string title_of(const LinkableData &data, const LinkableImage &image) {
    return "'" + (image.origin.empty() ? data.name : image.origin) + "'";
}

bool equal_images(const LinkableImage &a, const LinkableImage &b) {
    return a.kind == b.kind && a.sm == b.sm && a.suffix == b.suffix && a.bytes == b.bytes;
}

bool equal_images(const std::vector<LinkableImage> &a, const std::vector<LinkableImage> &b) {
    bool is_equal = a.size() == b.size();
    for (size_t i = 0; is_equal && i < a.size(); i++) {
        is_equal = equal_images(a[i], b[i]);
    }
    return is_equal;
}

}  // namespace

std::string internal::linkable_name_of(const std::string &path) {
    const std::string file(file_name_of(path));
    const size_t dot = file.rfind('.');
    return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
}

bool internal::same_linkable(const LinkableData &a, const LinkableData &b) {
    const bool is_nameless = a.images.empty() && a.setup.empty() && a.teardown.empty();
    return a.setup == b.setup && a.teardown == b.teardown && a.user == b.user &&
           (!is_nameless || a.name == b.name) && equal_images(a.images, b.images);
}

template<typename Change>
Linkable Linkable::with(const Change &change) const {
    user_assert(defined()) << "a property of an undefined linkable is set";
    auto *contents = new LinkableContents(*contents_);
    Linkable result(contents);
    change(contents->data);
    check_files(contents->data);
    return result;
}

Linkable Linkable::with_image(LinkableImage image) const {
    user_assert(defined()) << "an image is added to an undefined linkable";
    for (const LinkableImage &other : data().images) {
        const bool is_second = other.kind == image.kind && other.sm == image.sm &&
                               other.suffix == image.suffix && image.kind != CALOTYPE_BITCODE;
        user_assert(!is_second) << "linkable '" << name() << "' has two images of kind "
                                << kind_name(image.kind)
                                << (image.sm ? " for " + architecture_name(image.sm, image.suffix)
                                             : std::string())
                                << ": " << title_of(data(), other) << " and "
                                << title_of(data(), image);
    }
    auto *contents = new LinkableContents(*contents_);
    Linkable result(contents);
    contents->digests.push_back(sha256_hex(image.bytes));
    contents->data.images.push_back(std::move(image));
    check_files(contents->data);
    return result;
}

Linkable Linkable::host_only(const std::string &name) {
    auto *contents = new LinkableContents;
    Linkable result(contents);
    user_assert(!name.empty()) << "a linkable has an empty name";
    return result.name(name);
}

Linkable Linkable::from_path(const std::string &path) {
    return host_only(linkable_name_of(path)).add_path(path);
}

Linkable Linkable::from_path(const std::string &path, calotype_kind kind) {
    return host_only(linkable_name_of(path)).add_path(path, kind);
}

Linkable Linkable::from_bytes(calotype_kind kind, const std::string &bytes,
                              const std::string &name) {
    return host_only(name).add_image(kind, bytes);
}

Linkable Linkable::from_bytes(calotype_kind kind, const void *data, size_t size,
                              const std::string &name) {
    return from_bytes(kind, std::string(static_cast<const char *>(data), size), name);
}

Linkable Linkable::from_text(const std::string &text) {
    return linkable_from_text(text);
}

std::vector<Linkable> Linkable::list_from_text(const std::string &text) {
    return linkables_from_text(text);
}

std::string Linkable::list_to_text(const std::vector<Linkable> &list) {
    std::vector<std::string> items;
    for (const Linkable &l : list) {
        items.push_back(linkable_to_text(l));
    }
    return join(items, ",");
}

Linkable Linkable::add_path(const std::string &path) const {
    return with_image(load_image(path, std::nullopt));
}

Linkable Linkable::add_path(const std::string &path, calotype_kind kind) const {
    return with_image(load_image(path, kind));
}

Linkable Linkable::add_image(calotype_kind kind, const std::string &bytes) const {
    user_assert(defined()) << "an image is added to an undefined linkable";
    return with_image(check_image(kind, bytes, name()));
}

Linkable Linkable::setup(const std::string &function) const {
    return with([&](LinkableData &d) {
        check_c_name(d, "setup", function);
        d.setup = function;
    });
}

Linkable Linkable::teardown(const std::string &function) const {
    return with([&](LinkableData &d) {
        check_c_name(d, "teardown", function);
        d.teardown = function;
    });
}

Linkable Linkable::user(const std::string &symbol) const {
    return with([&](LinkableData &d) {
        check_c_name(d, "user", symbol);
        d.user = symbol;
    });
}

Linkable Linkable::nrt(bool on) const {
    return with([&](LinkableData &d) { d.nrt = on; });
}

Linkable Linkable::lto(LtoMode mode) const {
    return with([&](LinkableData &d) { d.lto = mode; });
}

Linkable Linkable::after(const std::string &name) const {
    return with([&](LinkableData &d) {
        check_name(d, "comes after", name);
        d.after.push_back(name);
    });
}

Linkable Linkable::optional(bool on) const {
    return with([&](LinkableData &d) { d.is_optional = on; });
}

Linkable Linkable::threadsafe(bool on) const {
    return with([&](LinkableData &d) { d.is_threadsafe = on; });
}

Linkable Linkable::session(bool on) const {
    return with([&](LinkableData &d) { d.is_session_dependent = on; });
}

Linkable Linkable::no_teardown_after_loss(bool on) const {
    return with([&](LinkableData &d) { d.no_teardown_after_loss = on; });
}

Linkable Linkable::pinned(bool on) const {
    return with([&](LinkableData &d) { d.is_pinned = on; });
}

Linkable Linkable::embed(bool on) const {
    return with([&](LinkableData &d) { d.is_embedded = on; });
}

Linkable Linkable::name(const std::string &name) const {
    return with([&](LinkableData &d) {
        check_name(d, "is given", name);
        d.name = name;
    });
}

Linkable Linkable::parameter(const std::string &name) const {
    return with([&](LinkableData &d) { d.parameter = name; });
}

Linkable Linkable::sm(int number, char suffix) const {
    return with([&](LinkableData &d) {
        user_assert(number >= 10 && (!suffix || suffix == 'a' || suffix == 'f'))
            << "linkable '" << d.name << "': sm is " << number
            << std::string(suffix ? 1 : 0, suffix)
            << ", must be at least 10, with perhaps an a or f behind it";
        user_assert(!d.images.empty()) << "linkable '" << d.name << "' has no image for sm";
        set_architecture(d.images.back(), uint32_t(number), suffix);
    });
}

bool Linkable::same_as(const Linkable &other) const {
    if (contents_ == other.contents_ || !defined() || !other.defined()) {
        return contents_ == other.contents_;
    }
    return digests() == other.digests() && same_linkable(data(), other.data());
}

std::string Linkable::description() const {
    return linkable_description(data());
}

std::string internal::to_string(const LinkedFunction &signature) {
    std::ostringstream text;
    text << signature.result << '(';
    for (size_t i = 0; i < signature.parameters.size(); i++) {
        text << (i > 0 ? ", " : "") << signature.parameters[i];
    }
    text << ')';
    return text.str();
}

std::string internal::linkable_description(const LinkableData &data) {
    std::vector<std::string> files;
    for (const LinkableImage &image : data.images) {
        files.push_back(image.origin);
    }
    return "'" + data.name + "'" + origin_of(data, files);
}

}  // namespace calotype
