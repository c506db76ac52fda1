// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the snippets of all pages: none may fail, and those whose page says what they print must
// print that. Each runs in a process of its own, as if it were the only one. Those of wrong.md must
// fail: they are there to show that this would be noticed.
#include <cstdio>
#include <exception>
#include <regex>

#include <sys/wait.h>
#include <unistd.h>

#include "docs/snippet.h"

namespace docs {

std::vector<Snippet> &all_snippets() {
    static std::vector<Snippet> snippets;
    return snippets;
}

Snippet::Snippet(const char *place, void (*run)(), const char *expected)
    : place(place), run(run), expected(expected) {
    all_snippets().push_back(*this);
}

namespace {

/// In the child: the exit code.
int run_in_child(const Snippet &snippet, int output) {
    dup2(output, 1);
    dup2(output, 2);
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    try {
        snippet.run();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}

std::string read_all(std::FILE *file) {
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
        text += char(c);
    }
    return text;
}

/// A snippet that declares a Func which names.h has too gets f$1, where a reader's program has f.
std::string without_numbers(const std::string &text) {
    return std::regex_replace(text, std::regex("\\$[0-9]+"), "");
}

/// What is wrong with the snippet; empty if nothing is.
std::string failure_of(const Snippet &snippet) {
    std::FILE *output = std::tmpfile();
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        _exit(run_in_child(snippet, fileno(output)));
    }
    int status = 0;
    waitpid(child, &status, 0);
    const std::string printed = without_numbers(read_all(output));
    std::fclose(output);
    if (status != 0) {
        return printed + "status " + std::to_string(status);
    }
    if (snippet.expected && printed != snippet.expected) {
        return "the page says that it prints\n" + std::string(snippet.expected) +
               "but it prints\n" + printed;
    }
    return "";
}

int run_all() {
    int failures = 0;
    size_t must_fail = 0;
    for (const Snippet &snippet : all_snippets()) {
        const bool wrong = snippet.place.find("wrong.md") != std::string::npos;
        const std::string failure = failure_of(snippet);
        must_fail += wrong;
        if (failure.empty() == wrong) {
            std::printf("%s: %s\n", snippet.place.c_str(),
                        wrong ? "went through" : failure.c_str());
            failures++;
        }
    }
    std::printf("%zu snippets, %d failures\n", all_snippets().size() - must_fail, failures);
    return failures || must_fail == 0 || all_snippets().size() == must_fail;
}

}  // namespace
}  // namespace docs

int main() {
    return docs::run_all();
}
