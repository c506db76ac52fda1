// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pattern is a row: what is reduced, which types the operands must fit into, which features it
// needs, and the instruction for 128, 256 and 512 bits. The operands are cut into registers, each
// goes through the instruction, and what is left to be reduced is reduced in the usual way.
#include "codegen/x86/patterns.h"

#include <optional>

#include <llvm/IR/IntrinsicsX86.h>

#include "arith/bounds.h"
#include "codegen/llvm/products.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/language/match_types.h"
#include "target/registers.h"

namespace calotype::internal {

using llvm::Value;

namespace {

namespace X = llvm::Intrinsic;

/// What every processor with 64 bits has, too.
bool has_sse2(const Target &target) {
    return target.bits == 64 || target.has_feature(Target::SSE41);
}

/// The instruction for each width, and the feature that the widest needs.
struct Instruction {
    X::ID bits128, bits256, bits512;
};

/// Sums of two products of s16.
const Instruction products_of_words = {X::x86_sse2_pmadd_wd, X::x86_avx2_pmadd_wd,
                                       X::x86_avx512_pmaddw_d_512};

enum class Operands : uint8_t { Product, Difference, Single };

/// sum (or saturating sum) over groups of `factor` lanes of a * b, |a - b| or a.
struct ReductionRow {
    VectorReduce::Operator op;
    Operands operands;
    Type a, b;         ///< element types that the operands must fit into without loss
    Type result;       ///< element type that the instruction gives
    int factor;        ///< how many lanes it adds up
    bool accumulates;  ///< it takes an accumulator first
    std::optional<Target::Feature> feature;  ///< none: SSE2
    Instruction instruction;
    /// Has it, too, but for 512 bits.
    std::optional<Target::Feature> narrow_feature = {};

