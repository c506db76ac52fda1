// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime, an archive and a shared library, needs and offers: libc, threads and dl alone;
// every public function there, and weak, so that an application can replace it; nothing else to be
// seen.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

std::string output_of(const std::string &command) {
    std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    std::array<char, 4096> chunk;
    while (size_t n = fread(chunk.data(), 1, chunk.size(), pipe.get())) {
        text.append(chunk.data(), n);
    }
    return text;
}

struct Symbols {
    std::set<std::string> defined, global, weak, needed;
};

Symbols symbols_of_archive() {
    std::istringstream lines(output_of("nm '" CALOTYPE_RUNTIME_ARCHIVE "'"));
    const std::regex pattern("^(?:[0-9a-f]+)? *([A-Za-z]) ([^ ]+)$");
    Symbols symbols;
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_match(line, match, pattern)) {
            const std::string kind = match[1], name = match[2];
            if (kind == "U" || kind == "w" || kind == "v") {
                symbols.needed.insert(name);
            } else {
                symbols.defined.insert(name);
                if (kind < "a") {
                    symbols.global.insert(name);
                }
                if (kind == "W" || kind == "V") {
                    symbols.weak.insert(name);
                }
            }
        }
    }
    for (const std::string &name : symbols.defined) {
        symbols.needed.erase(name);
    }
    return symbols;
}

bool is_sanitizer_symbol(const std::string &name) {
    for (const char *prefix :
         {"__asan_", "__odr_asan", "__ubsan_", "__tsan_", "__msan_", "__sanitizer_"}) {
        if (name.rfind(prefix, 0) == 0) {
            return true;
        }
    }
    return false;
}

/** Whose objects have constructors that the compiler adds. */
constexpr bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

TEST(Archive, NeedsLibcThreadsAndDlAlone) {
    const std::set<std::string> allowed = {
        // weak: only where the program has a C++ library anyway
        "__cxa_begin_catch", "__cxa_end_catch",
        // libc
        "__errno_location", "__isoc99_sscanf", "__isoc99_sscanf", "sscanf", "__sched_cpucount",
        "__tls_get_addr", "__stack_chk_fail", "atexit", "calloc", "clock_gettime", "close",
        "fclose", "fopen", "fprintf", "fputc", "free", "fwrite", "getpid", "malloc", "memcmp",
        "memcpy", "memmove", "memset", "mincore", "open", "realloc", "realpath", "posix_memalign",
        "remove", "sched_getaffinity", "sched_yield", "secure_getenv", "snprintf", "strcasecmp",
        "strcmp", "strerror", "strlen", "strrchr", "strtod", "strtof", "strtol", "syscall",
        "sysconf", "usleep", "write",
        // libc, for the persistent store of device code
        "closedir", "faccessat", "fcntl", "fdopendir", "flock", "fstat", "fstatat", "fsync",
        "futimens", "geteuid", "memmem", "mkdir", "mkdirat", "openat", "qsort", "read", "readdir",
        "renameat", "strchr", "strcpy", "strcspn", "strncmp", "strnlen", "strspn", "strstr", "time",
        "unlinkat",
        // their checked variants, which some distributions make the default
        "__fprintf_chk", "__memcpy_chk", "__memset_chk", "__snprintf_chk", "__strcpy_chk",
        // what <stdio.h> and <stdlib.h> of glibc 2.38 and later call sscanf and strtol
        "__isoc23_sscanf", "__isoc23_strtol", "__isoc23_strtoll", "__isoc23_strtoul",
        "__isoc23_strtoull",
        // threads and dl
        "__libc_single_threaded", "pthread_atfork", "pthread_create", "pthread_detach",
        "pthread_join", "pthread_timedjoin_np", "pthread_setspecific", "pthread_key_delete",
        "pthread_key_create", "pthread_self", "pthread_setname_np", "pthread_sigmask", "sigdelset",
        "sigfillset", "dlopen", "dlsym", "dlclose", "dladdr",
        // the linker
        "_GLOBAL_OFFSET_TABLE_"};
    const Symbols symbols = symbols_of_archive();
    ASSERT_GT(symbols.defined.size(), 100u) << "is nm there?";
    for (const std::string &name : symbols.needed) {
        EXPECT_TRUE(allowed.count(name) || is_sanitizer_symbol(name)) << name;
    }
}

