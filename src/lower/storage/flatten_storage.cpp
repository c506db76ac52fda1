// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How storage is laid out. Of a Func with the arguments x, y, c and storage order c, x, y:
//
//     dimension of the Func      x                     y                      c
//     stride                     extent'(c)            stride(x)*extent'(x)   1
//
// where extent' is the extent rounded up to the alignment that align_storage asks for.
#include "lower/storage/flatten_storage.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "arith/bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/buffer_header.h"
#include "lower/expand_lets.h"
#include "lower/gpu/access/image_accesses.h"
#include "lower/instrument/memoization.h"
#include "lower/storage/handle_names.h"
#include "support/scope.h"

namespace calotype {

using namespace internal;

using internal::bounds_of_expr;
using internal::Interval;
using internal::Scope;
using internal::ScopedBinding;

namespace {

constexpr int cache_line_bytes = 64;

/// Bools take a byte.
Type storage_type(const Type &t) {
    return t.is_bool() ? t.with_bits(8) : t;
}

/// The headers of all buffers that are used where it is sent.
class UsedHeaders : public GraphVisitor {
public:
    std::unordered_set<std::string> names;

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        names.insert(names::buffer(op->name));
        GraphVisitor::visit(op);
    }
    void visit(const Provide *op) override {
        names.insert(names::buffer(op->name));
        GraphVisitor::visit(op);
    }
};

/// Sends UsedHeaders into the kernels: devices know buffers by their headers.
class Kernels : public GraphVisitor {
public:
    UsedHeaders used;

private:
    using GraphVisitor::visit;
    void visit(const For *op) override {
        if (is_gpu(op->for_type)) {
            used(op->body);
        } else {
            GraphVisitor::visit(op);
        }
    }
};

/// A `hoisted storage` that we are inside of.
struct Hoisting {
    Scope<Interval> ranges;  ///< of loop variables and lets between it and the Realize
    // What to allocate, once a Realize was found.
    Type type;
    MemoryType memory_type = MemoryType::Auto;
    std::vector<Expr> extents;
    bool found = false;
};

class StorageFlattener : public Mutator {
public:
    StorageFlattener(LowerContext &ctx, std::unordered_set<std::string> handles)
        : ctx_(ctx), handles_(std::move(handles)),
          index_type_(ctx.target.has_large_buffers() ? Int(64) : Int(32)) {
    }

private:
    using Mutator::visit;

    // Addresses.

    Expr shape_var(const std::string &name) const {
        return Variable::make(Int(32), name);
    }

    Expr as_index(const Expr &e) const {
        const Type t = index_type_.with_lanes(e.type().lanes());
        return e.type() == t ? e : Cast::make(t, e);
    }

    /// Of storage made in this pipeline the mins are near: (arg - min) stays small and often
    /// cancels. Of other buffers the part that has no argument is one term, the same for all
    /// accesses.
    Expr flat_index(const std::string &name, const std::vector<Expr> &args, bool internal) const {
        Expr index, base;
        for (int d = int(args.size()) - 1; d >= 0; d--) {
            const Expr min = as_index(shape_var(names::buffer_min(name, d)));
            const Expr stride = as_index(shape_var(names::buffer_stride(name, d)));
            const Expr arg = as_index(args[d]);
            add_term(index, (internal ? arg - min : arg) * stride);
            add_term(base, min * stride);
        }
        if (!index.defined()) {
            return make_zero(index_type_);
        }
        return internal ? index : index - base;
    }

    /// In kernels for OpenCL a texture is an image, whose elements have coordinates counted from
    /// its mins.
    bool is_image(const std::string &name) {
        if (!ctx_.is_texture(name)) {
            return false;
        }
        if (kernel_api_ == DeviceAPI::CUDA && plain_textures_.insert(name).second) {
            user_warning << "pipeline " << ctx_.pipeline_name << ": " << name
                         << " is stored in gpu_texture, which kernels for CUDA do not use: it is "
                         << "in device memory";
        }
        return kernel_api_ == DeviceAPI::OpenCL;
    }

    Expr index_of(const std::string &name, const std::vector<Expr> &args, const Type &t,
                  bool internal) {
        if (!is_image(name)) {
            return flat_index(name, args, internal);
        }
        std::vector<Expr> coordinates;
        for (size_t d = 0; d < args.size(); d++) {
            coordinates.push_back(args[d] - shape_var(names::buffer_min(name, int(d))));
        }
        return internal::image_index(name, t, coordinates);
    }

    static void add_term(Expr &sum, const Expr &term) {
        sum = sum.defined() ? sum + term : term;
    }

