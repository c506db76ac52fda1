// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/offload_kernels.h"

#include <cctype>
#include <map>
#include <set>

#include "arith/alignment_analysis.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/module.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/checks/error_call.h"
#include "lower/gpu/access/image_accesses.h"
#include "lower/gpu/device_limits.h"
#include "lower/gpu/host/device_alignment.h"
#include "lower/gpu/host/thread_scratch.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/names.h"
#include "lower/storage/device_heap.h"
#include "pipeline/parameter.h"
#include "pipeline/schedule.h"

namespace calotype::internal {

namespace {

constexpr int hold_bytes = 16;
/// In a kernel: the size of the shared memory that comes with the launch.
const char *const shared_bytes = ".shared_bytes";

/// What a kernel takes from outside.
class Closure : public Visitor {
public:
    std::map<std::string, KernelArgument> args;
    std::map<std::string, TileCopyCall> tiles;  ///< by the name of the argument

    Closure(const Stmt &body, const std::map<std::string, KernelArgument> &images) : args(images) {
        (*this)(body);
    }

private:
    using Visitor::visit;

    KernelArgument *buffer(const std::string &name, const Type &t, const SymbolPtr &symbol) {
        if (inside_.contains(name)) {
            return nullptr;
        }
        KernelArgument &arg = args[name];
        if (arg.name.empty()) {
            arg.name = name;
            arg.type = t.element_of();
            arg.is_buffer = true;
        }
        return &arg;
    }

    void visit(const Load *op) override {
        if (KernelArgument *arg = buffer(op->name, op->type, op->symbol)) {
            arg->read = true;
        }
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        if (KernelArgument *arg = buffer(op->name, op->value.type(), op->symbol)) {
            arg->written = true;
        }
        Visitor::visit(op);
    }
    void visit(const Variable *op) override {
        const bool is_argument = op->name != shared_bytes && !op->type.is_handle();
        if (!is_argument || inside_.contains(op->name)) {
            return;
        }
        KernelArgument &arg = args[op->name];
        arg.name = op->name;
        arg.type = op->type;
    }
    void visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::gpu_async_copy)) {
            const Variable *from = op->args[2].as<Variable>();
            if (KernelArgument *arg = buffer(from->name, op->type, nullptr)) {
                arg->read = true;
            }
        }
        if (op->is_intrinsic(Intrinsic::gpu_tile_copy)) {
            const TileCopyCall tile(op);
            KernelArgument &arg = args[tile.map];
            arg.name = tile.map;
            arg.type = Handle();
            arg.is_tile_map = true;
            tiles.emplace(tile.map, tile);
        }
        Visitor::visit(op);
    }
    void visit(const Allocate *op) override {
        for (const Expr &e : op->extents) {
            (*this)(e);
        }
        ScopedBinding<> bind(inside_, op->name);
        (*this)(op->body);
    }
    void visit(const LetStmt *op) override {
        (*this)(op->value);
        ScopedBinding<> bind(inside_, op->name);
        (*this)(op->body);
    }
    void visit(const Let *op) override {
        (*this)(op->value);
        ScopedBinding<> bind(inside_, op->name);
        (*this)(op->body);
    }
    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        ScopedBinding<> bind(inside_, op->name);
        (*this)(op->body);
    }
    Scope<> inside_;  ///< names that the kernel binds itself
};

/// Storage that the threads of a block share. What has a size that only the launch knows (one
/// allocation at most) is named by it: its extent becomes the Variable `.shared_bytes`.
class SharedStorage : public StmtMutator {
public:
    int64_t constant_bytes = 0;
    Expr launch_bytes = 0;
    bool dynamic = false;

private:
    using Mutator::visit;
    Stmt visit(const Allocate *op) override {
        if (!is_gpu_shared(op->memory_type)) {
            return Mutator::visit(op);
        }
        const int64_t element = op->type.bytes() * op->type.lanes();
        const int64_t bytes = (op->constant_size() + op->padding) * element;
        if (op->constant_size() > 0 && bytes <= max_static_shared_bytes) {
            constant_bytes += (bytes + alignment - 1) / alignment * alignment;
            return Mutator::visit(op);
        }
        internal_assert(!dynamic) << "a second allocation of shared memory of a size that is not "
                                  << "constant: " << op->name;
        dynamic = true;
        Expr elements = op->padding;
        Expr product = 1;
        for (const Expr &e : op->extents) {
            product = product * e;
        }
        launch_bytes = simplify((product + elements) * int(element));
        return Allocate::make(op->name, UInt(8), op->memory_type,
                              {Variable::make(Int(32), shared_bytes)}, op->condition,
                              mutate(op->body), op->new_expr, op->free_function, 0);
    }
    static constexpr int64_t alignment = 16;
};

