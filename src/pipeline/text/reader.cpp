// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In three steps: the names of all params and funcs, so that they can refer to each other; their
// members, with names in expressions still bare; then whom those names refer to.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/mutator.h"
#include "ir/text/expr_parser.h"
#include "ir/walk/own_symbol.h"
#include "pipeline/text/check_read.h"
#include "pipeline/text/image_fields.h"
#include "pipeline/text/pipeline_text.h"
#include "pipeline/text/words.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// What is declared, by name.
struct Declarations {
    std::map<std::string, IntrusivePtr<FunctionContents>> funcs;
    std::map<std::string, Parameter> params;
    std::map<std::string, Image> images;
    std::map<std::string, SymbolPtr> shapes;  ///< variables of the shape of a buffer
    std::set<std::string> output_shapes;  ///< of the shape of an output, which stand for no symbol
    /// Wrappers, and clones, with what they stand for: that owns them, and wrappers call it by its
    /// name alone.
    std::set<std::pair<std::string, std::string>> wrapped;
};

/// Gives names in the expressions of a Func, or of none, the symbols that they refer to.
class Resolve : public GraphMutator {
public:
    Resolve(const Declarations &declared, const std::string &func, const SymbolPtr &domain,
            const std::vector<ReductionVariable> &rvars)
        : declared_(declared), func_(func), domain_(domain), rvars_(rvars) {
    }

private:
    using GraphMutator::visit;

    Expr visit(const Variable *op) override {
        for (const ReductionVariable &v : rvars_) {
            if (v.var == op->name) {
                return Variable::make(op->type, op->name, domain_);
            }
        }
        if (const auto p = declared_.params.find(op->name);
            p != declared_.params.end() && !p->second.is_buffer()) {
            return Variable::make(op->type, op->name, p->second.contents());
        }
        if (const auto shape = declared_.shapes.find(op->name); shape != declared_.shapes.end()) {
            return Variable::make(op->type, op->name, shape->second);
        }
        user_assert(is_bound(op->name)) << "the text of a pipeline uses variable " << op->name
                                        << where() << ", which nothing declares";
        return op;
    }
    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        ScopedBinding<> bind(bound_, op->name);
        return Let::make(op->name, value, mutate(op->body));
    }
    Expr visit(const Call *op) override {
        const Expr e = GraphMutator::visit(op);
        const Call *call = e.as<Call>();
        check_coordinates(*call);
        SymbolPtr symbol;
        if (call->call_type == CallKind::Func && declared_.wrapped.count({func_, call->name})) {
            declared_.funcs.at(func_)->wrapped = declared_.funcs.at(call->name).get();
        } else if (call->call_type == CallKind::Func && call->name != func_) {
            if (const auto f = declared_.funcs.find(call->name); f != declared_.funcs.end()) {
                symbol = f->second;
            }
        } else if (call->call_type == CallKind::Image) {
            if (const auto p = declared_.params.find(call->name); p != declared_.params.end()) {
                symbol = p->second.contents();
            } else if (const auto i = declared_.images.find(call->name);
                       i != declared_.images.end()) {
                symbol = i->second;
            }
        }
        return symbol.defined() ? Call::make(call->type, call->name, call->args, call->call_type,
                                             call->value_index, symbol)
                                : e;
    }

    std::string where() const {
        return func_.empty() ? "" : " in func " + func_;
    }

    bool is_bound(const std::string &name) const {
        const auto f = declared_.funcs.find(func_);
        return bound_.contains(name) || declared_.output_shapes.count(name) ||
               (f != declared_.funcs.end() &&
                std::find(f->second->args.begin(), f->second->args.end(), name) !=
                    f->second->args.end());
    }

    void check_coordinates(const Call &call) const {
        const auto f = declared_.funcs.find(call.name);
        const bool is_known = call.call_type == CallKind::Func && f != declared_.funcs.end();
        user_assert(!is_known || call.args.size() == f->second->args.size())
            << "the text of a pipeline calls " << call.name << " with " << call.args.size()
            << " coordinates, it has " << f->second->args.size() << " dimensions";
    }

    const Declarations &declared_;
    const std::string func_;
    const SymbolPtr domain_;
    const std::vector<ReductionVariable> &rvars_;
    Scope<> bound_;
};

class PipelineParser : public ExprParser {
public:
    PipelineParser(const std::string &text, const TextBindings &bindings)
        : ExprParser(text), bindings_(bindings) {
    }