    SymbolPtr output_symbol(const std::string &buffer) const {
        const Function *f = ctx_.function_of_buffer(buffer);
        if (!f) {
            return nullptr;
        }
        const std::vector<Parameter> &outputs = (*f)->output_buffers;
        for (int i = 0; i < f->outputs(); i++) {
            if (f->buffer_name(i) == buffer) {
                return i < int(outputs.size()) ? SymbolPtr(outputs[i].contents()) : SymbolPtr();
            }
        }
        return nullptr;
    }

    Expr visit(const Call *op) override {
        if (op->call_kind != CallKind::Func && op->call_kind != CallKind::Image) {
            return Mutator::visit(op);
        }
        const bool internal = realized_.contains(op->name);
        const Type t = storage_type(op->type);
        const Expr index = index_of(op->name, mutate(op->args), t, internal);
        const SymbolPtr symbol = internal                           ? nullptr
                                 : op->call_kind == CallKind::Image ? op->symbol
                                                                    : output_symbol(op->name);
        const Expr load =
            Load::make(t, op->name, index, const_true(t.lanes()), Alignment(), symbol);
        return t == op->type ? load : Cast::make(op->type, load);
    }

    Stmt visit(const Provide *op) override {
        const bool internal = realized_.contains(op->name);
        Expr value = mutate(op->values[0]);
        if (storage_type(value.type()) != value.type()) {
            value = Cast::make(storage_type(value.type()), value);
        }
        const Expr index = index_of(op->name, mutate(op->args), value.type(), internal);
        return Store::make(op->name, value, index, mutate(op->predicate), Alignment(),
                           internal ? SymbolPtr() : output_symbol(op->name));
    }

    /// One access a cache line, where the strategy allows it.
    Stmt visit(const Prefetch *op) override {
        const Stmt body = mutate(op->body);
        const Region bounds = mutate(op->bounds);
        const Type t = storage_type(op->types[0]);
        std::vector<Expr> mins, maxes, args;
        Expr inside = mutate(op->condition);
        for (int d = 0; d < int(bounds.size()); d++) {
            const Expr buffer_min = shape_var(names::buffer_min(op->name, d));
            const Expr buffer_max = buffer_min + shape_var(names::buffer_extent(op->name, d)) - 1;
            Expr first = bounds[d].min, last = bounds[d].min + bounds[d].extent - 1;
            if (op->strategy == PrefetchBoundStrategy::Clamp) {
                first = clamp(first, buffer_min, buffer_max);
                last = clamp(last, buffer_min, buffer_max);
            } else if (op->strategy == PrefetchBoundStrategy::GuardWithIf) {
                inside = inside && first >= buffer_min && last <= buffer_max;
            }
            mins.push_back(first);
            maxes.push_back(last);
        }
        const int step = std::max(1, cache_line_bytes / t.bytes());
        std::vector<std::string> loops;
        for (size_t d = 0; d < bounds.size(); d++) {
            loops.push_back(ctx_.names.unique(op->name + ".prefetch." + std::to_string(d)));
            args.push_back(mins[d] + Variable::make(Int(32), loops[d]) * (d == 0 ? step : 1));
        }
        const Expr index = flat_index(op->name, args, realized_.contains(op->name));
        Stmt fetch = Evaluate::make(
            Call::make(t, Intrinsic::prefetch, {Variable::make(Handle(), op->name), index}));
        for (size_t d = 0; d < bounds.size(); d++) {
            const Expr extent = maxes[d] - mins[d] + 1;
            fetch = For::make(loops[d], 0, d == 0 ? (extent + (step - 1)) / step : extent,
                              ForType::Serial, Partition::Never, DeviceAPI::None, fetch);
        }
        if (!is_trivially_true(inside)) {
            fetch = IfThenElse::make(inside, fetch);
        }
        return Block::make(fetch, body);
    }

    // Storage.

    /// For the Func's storage dimensions, innermost first: which argument it is, and the extent
    /// that is allocated.
    struct Layout {
        std::vector<int> order;
        std::vector<Expr> extents;
    };

    Layout layout_of(const Realize *op) const {
        const Function *f = ctx_.function_of_buffer(op->name);
        Layout layout;
        auto add = [&](int d, const Expr &alignment) {
            Expr extent = shape_var(names::buffer_extent(op->name, d));
            if (alignment.defined()) {
                extent = simplify((extent + (alignment - 1)) / alignment * alignment);
            }
            layout.order.push_back(d);
            layout.extents.push_back(extent);
        };
        if (f) {
            for (const StorageDim &s : f->schedule().storage_dims) {
                for (int d = 0; d < f->dimensions(); d++) {
                    if (f->args()[d] == s.var) {
                        add(d, s.alignment);
                    }
                }
            }
        }
        // What the schedule does not mention (dimensions that lowering added) is outermost.
        for (int d = 0; d < int(op->bounds.size()); d++) {
            if (std::find(layout.order.begin(), layout.order.end(), d) == layout.order.end()) {
                add(d, Expr());
            }
        }
        return layout;
    }

