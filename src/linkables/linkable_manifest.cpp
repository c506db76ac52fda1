// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A manifest is one object of a linkable, or {"linkables": [object, ...]}. The keys are those of
// the command line with JSON's values; "path" names a file, or "images" lists several with their
// own kind and sm.
#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "linkables/linkable_image.h"
#include "linkables/linkable_text.h"
#include "support/error.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

using Json = nlohmann::json;

class Manifest {
public:
    explicit Manifest(const std::string &path)
        : path_(path), folder_(path.substr(0, path.size() - file_name_of(path).size())) {
    }

    std::vector<Linkable> read() const {
        check_is_file("manifest '" + path_ + "'", path_);
        const std::string text = read_file(path_);
        std::vector<Linkable> result;
        try {
            const Json json = parse(text);
            check_object(json, "the manifest");
            if (!json.contains("linkables")) {
                return {linkable(json)};
            }
            check(json.size() == 1, "beside 'linkables' it has other keys");
            check(json["linkables"].is_array(),
                  "'linkables' is " + shown(json["linkables"]) + ", must be a list");
            for (const Json &item : json["linkables"]) {
                result.push_back(linkable(item));
            }
        } catch (const Json::parse_error &e) {
            const auto line =
                1 + std::count(text.begin(), text.begin() + long(position(e, text)), '\n');
            fail("it is no JSON, line " + std::to_string(line));
        } catch (const Json::exception &e) {
            // After "[json.exception.name.number] ".
            const std::string reason = e.what();
            fail("it cannot be read: " + reason.substr(reason.find(' ') + 1));
        }
        return result;
    }

private:
    /// Keys are known to be given once, and values to lie so deep that they can be shown.
    Json parse(const std::string &text) const {
        constexpr int deepest = 16;
        std::vector<std::set<std::string>> keys;
        return Json::parse(text, [&](int depth, Json::parse_event_t event, Json &value) {
            check(depth <= deepest,
                  "its values lie more than " + std::to_string(deepest) + " deep");
            if (event == Json::parse_event_t::object_start) {
                keys.emplace_back();
            } else if (event == Json::parse_event_t::object_end) {
                keys.pop_back();
            } else if (event == Json::parse_event_t::key) {
                const auto key = value.get<std::string>();
                check(keys.back().insert(key).second, "key '" + key + "' is given twice");
            }
            return true;
        });
    }

    static size_t position(const Json::parse_error &e, const std::string &text) {
        return std::min(e.byte ? e.byte - 1 : 0, text.size());
    }

    [[noreturn]] void fail(const std::string &message) const {
        user_error << "manifest '" << path_ << "': " << message;
    }
    void check(bool condition, const std::string &message) const {
        if (!condition) {
            fail(message);
        }
    }
    void check_object(const Json &json, const std::string &what) const {
        check(json.is_object(), what + " is " + shown(json) + ", must be an object");
    }

    static std::string shown(const Json &json) {
        const std::string text = json.dump();
        return text.size() > 40 ? text.substr(0, 37) + "..." : text;
    }

    /// As it would stand on the command line.
    std::string text(const std::string &key, const Json &value) const {
        if (value.is_boolean()) {
            return value.get<bool>() ? "1" : "0";
        }
        if (value.is_number_unsigned()) {
            return std::to_string(value.get<uint64_t>());
        }
        check(value.is_string(), "'" + key + "' is " + shown(value) +
                                     ", must be a string, a whole number from 0 on, or true or "
                                     "false");
        const auto string = value.get<std::string>();
        check(string.find('\0') == std::string::npos, "'" + key + "' has a NUL in it");
        return string;
    }

    std::string in_folder(const std::string &path) const {
        return !path.empty() && path[0] == '/' ? path : folder_ + path;
    }

    ImageText image(const Json &json) const {
        check_object(json, "an item of 'images'");
        ImageText result;
        for (const auto &[key, value] : json.items()) {
            std::string *field = key == "path"   ? &result.path
                                 : key == "kind" ? &result.kind
                                 : key == "sm"   ? &result.sm
                                                 : nullptr;
            check(field, "key '" + key + "' of an image is not known" +
                             did_you_mean(key, {"path", "kind", "sm"}));
            *field = text(key, value);
        }
        check(!result.path.empty(), "an image has no path");
        result.path = in_folder(result.path);
        return result;
    }

    Linkable linkable(const Json &json) const {
        check_object(json, "a linkable");
        std::vector<ImageText> images;
        ImageText single;
        std::vector<LinkableProperty> properties;
        for (const auto &[key, value] : json.items()) {
            if (key == "images") {
                check(value.is_array(), "'images' is " + shown(value) + ", must be a list");
                for (const Json &item : value) {
                    images.push_back(image(item));
                }
            } else if (key == "path" || key == "kind" || key == "sm") {
                (key == "path"   ? single.path
                 : key == "kind" ? single.kind
                                 : single.sm) = text(key, value);
            } else if (value.is_array()) {
                for (const Json &item : value) {
                    properties.emplace_back(key, text(key, item));
                }
            } else {
                properties.emplace_back(key, text(key, value));
            }
        }
        check(images.empty() || (single.path + single.kind + single.sm).empty(),
              "a linkable has 'images' and, beside them, 'path', 'kind' or 'sm'");
        if (!single.path.empty()) {
            single.path = in_folder(single.path);
            images.push_back(single);
        }
        check(!images.empty() || single.sm.empty(), "a linkable has 'sm' but no 'path'");
        check(!images.empty() || single.kind.empty() || single.kind == "host_only",
              "a linkable has 'kind' " + single.kind + " but no 'path'");
        try {
            return make_linkable(shown(json), images, properties);
        } catch (const CompileError &e) {
            fail(e.what());
        }
    }

    const std::string path_, folder_;
};

}  // namespace

std::vector<Linkable> linkables_from_manifest(const std::string &path) {
    return Manifest(path).read();
}

}  // namespace calotype::internal
