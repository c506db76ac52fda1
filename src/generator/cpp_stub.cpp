// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/cpp_stub.h"

#include <algorithm>

#include "generator/registry.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

// A parameter as a member of struct GeneratorParams, and as an entry of the map of texts.
struct Member {
    std::string type, name, initial, as_text;
};

std::string quoted(const std::string &text) {
    return "\"" + replace_all(replace_all(text, "\\", "\\\\"), "\"", "\\\"") + "\"";
}

Member number_member(const ParamInfo &info) {
    if (info.kind == "bool") {
        return {"bool", "", info.default_text, "NAME ? \"true\" : \"false\""};
    }
    const bool is_float = starts_with(info.kind, "float");
    const std::string type = info.kind == "float32" ? "float"
                             : is_float             ? "double"
                                                    : info.kind + "_t";
    return {type, "", type + "(" + info.default_text + ")",
            "calotype::internal::number_to_string(NAME)"};
}

Member member_of(const GeneratorParamBase &p) {
    const ParamInfo info = p.info();
    Member m;
    if (info.kind == "enum") {
        const std::string type = "Enum_" + p.name();
        m = {type, "", type + "::" + info.default_text, type + "_to_text(NAME)"};
    } else if (info.kind == "type") {
        m = {"calotype::Type", "",
             info.default_text.empty()
                 ? ""
                 : "calotype::internal::type_from_name(" + quoted(info.default_text) + ")",
             "calotype::internal::type_to_name(NAME)"};
    } else if (info.kind == "string") {
        m = {"std::string", "", quoted(info.default_text), "NAME"};
    } else if (info.kind == "loop_level") {
        m = {"calotype::LoopLevel", "",
             info.default_text == "root"      ? "calotype::LoopLevel::root()"
             : info.default_text == "inlined" ? "calotype::LoopLevel::inlined()"
                                              : "",
             ""};
    } else if (info.kind == "linkable") {
        m = {"calotype::Linkable", "", "", ""};
    } else if (info.kind == "linkables") {
        m = {"std::vector<calotype::Linkable>", "", "", ""};
    } else {
        m = number_member(info);
    }
    m.name = replace_all(p.name(), ".", "_");
    m.as_text = replace_all(m.as_text, "NAME", m.name);
    return m;
}

// What the inputs' types and shapes tell need not be given.
bool is_of_an_input(const GeneratorBase &g, const std::string &param) {
    for (const InputBase *input : g.inputs()) {
        if (starts_with(param, input->io_name() + ".")) {
            return true;
        }
    }
    return false;
}

// "out.type" is left to the generator where it declares a parameter "out_type", as both would be
// one member.
bool gives_way(const GeneratorBase &g, const std::string &param) {
    const std::string member = replace_all(param, ".", "_");
    const std::vector<GeneratorParamBase *> all = g.params();
    return member != param && std::any_of(all.begin(), all.end(), [&](const GeneratorParamBase *p) {
               return p->name() == member;
           });
}

class StubWriter {
public:
    StubWriter(const std::string &registered, const std::string &stub_name, const GeneratorBase &g)
        : registered_(registered), g_(g), namespaces_(split(stub_name, "::")) {
        class_ = namespaces_.back();
        namespaces_.pop_back();
        for (const GeneratorParamBase *p : g.params()) {
            if (p->info().kind != "target" && !is_of_an_input(g, p->name()) &&
                !gives_way(g, p->name())) {
                params_.push_back(p);
            }
        }
    }

    std::string text() {
        line("// Made by Calotype from generator " + registered_ + ". Do not edit.");
        line("#pragma once");
        line("");
        for (const char *header : {"map", "memory", "string", "vector"}) {
            line("#include <" + std::string(header) + ">");
        }
        line("");
        line("#include <calotype/calotype.h>");
        line("");
        line("namespace calotype_register_generator {");
        line("namespace " + registered_ + "_ns {");
        line("std::unique_ptr<calotype::internal::GeneratorBase> factory(const "
             "calotype::GeneratorContext &context);");
        line("}");
        line("}");
        line("");
        for (const std::string &n : namespaces_) {
            line("namespace " + n + " {");
        }
        line("class " + class_ + " final {");
        line("public:");
        enums();
        inputs();
        params();
        outputs();
        generate();
        line("};");
        for (size_t i = 0; i < namespaces_.size(); i++) {
            line("}");
        }
        return text_;
    }

private:
    void line(const std::string &text) {
        text_ += text + "\n";
    }

    void enums() {
        for (const GeneratorParamBase *p : params_) {
            const ParamInfo info = p->info();
            if (info.kind != "enum") {
                continue;
            }
            const std::string type = "Enum_" + p->name();
            line("    enum class " + type + " { " + join(info.choices, ", ") + " };");
            line("    static std::string " + type + "_to_text(" + type + " value) {");
            line("        switch (value) {");
            for (const std::string &choice : info.choices) {
                line("        case " + type + "::" + choice + ":");
                line("            return \"" + choice + "\";");
            }
            line("        }");
            line("        return \"\";");
            line("    }");
            line("");
        }
    }

    void inputs() {
        line("    struct Inputs {");
        for (const InputBase *input : g_.inputs()) {
            const std::string type = input->kind() == IOKind::Scalar
                                         ? "calotype::Expr"
                                         : "calotype::internal::StubInput";
            line("        " + (input->is_array() ? "std::vector<" + type + ">" : type) + " " +
                 input->io_name() + ";");
        }
        line("    };");
        line("");
    }

