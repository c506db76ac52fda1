// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/extern_device.h"

#include <cctype>

#include "ir/expr_nodes.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

namespace {

void check_symbol(const Linkable &linkable, const char *what, const std::string &name) {
    user_assert(linkable.defined())
        << what << " '" << name << "' is of a linkable that is not defined";
    bool is_good = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
    for (const char c : name) {
        is_good = is_good && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
    }
    user_assert(is_good) << "'" << name << "' is not the name of a " << what << " of linkable "
                         << linkable.description();
}

/// Appends the lanes of argument `i` to the call's arguments; the type of the parameter.
Type add_argument(const std::string &function, size_t i, const ExternDeviceArgument &arg,
                  std::vector<Expr> &args) {
    const size_t lanes = arg.lanes().size();
    user_assert(lanes >= 1 && lanes <= 16)
        << "argument " << i << " of function '" << function << "' is a vector of " << lanes
        << " lanes, must have 1 to 16";
    for (const Expr &e : arg.lanes()) {
        user_assert(e.defined()) << "argument " << i << " of function '" << function
                                 << "' is undefined";
        user_assert(e.type().is_scalar()) << "argument " << i << " of function '" << function
                                          << "' has type " << e.type() << ", must be a scalar";
        user_assert(e.type() == arg.lanes()[0].type())
            << "argument " << i << " of function '" << function << "' is a vector of "
            << arg.lanes()[0].type() << " and " << e.type() << ", must be of one type";
        user_assert(!e.as<StringImm>())
            << "argument " << i << " of function '" << function << "' is a string";
        args.push_back(e);
    }
    return arg.lanes()[0].type().with_lanes(int(lanes));
}

struct Prepared {
    std::vector<Expr> args;
    SymbolPtr symbol;
};

Prepared prepare_call(const Linkable &linkable, const std::string &function, const Type &result,
                      const ExternDeviceArguments &args) {
    check_symbol(linkable, "function", function);
    user_assert(result.bits() > 0 && result.lanes() >= 1 && result.lanes() <= 16)
        << "function '" << function << "' of linkable " << linkable.description()
        << " has a result of type " << result << ", must have a type with 1 to 16 lanes";
    Prepared call;
    LinkedFunction signature;
    signature.result = result;
    for (size_t i = 0; i < args.list().size(); i++) {
        signature.parameters.push_back(add_argument(function, i, args.list()[i], call.args));
    }
    call.symbol = new LinkedDeclaration(linkable, std::move(signature));
    return call;
}

Expr scalar_call(const Linkable &linkable, const std::string &function, const Type &result,
                 const ExternDeviceArguments &args, CallKind kind) {
    user_assert(result.is_scalar())
        << "function '" << function << "' has a result of type " << result
        << ", which is a vector: pure_extern_device_call_vector calls it";
    Prepared call = prepare_call(linkable, function, result, args);
    return Call::make(result, function, std::move(call.args), kind, 0, call.symbol);
}

}  // namespace

Expr extern_device_call(const Linkable &linkable, const std::string &function, const Type &result,
                        const ExternDeviceArguments &args) {
    return scalar_call(linkable, function, result, args, CallKind::Extern);
}

Expr pure_extern_device_call(const Linkable &linkable, const std::string &function,
                             const Type &result, const ExternDeviceArguments &args) {
    return scalar_call(linkable, function, result, args, CallKind::PureExtern);
}

Tuple pure_extern_device_call_vector(const Linkable &linkable, const std::string &function,
                                     const Type &result, const ExternDeviceArguments &args) {
    const Prepared call = prepare_call(linkable, function, result, args);
    std::vector<Expr> components;
    for (int i = 0; i < result.lanes(); i++) {
        components.push_back(Call::make(result.element_of(), function, call.args,
                                        CallKind::PureExtern, i, call.symbol));
    }
    return Tuple(components);
}

Expr extern_device_symbol(const Linkable &linkable, const std::string &symbol) {
    check_symbol(linkable, "symbol", symbol);
    return Call::make(Handle(), Intrinsic::linked_symbol, {StringImm::make(symbol)},
                      new LinkedDeclaration(linkable, LinkedFunction()));
}

}  // namespace calotype
