// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies by the tensor memory unit of compute capability 9.0 and the counters in shared memory on
// which they arrive (PTX ISA, "cp.async.bulk.tensor" and "mbarrier").
#include "codegen/llvm/emitter.h"
#include "codegen/nvptx/machine.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// Of an element of args[buffer]; its index is the argument after it.
Value *address_of(FunctionEmitter &f, const Call *op, size_t buffer, Type element) {
    return shared_address(f, op->args.at(buffer), element, op->args.at(buffer + 1));
}

Value *offset(FunctionEmitter &f, Value *v, int by) {
    return by == 0 ? v : f.builder().CreateAdd(v, f.builder().getInt32(uint32_t(by)));
}

void instruction(FunctionEmitter &f, const std::vector<Value *> &args, const std::string &code,
                 const std::string &constraints) {
    call_asm(f, f.builder().getVoidTy(), args, code, constraints, true);
}

Value *nothing(FunctionEmitter &f, const Call *op) {
    return llvm::Constant::getNullValue(f.type(op->type));
}

}  // namespace

// Box by box: down a panel, then the next panel.
Value *emit_tile_copy(FunctionEmitter &f, const Call *op) {
    const TileCopyCall tile(op);
    Value *to = address_of(f, op, 0, tile.type), *arrivals = address_of(f, op, 2, UInt(64));
    Value *map = f.emit(Variable::make(Handle(), tile.map));
    std::vector<Value *> at;
    std::string list;
    for (const Expr &e : tile.coordinates) {
        list += (at.empty() ? "$2" : ", $" + std::to_string(2 + at.size()));
        at.push_back(f.emit(e));
    }
    const std::string n = std::to_string(at.size()), last = "$" + std::to_string(2 + at.size());
    const std::string code = "cp.async.bulk.tensor." + n +
                             "d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {" +
                             list + "}], [" + last + "];";
    std::string constraints = "r,l,r,~{memory}";
    for (size_t d = 0; d < at.size(); d++) {
        constraints = constraints.replace(4, 0, "r,");
    }
    int place = 0;
    for (int column = 0; column < tile.width; column += tile.box_width) {
        for (int row = 0; row < tile.height; row += tile.box_height) {
            std::vector<Value *> args = {offset(f, to, place), map};
            args.insert(args.end(), at.begin(), at.end());
            args[2] = offset(f, at[0], column);
            args[2 + size_t(tile.dimension)] = offset(f, at[size_t(tile.dimension)], row);
            args.push_back(arrivals);
            instruction(f, args, code, constraints);
            place += tile.box_height * TileCopyCall::panel_bytes;
        }
    }
    return nothing(f, op);
}

// gpu_arrivals_begin(arrivals, 0, n, copies), gpu_arrivals_end(arrivals, 0, n)
Value *emit_arrivals_range(FunctionEmitter &f, const Call *op) {
    const bool begins = op->is_intrinsic(Intrinsic::gpu_arrivals_begin);
    const auto n = as_const_int(op->args.at(2));
    internal_assert(n) << op->name << " of a number that is not constant";
    Value *first = address_of(f, op, 0, UInt(64));
    for (int i = 0; i < int(*n); i++) {
        Value *address = offset(f, first, i * UInt(64).bytes());
        if (begins) {
            instruction(f, {address, f.emit(op->args.at(3))},
                        "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}");
        } else {
            instruction(f, {address}, "mbarrier.inval.shared::cta.b64 [$0];", "r,~{memory}");
        }
    }
    if (begins) {  // seen by the unit, too
        instruction(f, {}, "fence.mbarrier_init.release.cluster;", "~{memory}");
    }
    return nothing(f, op);
}

Value *emit_arrivals_expect(FunctionEmitter &f, const Call *op) {
    instruction(f, {address_of(f, op, 0, UInt(64)), f.emit(op->args.at(2))},
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}");
    return nothing(f, op);
}

// The hardware lets the thread sleep for a while each time.
Value *emit_arrivals_wait(FunctionEmitter &f, const Call *op) {
    instruction(f, {address_of(f, op, 0, UInt(64)), f.emit(op->args.at(2))},
                "{ .reg .pred done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
                "@!done bra WAIT; }",
                "r,r,~{memory}");
    return nothing(f, op);
}

}  // namespace calotype::internal
