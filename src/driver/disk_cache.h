// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DiskCache: results of compilations that outlive the process, in the folder CT_CACHE_DIR.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace calotype::internal {

/// Any number of processes may use one folder at once. A file that is damaged, of another build of
/// the compiler or of LLVM, or made for another key with the same digest, counts as absent.
/// Failures to write are not errors.
class DiskCache {
public:
    /// max_bytes: beyond it, what was not used for longest is removed. max_age_seconds: 0 is
    /// without end.
    DiskCache(const std::string &folder, int64_t max_bytes, int64_t max_age_seconds);
    /// CT_CACHE_DIR, CT_CACHE_MAX_SIZE (bytes, with K, M or G behind it; default 1G),
    /// CT_CACHE_MAX_AGE (seconds). Empty while CT_CACHE_DIR is not set, or if it cannot be told
    /// which build of the compiler this is. A CompileError if a number is none.
    static std::optional<DiskCache> from_environment();

    /// The value of the key: found, or made by `make` and stored. Of all threads and processes that
    /// ask for one key at once, one makes it and the others wait; where files of the folder cannot
    /// be locked, each makes it.
    std::string get(const std::string &key, const std::function<std::string()> &make) const;

    std::optional<std::string> load(const std::string &key) const;
    void store(const std::string &key, const std::string &value) const;

private:
    std::string path_of(const std::string &key) const;
    void trim() const;
    std::string folder_;
    int64_t max_bytes_, max_age_seconds_;
};

/// "1G" -> 2^30.
int64_t parse_cache_size(const std::string &text);

/// Names and contents as one string, and back; nothing if the string is none of ours.
std::string pack(const std::map<std::string, std::string> &entries);
std::optional<std::map<std::string, std::string>> unpack(const std::string &text);

}  // namespace calotype::internal