    bool has_feature(const Target &target) const {
        return feature ? target.has_feature(*feature) : has_sse2(target);
    }
    bool is_in(const Target &target) const {
        return has_feature(target) || (narrow_feature && target.has_feature(*narrow_feature));
    }
    /// Sums that wrap around are the same bits of signed and of unsigned values.
    bool gives(const Type &t) const {
        return t == result || (op == VectorReduce::Add && result == Int(32) && t == UInt(32));
    }
    Instruction instruction_in(const Target &target) const {
        return {instruction.bits128, instruction.bits256,
                has_feature(target) ? instruction.bits512 : X::not_intrinsic};
    }
};

const ReductionRow reduction_rows[] = {
    // u8 * s8, four at a time
    {VectorReduce::Add,
     Operands::Product,
     UInt(8),
     Int(8),
     Int(32),
     4,
     true,
     Target::AVX512_Zen4,
     {X::x86_avx512_vpdpbusd_128, X::x86_avx512_vpdpbusd_256, X::x86_avx512_vpdpbusd_512},
     Target::AVXVNNI},
    // s16 * s16, two at a time
    {VectorReduce::Add,
     Operands::Product,
     Int(16),
     Int(16),
     Int(32),
     2,
     false,
     {},
     {X::x86_sse2_pmadd_wd, X::x86_avx2_pmadd_wd, X::x86_avx512_pmaddw_d_512}},
    {VectorReduce::Add,
     Operands::Product,
     Int(16),
     Int(16),
     Int(32),
     2,
     true,
     Target::AVX512_Zen4,
     {X::x86_avx512_vpdpwssd_128, X::x86_avx512_vpdpwssd_256, X::x86_avx512_vpdpwssd_512},
     Target::AVXVNNI},
    // bfloat16, two at a time
    {VectorReduce::Add,
     Operands::Product,
     BFloat(16),
     BFloat(16),
     Float(32),
     2,
     true,
     Target::AVX512_Zen4,
     {X::x86_avx512bf16_dpbf16ps_128, X::x86_avx512bf16_dpbf16ps_256,
      X::x86_avx512bf16_dpbf16ps_512}},
    // with saturation of the sum
    {VectorReduce::SaturatingAdd,
     Operands::Product,
     UInt(8),
     Int(8),
     Int(32),
     4,
     true,
     Target::AVX512_Zen4,
     {X::x86_avx512_vpdpbusds_128, X::x86_avx512_vpdpbusds_256, X::x86_avx512_vpdpbusds_512},
     Target::AVXVNNI},
    {VectorReduce::SaturatingAdd,
     Operands::Product,
     Int(16),
     Int(16),
     Int(32),
     2,
     true,
     Target::AVX512_Zen4,
     {X::x86_avx512_vpdpwssds_128, X::x86_avx512_vpdpwssds_256, X::x86_avx512_vpdpwssds_512},
     Target::AVXVNNI},
    // s16, two at a time, as products with 1
    {VectorReduce::Add,
     Operands::Single,
     Int(16),
     Int(16),
     Int(32),
     2,
     false,
     {},
     {X::x86_sse2_pmadd_wd, X::x86_avx2_pmadd_wd, X::x86_avx512_pmaddw_d_512}},
    // u8 * s8 with saturation to s16, two at a time
    {VectorReduce::SaturatingAdd,
     Operands::Product,
     UInt(8),
     Int(8),
     Int(16),
     2,
     false,
     Target::SSE41,
     {X::x86_ssse3_pmadd_ub_sw_128, X::x86_avx2_pmadd_ub_sw, X::x86_avx512_pmaddubs_w_512}},
};

/// |a - b| of u8 (b zero for a plain sum), eight at a time into 64 bits.
const Instruction sum_of_differences = {X::x86_sse2_psad_bw, X::x86_avx2_psad_bw,
                                        X::x86_avx512_psad_bw_512};

/// The instruction for the fewest registers that hold `bits` bits, and its width.
X::ID choose(const Instruction &i, const Target &target, int bits, int *width) {
    const int limit = vector_register_bits(target, false);
    if (limit >= 512 && bits >= 512 && i.bits512 != X::not_intrinsic) {
        *width = 512;
        return i.bits512;
    }
    if (limit >= 256 && bits >= 256) {
        *width = 256;
        return i.bits256;
    }
    *width = 128;
    return i.bits128;
}

std::optional<Factors> match_operands(const Expr &value, const ReductionRow &row) {
    return row.operands == Operands::Single ? narrowed(value, make_one(value.type()), row.a, row.b)
                                            : factors_of(value, row.a, row.b);
}

/// The sums of groups of lanes, added to the accumulator if there is one.
Value *apply(FunctionEmitter &f, const ReductionRow &row, const Factors &operands,
             Value *accumulator = nullptr) {
    llvm::IRBuilder<> &b = f.builder();
    Value *x = f.emit(operands.a), *y = f.emit(operands.b);
    const int lanes = lanes_of(x->getType());
    int bits = row.a.bits(), width;
    X::ID id = choose(row.instruction_in(f.target()), f.target(), lanes * bits, &width);
    if (!row.accumulates) {
        return f.by_pieces({x, y}, width / bits, [&](const std::vector<Value *> &piece) {
            return b.CreateIntrinsic(id, {}, {piece[0], piece[1]});
        });
    }
    // Four bytes (two words) are one lane of the accumulator, and are cut into pieces as such.
    const int sums = lanes / row.factor, piece_lanes = width / row.result.bits();
    llvm::Type *words = f.type(Int(32, sums)), *result = f.type(row.result.with_lanes(sums));
    accumulator = accumulator ? accumulator : llvm::Constant::getNullValue(result);
    llvm::Type *taken = row.a.is_bfloat() ? with_lanes(b.getBFloatTy(), piece_lanes * row.factor)
                                          : f.type(Int(32, piece_lanes));
    return f.by_pieces({accumulator, b.CreateBitCast(x, words), b.CreateBitCast(y, words)},
                       piece_lanes, [&](const std::vector<Value *> &piece) {
                           return b.CreateIntrinsic(id, {},
                                                    {piece[0], b.CreateBitCast(piece[1], taken),
                                                     b.CreateBitCast(piece[2], taken)});
                       });
}

/// The first row for it; of those that take an accumulator, if there is one.
const ReductionRow *find_row(const FunctionEmitter &f, VectorReduce::Operator op, Type result,
                             const Expr &value, int factor, bool accumulates, Factors *operands) {
    for (const ReductionRow &row : reduction_rows) {
        bool matches = op == row.op && factor % row.factor == 0 &&
                       (!accumulates || (row.accumulates && factor == row.factor)) &&
                       row.is_in(f.target()) && row.gives(result.element_of()) &&
                       value.type().lanes() * row.a.bits() >= 64;
        const std::optional<Factors> found = matches ? match_operands(value, row) : std::nullopt;
        if (found) {
            *operands = *found;
            return &row;
        }
    }
    return nullptr;
}

/// Whether an s16 is known not to be -2^15.
bool is_never_lowest(const Expr &e) {
    // No product but one, which saturates, comes to 2^15 before its sign is taken.
    if (const Call *product = Call::as_intrinsic(e, Intrinsic::rounding_mul_shift_right);
        product && as_const_uint(product->args[2]) == 15u) {
        return true;
    }
    const ConstantInterval range = constant_bounds(e);
    return range.min && *range.min > INT16_MIN;
}

/// c + the sums of groups of products, where the instruction takes an accumulator. A saturating one
/// saturates once: the groups' sums must fit.
Value *match_accumulation(FunctionEmitter &f, VectorReduce::Operator kind, const Expr &c,
                          const Expr &sums) {
    const VectorReduce *op = sums.as<VectorReduce>();
    if (!op || op->op != kind || !op->type.is_vector()) {
        return nullptr;
    }
    const int factor = op->value.type().lanes() / op->type.lanes();
    Factors operands;
    const ReductionRow *row = find_row(f, op->op, op->type, op->value, factor, true, &operands);
    const bool may_saturate_first = row && kind == VectorReduce::SaturatingAdd &&
                                    row->a == Int(16) && !is_never_lowest(operands.a) &&
                                    !is_never_lowest(operands.b);
    return row && !may_saturate_first ? apply(f, *row, operands, f.emit(c)) : nullptr;
}

/// a * b + c * d of s16: neighbours of one product, when they are interleaved.
Value *match_sum_of_products(FunctionEmitter &f, const Add *op) {
    const ReductionRow row = {
        VectorReduce::Add, Operands::Product, Int(16), Int(16), Int(32), 2, false, {},
        products_of_words};
    const int lanes = op->type.lanes();
    if (!row.gives(op->type.element_of()) || lanes < 4 || !row.is_in(f.target())) {
        return nullptr;
    }
    const std::optional<Factors> first = match_operands(op->a, row);
    const std::optional<Factors> second = first ? match_operands(op->b, row) : std::nullopt;
    if (!second) {
        return nullptr;
    }
    llvm::IRBuilder<> &b = f.builder();
    Value *x = f.interleave({f.emit(first->a), f.emit(second->a)});
    Value *y = f.interleave({f.emit(first->b), f.emit(second->b)});
    int width;
    X::ID id = choose(products_of_words, f.target(), lanes * 32, &width);
    return f.by_pieces({x, y}, width / 16, [&](const std::vector<Value *> &piece) {
        return b.CreateIntrinsic(id, {}, {piece[0], piece[1]});
    });
}

void collect_terms(const Expr &e, std::vector<Expr> *terms) {
    const Add *sum = e.as<Add>();
    if (!sum) {
        terms->push_back(e);
        return;
    }
    collect_terms(sum->a, terms);
    collect_terms(sum->b, terms);
}

/// v where e is its even lanes (its odd ones) as numbers of twice the bits, else undefined.
Expr halved_vector(const Expr &e, bool odd) {
    const Cast *cast = e.as<Cast>();
    const Shuffle *lanes = cast ? cast->value.as<Shuffle>() : nullptr;
    const bool matches = lanes && lanes->is_slice() && lanes->slice_stride() == 2 &&
                         lanes->slice_begin() == int(odd) &&
                         lanes->vectors[0].type().lanes() == 2 * e.type().lanes() &&
                         e.type().bits() == 2 * lanes->type.bits();
    return matches ? lanes->vectors[0] : Expr();
}

/// The sums of neighbours of v, as products with 1, in numbers of twice the bits that hold them.
Value *sum_neighbours(FunctionEmitter &f, const Expr &v) {
    const Type t = v.type();
    const bool of_bytes = t.bits() == 8;
    static const Instruction bytes = {X::x86_ssse3_pmadd_ub_sw_128, X::x86_avx2_pmadd_ub_sw,
                                      X::x86_avx512_pmaddubs_w_512};
    int width;
    const X::ID id =
        choose(of_bytes ? bytes : products_of_words, f.target(), t.lanes() * t.bits(), &width);
    Value *x = f.emit(v), *ones = llvm::ConstantInt::get(x->getType(), 1);
    // Of bytes the first is unsigned and the second signed.
    const bool is_second = of_bytes && t.is_int();
    return f.by_pieces({is_second ? ones : x, is_second ? x : ones}, width / t.bits(),
                       [&](const std::vector<Value *> &piece) {
                           return f.builder().CreateIntrinsic(id, {}, {piece[0], piece[1]});
                       });
}

/// The first two terms that are the two halves of one vector, with an instruction for their sum.
std::optional<std::pair<size_t, size_t>> find_neighbours(const Target &target,
                                                         const std::vector<Expr> &terms) {
    for (size_t i = 0; i < terms.size(); i++) {
        const Expr v = halved_vector(terms[i], false);
        const bool is_summed = v.defined() && v.type().lanes() * v.type().bits() >= 128 &&
                               ((v.type().bits() == 8 && target.has_feature(Target::SSE41)) ||
                                v.type().element_of() == Int(16));
        for (size_t j = 0; is_summed && j < terms.size(); j++) {
            const Expr other = halved_vector(terms[j], true);
            if (other.defined() && equal(v, other)) {
                return std::make_pair(i, j);
            }
        }
    }
    return {};
}

/// Even and odd lanes of one vector, among other terms.
Value *match_sum_of_neighbours(FunctionEmitter &f, const Add *op) {
    if (!op->type.is_int_or_uint() || !has_sse2(f.target())) {
        return nullptr;
    }
    std::vector<Expr> terms;
    collect_terms(op, &terms);
    Value *sum = nullptr;
    while (const auto found = find_neighbours(f.target(), terms)) {
        const auto [even, odd] = *found;
        Value *pairs = sum_neighbours(f, halved_vector(terms[even], false));
        sum = sum ? f.builder().CreateAdd(sum, pairs) : pairs;
        terms.erase(terms.begin() + long(std::max(even, odd)));
        terms.erase(terms.begin() + long(std::min(even, odd)));
    }
    if (!sum || terms.empty()) {
        return sum;
    }
    Expr rest = terms[0];
    for (size_t i = 1; i < terms.size(); i++) {
        rest = Add::make(rest, terms[i]);
    }
    return f.builder().CreateAdd(f.emit(rest), sum);
}

/// The widest element that the sum of differences can be of without loss, by the number of addends.
Value *match_sum_of_bytes(FunctionEmitter &f, const VectorReduce *op, int factor) {
    Type t = op->value.type();
    if (op->op != VectorReduce::Add || !t.is_int_or_uint() || t.bits() < 16 || factor % 8 != 0 ||
        !has_sse2(f.target())) {
        return nullptr;
    }
    Type bytes = UInt(8, t.lanes());
    Expr narrow = lossless_cast(bytes, op->value);
    if (!narrow.defined()) {
        return nullptr;
    }
    Expr a = narrow, b = make_zero(bytes);
    if (const Call *difference = Call::as_intrinsic(narrow, Intrinsic::absd)) {
        if (difference->args[0].type() == bytes) {
            a = difference->args[0];
            b = difference->args[1];
        }
    }
    Value *x = f.emit(a), *y = f.emit(b);
    int width;
    X::ID id = choose(sum_of_differences, f.target(), t.lanes() * 8, &width);
    Value *sums = f.by_pieces({x, y}, width / 8, [&](const std::vector<Value *> &piece) {
        return f.builder().CreateIntrinsic(id, {}, {piece[0], piece[1]});
    });
    Type result = t.with_lanes(t.lanes() / 8);
    sums = f.convert(sums, UInt(64, result.lanes()), result);
    return f.reduce_groups(sums, op->type.lanes(), op->op, t.element_of());
}

/// Rounded high half of s16 products. The instruction wraps where the product is exactly 1.
Value *match_rounding_product(FunctionEmitter &f, const Call *op) {
    static const Instruction instruction = {X::x86_ssse3_pmul_hr_sw_128, X::x86_avx2_pmul_hr_sw,
                                            X::x86_avx512_pmul_hr_sw_512};
    Type t = op->type;
    auto shift = as_const_uint(op->args[2]);
    bool matches = t.element_of() == Int(16) && t.lanes() >= 8 && shift == 15u &&
                   op->args[0].type() == t && op->args[1].type() == t;
    if (!matches || !f.target().has_feature(Target::SSE41)) {
        return nullptr;
    }
    llvm::IRBuilder<> &b = f.builder();
    int width;
    X::ID id = choose(instruction, f.target(), t.lanes() * 16, &width);
    Value *product = f.by_pieces({f.emit(op->args[0]), f.emit(op->args[1])}, width / 16,
                                 [&](const std::vector<Value *> &piece) {
                                     return b.CreateIntrinsic(id, {}, {piece[0], piece[1]});
                                 });
    if (is_never_lowest(op->args[0]) || is_never_lowest(op->args[1])) {
        return product;
    }
    Value *wrapped = b.CreateICmpEQ(product, f.int_constant(product->getType(), INT16_MIN));
    return b.CreateXor(product, b.CreateSExt(wrapped, product->getType()));
}

/// e as s16 that are no bytes, if its values are such, else undefined.
Expr as_words(const Expr &e) {
    const int lanes = e.type().lanes();
    const bool are_bytes = lossless_cast(Int(8, lanes), e).defined();
    return are_bytes ? Expr() : lossless_cast(Int(16, lanes), e);
}

/// The s16 that all lanes are, if the processor has it in all lanes of 16 bits as it loads it.
Expr word_in_all_lanes(const FunctionEmitter &f, const Expr &e) {
    const Broadcast *all = e.as<Broadcast>();
    return all && all->value.type().is_scalar() && f.target().has_feature(Target::AVX2)
               ? lossless_cast(Int(16), all->value)
               : Expr();
}

}  // namespace

Value *match_x86_call(FunctionEmitter &f, const Call *op) {
    if (f.target().arch != Target::X86) {
        return nullptr;
    }
    if (op->is_intrinsic(Intrinsic::saturating_add)) {
        const VectorReduce::Operator kind = VectorReduce::SaturatingAdd;
        Value *v = match_accumulation(f, kind, op->args[0], op->args[1]);
        return v ? v : match_accumulation(f, kind, op->args[1], op->args[0]);
    }
    return op->is_intrinsic(Intrinsic::rounding_mul_shift_right) ? match_rounding_product(f, op)
                                                                 : nullptr;
}

Value *match_x86_reduction(FunctionEmitter &f, const VectorReduce *op) {
    if (f.target().arch != Target::X86) {
        return nullptr;
    }
    int factor = op->value.type().lanes() / op->type.lanes();
    if (Value *v = match_sum_of_bytes(f, op, factor)) {
        return v;
    }
    Factors operands;
    const ReductionRow *row = find_row(f, op->op, op->type, op->value, factor, false, &operands);
    return row ? f.reduce_groups(apply(f, *row, operands), op->type.lanes(), op->op, row->result)
               : nullptr;
}

Value *match_x86_sum(FunctionEmitter &f, const Add *op) {
    const Type t = op->type.element_of();
    if (f.target().arch != Target::X86 || !op->type.is_vector() ||
        (!t.is_int_or_uint() && t != Float(32))) {
        return nullptr;
    }
    Value *v = match_accumulation(f, VectorReduce::Add, op->a, op->b);
    v = v ? v : match_accumulation(f, VectorReduce::Add, op->b, op->a);
    v = v ? v : match_sum_of_neighbours(f, op);
    return v ? v : match_sum_of_products(f, op);
}

// A product of s16 is a sum of two, the second of which is a product with 0: one operation, where a product of 32 bits
// takes two on Intel's processors. The operands are made wider by zeros for that, both alike, so that one that is multiplied
// by itself and by others is made wider once. Where it is known that the upper half of one is 0, as of unsigned bytes, LLVM
// does so, and with constants it does better. Of a number that all lanes are the upper half, which is multiplied by 0, may be
// anything: that number again.
Value *match_x86_product(FunctionEmitter &f, const Mul *op) {
    const int lanes = op->type.lanes();
    if (f.target().arch != Target::X86 || op->type.element_of() != Int(32) || lanes < 4 ||
        !has_sse2(f.target())) {
        return nullptr;
    }
    const auto is_left_to_llvm = [&](const Expr &e) {
        return is_const(e) || lossless_cast(UInt(8, lanes), e).defined() ||
               !lossless_cast(Int(16, lanes), e).defined();
    };
    const bool is_first = as_words(op->a).defined() &&
                          !(word_in_all_lanes(f, op->a).defined() && as_words(op->b).defined());
    const Expr words = is_first ? as_words(op->a) : as_words(op->b);
    if (is_left_to_llvm(op->a) || is_left_to_llvm(op->b) || !words.defined()) {
        return nullptr;
    }
    llvm::IRBuilder<> &b = f.builder();
    const Expr other = is_first ? op->b : op->a, word = word_in_all_lanes(f, other);
    const Expr other_words = as_words(other);
    Value *x = b.CreateZExt(f.emit(words), f.type(op->type));
    Value *y = word.defined() ? b.CreateBitCast(f.splat(f.emit(word), 2 * lanes), f.type(op->type))
               : other_words.defined() ? b.CreateZExt(f.emit(other_words), f.type(op->type))
                                       : f.emit(other);
    int width;
    const X::ID id = choose(products_of_words, f.target(), lanes * 32, &width);
    llvm::Type *taken = f.type(Int(16, width / 16));
    return f.by_pieces({x, y}, width / 32, [&](const std::vector<Value *> &piece) {
        return b.CreateIntrinsic(
            id, {}, {b.CreateBitCast(piece[0], taken), b.CreateBitCast(piece[1], taken)});
    });
}

// To 12 bits, or to 14 where AVX-512 has it. A step of Newton's method would take longer than the estimate; a program
// that needs one can write it.
Value *x86_estimate(FunctionEmitter &f, Value *v, bool square_root) {
    llvm::IRBuilder<> &b = f.builder();
    const int all = lanes_of(v->getType());
    auto id = square_root ? X::x86_sse_rsqrt_ps : X::x86_sse_rcp_ps;
    int lanes = 4;
    const bool is_long = f.target().has_feature(Target::AVX512) && all >= 16;
    if (all == 1) {
        id = square_root ? X::x86_sse_rsqrt_ss : X::x86_sse_rcp_ss;
        Value *vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(v->getType(), 4));
        vector = b.CreateInsertElement(vector, v, uint64_t(0));
        return b.CreateExtractElement(b.CreateIntrinsic(id, {}, {vector}), uint64_t(0));
    }
    if (is_long) {
        id = square_root ? X::x86_avx512_rsqrt14_ps_512 : X::x86_avx512_rcp14_ps_512;
        lanes = 16;
    } else if (f.target().has_feature(Target::AVX) && all >= 8) {
        id = square_root ? X::x86_avx_rsqrt_ps_256 : X::x86_avx_rcp_ps_256;
        lanes = 8;
    }
    return f.by_pieces({v}, lanes, [&](const std::vector<Value *> &piece) -> Value * {
        if (!is_long) {
            return b.CreateIntrinsic(id, {}, {piece[0]});
        }
        Value *none = llvm::Constant::getNullValue(piece[0]->getType());
        return b.CreateIntrinsic(id, {}, {piece[0], none, b.getInt16(0xffff)});
    });
}

}  // namespace calotype::internal
