// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes the code out of a page of the documentation: extract PAGE NAME OUT_DIR (NAME: how messages
// call the page).
//
// A block whose first line is a comment with the name of a file is that file of the page's project:
//     OUT_DIR/project/FILE
// A text block that begins with "$ " is a command for the project and what it prints:
//     OUT_DIR/project/commands/LINE.txt
// Every other cpp block is a snippet, a function of OUT_DIR/snippets.cpp (a class that derives from
// the names of its page: names.h), or global code if it registers a generator. A text block that
// follows a snippet closely is what it prints.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Block {
    std::string language;
    int line = 0;      ///< of its first line of code
    int distance = 0;  ///< lines that are not empty between the block before and this one
    std::vector<std::string> code;
};

std::string joined(const std::vector<std::string> &lines) {
    std::string text;
    for (const std::string &line : lines) {
        text += line + "\n";
    }
    return text;
}

bool starts_with(const std::string &text, const char *prefix) {
    return text.rfind(prefix, 0) == 0;
}

/// The fenced blocks; a fence inside of a list has its indentation taken off.
std::vector<Block> read_blocks(std::istream &page) {
    std::vector<Block> blocks;
    std::string line;
    size_t indent = 0;
    bool inside = false;
    int number = 0, distance = 0;
    while (std::getline(page, line)) {
        number++;
        const size_t first = line.find_first_not_of(' ');
        const bool fence = first != std::string::npos && line.compare(first, 3, "```") == 0;
        if (fence && !inside) {
            indent = first;
            blocks.push_back({line.substr(first + 3), number + 1, distance, {}});
        } else if (inside && !fence) {
            blocks.back().code.push_back(line.size() >= indent ? line.substr(indent) : "");
        }
        inside = inside != fence;
        distance = fence ? 0 : distance + (first != std::string::npos);
    }
    return blocks;
}

std::string file_name(const Block &block) {
    static const std::regex comment("(//|#) ([A-Za-z_]+\\.[a-z]+)");
    std::smatch match;
    return !block.code.empty() && std::regex_match(block.code[0], match, comment) ? match[2].str()
                                                                                  : "";
}

bool is_snippet(const Block &block) {
    return block.language == "cpp" && file_name(block).empty();
}

/// What the snippet must print, as a string literal; "nullptr" where the page does not say.
std::string expected_output(const std::vector<Block> &blocks, size_t i) {
    if (i + 1 == blocks.size() || blocks[i + 1].language != "text" || blocks[i + 1].distance > 2) {
        return "nullptr";
    }
    return "R\"expected(" + joined(blocks[i + 1].code) + ")expected\"";
}

/// Includes go to the top of the file; the lines of the others keep their numbers.
void write_snippets(const std::vector<Block> &blocks, const std::string &page, std::ostream &out) {
    std::string names = std::filesystem::path(page).stem().string();
    std::ostringstream includes, code;
    for (size_t i = 0; i < blocks.size(); i++) {
        if (!is_snippet(blocks[i])) {
            continue;
        }
        std::string text;
        for (const std::string &line : blocks[i].code) {
            const bool include = starts_with(line, "#include");
            (include ? static_cast<std::ostream &>(includes) : code)
                << (include ? line + "\n" : "");
            text += (include ? "" : line) + "\n";
        }
        const std::string id = "snippet_" + std::to_string(blocks[i].line);
        const std::string at = "#line " + std::to_string(blocks[i].line) + " \"" + page + "\"\n";
        if (text.find("CALOTYPE_REGISTER_GENERATOR") != std::string::npos) {
            code << at << text;
            continue;
        }
        code << "namespace {\nstruct " << id << " : docs::" << names
             << "_names {\n    void run();\n};\nvoid " << id << "::run() {\n"
             << at << text << "}\nconst docs::Snippet register_" << id << "(\"" << page << ":"
             << blocks[i].line << "\", [] { " << id << "().run(); }, " << expected_output(blocks, i)
             << ");\n}\n";
    }
    if (!code.str().empty()) {
        out << includes.str() << "#include \"docs/names.h\"\nusing namespace calotype;\n"
            << code.str();
    }
}

void write_project(const std::vector<Block> &blocks, const std::filesystem::path &folder) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "commands");
    for (const Block &block : blocks) {
        if (!file_name(block).empty()) {
            std::ofstream(folder / file_name(block)) << joined(block.code);
        } else if (block.language == "text" && !block.code.empty() &&
                   starts_with(block.code[0], "$ ")) {
            std::ofstream(folder / "commands" / (std::to_string(block.line) + ".txt"))
                << joined(block.code);
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 4) {
        std::cerr << "usage: extract PAGE NAME OUT_DIR\n";
        return 2;
    }
    std::ifstream page(argv[1]);
    if (!page) {
        std::cerr << "cannot read " << argv[1] << "\n";
        return 1;
    }
    const std::filesystem::path out_dir = argv[3];
    const std::vector<Block> blocks = read_blocks(page);
    write_project(blocks, out_dir / "project");
    std::ofstream snippets(out_dir / "snippets.cpp");
    write_snippets(blocks, argv[2], snippets);
    return snippets.flush() ? 0 : 1;
}