    /// The header `name.buffer` of storage that has been allocated.
    Stmt make_header(const Realize *op, const Stmt &body) const {
        std::vector<internal::HeaderDimension> shape;
        for (int d = 0; d < int(op->bounds.size()); d++) {
            shape.push_back({shape_var(names::buffer_min(op->name, d)),
                             shape_var(names::buffer_extent(op->name, d)),
                             shape_var(names::buffer_stride(op->name, d))});
        }
        const Expr host = Variable::make(Handle(), op->name);
        return LetStmt::make(names::buffer(op->name),
                             internal::make_buffer_header(host, op->types[0], shape), body);
    }

    Stmt visit(const Realize *op) override {
        const Layout layout = layout_of(op);
        const Region bounds = mutate(op->bounds);
        const Expr condition = mutate(op->condition);

        std::vector<std::pair<std::string, Expr>> lets;
        auto define = [&](const std::string &name, const Expr &value) {
            lets.emplace_back(name, value);
            note_let(name, value);
        };
        for (size_t d = 0; d < bounds.size(); d++) {
            define(names::buffer_min(op->name, int(d)), bounds[d].min);
            define(names::buffer_extent(op->name, int(d)), bounds[d].extent);
        }
        for (size_t i = 0; i < layout.order.size(); i++) {
            const Expr stride =
                i == 0 ? Expr(1)
                       : shape_var(names::buffer_stride(op->name, layout.order[i - 1])) *
                             layout.extents[i - 1];
            define(names::buffer_stride(op->name, layout.order[i]), simplify(stride));
        }

        ScopedBinding<> bind(realized_, op->name);
        Stmt body = mutate(op->body);
        const Function *f = ctx_.function_of_buffer(op->name);
        if (f && is_memoized(*f)) {
            body = memoized(*f, op, layout.extents, body);
        } else {
            if (kernel_api_ == DeviceAPI::None && handles_.count(names::buffer(op->name))) {
                body = make_header(op, body);
            }
            body = allocate(op, layout.extents, condition, body);
        }
        for (size_t i = lets.size(); i-- > 0;) {
            body = LetStmt::make(lets[i].first, lets[i].second, body);
            forget_let(lets[i].first);
        }
        return body;
    }

    /// What the cache has is not computed. Bounds inference knows nothing of this: the region is
    /// the same.
    Stmt visit(const ProducerConsumer *op) override {
        const Stmt s = Mutator::visit(op);
        auto it = ctx_.env.find(op->name);
        if (!op->is_producer || it == ctx_.env.end() || !is_memoized(it->second)) {
            return s;
        }
        const Function &f = it->second;
        const Stmt compute =
            Block::make(s.as<ProducerConsumer>()->body, internal::store_memoized(f));
        return ProducerConsumer::make_produce(
            op->name, IfThenElse::make(internal::memoized_is_missing(f), compute));
    }

    /// A memoized output is computed as usual: its storage is the caller's.
    bool is_memoized(const Function &f) const {
        return f.schedule().memoized && !ctx_.is_output(f.name());
    }

    /// The cache has the storage. All values of a Func are looked up at once, inside of the shapes
    /// of all.
    Stmt memoized(const Function &f, const Realize *op, const std::vector<Expr> &extents,
                  const Stmt &body) const {
        if (op->name != f.buffer_name(f.outputs() - 1)) {
            return body;
        }
        internal::MemoizedStorage storage;
        for (int i = 0; i < f.outputs(); i++) {
            storage.buffers.push_back(f.buffer_name(i));
            storage.types.push_back(storage_type(f.output_types()[i]));
        }
        for (int d = 0; d < int(op->bounds.size()); d++) {
            storage.mins.push_back(shape_var(names::buffer_min(op->name, d)));
            storage.sizes.push_back(shape_var(names::buffer_extent(op->name, d)));
            storage.strides.push_back(shape_var(names::buffer_stride(op->name, d)));
        }
        storage.extents = extents;
        return internal::look_up_memoized(f, storage, body, ctx_);
    }

    /// What the host knows of a texture is memory as any.
    MemoryType memory_of(const Realize *op) const {
        const bool is_host = kernel_api_ == DeviceAPI::None;
        return is_host && op->memory_type == MemoryType::GPUTexture ? MemoryType::Heap
                                                                    : op->memory_type;
    }

