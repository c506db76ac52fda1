// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions and variables of PTX:
//
//     .visible .func (.param .b32 r) add(.param .b32 a, .param .align 16 .b8 v[16]) { ... }
//     .extern .func other;
//     .visible .global .align 4 .b8 table[16];
#include <cstdlib>

#include "codegen/linkables/symbols.h"
#include "support/ptx_tokens.h"

namespace calotype::internal {

namespace {

/// Parameters up to the closing parenthesis: their sizes in bytes.
std::vector<int> read_parameters(PtxTokens &tokens) {
    std::vector<int> sizes;
    int element = 0;
    for (std::string t = tokens.next(); !t.empty() && t != ")"; t = tokens.next()) {
        if (t == ".param" || t == ".reg") {
            sizes.push_back(0);
        } else if (t == ".align") {
            tokens.next();
        } else if (t.size() > 2 && t[0] == '.' && isdigit(uint8_t(t[2])) && !sizes.empty()) {
            element = std::atoi(t.c_str() + 2) / 8;
            sizes.back() = element;
        } else if (t == ".pred" && !sizes.empty()) {
            sizes.back() = 1;
        } else if (t == "[" && !sizes.empty()) {
            sizes.back() = element * std::atoi(tokens.next().c_str());
        }
    }
    return sizes;
}

/// Reads declarations from where a ".func", ".entry" or state space stands.
class PtxReader {
public:
    explicit PtxReader(const std::string &text) : tokens_(text) {
    }

    ImageSymbols read() {
        for (std::string t = tokens_.next(); !t.empty(); t = tokens_.next()) {
            if (t == ".visible") {
                linkage_ = Linkage::defined;
            } else if (t == ".weak" || t == ".common") {
                linkage_ = Linkage::weak;
            } else if (t == ".extern") {
                linkage_ = Linkage::undefined;
            } else if (t == ".func" || t == ".entry") {
                function();
                linkage_ = Linkage::local;
            } else if (t == ".global" || t == ".const" || t == ".shared") {
                variable();
                linkage_ = Linkage::local;
            } else if (t == "{") {
                tokens_.skip_body();
            }
        }
        for (const std::string &name : symbols_.defined) {
            symbols_.undefined.erase(name);
        }
        return symbols_;
    }

private:
    enum class Linkage : uint8_t { local, defined, weak, undefined };

    void add(const std::string &name, bool is_function) {
        if (linkage_ == Linkage::undefined) {
            symbols_.undefined.insert(name);
        } else if (linkage_ != Linkage::local) {
            symbols_.defined.insert(name);
            if (is_function) {
                symbols_.functions.insert(name);
            }
            if (linkage_ == Linkage::weak) {
                symbols_.weak.insert(name);
            }
        }
    }

    // [(result)] name [(parameters)] ... then ";" of a declaration or "{" of a definition. A
    // .visible declaration defines nothing.
    void function() {
        PtxSignature signature;
        std::string t = tokens_.next();
        if (t == ".attribute") {
            tokens_.next();
            read_parameters(tokens_);
            t = tokens_.next();
        }
        if (t == "(") {
            const std::vector<int> result = read_parameters(tokens_);
            signature.result = result.empty() ? 0 : result[0];
            t = tokens_.next();
        }
        const std::string name = t;
        for (t = tokens_.next(); !t.empty() && t != ";" && t != "{"; t = tokens_.next()) {
            if (t == "(") {
                signature.parameters = read_parameters(tokens_);
            }
        }
        if (t == "{") {
            add(name, true);
            if (linkage_ != Linkage::local) {
                symbols_.signatures[name] = signature;
            }
            tokens_.skip_body();
        } else if (linkage_ == Linkage::undefined) {
            add(name, true);
        }
    }

    // .align 4 .b8 table[16] = {...};
    void variable() {
        std::string name;
        for (std::string t = tokens_.next(); !t.empty() && t != ";"; t = tokens_.next()) {
            if (t == ".align") {
                tokens_.next();
            } else if (t == ".attribute") {
                tokens_.next();
                read_parameters(tokens_);
            } else if (t == "{") {
                tokens_.skip_body();
            } else if (name.empty() && t[0] != '.') {
                name = t;
            }
        }
        if (!name.empty()) {
            add(name, false);
        }
    }

    PtxTokens tokens_;
    Linkage linkage_ = Linkage::local;
    ImageSymbols symbols_;
};

}  // namespace

ImageSymbols ptx_symbols(const std::string &ptx) {
    return PtxReader(ptx).read();
}

}  // namespace calotype::internal