/// As part of a name in any language of kernels.
std::string as_identifier(const std::string &name) {
    std::string result = name;
    for (char &c : result) {
        c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    }
    const bool digit = !result.empty() && std::isdigit(static_cast<unsigned char>(result[0]));
    return digit ? "_" + result : result;
}

class Offloader : public StmtMutator {
public:
    explicit Offloader(LowerContext &ctx) : ctx_(ctx) {
    }
    std::set<DeviceAPI> used;

    static std::string hold_name(DeviceAPI api) {
        return names::part(to_string(api), "hold");
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        return op->for_type == ForType::GPUBlock ? launch(op) : Mutator::visit(op);
    }

    Stmt visit(const Allocate *op) override {
        const ScopedBinding<> bind(has_runtime_device_memory(op), made_here_, op->name);
        return Mutator::visit(op);
    }

    Stmt visit(const IfThenElse *op) override {
        const std::map<std::string, int> outer = stated_;
        learn_addresses(op->condition);
        const Stmt then_case = mutate(op->then_case);
        stated_ = outer;
        return IfThenElse::make(op->condition, then_case, mutate(op->else_case));
    }

    /// Conditions on addresses, as assume_alignment makes them.
    void learn_addresses(const Expr &condition) {
        if (const And *both = condition.as<And>()) {
            learn_addresses(both->a);
            learn_addresses(both->b);
            return;
        }
        const EQ *equal = condition.as<EQ>();
        const Mod *mod = equal && is_const_zero(equal->b) ? equal->a.as<Mod>() : nullptr;
        const Call *address =
            mod ? Call::as_intrinsic(mod->a, Intrinsic::buffer_get_device) : nullptr;
        const Variable *header = address ? address->args[0].as<Variable>() : nullptr;
        if (header) {
            stated_[header->name] = int(as_const_int(mod->b).value_or(1));
        }
    }

    /// Of the address of a buffer on the device.
    Alignment alignment_of(const KernelArgument &a) const {
        if (made_here_.contains(a.name)) {
            return {device_memory_alignment, 0};
        }
        const auto stated = stated_.find(names::buffer(a.name));
        const Alignment promised = promised_alignment(ctx_, a.name, a.type);
        return stated == stated_.end() ? promised : intersection(promised, {stated->second, 0});
    }

    std::string kernel_name(const For *op) {
        const auto it = ctx_.loops.find(op->name);
        const std::string stage = it == ctx_.loops.end()
                                      ? op->name
                                      : it->second.func + "_s" + std::to_string(it->second.stage);
        const std::string wanted = as_identifier(stage);
        std::string name = wanted;
        for (int i = 1; !kernel_names_.insert(name).second; i++) {
            name = wanted + "_" + std::to_string(i);
        }
        return name;
    }

    DeviceModule &module_of(DeviceAPI api) {
        for (DeviceModule &m : ctx_.device_modules) {
            if (m.api == api) {
                return m;
            }
        }
        DeviceModule m;
        m.api = api;
        m.name = ctx_.pipeline_name;
        ctx_.device_modules.push_back(m);
        return ctx_.device_modules.back();
    }

