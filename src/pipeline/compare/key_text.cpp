// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/compare/key_text.h"

#include <concepts>
#include <cstring>

#include "ir/walk/field_walk.h"
#include "pipeline/fields.h"
#include "pipeline/infer_arguments.h"
#include "pipeline/level_text.h"

namespace calotype::internal {

void KeyText::put(std::string_view text) {
    text_ += std::to_string(text.size());
    text_ += ':';
    text_ += text;
}

void KeyText::put(int64_t number) {
    text_ += std::to_string(number);
    text_ += ' ';
}

void KeyText::put(const Type &type) {
    put(int64_t(type.code()));
    put(int64_t(type.bits()));
    put(int64_t(type.lanes()));
    if (type.handle_type) {
        put(type.handle_type->cpp_name);
    }
    text_ += ';';
}

// Writes each field of a node or of a part of a pipeline, whatever its type.
struct KeyText::FieldWriter : CountingWalk<FieldWriter> {
    KeyText &out;

    explicit FieldWriter(KeyText &out) : out(out) {
    }
    using CountingWalk::operator();
    void number(int64_t n) {
        out.put(n);
    }

    void operator()(const Expr &e) {
        out.put(e);
    }
    void operator()(const std::string &s) {
        out.put(s);
    }
    void operator()(double x) {
        int64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        out.put(bits);
    }
    void operator()(const Alignment &a) {
        out.put(a.modulus);
        out.put(a.remainder);
    }
    void operator()(const Type &t) {
        out.put(t);
    }
    void operator()(const LoopLevel &level) {
        out.put(level);
    }
    void operator()(const Parameter &p) {
        (*this)(p.defined());
        if (p.defined()) {
            (*this)(*p.contents());
        }
    }
    /// Whom a name refers to: what that is stands elsewhere in the text.
    template<typename T>
    requires std::derived_from<T, Symbol>
    void operator()(const IntrusivePtr<T> &symbol) {
        (*this)(symbol.defined());
        if (symbol.defined()) {
            out.put(symbol->name);
        }
    }
};

void KeyText::put_node(const ExprNode *node) {
    put(int64_t(node->kind));
    put(node->type);
    dispatch(node, [&](const auto *op) {
        for_each_field(*op, FieldWriter(*this));
        // Who the name refers to: names of parameters, images, Funcs and domains are unique in a
        // pipeline, loop variables may be called the same.
        if constexpr (requires { op->symbol; }) {
            put(op->symbol ? int64_t(op->symbol->kind) : int64_t(-1));
            if (op->symbol) {
                put(op->symbol->name);
            }
        }
    });
}

void KeyText::put(const Expr &e) {
    if (!e.defined()) {
        text_ += "- ";
        return;
    }
    const auto [it, is_new] = written_.emplace(e.get(), int64_t(written_.size()));
    if (!is_new) {
        text_ += '#';
        put(it->second);
        return;
    }
    text_ += '(';
    put_node(e.get());
    text_ += ')';
}

void KeyText::put(const Range &r) {
    put(r.min);
    put(r.extent);
}

template<typename T>
void KeyText::put_all(const std::vector<T> &list) {
    put(int64_t(list.size()));
    for (const T &item : list) {
        put(item);
    }
}

void KeyText::put_names(const std::vector<std::string> &names) {
    put(int64_t(names.size()));
    for (const std::string &name : names) {
        put(name);
    }
}

void KeyText::put(const Argument &a) {
    put(a.name);
    put(int64_t(a.kind));
    put(int64_t(a.dimensions));
    put(a.type);
}

void KeyText::put(const ArgumentEstimates &e) {
    put(e.scalar_def);
    put(e.scalar_min);
    put(e.scalar_max);
    put(e.scalar_estimate);
    put_all(e.buffer_estimates);
}

void KeyText::put(const LoopLevel &level) {
    put(level_text(level));
    put(level.defined() && !level.is_inlined() && !level.is_root() && level.is_rvar() ? 1 : 0);
}

void KeyText::put(const Image &image, bool with_contents) {
    put(image->name);
    const calotype_buffer_t *b = image->buffer->raw();
    put(Type(b->type));
    put(int64_t(b->dimensions));
    int64_t first = 0, last = 0;
    for (int i = 0; i < b->dimensions; i++) {
        const calotype_dimension_t &d = b->dim[i];
        for (const int64_t x : {d.min, d.extent, d.stride}) {
            put(x);
        }
        const int64_t reach = int64_t(d.stride) * (d.extent - 1);
        (reach < 0 ? first : last) += reach;
    }
    const int64_t bytes = Type(b->type).bytes();
    if (with_contents && b->host) {
        put(std::string_view(reinterpret_cast<const char *>(b->host) + first * bytes,
                             size_t((last - first + 1) * bytes)));
    }
}

// Digests stand for the images, which may be large.
void KeyText::put(const Linkable &linkable) {
    const LinkableData &d = linkable.data();
    for (const std::string &text : {d.name, d.setup, d.teardown, d.user}) {
        put(text);
    }
    put_names(d.after);
    put(int64_t(d.lto));
    for (const bool flag : {d.nrt, d.is_optional, d.is_threadsafe, d.is_session_dependent,
                            d.no_teardown_after_loss, d.is_pinned, d.is_embedded}) {
        put(flag);
    }
    put(int64_t(d.images.size()));
    for (size_t i = 0; i < d.images.size(); i++) {
        put(int64_t(d.images[i].kind));
        put(int64_t(d.images[i].sm));
        put(int64_t(d.images[i].suffix));
        put(linkable.digests()[i]);
        depends_on_files_ |= d.images[i].kind == CALOTYPE_CU &&
                             d.images[i].bytes.find("include") != std::string::npos;
        put(d.is_embedded ? "" : d.images[i].origin);
    }
}

void KeyText::put(const LinkedFunction &signature) {
    put(signature.result);
    put_all(signature.parameters);
}

void KeyText::put_pipeline(const PipelineSource &source) {
    const Environment env = build_environment(source.outputs);
    const UsedParameters used = parameters_used(env, source.requirements);
    put(int64_t(source.outputs.size()));
    for (const Function &f : source.outputs) {
        put(f.name());
    }
    put_all(source.args);
    FieldWriter write{*this};
    write(source.requirements);
    put(source.trace_pipeline);
    put(int64_t(env.size()));
    for (const auto &[name, f] : env) {
        write(*f.contents());
    }
    write(used.parameters);
    for (const auto &[name, image] : used.images) {
        put(image, !is_argument(source.args, name));
    }
    for (const auto &[name, p] : used.parameters) {
        if (p->is_constant) {
            put(Image(new ImageContents(name, p->buffer)), !is_argument(source.args, name));
        }
    }
    put_all(source.linkables);
    for (const auto *declarations : {&used.linked_functions, &used.linked_symbols}) {
        put(int64_t(declarations->size()));
        for (const auto &[name, declaration] : *declarations) {
            put(name);
            put(declaration->linkable);
            put(declaration->signature);
        }
    }
}

}  // namespace calotype::internal
