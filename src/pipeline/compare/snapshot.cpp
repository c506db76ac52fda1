// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/compare/snapshot.h"

#include <bit>
#include <concepts>
#include <cstring>
#include <string_view>

#include "pipeline/edits.h"
#include "pipeline/fields.h"
#include "pipeline/parameters_used.h"
#include "support/edit_lock.h"

namespace calotype::internal {

namespace {

/// Gives every field of a part of a pipeline to Sink: as words and texts, and what does not change
/// as an object that is known by its address.
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
        sink.put_object(e.get());
    }
    void operator()(const std::string &s) {
        sink.put_text(s);
    }
    void operator()(double x) {
        sink.put(std::bit_cast<uint64_t>(x));
    }
    void operator()(const Type &t) {
        sink.put(uint64_t(t.code()) << 32 | uint64_t(t.bits()) << 16 | uint64_t(t.lanes()));
        sink.put(reinterpret_cast<uintptr_t>(t.handle_type));
    }
    /// One that is locked does not change. Compiling locks those of a pipeline.
    void operator()(const LoopLevel &level) {
        if (level.locked()) {
            sink.put_object(level.identity());
            return;
        }
        const bool is_loop = level.defined() && !level.is_inlined() && !level.is_root();
        sink.put(!level.defined() ? 0 : level.is_inlined() ? 1 : level.is_root() ? 2 : 3);
        if (is_loop) {
            (*this)(level.func_name());
            (*this)(level.var_name());
            sink.put(uint64_t(level.is_rvar()) << 32 | uint32_t(level.stage_index()));
        }
    }
    void operator()(const Parameter &p) {
        sink.put_object(p.contents().get());
        if (p.defined()) {
            (*this)(*p.contents());
        }
    }
    template<typename T>
    requires std::derived_from<T, Symbol>
    void operator()(const IntrusivePtr<T> &symbol) {
        sink.put_object(symbol.get());
    }
};

struct Recorder {
    std::vector<uint64_t> &words;
    std::string &texts;
    std::vector<IntrusivePtr<const RefCounted>> &objects;

    void put(uint64_t word) {
        words.push_back(word);
    }
    void put_text(std::string_view text) {
        words.push_back(text.size());
        texts += text;
    }
    void put_object(const RefCounted *object) {
        words.push_back(reinterpret_cast<uintptr_t>(object));
        objects.emplace_back(object);
    }
};

struct Comparer {
    const uint64_t *word, *end;
    const char *text, *text_end;
    bool is_same = true;

    void put(uint64_t w) {
        is_same = is_same && word != end && *word == w;
        word += is_same;
    }
    void put_text(std::string_view t) {
        put(t.size());
        is_same = is_same && t.size() <= size_t(text_end - text) &&
                  std::memcmp(text, t.data(), t.size()) == 0;
        text += is_same ? t.size() : 0;
    }
    void put_object(const RefCounted *object) {
        put(reinterpret_cast<uintptr_t>(object));
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

// A program may change these without an edit: they are those of its buffers.
template<typename Sink>
void walk_shapes(Sink &sink, const std::vector<Image> &images) {
    for (const Image &image : images) {
        put_shape(sink, image);
    }
}

template<typename Sink>
void walk(Sink &sink, const std::vector<Function> &functions,
          const std::vector<Parameter> &parameters, const std::vector<Requirement> &requirements,
          bool trace_pipeline) {
    FieldWalk<Sink> fields(sink);
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
    edits_ = edit_count();
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
    Recorder recorder{words_, texts_, objects_};
    walk_shapes(recorder, images_);
    walk(recorder, functions_, parameters_, source.requirements, source.trace_pipeline);
}

bool PipelineSnapshot::is_of(const std::vector<Function> &outputs,
                             const std::vector<Requirement> &requirements,
                             bool trace_pipeline) const {
    const uint64_t edits = edit_count();  // before anything is looked at
    if (words_.empty() || !are_same(outputs, outputs_)) {
        return false;
    }
    Comparer comparer{words_.data(), words_.data() + words_.size(), texts_.data(),
                      texts_.data() + texts_.size()};
    walk_shapes(comparer, images_);
    if (edits_ == edits) {
        return comparer.is_same;
    }
    const ReadingScope reading;
    walk(comparer, functions_, parameters_, requirements, trace_pipeline);
    const bool is_same = comparer.is_same && comparer.word == comparer.end;
    if (is_same) {
        edits_ = edits;
    }
    return is_same;
}

}  // namespace calotype::internal