    PipelineSource parse(const std::string &text) {
        Declare(text, declared_).run();
        for (auto &[name, p] : declared_.params) {
            if (const auto it = bindings_.params.find(name); it != bindings_.params.end()) {
                p = it->second;
            }
        }
        while (peek().kind != Token::End) {
            item();
        }
        for (const auto &[name, p] : declared_.params) {
            declare_shape(p);
        }
        for (const auto &[name, p] : declared_.params) {
            if (!bindings_.params.count(name)) {
                resolve(p);
            }
        }
        for (const auto &[name, f] : declared_.funcs) {
            for (const auto &[consumer, wrapper] : f->schedule.wrappers) {
                declared_.wrapped.emplace(wrapper->name, name);
            }
        }
        for (const std::string &name : outputs_) {
            const auto f = find(declared_.funcs, name);
            complete_types(*f);
            declare_output_shape(Function(f));
        }
        for (const auto &[name, f] : declared_.funcs) {
            complete(*f);
        }
        resolve(source_.requirements, "");
        for (const Requirement &r : source_.requirements) {
            check_condition(r.condition, "the pipeline");
        }
        for (const std::string &name : outputs_) {
            source_.outputs.emplace_back(find(declared_.funcs, name));
        }
        for (const std::string &name : inputs_) {
            const Parameter p = find(declared_.params, name);
            source_.args.emplace_back(name,
                                      p.is_buffer() ? Argument::InputBuffer : Argument::InputScalar,
                                      p.type(), p.dimensions(), p.get_argument_estimates());
        }
        return std::move(source_);
    }

private:
    /// The first step: looks at nothing but `func {name: "f"` and `param {name: "p"`.
    class Declare : public ExprParser {
    public:
        Declare(const std::string &text, Declarations &declared)
            : ExprParser(text), declared_(declared) {
        }
        void run() {
            while (peek().kind != Token::End) {
                const Token item = take();
                if ((item.is("func") || item.is("param")) && accept("{") && accept("name") &&
                    accept(":") && peek().kind == Token::String) {
                    const std::string name = take().text;
                    if (item.is("func")) {
                        declared_.funcs.emplace(name, new FunctionContents(name));
                    } else {
                        declared_.params.emplace(
                            name,
                            Parameter(SymbolPtr(new ParameterContents(name, Int(32), false, 0))));
                    }
                }
            }
        }

    private:
        Declarations &declared_;
    };

    template<typename T>
    T find(const std::map<std::string, T> &declared, const std::string &name) {
        const auto it = declared.find(name);
        user_assert(it != declared.end())
            << "the text of a pipeline names " << name << ", which it does not declare";
        return it->second;
    }

    void item() {
        const Token word = take();
        if (word.is("pipeline")) {
            struct_of([&](const std::string &member) {
                if (member == "name") {
                    read(source_.name);
                } else if (member == "outputs") {
                    read(outputs_);
                } else if (member == "inputs") {
                    read(inputs_);
                } else if (member == "trace_pipeline") {
                    read(source_.trace_pipeline);
                } else {
                    return false;
                }
                return true;
            });
        } else if (word.is("require")) {
            source_.requirements.emplace_back();
            read(source_.requirements.back());
        } else if (word.is("param")) {
            param();
        } else if (word.is("value")) {
            value();
        } else if (word.is("image")) {
            ConstantImageText image;
            read(image);
            user_assert(bool(bindings_.make_image))
                << "the text of a pipeline holds image " << image.name << ", none can be made here";
            declared_.images[image.name] = bindings_.make_image(image);
        } else if (word.is("func")) {
            read(*find(declared_.funcs, name_ahead()));
        } else {
            syntax_error(word, "expected pipeline, require, param, value, image or func, found " +
                                   word.shown());
        }
    }

    /// One that is bound is not changed, and must be of the kind of the declared one.
    void param() {
        const std::string name = name_ahead();
        const Parameter p = find(declared_.params, name);
        if (!bindings_.params.count(name)) {
            read(*p.contents());
            return;
        }
        user_assert(p.name() == name)
            << "parameter " << name << " of the pipeline is given one that "
            << "is named " << p.name() << ", must have the same name";
        ParameterContents declared(name, Int(32), false, 0);
        read(declared);
        user_assert(p.type() == declared.type && p.is_buffer() == declared.is_buffer &&
                    p.dimensions() == declared.dimensions)
            << "parameter " << name << " of the pipeline is "
            << described(declared.type, declared.is_buffer, declared.dimensions)
            << ", the one that is given is " << described(p.type(), p.is_buffer(), p.dimensions());
    }
    static std::string described(const Type &type, bool is_buffer, int dimensions) {
        return (is_buffer ? "a buffer of " + std::to_string(dimensions) + " dimensions of "
                          : "a scalar of type ") +
               to_string(type);
    }
    void value() {
        std::string name, bits;
        struct_of([&](const std::string &member) {
            if (member == "param") {
                read(name);
            } else if (member == "bits") {
                read(bits);
            } else {
                return false;
            }
            return true;
        });
        if (!bindings_.params.count(name)) {
            find(declared_.params, name).set_value_bits(std::strtoull(bits.c_str(), nullptr, 16));
        }
    }

