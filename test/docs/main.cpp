// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the snippets of all pages: none may throw, and those whose page says what they print must print that.
// Those of wrong.md must fail: they are there to show that this would be noticed.
#include <cstdio>
#include <exception>

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

/// While it lives, stdout and stderr go to a file.
class Capture {
public:
    Capture()
        : file_(std::tmpfile()) {
        std::fflush(stdout);
        std::fflush(stderr);
        dup2(fileno(file_), 1);
        dup2(fileno(file_), 2);
    }
    ~Capture() {
        std::fflush(stdout);
        std::fflush(stderr);
        dup2(stdout_, 1);
        dup2(stderr_, 2);
        close(stdout_);
        close(stderr_);
        std::fclose(file_);
    }
    std::string text() {
        std::fflush(stdout);
        std::fflush(stderr);
        std::rewind(file_);
        std::string all;
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) {
            all += char(c);
        }
        return all;
    }

private:
    std::FILE *file_;
    int stdout_ = dup(1), stderr_ = dup(2);
};

/// What is wrong with the snippet; empty if nothing is.
std::string failure_of(const Snippet &snippet) {
    Capture capture;
    try {
        snippet.run();
    } catch (const std::exception &e) {
        return e.what();
    }
    const std::string printed = capture.text();
    if (snippet.expected && printed != snippet.expected) {
        return "the page says that it prints\n" + std::string(snippet.expected) + "but it prints\n" + printed;
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
            std::printf("%s: %s\n", snippet.place.c_str(), wrong ? "went through" : failure.c_str());
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