    /// The allocation around `body`, or, where the storage is hoisted, `body` with the allocation
    /// left to the hoisting.
    Stmt allocate(const Realize *op, const std::vector<Expr> &extents, const Expr &condition,
                  const Stmt &body) {
        const Type t = storage_type(op->types[0]);
        Hoisting *hoisting = find_hoisting(op->name);
        if (!hoisting) {
            return Allocate::make(op->name, t, memory_of(op), extents, condition, body);
        }
        std::vector<Expr> largest;
        for (const Expr &extent : extents) {
            largest.push_back(largest_extent(op->name, extent, *hoisting));
        }
        if (hoisting->extents.empty()) {
            hoisting->extents = largest;
        } else {
            for (size_t i = 0; i < largest.size(); i++) {
                hoisting->extents[i] = max(hoisting->extents[i], largest[i]);
            }
        }
        hoisting->type = t;
        hoisting->memory_type = memory_of(op);
        hoisting->found = true;
        return body;
    }

    // Hoisting.

    /// An end of the region may depend on a loop although the difference of both does not.
    Expr largest_extent(const std::string &name, const Expr &extent,
                        const Hoisting &hoisting) const {
        const Expr expanded = simplify(internal::expand_lets(extent, values_));
        const Interval exact = bounds_of_expr(expanded, hoisting.ranges);
        const Interval range =
            exact.has_upper_bound() ? exact : bounds_of_expr(extent, hoisting.ranges);
        user_assert(range.has_upper_bound())
            << "storage of " << name << " cannot be hoisted: its extent " << extent
            << " has no bound outside of the loops in between";
        return simplify(range.max);
    }

    Hoisting *find_hoisting(const std::string &name) {
        auto it = hoistings_.find(name);
        return it == hoistings_.end() ? nullptr : it->second;
    }

    Stmt visit(const HoistedStorage *op) override {
        Hoisting hoisting;
        hoistings_[op->name] = &hoisting;
        Stmt body = mutate(op->body);
        hoistings_.erase(op->name);
        if (hoisting.found) {
            body = Allocate::make(op->name, hoisting.type, hoisting.memory_type, hoisting.extents,
                                  const_true(), body);
        }
        return body;
    }

    void note_let(const std::string &name, const Expr &value) {
        for (auto &entry : hoistings_) {
            entry.second->ranges.push(name,
                                      value.type().is_int_or_uint() && value.type().is_scalar()
                                          ? bounds_of_expr(value, entry.second->ranges)
                                          : Interval::single_point(value));
        }
        values_.push(name, value);
    }

    void forget_let(const std::string &name) {
        for (auto &entry : hoistings_) {
            entry.second->ranges.pop(name);
        }
        values_.pop(name);
    }

    Stmt visit(const LetStmt *op) override {
        if (hoistings_.empty()) {
            ScopedBinding<Expr> bind(is_const(op->value), values_, op->name, op->value);
            return Mutator::visit(op);
        }
        const Expr value = mutate(op->value);
        note_let(op->name, value);
        const Stmt body = mutate(op->body);
        forget_let(op->name);
        return LetStmt::make(op->name, value, body);
    }

    Stmt visit(const For *op) override {
        const DeviceAPI outside = kernel_api_;
        kernel_api_ = is_gpu(op->for_type) ? op->device_api : outside;
        const Stmt s = visit_loop(op);
        kernel_api_ = outside;
        return s;
    }

    Stmt visit_loop(const For *op) {
        if (hoistings_.empty()) {
            return Mutator::visit(op);
        }
        const Expr min = mutate(op->min), extent = mutate(op->extent);
        for (auto &entry : hoistings_) {
            Scope<Interval> &ranges = entry.second->ranges;
            const Interval range(bounds_of_expr(min, ranges).min,
                                 bounds_of_expr(min + extent - 1, ranges).max);
            ranges.push(op->name, range);
        }
        const Stmt body = mutate(op->body);
        for (auto &entry : hoistings_) {
            entry.second->ranges.pop(op->name);
        }
        return For::make(op->name, min, extent, op->for_type, op->partition, op->device_api, body);
    }

    LowerContext &ctx_;
    const std::unordered_set<std::string> handles_;
    const Type index_type_;
    DeviceAPI kernel_api_ = DeviceAPI::None;  ///< of the kernel that we are in
    std::set<std::string> plain_textures_;    ///< that were warned of
    Scope<> realized_;
    std::map<std::string, Hoisting *> hoistings_;
    Scope<Expr> values_;  ///< of lets in hoistings, and of constant ones around them
};

}  // namespace

Stmt flatten_storage(const Stmt &s, LowerContext &ctx) {
    std::unordered_set<std::string> handles = handle_names(s);
    Kernels kernels;
    kernels(s);
    handles.insert(kernels.used.names.begin(), kernels.used.names.end());
    return StorageFlattener(ctx, std::move(handles)).mutate(s);
}

}  // namespace calotype
