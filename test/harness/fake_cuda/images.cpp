// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fake driver takes for device code:
//   - text that begins with ".version", as PTX does;
//   - text that begins with "//cubin sm_90", which only loads on devices of that number.
// Both need `.visible .entry name(.param .u64 a, .param .u32 b)` and `.global .b32 name;` alone.
// Real code in the ELF format loads too, with its kernels and variables, but without arguments.
#include <cctype>
#include <cstring>

#include "harness/fake_cuda/state.h"

namespace fake_cuda {

namespace {

class Scanner {
    const std::string &text;
    size_t at = 0;

public:
    explicit Scanner(const std::string &text) : text(text) {
    }
    /// A name, a directive with its dot, or one other character; "" at the end.
    std::string next() {
        skip();
        const size_t start = at;
        if (at >= text.size()) {
            return "";
        }
        if (!is_part(text[at])) {
            at++;
        } else {
            while (at < text.size() && is_part(text[at])) {
                at++;
            }
        }
        return text.substr(start, at - start);
    }

private:
    static bool is_part(char c) {
        return isalnum(uint8_t(c)) || c == '_' || c == '$' || c == '.' || c == '%';
    }
    void skip() {
        while (at < text.size()) {
            if (isspace(uint8_t(text[at]))) {
                at++;
            } else if (text.compare(at, 2, "//") == 0) {
                at = std::min(text.find('\n', at), text.size());
            } else {
                return;
            }
        }
    }
};

size_t bytes_of(const std::string &type) {
    const size_t digits = type.find_first_of("0123456789");
    return digits == std::string::npos ? 0 : std::stoul(type.substr(digits)) / 8;
}

/// After ".entry": its name, and ".param .u64 name, ..." in parentheses.
void parse_entry(Scanner &scanner, Module *module, std::string *token) {
    auto function = std::make_unique<Function>(module);
    function->name = scanner.next();
    *token = scanner.next();
    size_t bytes = 0;
    bool in_brackets = false;
    for (int depth = *token == "("; depth > 0;) {
        *token = scanner.next();
        if (token->empty()) {
            break;
        }
        in_brackets = *token == "[" || (in_brackets && *token != "]");
        if (*token == ".param") {
            function->arg_bytes.push_back(0);
            bytes = 0;
        } else if ((*token)[0] == '.' && *token != ".align" && *token != ".ptr" &&
                   *token != ".global" && bytes == 0) {
            bytes = function->arg_bytes.back() = bytes_of(*token);
        } else if (in_brackets && isdigit(uint8_t((*token)[0]))) {
            function->arg_bytes.back() = bytes * std::stoul(*token);
        }
        depth += (*token == "(") - (*token == ")");
    }
    module->functions[function->name] = std::move(function);
}

/// After ".global": ".align 8 .b8 name[16] = ...;"
void parse_global(Scanner &scanner, Module *module, std::string *token) {
    size_t bytes = 0, count = 1;
    std::string name;
    bool in_brackets = false, in_value = false;
    for (*token = scanner.next(); !token->empty() && *token != ";"; *token = scanner.next()) {
        in_value |= *token == "=";
        in_brackets = *token == "[" || (in_brackets && *token != "]");
        if (*token == ".align") {
            scanner.next();
        } else if ((*token)[0] == '.') {
            bytes = bytes_of(*token);
        } else if (in_brackets && isdigit(uint8_t((*token)[0]))) {
            count = std::stoul(*token);
        } else if (name.empty() && !in_value) {
            name = *token;
        }
    }
    module->globals[name].resize(bytes * count);
}

CUresult parse_text(const std::string &text, Module *module, std::string *log) {
    Scanner scanner(text);
    int depth = 0;
    std::string token, before;
    for (token = scanner.next(); !token.empty();) {
        depth += (token == "{") - (token == "}");
        if ((before == "syntax" && token == "error") || depth < 0) {
            *log = "ptxas application ptx input: syntax error";
            return CUDA_ERROR_INVALID_PTX;
        }
        before = token;
        if (token == ".entry") {
            parse_entry(scanner, module, &token);
        } else if (token == ".global" && depth == 0) {
            parse_global(scanner, module, &token);
        } else {
            token = scanner.next();
        }
    }
    if (depth != 0) {
        *log = "ptxas application ptx input: unexpected end of file";
        return CUDA_ERROR_INVALID_PTX;
    }
    return CUDA_SUCCESS;
}

template<typename T>
T read(const std::string &bytes, size_t at) {
    T value = {};
    if (at + sizeof value <= bytes.size()) {
        memcpy(&value, bytes.data() + at, sizeof value);
    }
    return value;
}

constexpr size_t section_bytes = 64, symbol_bytes = 24;

/// Kernels are sections called ".text." and their names.
CUresult parse_elf(const std::string &bytes, Module *module) {
    const uint64_t sections = read<uint64_t>(bytes, 40);
    const uint16_t count = read<uint16_t>(bytes, 60), names = read<uint16_t>(bytes, 62);
    const uint64_t name_table = read<uint64_t>(bytes, sections + names * section_bytes + 24);
    for (uint16_t i = 0; i < count; i++) {
        const uint64_t section = sections + i * section_bytes;
        const std::string name = bytes.c_str() + name_table + read<uint32_t>(bytes, section);
        if (name.rfind(".text.", 0) == 0) {
            auto function = std::make_unique<Function>(module);
            function->name = name.substr(6);
            module->functions[function->name] = std::move(function);
        }
        constexpr uint32_t symbol_table = 2;
        if (read<uint32_t>(bytes, section + 4) != symbol_table) {
            continue;
        }
        const uint64_t first = read<uint64_t>(bytes, section + 24);
        const uint64_t size = read<uint64_t>(bytes, section + 32);
        const uint32_t link = read<uint32_t>(bytes, section + 40);
        const uint64_t strings = read<uint64_t>(bytes, sections + link * section_bytes + 24);
        for (uint64_t at = first; at + symbol_bytes <= first + size; at += symbol_bytes) {
            constexpr uint8_t object = 1;
            if ((read<uint8_t>(bytes, at + 4) & 15) == object) {
                module->globals[bytes.c_str() + strings + read<uint32_t>(bytes, at)].resize(
                    read<uint64_t>(bytes, at + 16));
            }
        }
    }
    return module->functions.empty() ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}

}  // namespace

std::string image_text(const void *image) {
    const char *text = static_cast<const char *>(image);
    if (memcmp(text,
               "\x7f"
               "ELF",
               4) != 0) {
        return text;
    }
    // The section headers stand at the end.
    uint64_t sections = 0;
    uint16_t count = 0;
    memcpy(&sections, text + 40, sizeof sections);
    memcpy(&count, text + 60, sizeof count);
    return std::string(text, sections + count * section_bytes);
}

CUresult parse_module(const std::string &text, int sm, Module *module, std::string *log) {
    if (text.compare(0, 4,
                     "\x7f"
                     "ELF") == 0) {
        return parse_elf(text, module);
    }
    const std::string cubin = "//cubin sm_";
    if (text.compare(0, cubin.size(), cubin) == 0) {
        if (sm != 0 && std::stoi(text.substr(cubin.size())) != sm) {
            return CUDA_ERROR_NO_BINARY_FOR_GPU;
        }
        return parse_text(text, module, log);
    }
    if (text.find(".version") == std::string::npos) {
        return CUDA_ERROR_INVALID_IMAGE;
    }
    return parse_text(text, module, log);
}

}  // namespace fake_cuda
