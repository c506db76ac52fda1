// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of flat buffers.
//
// A ramp of stride 1 is one vector access; -1 the same, reversed; 2 to 4 are dense loads and a
// shuffle:
//
//     stride 2, 4 lanes:   a b c d e f g       two loads of 4: abcd and defg
//                          ^   ^   ^   ^       then lanes 0 2 of the first, 1 3 of the second
//
// The last load is moved back so that nothing beyond the last element wanted is touched. Where bytes
// are permuted across registers, loads are as wide as those. Other indices are gathered, in hardware
// where that pays, else lane by lane.
#include <numeric>
#include <utility>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/passes/lane_gathers.h"
#include "ir/constants.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "support/error.h"
#include "target/registers.h"

namespace calotype::internal {

using llvm::Value;

namespace {

constexpr int max_shuffled_stride = 4;

/// Whether the index comes out of memory, so that nothing is known of the distances of its lanes.
bool is_looked_up(const Expr &index) {
    const auto is_vector = [](const auto *op) {
        return op->type.is_vector();
    };
    return contains<Load>(index, is_vector) || contains<Variable>(index, is_vector);
}

/// The stride of a ramp if it is constant, else 0.
int64_t constant_stride(const Ramp *ramp) {
    return ramp ? as_const_int(ramp->stride).value_or(0) : 0;
}

/// A sum as what is not constant in it, and the constant.
std::pair<Expr, int64_t> split_constant(const Expr &e) {
    const Add *sum = e.type().is_int() ? e.as<Add>() : nullptr;
    const auto constant = sum ? as_const_int(sum->b) : std::nullopt;
    return constant ? std::pair(sum->a, *constant) : std::pair(e, int64_t(0));
}

/// The scalar that is the same in all lanes, or undefined.
Expr uniform_part(const Expr &e) {
    const Broadcast *b = e.as<Broadcast>();
    return b && b->value.type().is_scalar() ? b->value : Expr();
}

/// Of a mask that is constant and takes the first lanes, how many these are; else 0. An array in the frame that all accesses
/// take so becomes registers. (Of other memory LLVM makes more of the mask: seven of eight are loaded as eight.)
int leading_lanes(const Value *mask) {
    const auto *known = llvm::dyn_cast<llvm::Constant>(mask);
    if (!known || !known->getType()->isVectorTy()) {
        return 0;
    }
    const int lanes = lanes_of(known->getType());
    const auto is = [&](int i, bool wanted) {
        const llvm::Constant *lane = known->getAggregateElement(unsigned(i));
        return lane && (wanted ? lane->isOneValue() : lane->isNullValue());
    };
    int taken = 0;
    while (taken < lanes && is(taken, true)) {
        taken++;
    }
    for (int i = taken; i < lanes; i++) {
        if (!is(i, false)) {
            return 0;
        }
    }
    return taken;
}

}  // namespace

Value *FunctionEmitter::host_pointer(const std::string &buffer) {
    Value *const *bound = symbols_.find(buffer);
    internal_assert(bound) << "buffer not in scope: " << buffer;
    return *bound;
}

Value *FunctionEmitter::element_pointer(const std::string &buffer, Type element, Value *index) {
    Value *base = host_pointer(buffer);
    llvm::Type *in_memory = llvm_memory_type(module_.context(), element.element_of());
    llvm::Type *wide = with_lanes(b_.getInt64Ty(), lanes_of(index->getType()));
    return b_.CreateInBoundsGEP(in_memory, base, b_.CreateSExtOrTrunc(index, wide));
}

// An int32 index in 64 bits. Its arithmetic does not overflow, so each step can be taken in 64
// bits: LLVM then sees sums that it may reorder, hoists what a loop leaves alone, and steps
// pointers instead of extending an index in each iteration. So can a clamp: what is compared is a
// counter in 64 bits then, and no clamped index is extended.
Value *FunctionEmitter::emit_wide(const Expr &e) {
    llvm::Type *wide = b_.getInt64Ty();
    if (e.type() == Int(32) && !machine_.has_narrow_indices()) {
        if (const Add *op = e.as<Add>()) {
            return b_.CreateNSWAdd(emit_wide(op->a), emit_wide(op->b));
        }
        if (const Sub *op = e.as<Sub>()) {
            return b_.CreateNSWSub(emit_wide(op->a), emit_wide(op->b));
        }
        if (const Mul *op = e.as<Mul>()) {
            return b_.CreateNSWMul(emit_wide(op->a), emit_wide(op->b));
        }
        if (const Min *op = e.as<Min>()) {
            return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, emit_wide(op->a),
                                            emit_wide(op->b));
        }
        if (const Max *op = e.as<Max>()) {
            return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, emit_wide(op->a),
                                            emit_wide(op->b));
        }
        if (const Variable *op = e.as<Variable>()) {
            Value *const *bound = wide_.find(op->name);
            if (bound && *bound) {
                return *bound;
            }
        }
    }
    return b_.CreateSExtOrTrunc(emit(e), wide);
}

