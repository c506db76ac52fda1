// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine: what a kind of machine does in its own way. The emitter asks it first and goes the
// general way where it has no answer.
#pragma once

#include <string>
#include <vector>

#include <llvm/IR/Value.h>

#include "ir/stmt_nodes.h"
#include "legalize/legalize.h"
#include "target/target.h"

namespace calotype::internal {

class FunctionEmitter;

/// What LLVM has to know of a target: "x86_64-unknown-linux-gnu", the names of the processors to
/// compile and to tune for, the attributes "+sse4.1,+avx,...", and the widest register for vectors.
/// Optimisations alone are told `optimizer_features` as well: what they should not make of other
/// code, though the target has it.
struct LlvmTarget {
    std::string triple, processor, tuning, features;
    int vector_bits = 0;
    std::string optimizer_features = {};
    unsigned loop_alignment = 0;  ///< in bytes; 0: as LLVM has it
    /// Passes of the back end that are left out, one a line.
    std::string needless_passes;
    std::string abi = {};        ///< how C functions are called, where there are several ways
    bool extends_words = false;  ///< 32 bits are passed in registers of 64 as if they had a sign
};

/// Functions that give a value give null where the general way will do. Objects hold no state of a
/// function and may serve several at once.
class Machine {
public:
    using Value = llvm::Value;

    virtual ~Machine() = default;

    /// An instruction for an intrinsic.
    virtual Value *call(FunctionEmitter &f, const Call *op) const = 0;
    /// True if instructions that saturate make such vectors of integers narrower, and no other does it as fast.
    virtual bool packs(const Target &, Type from, Type to) const {
        return false;
    }
    /// Where packs(): the vector in the narrower type, whose limits its values do not exceed.
    virtual Value *packed(FunctionEmitter &, Value *, Type to) const {
        return nullptr;
    }
    /// An instruction for a sum with a product in it.
    virtual Value *sum(FunctionEmitter &, const Add *) const {
        return nullptr;
    }
    /// An instruction for a product.
    virtual Value *product(FunctionEmitter &, const Mul *) const {
        return nullptr;
    }
    /// Instructions for the high halves of the products of unsigned integers.
    virtual Value *high_product(FunctionEmitter &, Value *, Value *) const {
        return nullptr;
    }
    /// An instruction for a reduction of vectors.
    virtual Value *reduction(FunctionEmitter &f, const VectorReduce *op) const = 0;
    /// A transcendental function of float32 or float64.
    virtual Value *math(FunctionEmitter &f, Intrinsic id, const std::vector<Value *> &args,
                        Type t) const;
    /// x * 2^n of floats of type t, in one instruction; n has integers.
    virtual Value *scaled(FunctionEmitter &, Value *, Value *, Type) const {
        return nullptr;
    }
    /// |x| = 2^e * m with m from 1 to 2, of float32 from 3/4 to 3/2, by instructions for it; false
    /// if there are none. Of 0, infinity and NaN, e is -infinity, infinity and NaN and m a number
    /// (or, of NaN, that).
    virtual bool split_exponent(FunctionEmitter &, Value *, Type, Value **, Value **) const {
        return false;
    }
    /// The smaller or larger of floats, where none of them is NaN.
    virtual Value *min_or_max(FunctionEmitter &f, Value *a, Value *b, bool is_max) const;
    /// True if that is the other one where one of them is NaN.
    virtual bool has_minimum_of_numbers() const {
        return false;
    }
    /// The address of storage for an allocation, at a multiple of 16 bytes.
    virtual Value *storage(FunctionEmitter &f, const Allocate *op) const;

    /// How C passes a vector of a few elements, or a 16-bit float, to `function`. CompileError if
    /// it does not.
    virtual llvm::Type *aggregate_type(FunctionEmitter &f, const std::string &function,
                                       Type t) const;
    /// LLVM's number of the memory that global variables are in.
    virtual unsigned global_address_space() const {
        return 0;
    }

    /// What LLVM has to know of the target, which is such a machine. CompileError if code cannot be
    /// generated for it. Devices are set up by their own back ends.
    virtual LlvmTarget llvm_target(const Target &target) const;

    /// True if it rounds a * b + c once, in one instruction.
    virtual bool has_fused_multiply_add(const Target &target) const = 0;
    /// True if it converts float16 to float32 and back.
    virtual bool converts_float16(const Target &target) const = 0;
    /// True if one instruction that gathers beats as many scalar loads.
    virtual bool has_fast_gather(const Target &) const {
        return false;
    }
    /// True if one instruction takes any bytes out of two registers.
    virtual bool permutes_bytes_of_two(const Target &) const {
        return false;
    }
    /// True if code on it may call functions of the C library.
    virtual bool has_c_library() const {
        return true;
    }
    /// True if it adds, subtracts, multiplies and compares 16-bit floats of the type itself.
    virtual bool has_arithmetic(const Target &, Type) const {
        return false;
    }
    /// True if it rounds float32 to bfloat16 itself.
    virtual bool rounds_to_bfloat16() const {
        return false;
    }
    /// True if it has an instruction for round_to_tf32.
    virtual bool rounds_to_tf32() const {
        return false;
    }
    /// True if it can load and store around its cache; stores are of aligned vectors.
    virtual bool has_streaming_accesses() const {
        return false;
    }
    /// True if a register holds one element, so that storage in the frame becomes registers by elements.
    virtual bool has_scalar_registers() const {
        return false;
    }
    /// True if indices are best computed in 32 bits and widened last.
    virtual bool has_narrow_indices() const {
        return false;
    }
    /// True if a function may save all registers that it changes (preserve_all of LLVM).
    virtual bool preserves_registers() const {
        return true;
    }
};

/// What code for the machine can do, for legalize(): by the emitter and by the machine itself.
Capabilities capabilities(const Machine &machine, const Target &target);

/// The machine that code for the target runs on, if it is not for a device. CompileError if there is
/// no code for its architecture.
const Machine &machine_for(const Target &target);

}  // namespace calotype::internal
