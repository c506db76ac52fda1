// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linkables/linkable_text.h"

#include <optional>
#include <set>

#include "linkables/linkable_image.h"
#include "support/error.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

/// What a key does. The value of a switch is 0 or 1, and 1 where there is none.
struct KeyRow {
    const char *name;
    bool is_switch;
    Linkable (*apply)(const Linkable &, const std::string &);
};

Linkable with_lto(const Linkable &l, const std::string &text) {
    const std::vector<std::pair<const char *, LtoMode>> modes = {
        {"never", LtoMode::Never}, {"allow", LtoMode::Allow}, {"require", LtoMode::Require}};
    for (const auto &[name, mode] : modes) {
        if (text == name) {
            return l.lto(mode);
        }
    }
    user_error << "linkable '" << l.name() << "': lto is '" << text
               << "', must be never, allow or require";
}

Linkable with_each_after(const Linkable &linkable, const std::string &names) {
    Linkable l = linkable;
    for (const std::string &name : split(names, "+")) {
        l = l.after(name);
    }
    return l;
}

#define TEXT(name, change)                                                                         \
    {                                                                                              \
#name, false, [](const Linkable &l, const std::string &value) {                            \
            return l.change;                                                                       \
        }                                                                                          \
    }
#define SWITCH(name, change)                                                                       \
    {                                                                                              \
#name, true, [](const Linkable &l, const std::string &value) {                             \
            return l.change(value == "1");                                                         \
        }                                                                                          \
    }
const KeyRow key_table[] = {
    TEXT(name, name(value)),
    TEXT(setup, setup(value)),
    TEXT(teardown, teardown(value)),
    TEXT(user, user(value)),
    {"lto", false, with_lto},
    {"after", false, with_each_after},
    SWITCH(nrt, nrt),
    SWITCH(optional, optional),
    SWITCH(threadsafe, threadsafe),
    SWITCH(session, session),
    SWITCH(no_teardown_after_loss, no_teardown_after_loss),
    SWITCH(pin, pinned),
    SWITCH(embed, embed),
};
#undef TEXT
#undef SWITCH

const KeyRow &key_row(const Linkable &linkable, const std::string &key) {
    // These two are of images.
    std::vector<std::string> names = {"kind", "sm"};
    for (const KeyRow &row : key_table) {
        if (key == row.name) {
            return row;
        }
        names.emplace_back(row.name);
    }
    const std::string hint = did_you_mean(key, names);
    user_error << "linkable '" << linkable.name() << "': key '" << key << "' is not known"
               << (hint.empty() ? ", there are " + join(names, ", ") : hint);
}

Linkable with_property(const Linkable &linkable, const LinkableProperty &property) {
    const auto &[key, text] = property;
    const KeyRow &row = key_row(linkable, key);
    const std::string value = row.is_switch && text.empty() ? "1" : text;
    user_assert(!value.empty()) << "linkable '" << linkable.name() << "': key '" << key
                                << "' has no value";
    user_assert(!row.is_switch || value == "0" || value == "1")
        << "linkable '" << linkable.name() << "': " << key << " is '" << value
        << "', must be 0 or 1";
    return row.apply(linkable, value);
}

Linkable with_file(const Linkable &linkable, const ImageText &image) {
    std::optional<calotype_kind> kind;
    std::optional<Architecture> arch;
    try {
        if (!image.kind.empty()) {
            kind = kind_from_name(image.kind);
        }
        if (!image.sm.empty()) {
            arch = architecture_from_text(image.sm);
        }
    } catch (const CompileError &e) {
        user_error << "linkable file '" << image.path << "': " << e.what();
    }
    const Linkable result =
        kind ? linkable.add_path(image.path, *kind) : linkable.add_path(image.path);
    return arch ? result.sm(int(arch->sm), arch->suffix) : result;
}

std::string value_of(const std::vector<LinkableProperty> &properties, const std::string &key) {
    for (const auto &[name, value] : properties) {
        if (name == key) {
            return value;
        }
    }
    return "";
}

/// The linkable without its properties, but for its name.
Linkable of_images(const std::string &what, const std::vector<ImageText> &images,
                   const std::vector<LinkableProperty> &properties) {
    std::string name = value_of(properties, "name");
    if (name.empty() && !images.empty()) {
        name = linkable_name_of(images[0].path);
    }
    for (const char *callback : {"setup", "teardown"}) {
        name = name.empty() ? value_of(properties, callback) : name;
    }
    user_assert(!name.empty()) << "linkable '" << what << "' has neither a file nor a callback";
    Linkable linkable = Linkable::host_only(name);
    for (const ImageText &image : images) {
        linkable = with_file(linkable, image);
    }
    return linkable;
}