// Names that are sums or products are kept in both widths; what is not used is dropped by LLVM, and
// what they read is read once. Not what has effects: those would happen twice.
void FunctionEmitter::bind_wide(const std::string &name, const Expr &value) {
    const bool arithmetic = !machine_.has_narrow_indices() && value.type() == Int(32) &&
                            (value.as<Add>() || value.as<Sub>() || value.as<Mul>());
    wide_.push(name, arithmetic && !has_effects(value) ? emit_wide(value) : nullptr);
}

// A constant added to the index becomes part of the address of its own, so that accesses that
// differ by it share the rest.
Value *FunctionEmitter::element_pointer(const std::string &buffer, Type element, const Expr &index,
                                        int offset) {
    auto [rest, constant] = split_constant(index);
    constant += offset;
    // Without the constant the address may lie outside of the buffer: then it is not inbounds.
    llvm::Type *in_memory = llvm_memory_type(module_.context(), element.element_of());
    Value *p = b_.CreateGEP(in_memory, host_pointer(buffer), emit_wide(rest), "",
                            constant == 0 ? llvm::GEPNoWrapFlags::inBounds()
                                          : llvm::GEPNoWrapFlags::none());
    return constant == 0 ? p : b_.CreateGEP(in_memory, p, b_.getInt64(uint64_t(constant)));
}

llvm::Align FunctionEmitter::access_alignment(const std::string &buffer, Type element,
                                              Alignment index, int offset) {
    int bytes = element.bytes();
    auto known = host_alignment_.find(buffer);
    int64_t host = known == host_alignment_.end() ? bytes : known->second;
    int64_t modulus = std::gcd(index.modulus * bytes, (index.remainder + offset) * bytes);
    int64_t result = modulus == 0 ? host : std::gcd(modulus, host);
    result &= -result;  // the power of two in it
    return llvm::Align(uint64_t(std::max<int64_t>(result, bytes)));
}

void FunctionEmitter::tag_access(llvm::Instruction *access, const std::string &buffer,
                                 bool is_streaming) {
    const auto shared = alias_names_.find(buffer);
    access->setMetadata(llvm::LLVMContext::MD_tbaa,
                        module_.alias_tag(shared == alias_names_.end() ? buffer : shared->second));
    // Only stores: of such loads, where it narrows them to fewer than four bytes, LLVM makes no code but ends
    // the process, and of memory that is cached they are loads like others.
    if (is_streaming && llvm::isa<llvm::StoreInst>(access) && machine_.has_streaming_accesses()) {
        llvm::Metadata *one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
        access->setMetadata(llvm::LLVMContext::MD_nontemporal,
                            llvm::MDNode::get(module_.context(), one));
    }
}

