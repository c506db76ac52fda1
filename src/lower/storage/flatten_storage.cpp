// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How storage is laid out. Of a Func with the arguments x, y, c and storage order c, x, y:
//
//     dimension of the Func      x                     y                      c
//     stride                     extent'(c)            stride(x)*extent'(x)   1
//
// where extent' is the extent rounded up to the alignment that align_storage asks for. Where the schedule says nothing
// of it and all vectors lie along one dimension, that is the first. Of storage of a thread, which may be in registers only
// if all indices are constants, extent' is a bound where one is known: the last threads that need less of it lay it out
// as all others do.
#include "lower/storage/flatten_storage.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/buffer_header.h"
#include "lower/gpu/access/image_accesses.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/instrument/look_up_memoized.h"
#include "lower/known_here.h"
#include "lower/loops/lane_dimensions.h"
#include "lower/names.h"
#include "lower/nest/copy_stage.h"
#include "lower/nest/extern_stage.h"
#include "lower/storage/flat_index.h"
#include "lower/storage/handle_names.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// Rows of a thread's storage that may be in registers.
constexpr int64_t max_row_of_thread = 256;

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

class StorageFlattener : public Mutator {
public:
    StorageFlattener(LowerContext &ctx, std::unordered_set<std::string> handles,
                     std::unordered_map<std::string, int> lane_dimensions)
        : ctx_(ctx), handles_(std::move(handles)), lane_dimensions_(std::move(lane_dimensions)),
          index_type_(index_type(ctx.target)), known_(ctx.ranges_of_parameters()) {
    }

private:
    using Mutator::visit;

    // Addresses.

