// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the calls of a Func become where its values stand in their place.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/queries.h"

namespace calotype::internal {

/// Calls with the same coordinates, f(x + 1 - 1) and f(x), become one node, so that n Funcs each of
/// which calls the one before twice do not become 2^n nodes. Values with effects are not shared.
class InlinedCalls {
public:
    /// What `make` gives for that value and those coordinates, or what it gave before.
    template<typename Make>
    const Expr &of(const Expr &value, const std::vector<Expr> &args, Make make) {
        std::vector<Expr> key = {value};
        for (const Expr &arg : args) {
            key.push_back(simplify(arg));
        }
        if (!is_pure(value)) {
            calls_with_effects_.push_back(make());
            return calls_with_effects_.back();
        }
        const auto it = known_.find(key);
        return it != known_.end() ? it->second
                                  : known_.emplace(std::move(key), make()).first->second;
    }

private:
    struct Less {
        bool operator()(const std::vector<Expr> &a, const std::vector<Expr> &b) const {
            // The first is the value itself: it is compared as the same node or another.
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
    std::vector<Expr> calls_with_effects_;
};

}  // namespace calotype::internal