    void params() {
        line("    struct GeneratorParams {");
        for (const GeneratorParamBase *p : params_) {
            const Member m = member_of(*p);
            line("        " + m.type + " " + m.name + "{" + m.initial + "};");
        }
        line("");
        line("        std::map<std::string, std::string> to_map() const {");
        line("            std::map<std::string, std::string> result;");
        for (const GeneratorParamBase *p : params_) {
            const Member m = member_of(*p);
            if (m.as_text.empty()) {
                continue;
            }
            // What stayed open is left to the generator.
            const bool is_open = p->info().default_text.empty() && p->info().kind != "string";
            const std::string condition = !is_open ? ""
                                          : p->info().kind == "type"
                                              ? "if (" + m.name + " != calotype::Type()) "
                                              : "if (" + m.name + " != 0) ";
            line("            " + condition + "result[" + quoted(p->name()) + "] = " + m.as_text +
                 ";");
        }
        line("            return result;");
        line("        }");
        line("    };");
        line("");
    }

    void outputs() {
        line("    struct Outputs {");
        for (const OutputBase *output : g_.outputs()) {
            line(std::string("        ") +
                 (output->is_array() ? "std::vector<calotype::Func> " : "calotype::Func ") +
                 output->io_name() + ";");
        }
        line("        calotype::Target target;");
        line("        calotype::Pipeline pipeline;");
        line("");
        line("        calotype::Pipeline get_pipeline() const {");
        line("            return pipeline;");
        line("        }");
        line("        calotype::Realization realize(std::vector<int32_t> sizes) {");
        line("            return pipeline.realize(std::move(sizes), target);");
        line("        }");
        line("        void realize(calotype::Pipeline::RealizationArg buffers) {");
        line("            pipeline.realize(std::move(buffers), target);");
        line("        }");
        if (g_.outputs().size() == 1 && !g_.outputs()[0]->is_array()) {
            only_output(g_.outputs()[0]->io_name());
        }
        line("    };");
        line("");
    }

    // The Outputs can be used as the Func.
    void only_output(const std::string &name) {
        line("        operator calotype::Func() const {");
        line("            return " + name + ";");
        line("        }");
        line("        template<typename... Args>");
        line("        calotype::FuncRef operator()(Args &&...args) const {");
        line("            return " + name + "(std::forward<Args>(args)...);");
        line("        }");
    }

    void generate() {
        // A generator that uses this one may give itself for its context.
        const std::string user = "    static Outputs generate(const "
                                 "calotype::internal::GeneratorBase *user, const Inputs &inputs";
        line(user + ") {");
        line("        return generate(user->context(), inputs);");
        line("    }");
        line(user + ",");
        line("                            const GeneratorParams &params) {");
        line("        return generate(user->context(), inputs, params);");
        line("    }");
        line("    static Outputs generate(const calotype::GeneratorContext &context, const Inputs "
             "&inputs) {");
        line("        return generate(context, inputs, GeneratorParams());");
        line("    }");
        line("    static Outputs generate(const calotype::GeneratorContext &context, const Inputs "
             "&inputs,");
        line("                            const GeneratorParams &params) {");
        line("        auto generator = calotype_register_generator::" + registered_ +
             "_ns::factory(context);");
        line("        generator->set_params(params.to_map());");
        for (const GeneratorParamBase *p : params_) {
            if (p->info().kind == "loop_level") {
                line("        generator->set_param(" + quoted(p->name()) + ", params." + p->name() +
                     ");");
            } else if (starts_with(p->info().kind, "linkable")) {
                // What is not given is left to the generator.
                const bool is_list = p->info().kind == "linkables";
                line("        if (" +
                     (is_list ? "!params." + p->name() + ".empty()"
                              : "params." + p->name() + ".defined()") +
                     ") {");
                line("            generator->set_param(" + quoted(p->name()) + ", params." +
                     p->name() + ");");
                line("        }");
            }
        }
        line("        Outputs outputs;");
        line("        outputs.pipeline = generator->build_pipeline({");
        for (const InputBase *input : g_.inputs()) {
            const std::string name = "inputs." + input->io_name();
            line("            " +
                 (input->is_array() ? "std::vector<calotype::internal::StubInput>(" + name +
                                          ".begin(), " + name + ".end())"
                                    : "{calotype::internal::StubInput(" + name + ")}") +
                 ",");
        }
        line("        });");
        line("        outputs.target = generator->get_target();");
        for (size_t i = 0; i < g_.outputs().size(); i++) {
            const OutputBase *output = g_.outputs()[i];
            line("        outputs." + output->io_name() + " = generator->outputs()[" +
                 std::to_string(i) + "]->checked_funcs()" + (output->is_array() ? ";" : "[0];"));
        }
        line("        return outputs;");
        line("    }");
    }

    const std::string registered_;
    const GeneratorBase &g_;
    std::vector<std::string> namespaces_;
    std::string class_;
    std::vector<const GeneratorParamBase *> params_;
    std::string text_;
};

}  // namespace

std::string cpp_stub_text(const std::string &registered_name) {
    const GeneratorRegistration &registration = find_generator(registered_name);
    const auto generator = registration.factory()(GeneratorContext());
    generator->configure_once();  // inputs and outputs that it adds are members as well
    return StubWriter(registered_name, registration.stub_name(), *generator).text();
}

}  // namespace calotype::internal
