// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/device_heap.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "lower/buffer_header.h"
#include "lower/checks/error_call.h"
#include "lower/gpu/host/device_calls.h"
#include "lower/names.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

const char *const allocate = "NRT_Allocate", *const release = "NRT_Free";
/// More than any device has: what is asked for if a product of extents would overflow.
constexpr double too_many_bytes = double(uint64_t(1) << 60);

Expr number(uint64_t value) {
    return make_const(UInt(64), value);
}

/// At least one, since null would mean that there is no memory.
Expr bytes_of(const Allocate *op) {
    const uint64_t element = uint64_t(op->type.bytes());
    uint64_t constant = element * uint64_t(op->type.lanes());
    Expr product, estimate;
    for (const Expr &extent : op->extents) {
        if (const auto value = as_const_int(extent)) {
            constant *= uint64_t(std::max<int64_t>(*value, 0));
            continue;
        }
        const Expr count = max(extent, 0);
        product = product.defined() ? product * cast<uint64_t>(count) : cast<uint64_t>(count);
        const Expr real = cast<double>(count);
        estimate = estimate.defined() ? estimate * real : real;
    }
    const uint64_t padding = element * uint64_t(op->padding);
    if (!product.defined()) {
        return number(std::max<uint64_t>(constant + padding, 1));
    }
    Expr bytes = product * number(constant) + number(padding);
    estimate = estimate * make_const(Float(64), double(constant));
    const Expr limit = make_const(Float(64), too_many_bytes);
    bytes = select(estimate > limit, number(uint64_t(too_many_bytes)), bytes);
    bytes = is_trivially_true(op->condition) ? bytes : select(op->condition, bytes, number(1));
    return simplify(max(bytes, number(1)));
}

Expr call(const char *function, const Type &result, const Expr &argument) {
    return Call::make(result, function, {argument}, CallKind::Extern);
}

}  // namespace

Stmt DeviceHeap::visit(const Allocate *op) {
    if (op->memory_type != MemoryType::Heap) {
        return Mutator::visit(op);
    }
    user_assert(api_ == DeviceAPI::CUDA)
        << "storage of " << op->name << " is a thread's own and of a size that is not constant: in "
        << "device memory (Heap) it needs a heap of the device, which " << to_string(api_)
        << " has not; compute it outside of the thread loops, or store it in GPUShared";
    is_used_ = true;
    const std::string size = names::part(op->name, "bytes"), block = names::part(op->name, "block");
    const Expr bytes = Variable::make(UInt(64), size), address = Variable::make(Handle(), block);
    const Stmt body =
        Block::make(mutate(op->body), Evaluate::make(call(release, Int(32), address)));
    const Stmt inside = Allocate::make(op->name, op->type, MemoryType::Heap, op->extents,
                                       const_true(), body, address, "", op->padding);
    const Stmt failed = Store::make(flag_, bytes, 0, const_true(), Alignment());
    const Stmt either =
        IfThenElse::make(reinterpret<uint64_t>(address) == number(0), failed, inside);
    return LetStmt::make(size, bytes_of(op),
                         LetStmt::make(block, call(allocate, Handle(), bytes), either));
}

// A thread's block is given back where the thread is done with its storage.
Stmt DeviceHeap::visit(const Free *) {
    return Evaluate::make(0);
}

Stmt DeviceHeap::around_launch(const Stmt &launch, LowerContext &ctx) const {
    const Expr wanted = Load::make(UInt(64), flag_, 0, const_true(), Alignment());
    const Stmt look =
        check(wanted == number(0), "device_heap_exhausted", {StringImm::make(kernel_), wanted});
    const Stmt body = Block::make(
        {Store::make(flag_, number(0), 0, const_true(), Alignment()), set_host_dirty(flag_),
         device_free_at_end(flag_), copy_to_device(flag_, api_, ctx), launch,
         set_device_dirty(flag_), copy_to_host(flag_, ctx), look, device_free(flag_)});
    const Expr host = Variable::make(Handle(), flag_);
    const Expr header = make_buffer_header(host, UInt(64), {{0, 1, 1}});
    return Allocate::make(flag_, UInt(64), MemoryType::Stack, {1}, const_true(),
                          LetStmt::make(names::buffer(flag_), header, body));
}

void DeviceHeap::add_functions(LinkedCode &code) {
    code.needs_device_runtime = true;
    code.functions[allocate] = {Handle(), {UInt(64)}};
    code.functions[release] = {Type(), {Handle()}};
}

}  // namespace calotype::internal