    Stmt launch(const For *op) {
        KernelNest nest = match_kernel(op);
        const DeviceAPI api =
            nest.api == DeviceAPI::Default_GPU ? ctx_.target.get_required_device_api() : nest.api;
        used.insert(api);
        DeviceKernel kernel;
        kernel.name = kernel_name(op);
        SharedStorage shared;
        std::map<std::string, KernelArgument> images;
        ThreadScratch scratch(nest, api, ctx_);
        nest.body = scratch.body();
        nest.lets.clear();
        DeviceHeap heap(kernel.name, api);
        kernel.body = heap.mutate(use_images(shared.mutate(simplify(with_indices(nest))), images));
        kernel.shared_bytes = shared.constant_bytes;
        kernel.dynamic_shared = shared.dynamic;
        const Closure closure(kernel.body, images);
        for (const auto &entry : closure.args) {
            const bool is_image = entry.second.memory == MemoryType::GPUTexture;
            user_assert(!is_image || !entry.second.read || !entry.second.written)
                << "kernel " << kernel.name << " reads and writes " << entry.first
                << ", which is stored in gpu_texture: in OpenCL a kernel does only one of both to "
                << "an image";
            kernel.args.push_back(entry.second);
            if (entry.second.is_buffer) {
                kernel.args.back().alignment = scratch.is_made(entry.first)
                                                   ? Alignment(device_memory_alignment, 0)
                                                   : alignment_of(entry.second);
            }
        }
        for (int d = 0; d < max_gpu_dims; d++) {
            kernel.block_size[d] = as_const_int(nest.block_size(d)).value_or(0);
        }
        std::vector<Expr> args = {Variable::make(Handle(), hold_name(api)),
                                  StringImm::make(kernel.name)};
        for (int d = 0; d < max_gpu_dims; d++) {
            args.push_back(nest.grid_size(d));
        }
        for (int d = 0; d < max_gpu_dims; d++) {
            args.push_back(nest.block_size(d));
        }
        args.push_back(shared.launch_bytes);
        for (const KernelArgument &a : kernel.args) {
            args.push_back(argument_value(a));
        }
        const std::string result = names::part(kernel.name, "result");
        Stmt run = check_result(result, Call::make(Int(32), Intrinsic::gpu_launch, args), Stmt());
        if (heap.is_used()) {
            run = heap.around_launch(run, ctx_);
            DeviceHeap::add_functions(module_of(api).linked);
        }
        run = with_tile_maps(closure, scratch.around_launch(run));
        const Stmt checks = api == DeviceAPI::CUDA ? alignment_checks(kernel) : Stmt();
        module_of(api).kernels.push_back(std::move(kernel));
        return where_not_empty(nest, checks.defined() ? Block::make(checks, run) : run);
    }

    /// What is promised of an address on the host holds on the device only if nobody brought an
    /// address of his own. Only where addresses are numbers: in CUDA.
    Stmt alignment_checks(const DeviceKernel &kernel) const {
        Stmt checks;
        for (const KernelArgument &a : kernel.args) {
            const int alignment = int(promised_alignment(ctx_, a.name, a.type).modulus);
            if (!a.is_buffer || made_here_.contains(a.name) || alignment <= a.type.bytes()) {
                continue;
            }
            const bool is_input = ctx_.used.parameters.count(a.name) > 0;
            const Stmt one = check(
                argument_value(a) % make_const(UInt(64), alignment) == 0, "unaligned_device_ptr",
                {Expr((is_input ? "input buffer " : "output buffer ") + a.name), alignment});
            checks = checks.defined() ? Block::make(checks, one) : one;
        }
        return checks;
    }

    /// A loop of no iterations launches nothing.
    static Stmt where_not_empty(const KernelNest &nest, const Stmt &launch) {
        Expr condition;
        for (const std::vector<KernelLoop> *loops : {&nest.blocks, &nest.threads}) {
            for (const KernelLoop &loop : *loops) {
                const Expr some = loop.extent > 0;
                if (!can_prove(some)) {
                    condition = condition.defined() ? condition && some : some;
                }
            }
        }
        return condition.defined() ? IfThenElse::make(condition, launch) : launch;
    }

    /// What a kernel's copies of tiles need to know of their buffers is made for each launch.
    static Stmt with_tile_maps(const Closure &closure, Stmt launch) {
        for (const auto &[name, tile] : closure.tiles) {
            const Expr make = call_runtime(
                RuntimeFunction::cuda_describe_tiles,
                {user_context(), Variable::make(Handle(), names::buffer(tile.from)), tile.box_width,
                 tile.box_height, tile.dimension, Variable::make(Handle(), name)});
            const Expr storage =
                Call::make(Handle(), Intrinsic::alloca, {Expr(TileCopyCall::map_bytes)});
            launch = Block::make(check_result(names::part(name, "result"), make, Stmt()), launch);
            launch = LetStmt::make(name, storage, launch);
        }
        return launch;
    }

