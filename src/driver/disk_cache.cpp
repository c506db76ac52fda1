// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One file an entry, named by the SHA-256 of the key:
//
//     pack({"build": which compiler, "key": the whole key, "value": the result, "digest": SHA-256
//     of the result})
//
// The time of the last use is the file's time of modification.
#include "driver/disk_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "codegen/version.h"
#include "support/build_id.h"
#include "support/environment.h"
#include "support/error.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/text.h"

namespace calotype::internal {

namespace fs = std::filesystem;

namespace {

const char *const suffix = ".calotype";

/// How much this process may still store in a folder of a size before it looks at all that is there
/// again: half of what was free when it did, as other processes store there, too.
class Room {
public:
    static Room &instance() {
        static Room room;
        return room;
    }
    /// False if there may be too little; nothing is known at first.
    bool take(const std::string &folder, int64_t size, int64_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex_);
        int64_t &left = left_[{folder, size}];
        left -= bytes;
        return left > 0;
    }
    void set(const std::string &folder, int64_t size, int64_t used) {
        const std::lock_guard<std::mutex> lock(mutex_);
        left_[{folder, size}] = (size - used) / 2;
    }

private:
    std::mutex mutex_;
    std::map<std::pair<std::string, int64_t>, int64_t> left_;
};

/// What makes other code of one key: the compiler, and the LLVM that it uses.
const std::string &this_build() {
    static const std::string build = [] {
        const std::string own = build_id_of(reinterpret_cast<const void *>(&parse_cache_size));
        const std::string llvm = llvm_build();
        return own.empty() || llvm.empty() ? "" : own + " " + llvm;
    }();
    return build;
}

/// Held by the one that makes the value of a key. The file goes with the lock; who has waited for
/// a file that has gone meanwhile tries again.
class KeyLock {
public:
    explicit KeyLock(const std::string &path) : path_(path) {
        do {
            release();
            file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        } while (file_ >= 0 && lock() && !is_current());
    }
    ~KeyLock() {
        if (is_locked_) {
            unlink(path_.c_str());
        }
        release();
    }
    KeyLock(const KeyLock &) = delete;
    KeyLock &operator=(const KeyLock &) = delete;

private:
    bool lock() {
        int failed = 0;
        do {
            failed = flock(file_, LOCK_EX);
        } while (failed != 0 && errno == EINTR);
        return is_locked_ = failed == 0;
    }
    /// True if the locked file is the one that others find at the path.
    bool is_current() const {
        struct stat locked, found;
        return fstat(file_, &locked) == 0 && stat(path_.c_str(), &found) == 0 &&
               locked.st_ino == found.st_ino && locked.st_dev == found.st_dev;
    }
    void release() {
        is_locked_ = false;
        if (file_ >= 0) {
            close(file_);
        }
    }

    const std::string path_;
    int file_ = -1;
    bool is_locked_ = false;
};

int64_t parse_count(const char *variable, const std::string &text) {
    int64_t value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    user_assert(error == std::errc() && end == text.data() + text.size() && value >= 0)
        << variable << " is '" << text << "', must be a number";
    return value;
}

}  // namespace

int64_t parse_cache_size(const std::string &text) {
    const size_t unit = text.empty() ? std::string::npos : std::string("KMG").find(text.back());
    if (unit == std::string::npos) {
        return parse_count("CT_CACHE_MAX_SIZE", text);
    }
    return parse_count("CT_CACHE_MAX_SIZE", text.substr(0, text.size() - 1)) << (10 * (unit + 1));
}

DiskCache::DiskCache(const std::string &folder, int64_t max_bytes, int64_t max_age_seconds)
    : folder_(folder), max_bytes_(max_bytes), max_age_seconds_(max_age_seconds) {
}

std::optional<DiskCache> DiskCache::from_environment() {
    const char *folder = internal::environment("CACHE_DIR");
    if (!folder || !*folder || this_build().empty()) {
        return std::nullopt;
    }
    const char *size = internal::environment("CACHE_MAX_SIZE");
    const char *age = internal::environment("CACHE_MAX_AGE");
    return DiskCache(folder, parse_cache_size(size ? size : "1G"),
                     age ? parse_count("CT_CACHE_MAX_AGE", age) : 0);
}

std::string DiskCache::path_of(const std::string &key) const {
    return folder_ + "/" + sha256_hex(key) + suffix;
}

std::string DiskCache::get(const std::string &key, const std::function<std::string()> &make) const {
    if (auto found = load(key)) {
        return std::move(*found);
    }
    std::error_code failed;
    fs::create_directories(folder_, failed);
    const KeyLock lock(path_of(key) + ".lock");
    if (auto found = load(key)) {  // by who held the lock before
        return std::move(*found);
    }
    std::string value = make();
    store(key, value);
    return value;
}

