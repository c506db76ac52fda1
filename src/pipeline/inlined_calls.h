// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inlining of Funcs: the expressions that replace their calls.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/queries.h"
#include "ir/walk/search.h"

namespace calotype::internal {

/// The call of a Func or image at exactly those coordinates that the value is: f(x, y) = g(x, y).
/// Null: there is more of it.
inline const Call *wrapped_call(const Expr &value, const std::vector<std::string> &coordinates) {
    const Call *call = value.as<Call>();
    if (!call || (call->call_type != CallKind::Func && call->call_type != CallKind::Image) ||
        call->args.size() != coordinates.size()) {
        return nullptr;
    }
    for (size_t i = 0; i < coordinates.size(); i++) {
        const Variable *v = call->args[i].as<Variable>();
        if (!v || v->symbol.defined() || v->name != coordinates[i]) {
            return nullptr;
        }
    }
    return call;
}

/// Calls with the same coordinates, f(x + 1 - 1) and f(x), become one node, so that n Funcs each of
/// which calls the one before twice do not become 2^n nodes. Not where values or coordinates have
/// effects.
class InlinedCalls {
public:
    /// What `make` gives for that value and those coordinates, or what it gave before.
    template<typename Make>
    Expr of(const Expr &value, const std::vector<Expr> &args, Make make) {
        if (!is_pure(value) || !std::all_of(args.begin(), args.end(), is_pure)) {
            return make();
        }
        std::vector<Expr> key = {value};
        for (const Expr &arg : args) {
            key.push_back(known_as(arg));
        }
        const auto it = known_.find(key);
        return it != known_.end() ? it->second
                                  : known_.emplace(std::move(key), make()).first->second;
    }

private:
    /// What another coordinate is to be equal to.
    static Expr known_as(const Expr &arg) {
        // One that holds what was inlined before is the same node where it is the same at all, and as
        // large as all of that. One that reads has more of it than its value.
        if (contains_kind(arg, NodeKind::Let) || reads(arg)) {
            return arg;
        }
        // What 6 - x + x is made of is not there where 6 - y + y is.
        const Expr simple = simplify(arg);
        return variables_of(simple) == variables_of(arg) ? simple : arg;
    }
    static bool reads(const Expr &e) {
        return contains<Call>(e, [](const Call *call) {
            return call->call_type == CallKind::Func || call->call_type == CallKind::Image;
        });
    }
    static std::set<std::string> variables_of(const Expr &e) {
        const std::vector<std::string> names = free_variables(e);
        return {names.begin(), names.end()};
    }

    struct Less {
        bool operator()(const std::vector<Expr> &a, const std::vector<Expr> &b) const {
            return a.size() != b.size() ? a.size() < b.size() : compare_all(a, b) < 0;
        }
        static int compare_all(const std::vector<Expr> &a, const std::vector<Expr> &b) {
            for (size_t i = 0; i < a.size(); i++) {
                if (const int c = compare(a[i], b[i])) {
                    return c;
                }
            }
            return 0;
        }
    };
    std::map<std::vector<Expr>, Expr, Less> known_;
};

}  // namespace calotype::internal