    /// `{name: "f"`, which is not taken.
    std::string name_ahead() {
        if (!peek().is("{") || !peek(1).is("name") || !peek(2).is(":") ||
            peek(3).kind != Token::String) {
            fail("{name: \"...\"");
        }
        return peek(3).text;
    }

    /// {member: ..., member: ...}; `read_member` is false for a name that it does not know.
    template<typename ReadMember>
    void struct_of(ReadMember read_member) {
        expect("{");
        while (!accept("}")) {
            const Token member = take();
            expect(":");
            if (!read_member(member.text)) {
                syntax_error(member, "there is no member " + member.shown() + " here");
            }
            if (!accept(",") && !peek().is("}")) {
                fail("',' or '}'");
            }
        }
    }

    void read(bool &x) {
        x = accept("true");
        if (!x) {
            expect("false");
        }
    }
    void read(std::string &x) {
        if (peek().kind != Token::String) {
            fail("a string");
        }
        x = take().text;
    }
    void read(Expr &x) {
        x = expr();
    }
    void read(Type &x) {
        x = type();
    }
    void read(LoopLevel &x) {
        if (accept("inlined") || accept("undefined")) {
            x = LoopLevel::inlined();
        } else if (accept("root")) {
            x = LoopLevel::root();
        } else {
            std::string func, var;
            expect("loop");
            expect("(");
            read(func);
            expect(",");
            read(var);
            expect(",");
            int stage = 0;
            read(stage);
            const bool is_rvar = accept(",");
            if (is_rvar) {
                expect("rvar");
            }
            expect(")");
            x = LoopLevel(func, var, is_rvar, stage);
        }
    }
    template<typename T>
    requires std::is_integral_v<T>
    void read(T &x) {
        const bool is_negative = accept("-");
        const int value = small_integer();
        x = T(is_negative ? -value : value);
    }
    template<typename T>
    requires std::is_enum_v<T>
    void read(T &x) {
        const Token word = take();
        for (int i = 0; i < Words<T>::count; i++) {
            if (word.text == Words<T>::word(T(i))) {
                x = T(i);
                return;
            }
        }
        syntax_error(word, word.shown() + " is not one of the words that are possible here");
    }
    void read(IntrusivePtr<FunctionContents> &x) {
        std::string name;
        read(name);
        x = find(declared_.funcs, name);
    }
    void read(SymbolPtr &x) {
        std::string name;
        read(name);
        x = find(declared_.params, name).contents();
    }
    void read(Image &x) {
        std::string name;
        read(name);
        x = find(declared_.images, name);
    }
    /// A param by its name, or one of its own.
    void read(Parameter &x) {
        if (peek().kind == Token::String) {
            x = find(declared_.params, take().text);
        } else {
            x = Parameter(SymbolPtr(new ParameterContents("", Int(32), false, 0)));
            read(*x.contents());
        }
    }
    void read(DefinitionPtr &x) {
        x = DefinitionPtr(new Definition);
        read(*x);
    }
    template<typename T>
    void read(std::optional<T> &x) {
        read(x.emplace());
    }
    template<typename T>
    void read(std::vector<T> &x) {
        x.clear();
        expect("[");
        while (!accept("]")) {
            T item{};
            read(item);
            x.push_back(std::move(item));
            if (!accept(",") && !peek().is("]")) {
                fail("',' or ']'");
            }
        }
    }
    template<typename T>
    void read(std::map<std::string, T> &x) {
        expect("{");
        while (!accept("}")) {
            std::string key;
            read(key);
            expect(":");
            T value{};  // in no map yet, where an error leaves it incomplete
            read(value);
            x[key] = std::move(value);
            if (!accept(",") && !peek().is("}")) {
                fail("',' or '}'");
            }
        }
    }
    template<HasFields T>
    void read(T &x) {
        struct_of([&](const std::string &name) {
            bool is_read = false;
            for_each_member(x, [&](auto member) {
                if constexpr (member.counts) {
                    if (!is_read && name == member.name) {
                        read(member.value);
                        is_read = true;
                    }
                }
            });
            return is_read;
        });
    }

    // The third step.