    static Expr argument_value(const KernelArgument &a) {
        if (!a.is_buffer) {
            return Variable::make(a.type, a.name);
        }
        return Call::make(UInt(64), Intrinsic::buffer_get_device,
                          {Variable::make(Handle(), names::buffer(a.name))});
    }

    static Stmt with_indices(const KernelNest &nest) {
        std::vector<std::pair<std::string, Expr>> lets;
        for (size_t d = 0; d < nest.blocks.size(); d++) {
            lets.emplace_back(nest.blocks[d].name, index_of(Intrinsic::gpu_block_index, int(d)));
        }
        for (size_t d = 0; d < nest.threads.size(); d++) {
            lets.emplace_back(nest.threads[d].name, index_of(Intrinsic::gpu_thread_index, int(d)));
        }
        return wrap_in_lets(lets, wrap_in_lets(nest.lets, nest.body));
    }

    static Expr index_of(Intrinsic id, int d) {
        return Call::make(Int(32), id, {Expr(d)});
    }

public:
    /// let name = call; assert(name == 0, name); rest
    static Stmt check_result(const std::string &name, const Expr &call, const Stmt &rest) {
        const Expr result = Variable::make(Int(32), name);
        return LetStmt::make(name, call, Block::make(AssertStmt::make(result == 0, result), rest));
    }

private:
    LowerContext &ctx_;
    Scope<> made_here_;                  ///< buffers that the pipeline allocates
    std::map<std::string, int> stated_;  ///< by the header: addresses, in conditions around
    std::set<std::string> kernel_names_;
};

/// Puts the hold of an API's kernels around the smallest part of the function that has all launches
/// and runs once.
class Holder : public StmtMutator {
public:
    explicit Holder(DeviceAPI api) : api_(api), hold_(Offloader::hold_name(api)) {
    }

private:
    using Mutator::visit;

    bool launches(const Stmt &s) const {
        return uses_var(s, hold_);
    }

    Stmt visit(const Block *op) override {
        if (!launches(op->first)) {
            return Block::make(op->first, mutate(op->rest));
        }
        return launches(op->rest) ? held(op) : Block::make(mutate(op->first), op->rest);
    }
    Stmt visit(const IfThenElse *op) override {
        const bool then_case = launches(op->then_case);
        if (then_case && op->else_case.defined() && launches(op->else_case)) {
            return held(op);
        }
        return IfThenElse::make(op->condition, then_case ? mutate(op->then_case) : op->then_case,
                                then_case ? op->else_case : mutate(op->else_case));
    }
    Stmt visit(const LetStmt *op) override {
        return contains_intrinsic(op->value, Intrinsic::gpu_launch) ? held(op) : Mutator::visit(op);
    }
    Stmt visit(const For *op) override {
        return held(op);
    }
    Stmt visit(const Fork *op) override {
        return held(op);
    }
    Stmt visit(const Acquire *op) override {
        return held(op);
    }
    Stmt visit(const Atomic *op) override {
        return held(op);
    }

    Stmt held(const Stmt &s) const {
        const std::string api = to_string(api_);
        const Expr hold = Variable::make(Handle(), hold_);
        const Expr descriptor =
            Call::make(Handle(), Intrinsic::gpu_module_descriptor, {StringImm::make(api)});
        const Expr begin =
            call_runtime(RuntimeFunction::begin_kernels, {user_context(), descriptor, hold});
        const Stmt end = at_exit(RuntimeFunction::end_kernels, hold);
        const Stmt inside =
            Offloader::check_result(names::part(api, "begun"), begin, Block::make(end, s));
        return LetStmt::make(hold_, Call::make(Handle(), Intrinsic::alloca, {Expr(hold_bytes)}),
                             inside);
    }

    const DeviceAPI api_;
    const std::string hold_;
};

}  // namespace

Stmt offload_kernels(const Stmt &s, LowerContext &ctx) {
    Offloader offloader(ctx);
    Stmt result = offloader.mutate(s);
    for (const DeviceAPI api : offloader.used) {
        result = Holder(api).mutate(result);
    }
    return result;
}

}  // namespace calotype::internal
