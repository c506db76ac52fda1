// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NamesInterface: names of the language that generators may use without qualification.
#pragma once

#include "lang/buffer.h"
#include "lang/extern_device.h"
#include "lang/func.h"
#include "lang/image_param.h"
#include "lang/param.h"
#include "lang/pipeline.h"
#include "lang/rdom.h"
#include "lang/tuple.h"
#include "lang/var.h"

namespace calotype {

class GeneratorContext;
class LinkableListParam;
class LinkableParam;
template<typename T>
class GeneratorParam;

namespace internal {

class NamesInterface {
protected:
    using Expr = calotype::Expr;
    using EvictionKey = calotype::EvictionKey;
    using ExternFuncArgument = calotype::ExternFuncArgument;
    using Func = calotype::Func;
    using GeneratorContext = calotype::GeneratorContext;
    using ImageParam = calotype::ImageParam;
    using Linkable = calotype::Linkable;
    using LinkableListParam = calotype::LinkableListParam;
    using LinkableParam = calotype::LinkableParam;
    using LoopLevel = calotype::LoopLevel;
    using MemoryType = calotype::MemoryType;
    using NameMangling = calotype::NameMangling;
    using Partition = calotype::Partition;
    using Pipeline = calotype::Pipeline;
    using PrefetchBoundStrategy = calotype::PrefetchBoundStrategy;
    using RDom = calotype::RDom;
    using RVar = calotype::RVar;
    using TailStrategy = calotype::TailStrategy;
    using Target = calotype::Target;
    using Tuple = calotype::Tuple;
    using Type = calotype::Type;
    using Var = calotype::Var;
    template<typename T>
    using GeneratorParam = calotype::GeneratorParam<T>;
    template<typename T = void, int D = -1>
    using Buffer = calotype::Buffer<T, D>;
    template<typename T>
    using Param = calotype::Param<T>;

    static Type Bool(int lanes = 1) {
        return calotype::Bool(lanes);
    }
    static Type Float(int bits, int lanes = 1) {
        return calotype::Float(bits, lanes);
    }
    static Type Int(int bits, int lanes = 1) {
        return calotype::Int(bits, lanes);
    }
    static Type UInt(int bits, int lanes = 1) {
        return calotype::UInt(bits, lanes);
    }
    template<typename T>
    static Expr cast(Expr e) {
        return calotype::cast<T>(std::move(e));
    }
    static Expr cast(Type t, Expr e) {
        return calotype::cast(t, std::move(e));
    }
};

}  // namespace internal
}  // namespace calotype