Value *FunctionEmitter::from_memory(Value *v, Type t) {
    return t.is_bool() ? b_.CreateTrunc(v, with_lanes(b_.getInt1Ty(), lanes_of(v->getType()))) : v;
}

Value *FunctionEmitter::to_memory(Value *v, Type t) {
    return t.is_bool() ? b_.CreateZExt(v, with_lanes(b_.getInt8Ty(), lanes_of(v->getType()))) : v;
}

Value *FunctionEmitter::load_scalar(const Load *op) {
    Value *p = element_pointer(op->name, op->type, op->index);
    llvm::Type *in_memory = llvm_memory_type(module_.context(), op->type);
    auto *load =
        b_.CreateAlignedLoad(in_memory, p, access_alignment(op->name, op->type, op->alignment));
    tag_access(load, op->name, op->is_streaming);
    return from_memory(load, op->type);
}

// `lanes` elements from base + offset on; where the mask (if any) is false, undefined.
Value *FunctionEmitter::load_dense(const Load *op, const Expr &base, int offset, int lanes,
                                   Value *mask) {
    if (const int taken = mask && is_in_frame(op->name) ? leading_lanes(mask) : 0) {
        return slice(load_dense(op, base, offset, taken, nullptr), 0, lanes);
    }
    Value *p = element_pointer(op->name, op->type, base, offset);
    llvm::Align align = access_alignment(op->name, op->type, op->alignment, offset);
    llvm::Type *in_memory = llvm_memory_type(module_.context(), op->type.with_lanes(lanes));
    if (mask && lanes == 1) {
        in_memory = llvm::FixedVectorType::get(in_memory, 1);
    }
    llvm::Instruction *load =
        mask ? static_cast<llvm::Instruction *>(b_.CreateMaskedLoad(in_memory, p, align, mask))
             : b_.CreateAlignedLoad(in_memory, p, align);
    tag_access(load, op->name, op->is_streaming && !mask);
    return from_memory(mask && lanes == 1 ? lane(load, 0) : load, op->type);
}

// Dense parts from the first lane to the last, of which the last one begins early, and a shuffle.
Value *FunctionEmitter::load_strided(const Load *op, const Ramp *ramp, int stride) {
    const int lanes = ramp->lanes, span = (lanes - 1) * stride + 1;
    int part = lanes;
    if (op->type.bits() == 8 && machine_.permutes_bytes_of_two(target())) {
        part = std::min(int(llvm::bit_floor(unsigned(span))),
                        widest_register_bits(target(), true) / 8);
    } else if (const int whole = 128 / op->type.bits(); lanes < whole) {
        // Of vectors shorter than a register, fewer loads, and shuffles of more.
        part = std::max(lanes, std::min(int(llvm::bit_floor(unsigned(span))), whole));
    }
    const int last = (span + part - 1) / part - 1;
    std::vector<Value *> parts;
    for (int i = 0; i <= last; i++) {
        const int offset = i < last ? i * part : span - part;
        parts.push_back(load_dense(op, ramp->base, offset, part, nullptr));
    }
    std::vector<int> indices;
    for (int i = 0; i < lanes; i++) {
        const int element = i * stride;
        const bool in_last = element >= last * part;
        indices.push_back(in_last ? element - (span - part) + last * part : element);
    }
    if (last == 1) {
        return shuffle(parts[0], parts[1], indices);
    }
    Value *all = concat(parts);
    return shuffle(all, all, indices);
}

// The address of what all lanes of `index` have in common, which it loses.
Value *FunctionEmitter::common_pointer(const std::string &buffer, llvm::Type *in_memory,
                                       Expr *index) {
    Value *base = host_pointer(buffer);
    auto move_base = [&](const Expr &by, bool negative) {
        Value *distance = b_.CreateSExtOrTrunc(emit(by), b_.getInt64Ty());
        base = b_.CreateGEP(in_memory, base, negative ? b_.CreateNeg(distance) : distance);
    };
    while (index->type().element_of() == Int(32)) {
        if (const Add *sum = index->as<Add>(); sum && uniform_part(sum->b).defined()) {
            move_base(uniform_part(sum->b), false);
            *index = sum->a;
        } else if (const Sub *difference = index->as<Sub>();
                   difference && uniform_part(difference->b).defined()) {
            move_base(uniform_part(difference->b), true);
            *index = difference->a;
        } else {
            break;
        }
    }
    return base;
}

