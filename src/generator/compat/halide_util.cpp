// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_util.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <numeric>

#include "halide_errors.h"
#include "support/text.h"

extern char **environ;

namespace calotype {

std::string type_to_c_type(const Type &type, bool append_space, bool) {
    if (type.is_handle()) {
        const std::string name = type.handle_type ? type.handle_type->cpp_name : "void *";
        return name + (append_space && name.back() != '*' ? " " : "");
    }
    const std::string lanes = type.is_vector() ? std::to_string(type.lanes()) : "";
    std::string name;
    if (type.is_float() && type.bits() >= 32) {
        name = (type.bits() == 32 ? "float" : "double") + lanes;
    } else if (type.is_bool() && lanes.empty()) {
        name = "bool";
    } else {
        name = (type.is_bfloat()  ? "bfloat"
                : type.is_float() ? "float"
                : type.is_int()   ? "int"
                                  : "uint") +
               std::to_string(type.bits()) + (lanes.empty() ? "" : "x" + lanes) + "_t";
    }
    return name + (append_space ? " " : "");
}

namespace Internal {

std::string get_env_variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

std::string running_program_name() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    if (length <= 0) {
        return "";
    }
    const std::string whole(path, size_t(length));
    return whole.substr(whole.rfind('/') + 1);
}

std::string unique_name(char prefix) {
    return internal::unique_name(prefix);
}

std::string unique_name(const std::string &prefix) {
    return internal::unique_name(prefix);
}

bool starts_with(const std::string &text, const std::string &prefix) {
    return internal::starts_with(text, prefix);
}

bool ends_with(const std::string &text, const std::string &suffix) {
    return internal::ends_with(text, suffix);
}

std::string replace_all(const std::string &text, const std::string &from, const std::string &to) {
    return from.empty() ? text : internal::replace_all(text, from, to);
}

std::vector<std::string> split_string(const std::string &text, const std::string &separator) {
    return internal::split(text, separator);
}

std::string join_strings(const std::vector<std::string> &parts, const std::string &separator) {
    return internal::join(parts, separator);
}

std::string extract_namespaces(const std::string &name, std::vector<std::string> &namespaces) {
    namespaces = internal::split(name, "::");
    const std::string last = namespaces.back();
    namespaces.pop_back();
    return last;
}

std::string strip_namespaces(const std::string &name) {
    std::vector<std::string> ignored;
    return extract_namespaces(name, ignored);
}

std::string c_print_name(const std::string &name, bool prefix_underscore) {
    std::string result;
    if (prefix_underscore && !name.empty() && std::isalpha(static_cast<unsigned char>(name[0]))) {
        result = "_";
    }
    for (char c : name) {
        if (c == '.') {
            result += "_";
        } else if (c == '$') {
            result += "__";
        } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
            result += c;
        } else {
            result += "___";
        }
    }
    return result;
}

// ---- files and processes

namespace {

std::string temporary_folder() {
    const std::string named = get_env_variable("TMPDIR");
    return named.empty() ? "/tmp" : named;
}

std::string reason() {
    return std::strerror(errno);
}

}  // namespace

std::string file_make_temp(const std::string &prefix, const std::string &suffix) {
    std::string path = temporary_folder() + "/" + prefix + "XXXXXX" + suffix;
    const int file = mkstemps(path.data(), int(suffix.size()));
    _halide_internal_assert(file >= 0) << path << " cannot be made: " << reason();
    close(file);
    return path;
}

std::string dir_make_temp() {
    std::string path = temporary_folder() + "/XXXXXX";
    const bool made = mkdtemp(path.data()) != nullptr;
    _halide_internal_assert(made) << path << " cannot be made: " << reason();
    return path;
}

bool file_exists(const std::string &name) {
    return access(name.c_str(), F_OK) == 0;
}

void assert_file_exists(const std::string &name) {
    _halide_internal_assert(file_exists(name)) << "file " << name << " does not exist";
}

void assert_no_file_exists(const std::string &name) {
    _halide_internal_assert(!file_exists(name)) << "file " << name << " exists";
}

void file_unlink(const std::string &name) {
    unlink(name.c_str());
}

void ensure_no_file_exists(const std::string &name) {
    if (file_exists(name)) {
        file_unlink(name);
    }
    assert_no_file_exists(name);
}

void dir_rmdir(const std::string &name) {
    const int code = rmdir(name.c_str());
    _halide_internal_assert(code == 0) << "folder " << name << " cannot be removed: " << reason();
}

