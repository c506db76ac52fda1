// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making, taking apart and reducing vectors.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "codegen/llvm/emitter.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"
#include "support/error.h"
#include "target/registers.h"

namespace calotype::internal {

using llvm::Value;

Value *FunctionEmitter::splat(Value *scalar, int lanes) {
    return lanes == 1 ? scalar : b_.CreateVectorSplat(unsigned(lanes), scalar);
}

Value *FunctionEmitter::lane(Value *v, int index) {
    return v->getType()->isVectorTy() ? b_.CreateExtractElement(v, uint64_t(index)) : v;
}

// Indices of -1 are lanes that nobody needs. One index gives a scalar.
Value *FunctionEmitter::shuffle(Value *a, Value *b, const std::vector<int> &indices) {
    if (indices.size() == 1) {
        int lanes = lanes_of(a->getType());
        return indices[0] < lanes ? lane(a, indices[0]) : lane(b, indices[0] - lanes);
    }
    return b_.CreateShuffleVector(a, b, indices);
}

Value *FunctionEmitter::slice(Value *v, int begin, int lanes) {
    int total = lanes_of(v->getType());
    if (begin == 0 && lanes == total) {
        return v;
    }
    std::vector<int> indices;
    for (int i = begin; i < begin + lanes; i++) {
        indices.push_back(i < total ? i : -1);
    }
    if (total == 1) {
        Value *wide = llvm::PoisonValue::get(with_lanes(v->getType(), lanes));
        return b_.CreateInsertElement(wide, v, uint64_t(0));
    }
    return shuffle(v, v, indices);
}

// Pairs of equal length are joined first, so that the shuffles stay simple.
Value *FunctionEmitter::concat(const std::vector<Value *> &parts) {
    internal_assert(!parts.empty()) << "nothing to join";
    std::vector<Value *> row = parts;
    if (lanes_of(row[0]->getType()) == 1 && row.size() > 1) {
        Value *v = llvm::PoisonValue::get(with_lanes(row[0]->getType(), int(row.size())));
        for (size_t i = 0; i < row.size(); i++) {
            if (row[i]->getType()->isVectorTy()) {
                v = nullptr;
                break;
            }
            v = b_.CreateInsertElement(v, row[i], uint64_t(i));
        }
        if (v) {
            return v;
        }
    }
    while (row.size() > 1) {
        std::vector<Value *> next;
        for (size_t i = 0; i + 1 < row.size(); i += 2) {
            int a_lanes = lanes_of(row[i]->getType()), b_lanes = lanes_of(row[i + 1]->getType());
            int widest = std::max({a_lanes, b_lanes, 2});
            std::vector<int> indices;
            for (int k = 0; k < a_lanes; k++) {
                indices.push_back(k);
            }
            for (int k = 0; k < b_lanes; k++) {
                indices.push_back(widest + k);
            }
            next.push_back(
                shuffle(slice(row[i], 0, widest), slice(row[i + 1], 0, widest), indices));
        }
        if (row.size() % 2) {
            next.push_back(row.back());
        }
        row = std::move(next);
    }
    return row[0];
}

namespace {

/// The first two with gaps, then the third into the gaps: two permutations where the machine has those of any bytes of
/// two registers. An interleaving of all three is known to LLVM as one to be made without them.
Value *interleave_three(FunctionEmitter &f, const std::vector<Value *> &parts) {
    const int lanes = lanes_of(parts[0]->getType());
    std::vector<int> with_gaps, filled;
    for (int i = 0; i < lanes; i++) {
        with_gaps.insert(with_gaps.end(), {i, lanes + i, -1});
        filled.insert(filled.end(), {3 * i, 3 * i + 1, 3 * lanes + i});
    }
    Value *two = f.shuffle(parts[0], parts[1], with_gaps);
    return f.shuffle(two, f.slice(parts[2], 0, 3 * lanes), filled);
}

}  // namespace

// a0 b0 c0 ... a1 b1 c1 ...
Value *FunctionEmitter::interleave(const std::vector<Value *> &parts) {
    int n = int(parts.size()), lanes = lanes_of(parts[0]->getType());
    if (n == 1 || lanes == 1) {
        return n == 1 ? parts[0] : concat(parts);
    }
    if (n % 2 != 0 && n > 3) {
        return interleave_padded(parts);
    }
    if (n % 2 == 0) {
        return concat(interleave_pieces(parts));
    }
    const int bits = int(parts[0]->getType()->getScalarSizeInBits());
    if (n == 3 && bits == 8 && machine_.permutes_bytes_of_two(target()) &&
        3 * lanes * bits <= widest_register_bits(target(), true)) {
        return interleave_three(*this, parts);
    }
    std::vector<int> indices;
    for (int i = 0; i < lanes; i++) {
        for (int k = 0; k < n; k++) {
            indices.push_back(k * lanes + i);
        }
    }
    Value *all = concat(parts);
    return shuffle(all, all, indices);
}

// The same in pieces of a register or less, for an even number of parts. Two registers meet in each
// step: LLVM takes wide shuffles of many vectors apart lane by lane.
std::vector<Value *> FunctionEmitter::interleave_pieces(const std::vector<Value *> &parts) {
    const int n = int(parts.size());
    if (n % 2 != 0) {
        return {interleave(parts)};
    }
    std::vector<Value *> halves[2];
    for (int i = 0; i < n; i++) {
        halves[i % 2].push_back(parts[size_t(i)]);
    }
    const std::vector<Value *> evens = interleave_pieces(halves[0]),
                               odds = interleave_pieces(halves[1]);
    const int lanes = lanes_of(evens[0]->getType());
    const int bits = 2 * lanes * int(evens[0]->getType()->getScalarSizeInBits());
    const bool whole = bits <= widest_register_bits(target(), true);
    std::vector<Value *> result;
    for (size_t i = 0; i < evens.size(); i++) {
        std::vector<int> indices;
        for (int k = 0; k < 2 * lanes; k++) {
            indices.push_back(k % 2 * lanes + k / 2);
            if (int(indices.size()) == (whole ? 2 * lanes : lanes)) {
                result.push_back(b_.CreateShuffleVector(evens[i], odds[i], indices));
                indices.clear();
            }
        }
    }
    return result;
}

// As many as make a power of two; then what pads is left out, which moves each lane a little only.
Value *FunctionEmitter::interleave_padded(std::vector<Value *> parts) {
    const int n = int(parts.size()), lanes = lanes_of(parts[0]->getType());
    const int padded = int(llvm::PowerOf2Ceil(uint64_t(n)));
    parts.resize(size_t(padded), llvm::PoisonValue::get(parts[0]->getType()));
    Value *all = interleave(parts);
    std::vector<int> indices;
    for (int i = 0; i < lanes; i++) {
        for (int k = 0; k < n; k++) {
            indices.push_back(i * padded + k);
        }
    }
    return shuffle(all, all, indices);
}

// The columns of rows that lie one after the other. Where they are long, they are taken out one by
// one, which needs fewer steps.
Value *FunctionEmitter::transpose(Value *matrix, int columns) {
    const int lanes = lanes_of(matrix->getType()), rows = lanes / columns;
    std::vector<Value *> parts;
    if (columns <= 4 || 2 * columns <= rows) {
        for (int column = 0; column < columns; column++) {
            std::vector<int> indices;
            for (int i = column; i < lanes; i += columns) {
                indices.push_back(i);
            }
            parts.push_back(shuffle(matrix, matrix, indices));
        }
        return concat(parts);
    }
    for (int row = 0; row < rows; row++) {
        parts.push_back(slice(matrix, row * columns, columns));
    }
    return interleave(parts);
}

Value *FunctionEmitter::by_pieces(const std::vector<Value *> &args, int lanes,
                                  const std::function<Value *(const std::vector<Value *> &)> &f) {
    int total = lanes_of(args[0]->getType());
    std::vector<Value *> results;
    int result_total = 0;
    for (int begin = 0; begin < total; begin += lanes) {
        std::vector<Value *> piece;
        for (Value *arg : args) {
            // An argument may have a multiple of the lanes of the first.
            int ratio_top = lanes_of(arg->getType());
            int from = int(int64_t(begin) * ratio_top / total);
            int count = int(int64_t(lanes) * ratio_top / total);
            piece.push_back(ratio_top == 1 ? arg : slice(arg, from, count));
        }
        results.push_back(f(piece));
        result_total += lanes_of(results.back()->getType());
    }
    Value *all = concat(results);
    int padding = (int(results.size()) * lanes - total);
    int wanted =
        result_total - int(int64_t(padding) * result_total / (int64_t(results.size()) * lanes));
    return slice(all, 0, wanted);
}

Value *FunctionEmitter::by_lanes(const std::vector<Value *> &args, int lanes,
                                 const std::function<Value *(const std::vector<Value *> &)> &f) {
    if (lanes == 1) {
        return f(args);
    }
    Value *result = nullptr;
    for (int i = 0; i < lanes; i++) {
        std::vector<Value *> scalars;
        for (Value *arg : args) {
            scalars.push_back(lane(arg, i));
        }
        Value *v = f(scalars);
        if (!result) {
            result = llvm::PoisonValue::get(with_lanes(v->getType(), lanes));
        }
        result = b_.CreateInsertElement(result, v, uint64_t(i));
    }
    return result;
}

namespace {

// A narrow integer of memory that is made wider in all lanes: there is an instruction that loads it into all lanes, and the
// one that widens a number outside of vector registers leaves a move into one to be done.
bool is_widened_in_lanes(const Broadcast *op, const Target &target) {
    const Cast *wide = op->value.as<Cast>();
    const Type t = op->type;
    return wide && wide->type.is_scalar() && wide->value.kind() == NodeKind::Load &&
           target.arch == Target::X86 && target.has_feature(Target::AVX2) && t.is_int_or_uint() &&
           wide->value.type().is_int_or_uint() && !wide->value.type().is_bool() &&
           wide->value.type().bits() < t.bits() && wide->value.type().bits() <= 16 &&
           t.bits() * t.lanes() >= 128;
}

}  // namespace

Value *FunctionEmitter::emit_node(const Broadcast *op) {
    if (is_widened_in_lanes(op, target())) {
        const Expr &narrow = op->value.as<Cast>()->value;
        return convert(splat(emit(narrow), op->lanes), narrow.type().with_lanes(op->lanes),
                       op->type);
    }
    Value *v = emit(op->value);
    if (op->value.type().is_scalar()) {
        return splat(v, op->lanes);
    }
    return concat(std::vector<Value *>(size_t(op->lanes), v));
}

Value *FunctionEmitter::emit_node(const Ramp *op) {
    Value *base = emit(op->base), *stride = emit(op->stride);
    Type t = op->base.type();
    if (t.is_vector()) {
        std::vector<Value *> parts = {base};
        for (int i = 1; i < op->lanes; i++) {
            parts.push_back(add(parts.back(), stride, t));
        }
        return concat(parts);
    }
    Value *steps;
    if (t.is_float()) {
        std::vector<llvm::Constant *> constants;
        for (int i = 0; i < op->lanes; i++) {
            constants.push_back(llvm::ConstantFP::get(type(t), i));
        }
        steps = llvm::ConstantVector::get(constants);
    } else {
        std::vector<llvm::Constant *> constants;
        for (int i = 0; i < op->lanes; i++) {
            constants.push_back(llvm::ConstantInt::get(type(t), uint64_t(i)));
        }
        steps = llvm::ConstantVector::get(constants);
    }
    Value *offsets = multiply(steps, splat(stride, op->lanes), op->type);
    return add(splat(base, op->lanes), offsets, op->type);
}

namespace {

/// What the parts of an interleaving are made of by taking lanes out, each vector once. A part that is
/// nothing of the kind is made of itself.
struct Sources {
    std::vector<Expr> vectors;
    std::vector<int> source;  ///< of each lane of the result
    std::vector<int> lane;    ///< its place there
    int taken = 0;            ///< parts that are lanes of another vector
};

Expr source_of(const Expr &part, std::vector<int> *lanes) {
    const auto *taken = part.as<Shuffle>();
    if (taken && taken->vectors.size() == 1 && taken->vectors[0].as<Variable>()) {
        *lanes = taken->indices;
        return taken->vectors[0];
    }
    for (int i = 0; i < part.type().lanes(); i++) {
        lanes->push_back(i);
    }
    return part;
}

Sources sources_of(const Shuffle *op) {
    Sources result;
    std::vector<std::vector<int>> lanes(op->vectors.size());
    std::vector<int> sources;
    for (size_t i = 0; i < op->vectors.size(); i++) {
        const Expr source = source_of(op->vectors[i], &lanes[i]);
        result.taken += source.same_as(op->vectors[i]) ? 0 : 1;
        const auto found = std::find_if(result.vectors.begin(), result.vectors.end(),
                                        [&](const Expr &other) { return equal(other, source); });
        sources.push_back(int(found - result.vectors.begin()));
        if (found == result.vectors.end()) {
            result.vectors.push_back(source);
        }
    }
    const int size = op->vectors[0].type().lanes();
    for (int i : op->indices) {
        result.source.push_back(sources[size_t(i / size)]);
        result.lane.push_back(lanes[size_t(i / size)][size_t(i % size)]);
    }
    return result;
}

/// Lanes of a vector, a register of the result at a time; null if one of them takes lanes of more than three
/// registers that lie side by side. What stands where a lane is below zero does not matter.
Value *permute_by_registers(FunctionEmitter &f, Value *source, const std::vector<int> &lanes) {
    const int bits = int(source->getType()->getScalarSizeInBits()),
              total = lanes_of(source->getType());
    const int size = widest_register_bits(f.target(), true) / bits;
    std::vector<std::vector<int>> pieces;
    std::vector<int> begins;
    for (size_t at = 0; at < lanes.size(); at += size_t(size)) {
        const size_t end = std::min(lanes.size(), at + size_t(size));
        std::vector<int> piece(lanes.begin() + ptrdiff_t(at), lanes.begin() + ptrdiff_t(end));
        int least = total, most = 0;
        for (int lane : piece) {
            least = lane < 0 ? least : std::min(least, lane);
            most = std::max(most, lane);
        }
        const int begin = std::min(least, most) / size * size;
        if (most >= begin + 3 * size) {
            return nullptr;
        }
        for (int &lane : piece) {
            lane = lane < 0 ? -1 : lane - begin;
        }
        pieces.push_back(piece);
        begins.push_back(begin);
    }
    std::vector<Value *> results;
    for (size_t i = 0; i < pieces.size(); i++) {
        Value *near = f.slice(source, begins[i], std::min(3 * size, total - begins[i]));
        results.push_back(f.shuffle(near, near, pieces[i]));
    }
    return f.concat(results);
}

/// The places in one source of those lanes that it gives, and -1 elsewhere.
std::vector<int> lanes_from(const Sources &of, int source) {
    std::vector<int> lanes;
    for (size_t i = 0; i < of.lane.size(); i++) {
        lanes.push_back(of.source[i] == source ? of.lane[i] : -1);
    }
    return lanes;
}

/// Both sources in a register each: any lanes of the two by one permutation.
Value *permute_two_registers(FunctionEmitter &f, const Sources &of) {
    Value *first = f.emit(of.vectors[0]), *second = f.emit(of.vectors[1]);
    const int lanes = std::max(lanes_of(first->getType()), lanes_of(second->getType()));
    std::vector<int> indices;
    for (size_t i = 0; i < of.lane.size(); i++) {
        indices.push_back(of.lane[i] + of.source[i] * lanes);
    }
    return f.shuffle(f.slice(first, 0, lanes), f.slice(second, 0, lanes), indices);
}

/// One vector whose gaps a constant fills. By masks: of permutations with constants LLVM inserts these one by
/// one. A gap holds the lane before it, as nothing masks a lane that has no value.
Value *fill_gaps(FunctionEmitter &f, Value *source, std::vector<int> lanes,
                 llvm::Constant *constant) {
    std::vector<llvm::Constant *> masks, fillings;
    llvm::Constant *none = llvm::Constant::getNullValue(constant->getType()),
                   *all = llvm::Constant::getAllOnesValue(constant->getType());
    int before = 0;
    for (int &lane : lanes) {
        masks.push_back(lane < 0 ? none : all);
        fillings.push_back(lane < 0 ? constant : none);
        lane = lane < 0 ? before : lane;
        before = lane;
    }
    Value *v = permute_by_registers(f, source, lanes);
    return v ? f.builder().CreateOr(f.builder().CreateAnd(v, llvm::ConstantVector::get(masks)),
                                    llvm::ConstantVector::get(fillings))
             : nullptr;
}

/// A permutation of each source, and of each pair of lanes the one that counts.
Value *permute_and_choose(FunctionEmitter &f, const Sources &of) {
    Value *permuted[2];
    for (int i = 0; i < 2; i++) {
        const auto *same = of.vectors[size_t(i)].as<Broadcast>();
        Value *v = f.emit(same ? same->value : of.vectors[size_t(i)]);
        permuted[i] =
            same ? f.splat(v, int(of.lane.size())) : permute_by_registers(f, v, lanes_from(of, i));
        if (!permuted[i]) {
            return nullptr;
        }
    }
    std::vector<int> indices;
    for (int i = 0; i < int(of.lane.size()); i++) {
        indices.push_back(i + of.source[size_t(i)] * int(of.lane.size()));
    }
    return f.shuffle(permuted[0], permuted[1], indices);
}

bool fits_a_register(const FunctionEmitter &f, const Type &t) {
    return t.bits() * t.lanes() <= widest_register_bits(f.target(), true);
}

/// Whether four parts and more are made of two sources, one of them taken apart by another step than a power of two,
/// such as red, green and blue that get an alpha beside them. For powers of two there are instructions.
bool widens_uneven_steps(const FunctionEmitter &f, const Shuffle *op, const Sources &of) {
    const int lanes = op->vectors[0].type().lanes();
    return f.target().arch == Target::X86 && of.vectors.size() == 2 && of.taken >= 2 &&
           op->vectors.size() > 3 && lanes >= 2 && op->type.bits() >= 8 &&
           std::none_of(of.vectors.begin(), of.vectors.end(), has_effects) &&
           std::any_of(of.vectors.begin(), of.vectors.end(), [&](const Expr &v) {
               return !llvm::isPowerOf2_32(uint32_t(v.type().lanes() / lanes));
           });
}

/// Permutations of what the parts are taken out of, in place of one for each part and more to put the parts together,
/// which LLVM does not join. Null if it is none that gains by it.
Value *interleave_of_few(FunctionEmitter &f, const Shuffle *op) {
    const Sources of = sources_of(op);
    if (of.vectors.size() == 1 && of.taken == int(op->vectors.size())) {
        return permute_by_registers(f, f.emit(of.vectors[0]), of.lane);
    }
    if (!widens_uneven_steps(f, op, of)) {
        return nullptr;
    }
    for (int i = 0; i < 2; i++) {
        const auto *same = of.vectors[size_t(i)].as<Broadcast>();
        auto *constant = same ? llvm::dyn_cast<llvm::ConstantInt>(f.emit(same->value)) : nullptr;
        if (constant) {
            return fill_gaps(f, f.emit(of.vectors[size_t(1 - i)]), lanes_from(of, 1 - i), constant);
        }
    }
    const bool narrow = fits_a_register(f, of.vectors[0].type()) &&
                        fits_a_register(f, of.vectors[1].type()) && fits_a_register(f, op->type);
    const bool broadcast = of.vectors[0].as<Broadcast>() || of.vectors[1].as<Broadcast>();
    return narrow && !broadcast ? permute_two_registers(f, of) : permute_and_choose(f, of);
}

/// Whether a few narrow scalars are repeated in their order, as what a tile of four columns has for each of them.
bool repeats_few(const Shuffle *op) {
    const size_t n = op->vectors.size();
    const int bits = op->type.bits() * int(n);
    bool repeats = op->type.is_int_or_uint() && op->type.bits() >= 8 && op->type.bits() < 32 &&
                   n > 1 && llvm::isPowerOf2_64(n) && bits <= 64 && op->indices.size() >= 2 * n &&
                   op->indices.size() % n == 0;
    for (size_t i = 0; repeats && i < op->indices.size(); i++) {
        repeats = op->indices[i] == int(i % n);
    }
    return repeats && std::all_of(op->vectors.begin(), op->vectors.end(),
                                  [](const Expr &v) { return v.type().is_scalar(); });
}

/// The scalars as one integer in all lanes of a vector of such. LLVM would insert each scalar as often as it is there.
Value *repeat_few(FunctionEmitter &f, const Shuffle *op) {
    llvm::IRBuilder<> &b = f.builder();
    const unsigned n = unsigned(op->vectors.size()), bits = unsigned(op->type.bits());
    llvm::Type *wide = b.getIntNTy(n * bits);
    Value *all = llvm::ConstantInt::get(wide, 0);
    for (unsigned i = 0; i < n; i++) {
        Value *part = b.CreateZExt(f.emit(op->vectors[i]), wide);
        all = b.CreateOr(all, b.CreateShl(part, uint64_t(i) * bits));
    }
    return b.CreateBitCast(b.CreateVectorSplat(unsigned(op->indices.size()) / n, all),
                           f.type(op->type));
}

}  // namespace

namespace {

// Every 8th byte (16th, ...) of a vector: of numbers of twice the bits the lower or the upper halves, again and again. Slices that
// begin elsewhere have most of the steps in common; LLVM takes the bytes of each out of all registers.
Value *halved_slice(FunctionEmitter &f, const Shuffle *op) {
    const Target &target = f.target();
    const int stride = op->is_slice() ? op->slice_stride() : 0, lanes = op->type.lanes();
    if (op->type.bits() != 8 || stride < 8 || !llvm::isPowerOf2_32(unsigned(stride)) ||
        op->slice_begin() >= stride || op->vectors.size() != 1 || lanes < 16 ||
        op->vectors[0].type().lanes() != lanes * stride || target.arch != Target::X86 ||
        !target.has_feature(Target::SSE41) || f.machine().permutes_bytes_of_two(target)) {
        return nullptr;
    }
    llvm::IRBuilder<> &b = f.builder();
    Value *v = f.emit(op->vectors[0]);
    for (int left = stride, begin = op->slice_begin(); left > 1; left /= 2, begin /= 2) {
        const Type pairs = UInt(16, lanes * left / 2);
        v = b.CreateBitCast(v, f.type(pairs));
        v = begin % 2 == 1 ? b.CreateLShr(v, 8) : v;
        v = b.CreateTrunc(v, f.type(pairs.with_bits(8)));
    }
    return v;
}

}  // namespace

Value *FunctionEmitter::emit_node(const Shuffle *op) {
    if (Value *v = halved_slice(*this, op)) {
        return v;
    }
    if (!machine_.has_scalar_registers() && repeats_few(op)) {
        return repeat_few(*this, op);
    }
    if (op->vectors.size() > 1 && op->is_interleave()) {
        if (Value *v = interleave_of_few(*this, op)) {
            return v;
        }
    }
    std::vector<Value *> parts;
    for (const Expr &v : op->vectors) {
        parts.push_back(emit(v));
    }
    if (parts.size() > 1 && op->is_interleave()) {
        return interleave(parts);
    }
    if (parts.size() == 2 && parts[0]->getType() == parts[1]->getType() &&
        parts[0]->getType()->isVectorTy()) {
        return shuffle(parts[0], parts[1], op->indices);
    }
    Value *all = concat(parts);
    if (op->is_concat()) {
        return all;
    }
    if (!all->getType()->isVectorTy()) {
        return splat(all, int(op->indices.size()));
    }
    if (op->is_transpose()) {
        return transpose(all, op->indices[1]);
    }
    return shuffle(all, all, op->indices);
}

Value *FunctionEmitter::reduce_pair(Value *a, Value *b, VectorReduce::Operator op, Type t) {
    switch (op) {
    case VectorReduce::Add:
        return add(a, b, t);
    case VectorReduce::Mul:
        return multiply(a, b, t);
    case VectorReduce::Min:
        return min_or_max(a, b, t, false);
    case VectorReduce::Max:
        return min_or_max(a, b, t, true);
    case VectorReduce::And:
        return b_.CreateAnd(a, b);
    case VectorReduce::Or:
        return b_.CreateOr(a, b);
    case VectorReduce::SaturatingAdd:
        if (t.is_float()) {
            return add(a, b, t);
        }
        return b_.CreateBinaryIntrinsic(
            t.is_int() ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat, a, b);
    }
    internal_error << "no such reduction";
}

// `groups` results, each of lanes_of(v) / groups neighbours. Halves of every group are combined
// until one lane a group is left; where a whole register is one group the halves are its two ends.
Value *FunctionEmitter::reduce_groups(Value *v, int groups, VectorReduce::Operator op,
                                      Type element) {
    int factor = lanes_of(v->getType()) / groups;
    while (factor > 1) {
        std::vector<int> low, high, last;
        int half = factor / 2;
        for (int g = 0; g < groups; g++) {
            for (int i = 0; i < half; i++) {
                // Groups of a power of two: neighbours meet in pairs, whatever the group is.
                int first = groups == 1 ? i : g * factor + 2 * i;
                low.push_back(first);
                high.push_back(groups == 1 ? i + half : first + 1);
            }
            last.push_back(g * factor + factor - 1);
        }
        Type t = element.with_lanes(groups * half);
        Value *combined = reduce_pair(shuffle(v, v, low), shuffle(v, v, high), op, t);
        if (factor % 2) {
            // The odd one out joins the first of each group.
            Value *rest = shuffle(v, v, last);
            std::vector<Value *> parts;
            for (int i = 0; i < half; i++) {
                std::vector<int> column;
                for (int g = 0; g < groups; g++) {
                    column.push_back(g * half + i);
                }
                Value *c = lanes_of(combined->getType()) == 1 ? combined
                                                              : shuffle(combined, combined, column);
                parts.push_back(c);
            }
            parts[0] = reduce_pair(parts[0], rest, op, element.with_lanes(groups));
            combined = interleave(parts);
        }
        v = combined;
        factor = half;
    }
    return v;
}

Value *FunctionEmitter::emit_node(const VectorReduce *op) {
    Type from = op->value.type();
    if (Value *v = machine_.reduction(*this, op)) {
        return v;
    }
    Value *v = emit(op->value);
    return from.lanes() == op->type.lanes()
               ? v
               : reduce_groups(v, op->type.lanes(), op->op, from.element_of());
}

}  // namespace calotype::internal
