// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A struct is written on one line where that is short enough, else with a line for each member.
#include <array>
#include <cstdio>

#include "ir/printer.h"
#include "ir/text/syntax.h"
#include "pipeline/fields.h"
#include "pipeline/level_text.h"
#include "pipeline/parameters_used.h"
#include "pipeline/text/image_fields.h"
#include "pipeline/text/pipeline_text.h"
#include "pipeline/text/words.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

constexpr int widest = 100;
/// Instead of a column: all on one line.
constexpr int flat = -1;

template<typename T>
T blank() {
    return T();
}
template<>
FunctionContents blank() {
    return FunctionContents("");
}
template<>
ParameterContents blank() {
    return ParameterContents("", Int(32), false, 0);
}

std::string text(bool x, int) {
    return x ? "true" : "false";
}
std::string text(const std::string &x, int) {
    return quote(x);
}
std::string text(const Expr &x, int) {
    return x.defined() ? to_string(x) : "";
}
std::string text(const Type &x, int) {
    return to_string(x);
}
std::string text(const LoopLevel &x, int) {
    if (!x.defined() || x.is_inlined() || x.is_root()) {
        return level_text(x);
    }
    return "loop(" + quote(x.func_name()) + ", " + quote(x.var_name()) + ", " +
           std::to_string(x.stage_index()) + (x.is_rvar() ? ", rvar)" : ")");
}
template<typename T>
requires std::is_integral_v<T> std::string text(const T &x, int) {
    return std::to_string(x);
}
template<typename T>
requires std::is_enum_v<T> std::string text(const T &x, int) {
    return Words<T>::word(x);
}
template<typename T>
requires std::derived_from<T, Symbol> std::string text(const IntrusivePtr<T> &x, int) {
    return x.defined() ? quote(x->name) : "";
}
template<typename T>
std::string text(const std::optional<T> &x, int column);
template<typename T>
std::string text(const std::vector<T> &x, int column);
template<typename T>
std::string text(const std::map<std::string, T> &x, int column);
template<HasFields T>
std::string text(const T &x, int column);

std::string text(const DefinitionPtr &x, int column) {
    return x.defined() ? text(*x, column) : "";
}
std::string text(const Parameter &x, int column) {
    return x.defined() ? text(*x.contents(), column) : "";
}

/// A parameter that an extern stage takes is declared beside the Funcs.
std::string text(const ExternFuncArgument &x, int) {
    const std::string what = "{arg_type: " + text(x.arg_type, flat);
    return x.is_func()          ? what + ", func: " + text(x.func, flat) + "}"
           : x.is_image_param() ? what + ", image_param: " + quote(x.image_param.name()) + "}"
           : x.is_expr()        ? what + ", expr: " + text(x.expr, flat) + "}"
           : x.is_buffer()      ? what + ", buffer: " + text(x.buffer, flat) + "}"
                                : what + "}";
}

template<typename T>
std::string text(const std::optional<T> &x, int column) {
    return x ? text(*x, column) : "";
}

/// `members(column)` between brackets: on one line if they fit behind the column.
template<typename Members>
std::string bracketed(char open, char close, int column, Members members) {
    const auto joined = [&](const std::vector<std::string> &parts, const std::string &between) {
        std::string all;
        for (const std::string &part : parts) {
            all += (all.empty() ? "" : "," + between) + part;
        }
        return all;
    };
    const std::string line = open + joined(members(flat), " ") + close;
    if (column == flat || column + int(line.size()) <= widest) {
        return line;
    }
    const std::string inside = "\n" + std::string(size_t(column) + 2, ' ');
    return open + inside + joined(members(column + 2), inside) + "\n" +
           std::string(size_t(column), ' ') + close;
}

template<typename T>
std::string text(const std::vector<T> &x, int column) {
    return bracketed('[', ']', column, [&](int inner) {
        std::vector<std::string> parts;
        for (const T &item : x) {
            parts.push_back(text(item, inner));
        }
        return parts;
    });
}

template<typename T>
std::string text(const std::map<std::string, T> &x, int column) {
    return bracketed('{', '}', column, [&](int inner) {
        std::vector<std::string> parts;
        for (const auto &[key, item] : x) {
            parts.push_back(quote(key) + ": " + text(item, inner));
        }
        return parts;
    });
}

template<HasFields T>
std::string text(const T &x, int column) {
    static const T by_default = blank<T>();
    return bracketed('{', '}', column, [&](int inner) {
        std::vector<std::string> parts;
        const auto write = [&](const auto &member, const auto &without) {
            if constexpr (member.counts) {
                if (text(member.value, flat) != text(without.value, flat)) {
                    parts.push_back(member.name + (": " + text(member.value, inner)));
                }
            }
        };
        const auto own = fields(x);
        const auto others = fields(by_default);
        [&]<size_t... I>(std::index_sequence<I...>) {
            (write(std::get<I>(own), std::get<I>(others)), ...);
        }
        (std::make_index_sequence<std::tuple_size_v<decltype(own)>>());
        return parts;
    });
}

/// The bits of the value that a scalar has for runs. A pointer means nothing elsewhere.
std::string value_text(const Parameter &p) {
    if (p.is_buffer() || p.type().is_handle() || !p.has_scalar_value()) {
        return "";
    }
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%llx", (unsigned long long)*p->value);
    return "value {param: " + quote(p.name()) + ", bits: " + quote(digits.data()) + "}\n";
}

std::string text_of(const PipelineSource &source, const Environment &env,
                    const UsedParameters &used) {
    user_assert(source.custom_passes.empty() && source.linkables.empty() &&
                used.linked_functions.empty() && used.linked_symbols.empty())
        << "pipeline " << source.name
        << " cannot be written as text: it has linkables or passes of its own";
    std::vector<std::string> outputs, inputs;
    for (const Function &f : source.outputs) {
        outputs.push_back(f.name());
    }
    for (const Argument &a : source.args) {
        inputs.push_back(a.name);
    }
    std::string result = "pipeline {name: " + quote(source.name) +
                         ", outputs: " + text(outputs, flat) + ", inputs: " + text(inputs, flat) +
                         (source.trace_pipeline ? ", trace_pipeline: true" : "") + "}\n";
    for (const Requirement &r : source.requirements) {
        result += "require " + text(r, 0) + "\n";
    }
    for (const auto &[name, p] : used.parameters) {
        result += "param " + text(p, 0) + "\n";
    }
    for (const auto &[name, f] : env) {
        result += "func " + text(*f.contents(), 0) + "\n";
    }
    return result;
}

}  // namespace

std::string to_text(const PipelineSource &source) {
    const Environment env = build_environment(source.outputs);
    const UsedParameters used = parameters_used(env, source.requirements);
    for (const auto &[name, image] : used.images) {
        user_error << "pipeline " << source.name << " cannot be written as text: it embeds image "
                   << name;
    }
    return text_of(source, env, used);
}

std::string to_whole_text(const PipelineSource &source,
                          const std::function<ConstantImageText(const Image &)> &image_text) {
    const Environment env = build_environment(source.outputs);
    const UsedParameters used = parameters_used(env, source.requirements);
    std::string result;
    for (const auto &[name, image] : used.images) {
        result += "image " + text(image_text(image), 0) + "\n";
    }
    for (const auto &[name, p] : used.parameters) {
        result += value_text(p);
    }
    return result + text_of(source, env, used);
}

}  // namespace calotype::internal
