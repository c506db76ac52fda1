// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbol: who a name in the IR refers to. Nodes carry a name and, where the name means something
// declared outside of the expression, the Symbol of the declaration. The layers above derive from
// Symbol (Parameter, Function, ...).
#pragma once

#include <string>

#include "ir/type.h"
#include "support/intrusive_ptr.h"

namespace calotype::internal {

/// What kind of declaration a Symbol is. Loop variables, lets and Vars have no Symbol at all.
enum class SymbolKind : uint8_t {
    Parameter,        ///< scalar or buffer argument (pipeline/parameter.h)
    Image,            ///< constant buffer embedded in the pipeline (pipeline/parameter.h)
    Function,         ///< a Func's definition (pipeline/function.h)
    ReductionDomain,  ///< the RDom that an RVar belongs to (pipeline/reduction.h)
    Linkable,  ///< device code from elsewhere that supplies a function (linkables/linkable.h)
};

/// A declaration: identity, name and kind. Two nodes mean the same thing iff they point to the same
/// Symbol.
class Symbol : public RefCounted {
public:
    Symbol(SymbolKind kind, std::string name) : kind(kind), name(std::move(name)) {
    }
    const SymbolKind kind;
    std::string name;
};

using SymbolPtr = IntrusivePtr<Symbol>;

}  // namespace calotype::internal
