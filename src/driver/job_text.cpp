// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/job_text.h"

#include <cstring>
#include <type_traits>

#include "ir/field_walk.h"

namespace calotype::internal {

void JobText::put(std::string_view text) {
    text_ += std::to_string(text.size());
    text_ += ':';
    text_ += text;
}

void JobText::put(int64_t number) {
    text_ += std::to_string(number);
    text_ += ' ';
}

void JobText::put(const Type &type) {
    put(int64_t(type.code()));
    put(int64_t(type.bits()));
    put(int64_t(type.lanes()));
    if (type.handle_type) {
        put(type.handle_type->cpp_name);
    }
    text_ += ';';
}

// Writes each field of a node, whatever its type.
struct JobText::FieldWriter {
    JobText &out;

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
    template<typename T>
    void operator()(const std::vector<T> &list) {
        out.put(int64_t(list.size()));
        for (const T &item : list) {
            (*this)(item);
        }
    }
    template<typename T>
    std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>> operator()(const T &value) {
        out.put(int64_t(value));
    }
};

void JobText::put_node(const ExprNode *node) {
    put(int64_t(node->kind));
    put(node->type);
    dispatch(node, [&](const auto *op) {
        for_each_field(*op, FieldWriter{*this});
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

void JobText::put(const Expr &e) {
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

void JobText::put(const Range &r) {
    put(r.min);
    put(r.extent);
}

template<typename T>
void JobText::put_all(const std::vector<T> &list) {
    put(int64_t(list.size()));
    for (const T &item : list) {
        put(item);
    }
}

void JobText::put_names(const std::vector<std::string> &names) {
    put(int64_t(names.size()));
    for (const std::string &name : names) {
        put(name);
    }
}

void JobText::put(const Argument &a) {
    put(a.name);
    put(int64_t(a.kind));
    put(int64_t(a.dimensions));
    put(a.type);
}

void JobText::put(const ArgumentEstimates &e) {
    put(e.scalar_def);
    put(e.scalar_min);
    put(e.scalar_max);
    put(e.scalar_estimate);
    put_all(e.buffer_estimates);
}

void JobText::put(const LoopLevel &level) {
    put(level.to_string());
    put(level.defined() && !level.is_inlined() && !level.is_root() && level.is_rvar() ? 1 : 0);
}

void JobText::put(const std::vector<ReductionVariable> &domain) {
    put(int64_t(domain.size()));
    for (const ReductionVariable &v : domain) {
        put(v.var);
        put(v.min);
        put(v.extent);
    }
}

void JobText::put(const StageSchedule &s) {
    put(s.rvars);
    put(int64_t(s.splits.size()));
    for (const Split &split : s.splits) {
        put(split.old_var);
        put(split.outer);
        put(split.inner);
        put(split.factor);
        put(split.exact);
        put(int64_t(split.tail));
        put(int64_t(split.kind));
    }
    put(int64_t(s.dims.size()));
    for (const Dim &dim : s.dims) {
        put(dim.var);
        put(int64_t(dim.for_type));
        put(int64_t(dim.device_api));
        put(int64_t(dim.dim_type));
        put(int64_t(dim.partition));
    }
    put(int64_t(s.prefetches.size()));
    for (const PrefetchDirective &p : s.prefetches) {
        put(p.name);
        put(p.at);
        put(p.from);
        put(p.offset);
        put(int64_t(p.strategy));
        put(p.symbol ? p.symbol->name : "");
    }
    put(s.fuse_level.level);
    for (const auto &[dim, align] : s.fuse_level.align) {
        put(dim);
        put(int64_t(align));
    }
    put(int64_t(s.fused_pairs.size()));
    for (const FusedPair &p : s.fused_pairs) {
        put(p.func_1);
        put(p.func_2);
        put(int64_t(p.stage_1));
        put(int64_t(p.stage_2));
        put(p.var_name);
    }
    for (const bool flag : {s.allow_race_conditions, s.atomic, s.override_atomic_associativity_test,
                            s.stream_stores}) {
        put(flag);
    }
    put_names(s.stream_loads);
}

void JobText::put(const Bound &b) {
    put(b.var);
    put(b.min);
    put(b.extent);
    put(b.modulus);
    put(b.remainder);
}

void JobText::put(const FuncSchedule &s) {
    put(s.store_level);
    put(s.compute_level);
    put(s.hoist_storage_level);
    put(int64_t(s.storage_dims.size()));
    for (const StorageDim &d : s.storage_dims) {
        put(d.var);
        put(d.alignment);
        put(d.bound);
        put(d.fold_factor);
        put(d.fold_forward);
    }
    put_all(s.bounds);
    put_all(s.estimates);
    put(int64_t(s.wrappers.size()));
    for (const auto &[consumer, wrapper] : s.wrappers) {
        put(consumer);
        put(wrapper->name);
    }
    put(int64_t(s.memory_type));
    put(s.memoize_eviction_key);
    put(s.ring_buffer);
    for (const bool flag : {s.memoized, s.async, s.trace_loads, s.trace_stores,
                            s.trace_realizations, s.no_profiling}) {
        put(flag);
    }
    put_names(s.trace_tags);
}

void JobText::put(const Definition *d) {
    if (!d) {
        text_ += "- ";
        return;
    }
    put(d->is_init);
    put_all(d->args);
    put_all(d->values);
    put(d->predicate);
    put(d->schedule);
    put(int64_t(d->specializations.size()));
    for (const Specialization &s : d->specializations) {
        put(s.condition);
        put(s.definition.get());
        put(s.failure_message);
    }
}

void JobText::put(const ExternFuncArgument &a) {
    put(int64_t(a.arg_type));
    put(a.func ? a.func->name : "");
    put(a.buffer ? a.buffer->name : "");
    put(a.expr);
    put(a.image_param.defined() ? a.image_param.name() : "");
}

void JobText::put(const Function &f) {
    put(f->name);
    put_names(f->args);
    put_all(f->output_types);
    put(f->init.get());
    put(int64_t(f->updates.size()));
    for (const DefinitionPtr &update : f->updates) {
        put(update.get());
    }
    put(f->schedule);
    put_all(f->output_buffers);
    put(f->debug_file);
    put(f->extern_name);
    put_all(f->extern_args);
    put(int64_t(f->extern_mangling));
    put(int64_t(f->extern_device_api));
    put(f->copy_to.has_value());
    put(int64_t(f->copy_to.value_or(DeviceAPI::None)));
    put(f->extern_proxy_expr);
    put(f->extern_schedule.get());
}

void JobText::put(const Parameter &p) {
    put(p->name);
    put(p->type);
    put(p->is_buffer);
    put(int64_t(p->dimensions));
    for (const Expr &e : {p->min_value, p->max_value, p->estimate, p->default_value}) {
        put(e);
    }
    put(int64_t(p->host_alignment));
    for (const BufferConstraint &c : p->constraints) {
        for (const Expr &e : {c.min, c.extent, c.stride, c.min_estimate, c.extent_estimate}) {
            put(e);
        }
    }
    put(int64_t(p->memory_type));
    put(p->trace_loads);
    put_names(p->trace_tags);
}

void JobText::put(const Image &image, bool with_contents) {
    put(image->name);
    const calotype_buffer_t *b = image->buffer->raw();
    put(Type(b->type));
    put(int64_t(b->dimensions));
    if (!with_contents) {
        return;
    }
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
    if (b->host) {
        put(std::string_view(reinterpret_cast<const char *>(b->host) + first * bytes,
                             size_t((last - first + 1) * bytes)));
    }
}

// Digests stand for the images, which may be large.
void JobText::put(const Linkable &linkable) {
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

void JobText::put(const LinkedFunction &signature) {
    put(signature.result);
    put_all(signature.parameters);
}

void JobText::put_pipeline(const PipelineSource &source) {
    const Environment env = build_environment(source.outputs);
    const UsedParameters used = parameters_used(env, source.requirements);
    put(int64_t(source.outputs.size()));
    for (const Function &f : source.outputs) {
        put(f.name());
    }
    put_all(source.args);
    for (const Requirement &r : source.requirements) {
        put(r.condition);
        put_all(r.message_parts);
    }
    put(source.trace_pipeline);
    put(int64_t(env.size()));
    for (const auto &[name, f] : env) {
        put(f);
    }
    for (const auto &[name, parameter] : used.parameters) {
        put(parameter);
    }
    for (const auto &[name, image] : used.images) {
        bool is_argument = false;
        for (const Argument &a : source.args) {
            is_argument = is_argument || a.name == name;
        }
        put(image, !is_argument);
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