Linkable linkable_from_item(const std::string &item) {
    const std::vector<std::string> parts = split(item, ";");
    std::vector<LinkableProperty> properties;
    ImageText of_all;
    for (size_t i = 1; i < parts.size(); i++) {
        const size_t equals = parts[i].find('=');
        const std::string key(trim(parts[i].substr(0, equals)));
        const std::string value(
            trim(equals == std::string::npos ? "" : parts[i].substr(equals + 1)));
        if (key == "kind" || key == "sm") {
            std::string &text = key == "kind" ? of_all.kind : of_all.sm;
            user_assert(!value.empty())
                << "linkable '" << item << "': key '" << key << "' has no value";
            user_assert(text.empty())
                << "linkable '" << item << "': key '" << key << "' is given twice";
            text = value;
        } else {
            properties.emplace_back(key, value);
        }
    }
    std::vector<ImageText> images;
    if (!parts[0].empty()) {
        for (const std::string &path : split(parts[0], "+")) {
            images.push_back({path, of_all.kind, of_all.sm});
        }
    }
    if (images.empty() && of_all.kind == "host_only") {
        of_all.kind.clear();
    }
    user_assert(!images.empty() || (of_all.kind.empty() && of_all.sm.empty()))
        << "linkable '" << item << "': kind and sm are of a file, and none is given";
    return make_linkable(item, images, properties);
}

}  // namespace

Linkable make_linkable(const std::string &what, const std::vector<ImageText> &images,
                       const std::vector<LinkableProperty> &properties) {
    Linkable linkable = of_images(what, images, properties);
    std::set<std::string> seen;
    for (const LinkableProperty &p : properties) {
        user_assert(seen.insert(p.first).second || p.first == "after")
            << "linkable '" << linkable.name() << "': key '" << p.first << "' is given twice";
        linkable = with_property(linkable, p);
    }
    return linkable;
}

std::vector<Linkable> linkables_from_text(const std::string &text) {
    std::vector<Linkable> result;
    if (trim(text).empty()) {
        return result;
    }
    for (const std::string &part : split(text, ",")) {
        const std::string item(trim(part));
        user_assert(!item.empty()) << "an item of '" << text << "' is empty";
        if (item[0] != '@') {
            result.push_back(linkable_from_item(item));
            continue;
        }
        user_assert(item.size() > 1) << "'@' stands alone, a manifest's path must follow it";
        for (Linkable &l : linkables_from_manifest(item.substr(1))) {
            result.push_back(std::move(l));
        }
    }
    return result;
}

std::string linkable_to_text(const Linkable &linkable) {
    const LinkableData &d = linkable.data();
    std::vector<std::string> paths;
    for (const LinkableImage &image : d.images) {
        paths.push_back(image.origin.empty() ? d.name : image.origin);
    }
    std::string text = join(paths, "+");
    const auto add = [&](const std::string &key, const std::string &value) {
        text += value.empty() ? "" : ";" + key + "=" + value;
    };
    const bool says_name = paths.empty() || linkable_name_of(paths[0]) != d.name;
    add("name", says_name ? d.name : "");
    add("setup", d.setup);
    add("teardown", d.teardown);
    add("user", d.user);
    add("lto", d.lto == LtoMode::Allow ? "" : d.lto == LtoMode::Never ? "never" : "require");
    add("after", join(d.after, "+"));
    const std::pair<const char *, bool> switches[] = {
        {"nrt", d.nrt},
        {"optional", d.is_optional},
        {"threadsafe", d.is_threadsafe},
        {"session", d.is_session_dependent},
        {"no_teardown_after_loss", d.no_teardown_after_loss},
        {"pin", d.is_pinned},
    };
    for (const auto &[key, is_on] : switches) {
        text += is_on ? std::string(";") + key : "";
    }
    return text + (d.is_embedded ? "" : ";embed=0");
}

Linkable linkable_from_text(const std::string &text) {
    std::vector<Linkable> all = linkables_from_text(text);
    user_assert(all.size() == 1) << "'" << text << "' gives " << all.size()
                                 << " linkables, must give 1";
    return all[0];
}

}  // namespace calotype::internal
