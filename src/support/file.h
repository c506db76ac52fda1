// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files, read and written whole. Failures are CompileErrors that name the file and the reason.
#pragma once

#include <string>
#include <string_view>

namespace calotype::internal {

/// The whole file as bytes.
std::string read_file(const std::string &path);

/// Puts `data` at `path` by way of a temporary file beside it and a rename: whoever reads sees the
/// old content or the new, and a failure leaves nothing behind. A stream gets it directly.
void write_file_atomically(const std::string &path, std::string_view data);

/// Whether the path leads to a terminal, a pipe or another device, or to what this process has open
/// (/dev/stdout): nothing that could be replaced, so content is added to it.
bool is_stream(const std::string &path);

bool file_exists(const std::string &path);

/// Makes the folder and those above it; it is not an error if it exists.
void make_directories(const std::string &path);

/// The part after the last slash.
std::string_view file_name_of(std::string_view path);

/// A file of its own, new and empty, in the system's folder for temporary files; removed at the end
/// of the object's life.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string_view suffix = "");
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;

    const std::string &path() const {
        return path_;
    }

private:
    std::string path_;
};

/// The same for a folder, removed with all it holds.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory &) = delete;
    TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

    const std::string &path() const {
        return path_;
    }

private:
    std::string path_;
};

}  // namespace calotype::internal