// With the constant last: rows of ramps that differ by it share the address of each lane, and the constant is part of the
// instruction.
std::vector<Value *> FunctionEmitter::strided_pointers(const std::string &buffer,
                                                       llvm::Type *in_memory, const Ramp *ramp) {
    const auto [rest, constant] = split_constant(ramp->base);
    Value *const first = b_.CreateGEP(in_memory, host_pointer(buffer), emit_wide(rest));
    Value *const stride = emit(ramp->stride);
    std::vector<Value *> pointers;
    for (int i = 0; i < ramp->lanes; i++) {
        Value *p = first;
        if (i > 0) {
            Value *const times = llvm::ConstantInt::get(stride->getType(), uint64_t(i));
            Value *const distance = b_.CreateNSWMul(stride, times);
            p = b_.CreateGEP(in_memory, p, b_.CreateSExtOrTrunc(distance, b_.getInt64Ty()));
        }
        pointers.push_back(
            constant == 0 ? p : b_.CreateGEP(in_memory, p, b_.getInt64(uint64_t(constant))));
    }
    return pointers;
}

// Where the lanes of an index are, each apart.
std::vector<Value *> FunctionEmitter::lane_pointers(const std::string &buffer, Type element,
                                                    const Expr &whole) {
    llvm::Type *in_memory = llvm_memory_type(module_.context(), element.element_of());
    const int lanes = whole.type().lanes();
    std::vector<Value *> pointers;
    const Ramp *ramp = whole.as<Ramp>();
    if (const int64_t stride = ramp && ramp->base.type().is_scalar() ? constant_stride(ramp) : 0) {
        Value *first = element_pointer(buffer, element, ramp->base);
        for (int i = 0; i < lanes; i++) {
            pointers.push_back(b_.CreateGEP(in_memory, first, b_.getInt64(uint64_t(i * stride))));
        }
        return pointers;
    }
    if (ramp && ramp->base.type().is_scalar() && !machine_.has_narrow_indices()) {
        // Two from one, which is two strides from the one before, so that one register holds the stride, and not each
        // multiple of it another. The first is hidden from LLVM, which would hoist all distances from it out of a loop.
        Value *p = element_pointer(buffer, element, ramp->base), *stride = emit_wide(ramp->stride);
        p = b_.CreateStripInvariantGroup(p);
        llvm::Type *two = llvm::ArrayType::get(in_memory, 2);
        for (int i = 0; i < lanes; i++) {
            p = i > 0 && i % 2 == 0 ? b_.CreateGEP(two, p, stride) : p;
            pointers.push_back(i % 2 == 0 ? p : b_.CreateGEP(in_memory, p, stride));
        }
        return pointers;
    }
    if (ramp && ramp->base.type().is_scalar()) {
        return strided_pointers(buffer, in_memory, ramp);
    }
    Expr index = whole;
    Value *base = common_pointer(buffer, in_memory, &index);
    // SLP would look for vectors among what a lone index is made of, in vain and for long.
    llvm::Type *array = llvm::ArrayType::get(in_memory, 0);
    for (Value *index : index_lanes(b_, emit(index))) {
        pointers.push_back(b_.CreateGEP(array, base, {b_.getInt64(0), index}));
    }
    return pointers;
}

bool FunctionEmitter::is_in_frame(const std::string &buffer) {
    return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(host_pointer(buffer)));
}