    Expr shape_var(const std::string &name) const {
        return Variable::make(Int(32), name);
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
            return flat_index(name, args, internal, index_type_);
        }
        std::vector<Expr> coordinates;
        for (size_t d = 0; d < args.size(); d++) {
            coordinates.push_back(args[d] - shape_var(names::buffer_min(name, int(d))));
        }
        return image_index(name, t, coordinates);
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
        if (op->is_intrinsic(Intrinsic::stream_store)) {
            return mutate(op->args[0]);
        }
        if (op->is_intrinsic(Intrinsic::stream_load)) {
            const Call *around = std::exchange(streamed_, op);
            const Expr e = mutate(op->args[0]);
            streamed_ = around;
            return e;
        }
        if (op->call_type != CallKind::Func && op->call_type != CallKind::Image) {
            return Mutator::visit(op);
        }
        const bool is_streaming = streamed_ && is_streamed(op->name);
        // What a marked load needs for its coordinates is not meant.
        const Call *around = streamed_;
        if (around && around->args[0].get() == op) {
            streamed_ = nullptr;
        }
        const Expr e = load(op, is_streaming);
        streamed_ = around;
        return e;
    }

    /// Whether the stream_load around this place means loads of that buffer.
    bool is_streamed(const std::string &buffer) const {
        const Function *f = ctx_.function_of_buffer(buffer);
        const auto means = [&](const Expr &e) {
            const std::string &name = e.as<StringImm>()->value;
            return name == buffer || (f && name == f->name());
        };
        const std::vector<Expr> &args = streamed_->args;
        return args.size() == 1 || std::any_of(args.begin() + 1, args.end(), means);
    }

    Expr load(const Call *op, bool is_streaming) {
        const bool internal = realized_.contains(op->name);
        const Type t = storage_type(op->type);
        const Expr index = index_of(op->name, mutate(op->args), t, internal);
        // What an output holds changes while the pipeline runs, so its loads are of no parameter.
        const SymbolPtr symbol = op->call_type == CallKind::Image ? op->symbol : SymbolPtr();
        const Expr load = Load::make(t, op->name, index, const_true(t.lanes()), Alignment(), symbol,
                                     is_streaming);
        return t == op->type ? load : Cast::make(op->type, load);
    }

    Stmt visit(const Provide *op) override {
        const bool internal = realized_.contains(op->name);
        Expr value = mutate(op->values[0]);
        if (storage_type(value.type()) != value.type()) {
            value = Cast::make(storage_type(value.type()), value);
        }
        const Expr index = index_of(op->name, mutate(op->args), value.type(), internal);
        const bool is_streaming = Call::as_intrinsic(op->values[0], {Intrinsic::stream_store});
        return Store::make(op->name, value, index, mutate(op->predicate), Alignment(),
                           internal ? SymbolPtr() : output_symbol(op->name), is_streaming);
    }

    Stmt visit(const Prefetch *op) override {
        return Prefetch::make(op->name, {storage_type(op->types[0])}, mutate(op->bounds), op->at,
                              op->from, op->offset, op->strategy, mutate(op->condition),
                              mutate(op->body), op->symbol);
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
        if (!(f && has_layout(*f)) && !is_passed_on(op)) {
            move_lanes_first(op->name, layout);
        }
        return layout;
    }

    /// Whether the schedule says how elements lie in memory.
    static bool has_layout(const Function &f) {
        const auto &dims = f.schedule().storage_dims;
        for (size_t d = 0; d < dims.size(); d++) {
            if (dims[d].var != f.args()[d] || dims[d].alignment.defined()) {
                return true;
            }
        }
        return false;
    }

    /// Whether others than loads and stores of the host see the storage.
    bool is_passed_on(const Realize *op) const {
        const bool is_of_host =
            kernel_api_ == DeviceAPI::None &&
            (op->memory_type == MemoryType::Auto || op->memory_type == MemoryType::Heap ||
             op->memory_type == MemoryType::Stack || op->memory_type == MemoryType::Register);
        return !is_of_host || handles_.count(op->name) || handles_.count(names::buffer(op->name));
    }

    /// The elements of a vector become neighbours, where all vectors lie along one dimension.
    void move_lanes_first(const std::string &name, Layout &layout) const {
        const auto found = lane_dimensions_.find(name);
        if (found != lane_dimensions_.end()) {
            const auto at = std::find(layout.order.begin(), layout.order.end(), found->second) -
                            layout.order.begin();
            std::rotate(layout.order.begin(), layout.order.begin() + at,
                        layout.order.begin() + at + 1);
            std::rotate(layout.extents.begin(), layout.extents.begin() + at,
                        layout.extents.begin() + at + 1);
        }
    }

    /// Whether it has copies of which C functions see one at a time.
    bool is_ring_of_extern_stage(const Realize *op) const {
        const Function *f = ctx_.function_of_buffer(op->name);
        const auto sees = [&](const Function &stage) {
            const auto inputs = extern_inputs(stage);
            return stage.name() == f->name() ||
                   std::any_of(inputs.begin(), inputs.end(),
                               [&](const auto &input) { return input.second == op->name; });
        };
        return f && f->schedule().ring_buffer.defined() &&
               int(op->bounds.size()) == f->dimensions() + 1 && !ctx_.target.has_gpu_feature() &&
               std::any_of(ctx_.env.begin(), ctx_.env.end(), [&](const auto &entry) {
                   const Function &stage = entry.second;
                   return stage.has_extern_definition() && !is_copy_stage(stage) && sees(stage);
               });
    }

    /// The header `name.buffer` of storage that has been allocated.
    Stmt make_header(const Realize *op, const Stmt &body) const {
        std::vector<HeaderDimension> shape;
        for (int d = 0; d < int(op->bounds.size()); d++) {
            shape.push_back({shape_var(names::buffer_min(op->name, d)),
                             shape_var(names::buffer_extent(op->name, d)),
                             shape_var(names::buffer_stride(op->name, d))});
        }
        Expr host = Variable::make(Handle(), op->name);
        if (is_ring_of_extern_stage(op)) {
            const Expr copy =
                shape_var(names::ring_index(ctx_.function_of_buffer(op->name)->name()));
            const Expr bytes =
                cast(UInt(64), copy * shape.back().stride) * storage_type(op->types[0]).bytes();
            host = reinterpret(Handle(), reinterpret(UInt(64), host) + bytes);
            shape.pop_back();
        }
        return LetStmt::make(names::buffer(op->name), make_buffer_header(host, op->types[0], shape),
                             body);
    }

    Stmt visit(const Realize *op) override {
        const Layout layout = layout_of(op);
        const Region bounds = mutate(op->bounds);
        const Expr condition = mutate(op->condition);

        std::vector<std::pair<std::string, Expr>> lets;
        auto define = [&](const std::string &name, const Expr &value) {
            lets.emplace_back(name, value);
        };
        for (size_t d = 0; d < bounds.size(); d++) {
            define(names::buffer_min(op->name, int(d)), bounds[d].min);
            define(names::buffer_extent(op->name, int(d)), row_extent(op, bounds[d].extent));
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
        // What a cache keeps has the headers that it is looked up with.
        const Function *f = ctx_.function_of_buffer(op->name);
        const bool has_header = kernel_api_ == DeviceAPI::None &&
                                handles_.count(names::buffer(op->name)) &&
                                !(f && is_memoized(*f, ctx_));
        if (has_header) {
            body = make_header(op, body);
        }
        body = Allocate::make(op->name, storage_type(op->types[0]), memory_of(op), layout.extents,
                              condition, body);
        return wrap_in_lets(lets, body);
    }

    bool may_have_kernels() const {
        return ctx_.target.has_gpu_feature();
    }

    /// Where there are loops over threads or lanes inside, it is what several share.
    Expr row_extent(const Realize *op, const Expr &extent) const {
        const bool is_of_thread = in_threads_ > 0 && (op->memory_type == MemoryType::Auto ||
                                                      op->memory_type == MemoryType::Stack ||
                                                      op->memory_type == MemoryType::Register);
        if (!is_of_thread || is_const(extent) ||
            contains<For>(op->body, [](const For *loop) { return is_thread_loop(loop); })) {
            return extent;
        }
        const std::optional<int64_t> bound = known_.upper_bound(extent);
        return bound && *bound > 0 && *bound <= max_row_of_thread ? Expr(int(*bound)) : extent;
    }

    /// On the host a texture is memory like any other.
    MemoryType memory_of(const Realize *op) const {
        const bool is_host = kernel_api_ == DeviceAPI::None;
        return is_host && op->memory_type == MemoryType::GPUTexture ? MemoryType::Heap
                                                                    : op->memory_type;
    }

    Stmt visit(const For *op) override {
        const DeviceAPI outside = kernel_api_;
        kernel_api_ = is_gpu(op->for_type) ? op->device_api : outside;
        const bool is_thread = is_thread_loop(op);
        in_threads_ += is_thread;
        std::optional<KnownHere::Inside> inside;
        if (may_have_kernels()) {
            inside.emplace(known_, op);
        }
        const Stmt s = Mutator::visit(op);
        in_threads_ -= is_thread;
        kernel_api_ = outside;
        return s;
    }

    Stmt visit(const LetStmt *op) override {
        std::optional<KnownHere::Inside> inside;
        if (may_have_kernels()) {
            inside.emplace(known_, op);
        }
        return Mutator::visit(op);
    }

    Stmt visit(const IfThenElse *op) override {
        if (!may_have_kernels()) {
            return Mutator::visit(op);
        }
        const Stmt flat = IfThenElse::make(mutate(op->condition), op->then_case, op->else_case);
        return rewrite_branches(flat.as<IfThenElse>(), known_,
                                [&](const Stmt &s) { return mutate(s); });
    }

    LowerContext &ctx_;
    const std::unordered_set<std::string> handles_;
    const std::unordered_map<std::string, int> lane_dimensions_;
    const Type index_type_;
    const Call *streamed_ = nullptr;          ///< the stream_load around this place
    DeviceAPI kernel_api_ = DeviceAPI::None;  ///< of the kernel that we are in
    std::set<std::string> plain_textures_;    ///< that were warned of
    Scope<> realized_;
    int in_threads_ = 0;
    KnownHere known_;  ///< if there may be kernels
};

}  // namespace

Stmt flatten_storage(const Stmt &s, LowerContext &ctx) {
    std::unordered_set<std::string> handles = handle_names(s);
    Kernels kernels;
    kernels(s);
    handles.insert(kernels.used.names.begin(), kernels.used.names.end());
    return StorageFlattener(ctx, std::move(handles), lane_dimensions(s)).mutate(s);
}

}  // namespace calotype::internal