FileStat file_stat(const std::string &name) {
    struct stat s;
    const int code = stat(name.c_str(), &s);
    _halide_internal_assert(code == 0) << "file " << name << " cannot be looked at: " << reason();
    return {uint64_t(s.st_size), uint32_t(s.st_mtime), uint32_t(s.st_uid), uint32_t(s.st_gid),
            uint32_t(s.st_mode)};
}

std::vector<char> read_entire_file(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    _halide_internal_assert(in.is_open() && !in.bad()) << "file " << path << " cannot be read";
    return bytes;
}

void write_entire_file(const std::string &path, const void *source, size_t size) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(static_cast<const char *>(source), std::streamsize(size));
    out.close();
    _halide_internal_assert(out.good()) << "file " << path << " cannot be written";
}

void write_entire_file(const std::string &path, const std::vector<char> &source) {
    write_entire_file(path, source.data(), source.size());
}

TemporaryFile::TemporaryFile(const std::string &prefix, const std::string &suffix)
    : path_(file_make_temp(prefix, suffix)) {
}

TemporaryFile::~TemporaryFile() {
    if (removed_) {
        file_unlink(path_);
    }
}

int run_process(std::vector<std::string> args) {
    return run_process(std::move(args), "", "");
}

int run_process(std::vector<std::string> args, const std::string &stdout_path,
                const std::string &stderr_path) {
    _halide_internal_assert(!args.empty()) << "a process is to be run that has no name";
    std::vector<char *> argv;
    for (std::string &arg : args) {
        argv.push_back(arg.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const std::string *const paths[] = {&stdout_path, &stderr_path};
    for (int i = 0; i < 2; i++) {
        if (i == 1 && !stderr_path.empty() && stderr_path == stdout_path) {
            posix_spawn_file_actions_adddup2(&actions, 1, 2);  // one place in the file for both
        } else if (!paths[i]->empty()) {
            posix_spawn_file_actions_addopen(&actions, i + 1, paths[i]->c_str(),
                                             O_WRONLY | O_CREAT | O_TRUNC, 0666);
        }
    }
    pid_t child = 0;
    const int code = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0) {
        return -1;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void run_with_large_stack(const std::function<void()> &action) {
    internal::run_on_compiler_stack(action);
}

int get_llvm_version() {
    return internal::version_of_llvm();
}

// ---- numbers

namespace {

/// a op b in `bits` bits; false if it does not fit.
template<typename Op>
bool fits_in(int bits, Op op, int64_t a, int64_t b, int64_t *result) {
    int64_t wide = 0;
    if (op(a, b, &wide) || bits < 1 || bits > 64) {
        return false;
    }
    const int64_t max = bits == 64 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
    if (wide > max || wide < -max - 1) {
        return false;
    }
    *result = wide;
    return true;
}

bool add_overflows(int64_t a, int64_t b, int64_t *result) {
    return __builtin_add_overflow(a, b, result);
}
bool sub_overflows(int64_t a, int64_t b, int64_t *result) {
    return __builtin_sub_overflow(a, b, result);
}
bool mul_overflows(int64_t a, int64_t b, int64_t *result) {
    return __builtin_mul_overflow(a, b, result);
}

}  // namespace

bool add_with_overflow(int bits, int64_t a, int64_t b, int64_t *result) {
    return fits_in(bits, add_overflows, a, b, result);
}

bool sub_with_overflow(int bits, int64_t a, int64_t b, int64_t *result) {
    return fits_in(bits, sub_overflows, a, b, result);
}

bool mul_with_overflow(int bits, int64_t a, int64_t b, int64_t *result) {
    return fits_in(bits, mul_overflows, a, b, result);
}

bool add_would_overflow(int bits, int64_t a, int64_t b) {
    int64_t ignored;
    return !add_with_overflow(bits, a, b, &ignored);
}

bool sub_would_overflow(int bits, int64_t a, int64_t b) {
    int64_t ignored;
    return !sub_with_overflow(bits, a, b, &ignored);
}

bool mul_would_overflow(int bits, int64_t a, int64_t b) {
    int64_t ignored;
    return !mul_with_overflow(bits, a, b, &ignored);
}

int popcount64(uint64_t x) {
    return __builtin_popcountll(x);
}

int clz64(uint64_t x) {
    return x == 0 ? 64 : __builtin_clzll(x);
}

int ctz64(uint64_t x) {
    return x == 0 ? 64 : __builtin_ctzll(x);
}

int64_t gcd(int64_t a, int64_t b) {
    return std::gcd(a, b);
}

int64_t lcm(int64_t a, int64_t b) {
    return std::lcm(a, b);
}

}  // namespace Internal
}  // namespace calotype