// Of vectors that overlap in it LLVM would leave it in memory.
bool FunctionEmitter::is_in_scalar_registers(const std::string &buffer) {
    return machine_.has_scalar_registers() && is_in_frame(buffer);
}

Value *FunctionEmitter::load_by_lanes(const Load *op) {
    llvm::Type *in_memory = llvm_memory_type(module_.context(), op->type.element_of());
    const int lanes = op->type.lanes();
    const std::vector<Value *> pointers = lane_pointers(op->name, op->type, op->index);
    Value *result = llvm::PoisonValue::get(with_lanes(in_memory, lanes));
    for (int i = 0; i < lanes; i++) {
        auto *load = b_.CreateAlignedLoad(in_memory, pointers[size_t(i)],
                                          llvm::Align(uint64_t(op->type.bytes())));
        tag_access(load, op->name);
        result = b_.CreateInsertElement(result, load, uint64_t(i));
    }
    return from_memory(result, op->type);
}

// One instruction for the optimizer, which has nothing to do between the lanes.
Value *FunctionEmitter::load_by_lanes_later(const Load *op) {
    llvm::Type *in_memory = llvm_memory_type(module_.context(), op->type.element_of());
    Expr index = op->index;
    Value *base = common_pointer(op->name, in_memory, &index);
    Value *lanes = emit(index);
    lanes = b_.CreateSExtOrTrunc(lanes, with_lanes(b_.getInt64Ty(), op->type.lanes()));
    auto *gather = b_.CreateMaskedGather(with_lanes(in_memory, op->type.lanes()),
                                         b_.CreateGEP(in_memory, base, lanes),
                                         llvm::Align(uint64_t(op->type.bytes())));
    tag_access(gather, op->name);
    mark_for_lanes(*gather);
    return from_memory(gather, op->type);
}

Value *FunctionEmitter::load_gather(const Load *op, Value *mask) {
    // A gather of what was stored a moment ago waits until that is in the cache; loads take it from the stores.
    const bool hardware =
        machine_.has_fast_gather(target()) && op->type.bits() >= 32 && op->name != updated_buffer_;
    if (!mask && !hardware) {
        // The thread sanitizer sees no gathers, and comes before they are taken apart.
        const bool late = !machine_.has_scalar_registers() && is_looked_up(op->index) &&
                          !is_in_frame(op->name) && !target().has_feature(Target::TSAN);
        return late ? load_by_lanes_later(op) : load_by_lanes(op);
    }
    Value *pointers = element_pointer(op->name, op->type, emit(op->index));
    // Registers with lanes that only pad others would have an undefined index, for which LLVM may
    // take the register of the result: x86 has no such gather.
    const int lanes = op->type.lanes(),
              most = llvm::isPowerOf2_32(uint32_t(lanes))
                         ? lanes
                         : std::max(2, widest_register_bits(target(), true) / op->type.bits());
    std::vector<Value *> parts;
    for (int begin = 0, n = 0; begin < lanes; begin += n) {
        n = lanes - begin <= most + 1 ? lanes - begin : most;  // none of one lane
        auto *gather = b_.CreateMaskedGather(
            llvm_memory_type(module_.context(), op->type.with_lanes(n)), slice(pointers, begin, n),
            llvm::Align(uint64_t(op->type.bytes())), mask ? slice(mask, begin, n) : nullptr);
        tag_access(gather, op->name);
        parts.push_back(gather);
    }
    return from_memory(concat(parts), op->type);
}

// A dense load by registers. LLVM makes networks of shuffles for channels that are taken out of one
// load of bytes; out of two registers a permutation takes each.
Value *FunctionEmitter::load_registers(const Load *op, const Expr &base, int lanes) {
    const int most = widest_register_bits(target(), true) / op->type.bits();
    std::vector<Value *> parts;
    for (int begin = 0; begin < lanes; begin += most) {
        parts.push_back(load_dense(op, base, begin, std::min(most, lanes - begin), nullptr));
    }
    return concat(parts);
}

