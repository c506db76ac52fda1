// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: helpers for text, files, processes and numbers that programs take from
// Halide::Internal.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "calotype.h"
#include "driver/jit_shared_runtime.h"

namespace calotype {

/// "int32_t", "float", "uint8x16_t", "void *": how C writes the type, with a space behind it if
/// that is asked for and a name could follow it directly.
std::string type_to_c_type(const Type &type, bool append_space, bool c_plus_plus = true);

namespace Internal {

using internal::JITSharedRuntime;

// ---- text

/// Empty if the variable is not set.
std::string get_env_variable(const char *name);
std::string running_program_name();
std::string unique_name(char prefix);
std::string unique_name(const std::string &prefix);
bool starts_with(const std::string &text, const std::string &prefix);
bool ends_with(const std::string &text, const std::string &suffix);
std::string replace_all(const std::string &text, const std::string &from, const std::string &to);
std::vector<std::string> split_string(const std::string &text, const std::string &separator);
std::string join_strings(const std::vector<std::string> &parts, const std::string &separator);
template<typename... Args>
std::string concat_strings(Args &&...args) {
    std::ostringstream out;
    (out << ... << args);
    return out.str();
}
/// "a::b::f" is f in the namespaces a and b.
std::string extract_namespaces(const std::string &name, std::vector<std::string> &namespaces);
std::string strip_namespaces(const std::string &name);
/// The name that the C back end gives a variable.
std::string c_print_name(const std::string &name, bool prefix_underscore = true);

// ---- files and processes; failures are InternalErrors that name the file

struct FileStat {
    uint64_t file_size;
    uint32_t mod_time;  ///< seconds since 1970
    uint32_t uid, gid, mode;
};
std::string file_make_temp(const std::string &prefix, const std::string &suffix);
std::string dir_make_temp();
bool file_exists(const std::string &name);
void assert_file_exists(const std::string &name);
void assert_no_file_exists(const std::string &name);
void file_unlink(const std::string &name);
/// Removes the file if it is there.
void ensure_no_file_exists(const std::string &name);
void dir_rmdir(const std::string &name);
FileStat file_stat(const std::string &name);
std::vector<char> read_entire_file(const std::string &path);
void write_entire_file(const std::string &path, const void *source, size_t size);
void write_entire_file(const std::string &path, const std::vector<char> &source);

/// A new empty file in the system's folder for such, removed with the object.
class TemporaryFile final {
public:
    TemporaryFile(const std::string &prefix, const std::string &suffix);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;
    const std::string &pathname() const {
        return path_;
    }
    /// Leave the file behind.
    void detach() {
        removed_ = false;
    }

private:
    std::string path_;
    bool removed_ = true;
};

/// Runs a program found by PATH and waits for it; gives its exit status. The second form writes
/// what it prints to files.
int run_process(std::vector<std::string> args);
int run_process(std::vector<std::string> args, const std::string &stdout_path,
                const std::string &stderr_path);
void run_with_large_stack(const std::function<void()> &action);
/// The major version times ten.
int get_llvm_version();

// ---- numbers

bool add_would_overflow(int bits, int64_t a, int64_t b);
bool sub_would_overflow(int bits, int64_t a, int64_t b);
bool mul_would_overflow(int bits, int64_t a, int64_t b);
/// False, and no change, if the result does not fit.
bool add_with_overflow(int bits, int64_t a, int64_t b, int64_t *result);
bool sub_with_overflow(int bits, int64_t a, int64_t b, int64_t *result);
bool mul_with_overflow(int bits, int64_t a, int64_t b, int64_t *result);
int popcount64(uint64_t x);
int clz64(uint64_t x);
int ctz64(uint64_t x);
int64_t gcd(int64_t a, int64_t b);
int64_t lcm(int64_t a, int64_t b);

inline bool is_power_of_two(int64_t x) {
    return (x & (x - 1)) == 0;
}
inline int64_t next_power_of_two(int64_t x) {
    int64_t power = 1;
    while (power < x) {
        power *= 2;
    }
    return power;
}
inline int64_t largest_power_of_two_factor(int64_t x) {
    return x & -x;
}

/// Division as the language defines it: the remainder is not negative, x / 0 and x % 0 are 0.
template<typename T>
T div_imp(T a, T b) {
    if constexpr (std::is_integral<T>::value) {
        if (b == 0) {
            return 0;
        }
        if (std::is_signed<T>::value && b == T(-1)) {  // wraps
            return T(0 - std::make_unsigned_t<T>(a));
        }
        const T quotient = T(a / b), remainder = T(a - quotient * b);
        return remainder >= 0 ? quotient : b > 0 ? T(quotient - 1) : T(quotient + 1);
    } else {
        return a / b;
    }
}
template<typename T>
T mod_imp(T a, T b) {
    if constexpr (std::is_integral<T>::value) {
        const T remainder = b == 0 || b == T(-1) ? T(0) : T(a % b);
        return remainder >= 0 ? remainder : b > 0 ? T(remainder + b) : T(remainder - b);
    } else {
        return a - b * std::floor(a / b);
    }
}

/// A conversion of numbers without undefined behaviour: floats go to the nearest integer that the
/// type has, integers wrap.
template<typename To, typename From>
To safe_numeric_cast(From value) {
    if constexpr (std::is_floating_point<From>::value && std::is_integral<To>::value) {
        if (value < From(std::numeric_limits<To>::min())) {
            return std::numeric_limits<To>::min();
        }
        if (value > From(std::numeric_limits<To>::max())) {
            return std::numeric_limits<To>::max();
        }
    }
    return static_cast<To>(value);
}

template<typename To, typename From>
To reinterpret_bits(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "both types must have one size");
    To to;
    std::memcpy(&to, &from, sizeof(To));
    return to;
}

// ---- control

/// Has another value until the end of the block.
template<typename T>
class ScopedValue {
public:
    explicit ScopedValue(T &variable) : variable_(variable), old_(variable) {
    }
    ScopedValue(T &variable, const T &value) : ScopedValue(variable) {
        variable = value;
    }
    ScopedValue(const ScopedValue &) = delete;
    ScopedValue &operator=(const ScopedValue &) = delete;
    ~ScopedValue() {
        variable_ = std::move(old_);
    }
    operator T() const {
        return old_;
    }

private:
    T &variable_;
    T old_;
};

/// Whether all of the types can be converted to the first: for functions that take any number of Exprs.
template<typename To, typename... Args>
struct all_are_convertible : std::conjunction<std::is_convertible<Args, To>...> {};

/// A range in the other order, for loops.
template<typename T>
struct ReverseView {
    T &range;
    auto begin() const {
        return std::rbegin(range);
    }
    auto end() const {
        return std::rend(range);
    }
};
template<typename T>
ReverseView<std::remove_reference_t<T>> reverse_view(T &&range) {
    return {range};
}

}  // namespace Internal
}  // namespace calotype
