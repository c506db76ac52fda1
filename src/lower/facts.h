// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts: what passes establish and later ones rely on. passes.def says for each pass which it
// needs, which it gives and which end with it.
#pragma once

#include <cstdint>

namespace calotype::internal {

/// One bit each, so that a set of them is a number.
namespace facts {
enum Fact : uint32_t {
    Nest = 1 << 0,             ///< loops, productions and realizations of all Funcs are there
    Regions = 1 << 1,          ///< what each stage computes is defined by lets (names::stage_min)
    StorageBounds = 1 << 2,    ///< so is how much each realization holds (names::realized_min)
    Shapes = 1 << 3,           ///< shapes of buffer arguments are read and checked
    UniqueNames = 1 << 4,      ///< no two lets or loops have one name
    SingleValues = 1 << 5,     ///< storage, stores and calls of Funcs are about one value each
    FlatStorage = 1 << 6,      ///< verified: no Realize, Provide, or call of a Func or an image
    Closed = 1 << 7,           ///< verified: every name is bound, or an argument's
    BoundedExtents = 1 << 8,   ///< of unrolled and vectorized loops, where anything bounds them
    NoUnrolledLoops = 1 << 9,  ///< verified
    NoVectorizedLoops = 1 << 10,  ///< verified
    KernelForm = 1 << 11,         ///< of lower/gpu/kernel_nest.h
    Barriers = 1 << 12,           ///< what one thread stores another may load
    NoHints = 1 << 13,            ///< verified: no likely, no promise_clamped
    NoGpuLoops = 1 << 14,         ///< verified
    StoragePlaced = 1 << 15,      ///< verified: storage is allocated where it is to be
    NoMutexes = 1 << 16,          ///< verified: no Atomic has a mutex
};
}  // namespace facts

using Facts = uint32_t;

}  // namespace calotype::internal