// Stride is a scalar; base may be a vector, whose pieces then stand one after the other.
Value *FunctionEmitter::load_ramp(const Load *op, const Ramp *ramp, Value *mask) {
    int64_t stride = constant_stride(ramp);
    if (stride != 0 && !mask && is_in_scalar_registers(op->name)) {
        return load_by_lanes(op);
    }
    if (stride == 1) {
        const bool by_registers =
            !mask && op->type.bits() == 8 && machine_.permutes_bytes_of_two(target());
        return by_registers ? load_registers(op, ramp->base, ramp->lanes)
                            : load_dense(op, ramp->base, 0, ramp->lanes, mask);
    }
    if (stride == -1 && !mask) {
        std::vector<int> reversed;
        for (int i = ramp->lanes - 1; i >= 0; i--) {
            reversed.push_back(i);
        }
        Value *dense = load_dense(op, ramp->base, 1 - ramp->lanes, ramp->lanes, nullptr);
        return shuffle(dense, dense, reversed);
    }
    bool shuffled = stride >= 2 && stride <= max_shuffled_stride && ramp->lanes >= 4;
    if (shuffled && !mask) {
        return load_strided(op, ramp, int(stride));
    }
    return load_gather(op, mask);
}

Value *FunctionEmitter::emit_node(const Load *op) {
    Value *mask = is_trivially_true(op->predicate) ? nullptr : emit(op->predicate);
    if (op->type.is_scalar()) {
        if (!mask) {
            return load_scalar(op);
        }
        llvm::Type *one = llvm::FixedVectorType::get(b_.getInt1Ty(), 1);
        Value *vector_mask = b_.CreateInsertElement(llvm::PoisonValue::get(one), mask, uint64_t(0));
        return load_dense(op, op->index, 0, 1, vector_mask);
    }
    if (mask && lanes_of(mask->getType()) == 1) {
        mask = splat(mask, op->type.lanes());
    }
    const Ramp *ramp = op->index.as<Ramp>();
    if (ramp && ramp->base.type().is_scalar()) {
        return load_ramp(op, ramp, mask);
    }
    if (const Broadcast *same = op->index.as<Broadcast>(); same && !mask) {
        Type part = op->type.with_lanes(same->value.type().lanes());
        Value *v = emit(Load::make(part, op->name, same->value, const_true(part.lanes()), {}));
        return concat(std::vector<Value *>(size_t(same->lanes), v));
    }
    return load_gather(op, mask);
}

void FunctionEmitter::store_scalar(const Store *op, Value *value) {
    Type t = op->value.type();
    Value *p = element_pointer(op->name, t, op->index);
    auto *store =
        b_.CreateAlignedStore(to_memory(value, t), p, access_alignment(op->name, t, op->alignment));
    tag_access(store, op->name, op->is_streaming);
}

void FunctionEmitter::store_dense(const Store *op, const Expr &base, Value *value, Value *mask) {
    Type t = op->value.type();
    if (const int taken = mask && is_in_frame(op->name) ? leading_lanes(mask) : 0) {
        value = slice(value, 0, taken);
        mask = nullptr;
    }
    Value *p = element_pointer(op->name, t, base);
    llvm::Align align = access_alignment(op->name, t, op->alignment);
    value = to_memory(value, t);
    if (op->is_streaming && !mask && machine_.has_streaming_accesses()) {
        store_around_cache(op->name, value, p, align);
        return;
    }
    llvm::Instruction *store =
        mask ? static_cast<llvm::Instruction *>(b_.CreateMaskedStore(value, p, align, mask))
             : b_.CreateAlignedStore(value, p, align);
    tag_access(store, op->name);
}