/** Names of the functions that the public headers declare. */
std::set<std::string> declared_functions() {
    std::set<std::string> names;
    const std::regex comment("/\\*[^]*?\\*/|//[^\n]*");
    const std::regex declaration("(?:^|\n)extern [^;()]*?\\b(calotype_[a-z0-9_]+)\\(");
    for (const auto &file :
         std::filesystem::directory_iterator(CALOTYPE_SOURCE_DIR "/runtime/abi")) {
        std::ifstream in(file.path());
        std::string text(std::istreambuf_iterator<char>(in), {});
        text = std::regex_replace(text, comment, "");
        for (std::sregex_iterator i(text.begin(), text.end(), declaration), end; i != end; ++i) {
            names.insert((*i)[1]);
        }
    }
    return names;
}

TEST(Archive, DefinesEveryPublicFunctionWeakly) {
    const Symbols symbols = symbols_of_archive();
    const std::set<std::string> declared = declared_functions();
    ASSERT_GT(declared.size(), 120u);
    for (const std::string &name : declared) {
        EXPECT_TRUE(symbols.weak.count(name)) << name;
    }
}

/** The symbols that a table of readelf's says are defined, global or weak, and of default
 * visibility. */
std::set<std::string> visible_symbols(const std::string &options, const std::string &file) {
    std::istringstream lines(output_of("readelf -W " + options + " '" + file + "'"));
    const std::regex pattern(
        "^ *[0-9]+: [0-9a-f]+ +[^ ]+ +[A-Z]+ +(?:GLOBAL|WEAK|UNIQUE) +DEFAULT +[0-9]+ ([^ @]+).*$");
    std::set<std::string> names;
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_match(line, match, pattern) && !is_sanitizer_symbol(match[1])) {
            names.insert(match[1]);
        }
    }
    return names;
}

/** What is in one and not in the other. */
std::string difference(const std::set<std::string> &a, const std::set<std::string> &b) {
    std::string names;
    for (const std::string &name : a) {
        names += b.count(name) ? "" : name + " ";
    }
    return names;
}

// So that of two copies in a process none runs on what is the other's.
TEST(Archive, ShowsItsCInterfaceAlone) {
    const std::set<std::string> visible = visible_symbols("-s", CALOTYPE_RUNTIME_ARCHIVE);
    ASSERT_GT(visible.size(), 120u) << "is readelf there?";
    EXPECT_EQ("", difference(declared_functions(), visible));
    for (const std::string &name : visible) {
        EXPECT_EQ(0u, name.find("calotype_")) << name;
    }
}

// Loading it runs one function, which makes one system call (device/cache/fences.cpp).
TEST(Archive, HasOneConstructor) {
    const std::string sections = output_of("readelf -W -S '" CALOTYPE_RUNTIME_ARCHIVE "'");
    const std::regex constructors(" \\.(init_array|ctors)[^ ]* +(INIT_ARRAY|PROGBITS)");
    const std::sregex_iterator begin(sections.begin(), sections.end(), constructors), end;
    EXPECT_LE(std::distance(begin, end), is_sanitized() ? 1000 : 1);
}

TEST(SharedRuntime, ShowsWhatTheArchiveShows) {
    const std::set<std::string> visible = visible_symbols("--dyn-syms", CALOTYPE_SHARED_RUNTIME);
    const std::set<std::string> archive = visible_symbols("-s", CALOTYPE_RUNTIME_ARCHIVE);
    EXPECT_EQ("", difference(archive, visible));
    EXPECT_EQ("", difference(visible, archive));
    EXPECT_NE(std::string::npos, output_of("readelf -W --dyn-syms '" CALOTYPE_SHARED_RUNTIME "'")
                                     .find(" calotype_malloc@@CALOTYPE_1"));
}

TEST(SharedRuntime, NeedsLibcThreadsAndDlAlone) {
    const std::string dynamic = output_of("readelf -W -d '" CALOTYPE_SHARED_RUNTIME "'");
    EXPECT_NE(std::string::npos, dynamic.find("Library soname: [libcalotype_runtime.so.1]"));
    const std::regex needed("\\(NEEDED\\) +Shared library: \\[(.*)\\]");
    const std::regex allowed("(libc|libpthread|libdl|ld-linux.*)\\.so\\..*");
    for (std::sregex_iterator i(dynamic.begin(), dynamic.end(), needed), end; i != end; ++i) {
        EXPECT_TRUE(is_sanitized() || std::regex_match((*i)[1].str(), allowed)) << (*i)[1];
    }
}

TEST(Archive, KeepsItsOtherNamesInItsNamespace) {
    const std::regex ours("calotype_.*|_ZN?K?8calotype7runtime.*");
    for (const std::string &name : symbols_of_archive().global) {
        EXPECT_TRUE(std::regex_match(name, ours) || is_sanitizer_symbol(name)) << name;
    }
}

}  // namespace
