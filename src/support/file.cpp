// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.h"

namespace calotype::internal {

namespace {

std::string reason(int error) {
    return std::strerror(error);
}

/// Writes all of `data`; the errno of the first failure, or 0.
int write_all(int fd, std::string_view data) {
    while (!data.empty()) {
        const ssize_t n = ::write(fd, data.data(), data.size());
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno;
        }
        data.remove_prefix(size_t(n));
    }
    return 0;
}

std::string temporary_template(std::string_view suffix) {
    std::error_code ignored;
    std::filesystem::path folder = std::filesystem::temp_directory_path(ignored);
    return (folder / "calotype_XXXXXX").string() + std::string(suffix);
}

/// What an ordinary open() would have given, where mkstemp() gives 0600. Reading the mask means
/// setting it, so this is done once.
mode_t default_mode() {
    static const mode_t mode = [] {
        const mode_t mask = ::umask(022);
        ::umask(mask);
        return mode_t(0666 & ~mask);
    }();
    return mode;
}

}  // namespace

std::string read_file(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    user_assert(in.is_open()) << "cannot read " << path << ": " << reason(errno);
    std::ostringstream content;
    content << in.rdbuf();
    user_assert(!in.bad() && !content.bad()) << "cannot read " << path << ": input error";
    return content.str();
}

bool is_stream(const std::string &path) {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) {
        return false;
    }
    // /dev/stdout may lead to an ordinary file, which somebody has open.
    return !S_ISREG(info.st_mode) || path.rfind("/dev/", 0) == 0 || path.rfind("/proc/", 0) == 0;
}

namespace {

void append_to_stream(const std::string &path, std::string_view data) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    int error = fd < 0 ? errno : write_all(fd, data);
    if (fd >= 0 && ::close(fd) != 0 && error == 0) {
        error = errno;
    }
    user_assert(error == 0) << "cannot write " << path << ": " << reason(error);
}

}  // namespace

void write_file_atomically(const std::string &path, std::string_view data) {
    if (is_stream(path)) {
        return append_to_stream(path, data);
    }
    std::string temporary = path + ".XXXXXX";
    const int fd = ::mkstemp(temporary.data());
    user_assert(fd >= 0) << "cannot write " << path << ": " << reason(errno);
    int error = write_all(fd, data);
    if (::fchmod(fd, default_mode()) != 0 && error == 0) {
        error = errno;
    }
    if (::close(fd) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(temporary.c_str());
        user_error << "cannot write " << path << ": " << reason(error);
    }
}

bool file_exists(const std::string &path) {
    return ::access(path.c_str(), F_OK) == 0;
}

void make_directories(const std::string &path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    user_assert(!error) << "cannot make folder " << path << ": " << error.message();
}

std::string_view file_name_of(std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

TemporaryFile::TemporaryFile(std::string_view suffix) : path_(temporary_template(suffix)) {
    const int fd = ::mkstemps(path_.data(), int(suffix.size()));
    user_assert(fd >= 0) << "cannot make temporary file " << path_ << ": " << reason(errno);
    ::close(fd);
}

TemporaryFile::~TemporaryFile() {
    ::unlink(path_.c_str());
}

TemporaryDirectory::TemporaryDirectory() : path_(temporary_template("")) {
    const char *made = ::mkdtemp(path_.data());
    user_assert(made) << "cannot make temporary folder " << path_ << ": " << reason(errno);
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace calotype::internal