// Machines store aligned vectors alone around the cache: where that is not known, it is asked.
void FunctionEmitter::store_around_cache(const std::string &buffer, Value *value, Value *p,
                                         llvm::Align align) {
    const auto bytes = uint64_t(module_.llvm().getDataLayout().getTypeStoreSize(value->getType()));
    const uint64_t wanted =
        std::min(llvm::PowerOf2Ceil(bytes), uint64_t(widest_register_bits(target(), true)) / 8);
    if (align.value() >= wanted) {
        tag_access(b_.CreateAlignedStore(value, p, align), buffer, true);
        return;
    }
    llvm::BasicBlock *streaming = new_block("streaming"), *plain = new_block("plain"),
                     *stored = new_block("stored");
    Value *address = b_.CreatePtrToInt(p, b_.getInt64Ty());
    Value *is_aligned =
        b_.CreateICmpEQ(b_.CreateAnd(address, b_.getInt64(wanted - 1)), b_.getInt64(0));
    b_.CreateCondBr(is_aligned, streaming, plain);
    b_.SetInsertPoint(streaming);
    tag_access(b_.CreateAlignedStore(value, p, llvm::Align(wanted)), buffer, true);
    b_.CreateBr(stored);
    b_.SetInsertPoint(plain);
    tag_access(b_.CreateAlignedStore(value, p, align), buffer);
    b_.CreateBr(stored);
    b_.SetInsertPoint(stored);
}

void FunctionEmitter::store_scatter(const Store *op, Value *value, Value *mask) {
    Type t = op->value.type();
    value = to_memory(value, t);
    if (mask) {
        Value *pointers = element_pointer(op->name, t, emit(op->index));
        auto *scatter =
            b_.CreateMaskedScatter(value, pointers, llvm::Align(uint64_t(t.bytes())), mask);
        tag_access(scatter, op->name);
        return;
    }
    const std::vector<Value *> pointers = lane_pointers(op->name, t, op->index);
    for (int i = 0; i < t.lanes(); i++) {
        auto *store = b_.CreateAlignedStore(lane(value, i), pointers[size_t(i)],
                                            llvm::Align(uint64_t(t.bytes())));
        tag_access(store, op->name);
    }
}

void FunctionEmitter::emit_node(const Store *op) {
    if (is_atomic_ && emit_atomic_store(op)) {
        return;
    }
    Value *mask = is_trivially_true(op->predicate) ? nullptr : emit(op->predicate);
    updated_buffer_ = op->name;
    Value *value = emit(op->value);
    updated_buffer_.clear();
    int lanes = op->index.type().lanes();
    if (lanes == 1 && !mask) {
        store_scalar(op, value);
        return;
    }
    if (lanes == 1) {
        llvm::BasicBlock *then = new_block("store"), *after = new_block("after_store");
        b_.CreateCondBr(mask, then, after);
        b_.SetInsertPoint(then);
        store_scalar(op, value);
        b_.CreateBr(after);
        b_.SetInsertPoint(after);
        return;
    }
    if (mask && lanes_of(mask->getType()) == 1) {
        mask = splat(mask, lanes);
    }
    const Ramp *ramp = op->index.as<Ramp>();
    bool simple = ramp && ramp->base.type().is_scalar();
    int64_t stride = simple ? constant_stride(ramp) : 0;
    if (!mask && is_in_scalar_registers(op->name)) {
        store_scatter(op, value, nullptr);
    } else if (stride == 1) {
        store_dense(op, ramp->base, value, mask);
    } else if (stride == -1 && !mask) {
        std::vector<int> reversed;
        for (int i = lanes - 1; i >= 0; i--) {
            reversed.push_back(i);
        }
        Expr first = Add::make(ramp->base, make_const(ramp->base.type(), 1 - lanes));
        Stmt dense = Store::make(op->name, op->value, op->index, op->predicate, Alignment());
        store_dense(dense.as<Store>(), first, shuffle(value, value, reversed), nullptr);
    } else {
        store_scatter(op, value, mask);
    }
}

}  // namespace calotype::internal
