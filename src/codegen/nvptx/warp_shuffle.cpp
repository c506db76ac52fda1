// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/warp_shuffle.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace calotype::internal {

using llvm::Value;
namespace N = llvm::Intrinsic;

namespace {

/// One shuffle of 32 bits.
Value *shuffle_word(llvm::IRBuilder<> &b, Value *word, const WarpShuffle &how) {
    static const N::ID ids[] = {N::nvvm_shfl_sync_idx_i32, N::nvvm_shfl_sync_up_i32,
                                N::nvvm_shfl_sync_down_i32, N::nvvm_shfl_sync_bfly_i32};
    // The last lane that may be read (going up, the first), and which bits of its number all lanes
    // of a group have in common.
    const int clamp = (how.mode == WarpShuffle::Up ? 0 : 31) | (32 - how.width) << 8;
    return b.CreateIntrinsic(ids[how.mode], {},
                             {b.getInt32(whole_warp), word, how.lane, b.getInt32(clamp)});
}

}  // namespace

Value *shuffle_scalar(llvm::IRBuilder<> &b, Value *v, const WarpShuffle &how) {
    llvm::Type *t = v->getType();
    unsigned bits = t->getScalarSizeInBits();
    Value *whole = b.CreateBitCast(v, b.getIntNTy(bits));
    if (bits <= 32) {
        Value *word = shuffle_word(b, b.CreateZExt(whole, b.getInt32Ty()), how);
        return b.CreateBitCast(b.CreateTrunc(word, whole->getType()), t);
    }
    Value *low = shuffle_word(b, b.CreateTrunc(whole, b.getInt32Ty()), how);
    Value *high = shuffle_word(b, b.CreateTrunc(b.CreateLShr(whole, 32), b.getInt32Ty()), how);
    Value *joined = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()),
                               b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
    return b.CreateBitCast(joined, t);
}

}  // namespace calotype::internal