std::optional<std::string> DiskCache::load(const std::string &key) const {
    const std::string path = path_of(key);
    std::error_code failed;
    const auto last_use = fs::last_write_time(path, failed);
    const auto now = fs::file_time_type::clock::now();
    if (failed ||
        (max_age_seconds_ > 0 && now - last_use > std::chrono::seconds(max_age_seconds_))) {
        return std::nullopt;
    }
    std::string bytes;
    try {
        bytes = read_file(path);
    } catch (const CompileError &) {
        return std::nullopt;  // removed meanwhile
    }
    auto entry = unpack(bytes);
    if (!entry || (*entry)["build"] != this_build() || (*entry)["key"] != key ||
        (*entry)["digest"] != sha256_hex((*entry)["value"])) {
        return std::nullopt;
    }
    fs::last_write_time(path, now, failed);
    return std::move((*entry)["value"]);
}

void DiskCache::store(const std::string &key, const std::string &value) const {
    try {
        make_directories(folder_);
        const std::string entry = pack({{"build", this_build()},
                                        {"key", key},
                                        {"value", value},
                                        {"digest", sha256_hex(value)}});
        write_file_atomically(path_of(key), entry);
        if (!Room::instance().take(folder_, max_bytes_, int64_t(entry.size())) ||
            max_age_seconds_ > 0) {
            trim();
        }
    } catch (const CompileError &e) {
        user_warning << "the compile cache is not written: " << e.what();
    }
}

namespace {

/// What a process that ended early has left: part of an entry, or the file of its lock.
bool is_abandoned(const fs::directory_entry &file) {
    const std::string name = file.path().filename().string();
    const size_t at = name.find(suffix);
    std::error_code failed;
    const auto last_use = file.last_write_time(failed);
    return at != std::string::npos && at + std::string(suffix).size() < name.size() && !failed &&
           fs::file_time_type::clock::now() - last_use > std::chrono::hours(24);
}

}  // namespace

// Removes what is too old, then what was not used for longest until the rest fits.
void DiskCache::trim() const {
    struct Entry {
        fs::file_time_type last_use;
        int64_t size;
        fs::path path;
    };
    std::vector<Entry> entries;
    int64_t total = 0;
    std::error_code failed;
    for (const fs::directory_entry &file : fs::directory_iterator(folder_, failed)) {
        if (is_abandoned(file)) {
            fs::remove(file.path(), failed);
        } else if (ends_with(file.path().string(), suffix)) {
            Entry e{file.last_write_time(failed), int64_t(file.file_size(failed)), file.path()};
            if (!failed) {
                total += e.size;
                entries.push_back(std::move(e));
            }
        }
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry &a, const Entry &b) { return a.last_use < b.last_use; });
    const auto now = fs::file_time_type::clock::now();
    for (const Entry &e : entries) {
        const bool is_old =
            max_age_seconds_ > 0 && now - e.last_use > std::chrono::seconds(max_age_seconds_);
        if (is_old || total > max_bytes_) {
            fs::remove(e.path, failed);
            total -= e.size;
        }
    }
    Room::instance().set(folder_, max_bytes_, total);
}

// "calotype 1\n", then for each entry "name-length name value-length value".
static const char *const pack_magic = "calotype 1\n";

std::string pack(const std::map<std::string, std::string> &entries) {
    std::string text = pack_magic;
    for (const auto &[name, value] : entries) {
        for (const std::string *part : {&name, &value}) {
            text += std::to_string(part->size()) + " " + *part;
        }
    }
    return text;
}

std::optional<std::map<std::string, std::string>> unpack(const std::string &text) {
    if (!starts_with(text, pack_magic)) {
        return std::nullopt;
    }
    std::vector<std::string> parts;
    size_t at = std::string_view(pack_magic).size();
    while (at < text.size()) {
        size_t size = 0;
        const auto [end, error] =
            std::from_chars(text.data() + at, text.data() + text.size(), size);
        const size_t begin = size_t(end - text.data()) + 1;
        if (error != std::errc() || begin > text.size() || *end != ' ' ||
            size > text.size() - begin) {
            return std::nullopt;
        }
        parts.push_back(text.substr(begin, size));
        at = begin + size;
    }
    if (parts.size() % 2 != 0) {
        return std::nullopt;
    }
    std::map<std::string, std::string> entries;
    for (size_t i = 0; i < parts.size(); i += 2) {
        entries[parts[i]] = parts[i + 1];
    }
    return entries;
}

}  // namespace calotype::internal