    void declare_shape(const Parameter &p) {
        if (!p.is_buffer()) {
            return;
        }
        p.edit()->constraints.resize(size_t(p.dimensions()));
        for (const std::string &name : shape_of(p.name(), p.dimensions())) {
            declared_.shapes[name] = p.contents();
        }
    }

    void declare_output_shape(const Function &f) {
        for (int i = 0; i < f.outputs(); i++) {
            const std::vector<std::string> shape = shape_of(f.buffer_name(i), f.dimensions());
            declared_.output_shapes.insert(shape.begin(), shape.end());
        }
    }

    static std::vector<std::string> shape_of(const std::string &buffer, int dimensions) {
        std::vector<std::string> result;
        for (int d = 0; d < dimensions; d++) {
            result.insert(result.end(),
                          {names::buffer_min(buffer, d), names::buffer_extent(buffer, d),
                           names::buffer_stride(buffer, d)});
        }
        return result;
    }

    template<typename T>
    void resolve(T &x, const std::string &func, const SymbolPtr &domain = nullptr,
                 const std::vector<ReductionVariable> &rvars = {}) {
        Resolve names(declared_, func, domain, rvars);
        mutate_expressions(x, [&](const Expr &e) { return names.mutate(e); });
    }

    void resolve(const Parameter &p) {
        resolve(*p.contents(), "");
        mutate_expressions(*p.contents(),
                           [&](const Expr &e) { return without_symbol(e, p.contents()); });
    }

    static Dim dim_of(const std::string &var, DimType type = DimType::PureVar) {
        Dim dim;
        dim.var = var;
        dim.dim_type = type;
        return dim;
    }

    static void complete_types(FunctionContents &f) {
        if (f.output_types.empty() && f.init.defined()) {
            for (const Expr &value : f.init->values) {
                f.output_types.push_back(value.type());
            }
        }
    }

    /// Fills in what follows from the rest.
    void complete(FunctionContents &f) {
        if (f.init.defined() && f.init->args.empty()) {
            for (const std::string &arg : f.args) {
                f.init->args.push_back(Variable::make(Int(32), arg));
            }
        }
        if (f.schedule.storage_dims.empty()) {
            for (const std::string &arg : f.args) {
                f.schedule.storage_dims.emplace_back().var = arg;
            }
        }
        std::vector<DefinitionPtr> definitions = {f.init, f.extern_schedule};
        definitions.insert(definitions.end(), f.updates.begin(), f.updates.end());
        for (const DefinitionPtr &d : definitions) {
            if (d.defined()) {
                complete(f, *d);
            }
        }
        for (Parameter &output : f.output_buffers) {
            resolve(output);
        }
        resolve(f.schedule, f.name);
        resolve(f.extern_args, f.name);
        mutate_expressions(f.extern_proxy_expr, [&](const Expr &e) {
            return Resolve(declared_, f.name, nullptr, {}).mutate(e);
        });
        complete_types(f);
        if (f.output_buffers.empty()) {
            Function(IntrusivePtr<FunctionContents>(&f)).make_output_buffers();
        }
    }

    void complete(const FunctionContents &f, Definition &d) {
        StageSchedule &s = d.schedule;
        if (!d.predicate.defined()) {
            d.predicate = const_true();
        }
        if (s.dims.empty()) {
            for (const ReductionVariable &v : s.rvars) {
                s.dims.push_back(dim_of(v.var, DimType::ImpureRVar));
            }
            for (size_t i = 0; i < f.args.size() && i < d.args.size(); i++) {
                const Variable *v = d.args[i].as<Variable>();
                if (v && v->name == f.args[i]) {
                    s.dims.push_back(dim_of(v->name));
                }
            }
            s.dims.push_back(dim_of(outermost_name));
        }
        SymbolPtr domain;
        const std::vector<ReductionVariable> rvars = s.rvars;
        if (!rvars.empty()) {
            const std::string &var = rvars[0].var;
            ReductionDomain made(var.substr(0, var.rfind('$')), rvars);
            made.where(d.predicate);
            domain = made.symbol();
        }
        resolve(d, f.name, domain, rvars);
        check_definition_read(f, d);
        for (const Specialization &special : d.specializations) {
            if (special.definition.defined()) {
                complete(f, *special.definition);
            }
        }
    }

    const TextBindings &bindings_;
    Declarations declared_;
    std::vector<std::string> outputs_, inputs_;
    PipelineSource source_;
};

}  // namespace

PipelineSource parse_pipeline(const std::string &text, const TextBindings &bindings) {
    return PipelineParser(text, bindings).parse(text);
}

PipelineSource parse_pipeline(const std::string &text) {
    return parse_pipeline(text, TextBindings());
}

}  // namespace calotype::internal
