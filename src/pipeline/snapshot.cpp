// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/snapshot.h"

#include <bit>
#include <concepts>
#include <functional>
#include <string_view>

#include "pipeline/fields.h"
#include "pipeline/parameters_used.h"

namespace calotype::internal {

namespace {

/// Gives every field of a part of a pipeline to Sink as words; the sink is also told which
/// expression or symbol it is whose address it gets.
template<typename Sink>
struct FieldWalk : CountingWalk<FieldWalk<Sink>> {
    Sink &sink;

    explicit FieldWalk(Sink &sink) : sink(sink) {
    }
    using CountingWalk<FieldWalk<Sink>>::operator();
    void number(int64_t n) {
        sink.put(uint64_t(n));
    }

    void operator()(const Expr &e) {
        sink.put(reinterpret_cast<uintptr_t>(e.get()));
        sink.refers_to(e);
    }
    void operator()(std::string_view s) {
        sink.put(std::hash<std::string_view>()(s));
    }
    void operator()(const std::string &s) {
        (*this)(std::string_view(s));
    }
    void operator()(double x) {
        sink.put(std::bit_cast<uint64_t>(x));
    }
    void operator()(const Type &t) {
        sink.put(uint64_t(t.code()) << 32 | uint64_t(t.bits()) << 16 | uint64_t(t.lanes()));
        sink.put(reinterpret_cast<uintptr_t>(t.handle_type));
    }
    void operator()(const LoopLevel &level) {
        const bool is_loop = level.defined() && !level.is_inlined() && !level.is_root();
        sink.put(!level.defined() ? 0 : level.is_inlined() ? 1 : level.is_root() ? 2 : 3);
        if (is_loop) {
            (*this)(level.func_name());
            (*this)(level.var_name());
            sink.put(uint64_t(level.is_rvar()) << 32 | uint32_t(level.stage_index()));
        }
    }
    void operator()(const Parameter &p) {
        sink.put(reinterpret_cast<uintptr_t>(p.contents().get()));
        if (p.defined()) {
            sink.refers_to(IntrusivePtr<const Symbol>(p.contents().get()));
            (*this)(*p.contents());
        }
    }
    template<typename T>
    requires std::derived_from<T, Symbol>
    void operator()(const IntrusivePtr<T> &symbol) {
        sink.put(reinterpret_cast<uintptr_t>(symbol.get()));
        if (symbol.defined()) {
            sink.refers_to(IntrusivePtr<const Symbol>(symbol.get()));
        }
    }
};

struct Recorder {
    std::vector<uint64_t> &words;
    std::vector<Expr> &expressions;
    std::vector<IntrusivePtr<const Symbol>> &symbols;

    void put(uint64_t word) {
        words.push_back(word);
    }
    void refers_to(const Expr &e) {
        expressions.push_back(e);
    }
    void refers_to(IntrusivePtr<const Symbol> symbol) {
        symbols.push_back(std::move(symbol));
    }
};

struct Comparer {
    const std::vector<uint64_t> &words;
    size_t at = 0;
    bool is_same = true;

    void put(uint64_t word) {
        is_same = is_same && at < words.size() && words[at] == word;
        at++;
    }
    void refers_to(const Expr &) {
    }
    void refers_to(const IntrusivePtr<const Symbol> &) {
    }
};

template<typename Sink>
void put_shape(Sink &sink, const Image &image) {
    const calotype_buffer_t *b = image->buffer->raw();
    sink.put(uint64_t(b->type.code) << 32 | uint64_t(b->type.bits) << 16 | b->type.lanes);
    sink.put(uint64_t(b->dimensions));
    for (int i = 0; i < b->dimensions; i++) {
        sink.put(uint64_t(b->dim[i].min));
        sink.put(uint64_t(b->dim[i].extent));
        sink.put(uint64_t(b->dim[i].stride));
    }
}

template<typename Sink>
void walk(Sink &sink, const std::vector<Function> &functions,
          const std::vector<Parameter> &parameters, const std::vector<Image> &images,
          const std::vector<Requirement> &requirements, bool trace_pipeline) {
    FieldWalk<Sink> fields(sink);
    for (const Image &image : images) {
        put_shape(sink, image);
    }
    for (const Function &f : functions) {
        fields(*f.contents());
    }
    fields(parameters);
    fields(requirements);
    fields(trace_pipeline);
}

bool are_same(const std::vector<Function> &a, const std::vector<Function> &b) {
    bool same = a.size() == b.size();
    for (size_t i = 0; same && i < a.size(); i++) {
        same = a[i].same_as(b[i]);
    }
    return same;
}

}  // namespace

PipelineSnapshot::PipelineSnapshot(const PipelineSource &source) : outputs_(source.outputs) {
    const Environment env = build_environment(source.outputs);
    const UsedParameters used = parameters_used(env, source.requirements);
    is_complete_ = source.custom_passes.empty() && source.linkables.empty() &&
                   used.linked_functions.empty() && used.linked_symbols.empty();
    for (const auto &[name, f] : env) {
        functions_.push_back(f);
    }
    for (const auto &[name, p] : used.parameters) {
        parameters_.push_back(p);
    }
    for (const auto &[name, image] : used.images) {
        images_.push_back(image);
    }
    Recorder recorder{words_, expressions_, symbols_};
    walk(recorder, functions_, parameters_, images_, source.requirements, source.trace_pipeline);
}

bool PipelineSnapshot::is_of(const std::vector<Function> &outputs,
                             const std::vector<Requirement> &requirements,
                             bool trace_pipeline) const {
    if (words_.empty() || !are_same(outputs, outputs_)) {
        return false;
    }
    Comparer comparer{words_};
    walk(comparer, functions_, parameters_, images_, requirements, trace_pipeline);
    return comparer.is_same && comparer.at == words_.size();
}

}  // namespace calotype::internal
