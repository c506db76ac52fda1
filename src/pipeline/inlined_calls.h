// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the calls of a Func become where its values stand in their place.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/queries.h"

namespace calotype::internal {

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
            // One that holds what was inlined before is the same node where it is the same at all,
            // and as large as all of that.
            key.push_back(contains_kind(arg, NodeKind::Let) ? arg : simplify(arg));
        }
        const auto it = known_.find(key);
        return it != known_.end() ? it->second
                                  : known_.emplace(std::move(key), make()).first->second;
    }

private:
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
