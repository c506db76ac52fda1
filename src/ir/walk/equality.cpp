// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/equality.h"

#include <cstring>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "ir/walk/field_walk.h"
#include "support/hash.h"

namespace calotype::internal {

namespace {

template<typename T>
int order(const T &a, const T &b) {
    return a < b ? -1 : b < a ? 1 : 0;
}

uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

uint32_t key_of(const Type &t) {
    return t.to_abi().as_u32();
}

/// The larger trees compared so far and found equal, so that shared subtrees are compared once.
class Comparer {
public:
    int operator()(const Expr &a, const Expr &b) {
        return compare_handles(a, b);
    }
    int operator()(const Stmt &a, const Stmt &b) {
        return compare_handles(a, b);
    }
    int operator()(const Range &a, const Range &b) {
        const int c = (*this)(a.min, b.min);
        return c ? c : (*this)(a.extent, b.extent);
    }
    template<typename T>
    int operator()(const std::vector<T> &a, const std::vector<T> &b) {
        if (int c = order(a.size(), b.size())) {
            return c;
        }
        for (size_t i = 0; i < a.size(); i++) {
            if (int c = (*this)(a[i], b[i])) {
                return c;
            }
        }
        return 0;
    }
    int operator()(double a, double b) {
        return order(bits_of(a), bits_of(b));
    }
    int operator()(const Type &a, const Type &b) {
        return order(key_of(a), key_of(b));
    }
    int operator()(const Alignment &a, const Alignment &b) {
        return order(std::tie(a.modulus, a.remainder), std::tie(b.modulus, b.remainder));
    }
    template<typename Data>
    int operator()(const Data &a, const Data &b) {
        return order(a, b);
    }

private:
    static int order_of_types(const Expr &a, const Expr &b) {
        return order(key_of(a.type()), key_of(b.type()));
    }
    static int order_of_types(const Stmt &, const Stmt &) {
        return 0;
    }

    template<typename Handle>
    int compare_handles(const Handle &a, const Handle &b) {
        if (a.same_as(b)) {
            return 0;
        }
        if (!a.defined() || !b.defined()) {
            return a.defined() ? 1 : -1;
        }
        if (int c = order(a.kind(), b.kind())) {
            return c;
        }
        if (int c = order_of_types(a, b)) {
            return c;
        }
        // Only nodes with more than one owner can be met again.
        const bool shared = !a->is_unique() && !b->is_unique();
        const Pair pair{a.get(), b.get()};
        if (shared && known_equal_.count(pair)) {
            return 0;
        }
        const int c = compare_fields(a, b);
        if (c == 0 && shared) {
            known_equal_.insert(pair);
        }
        return c;
    }

    template<typename Handle>
    int compare_fields(const Handle &a, const Handle &b) {
        return dispatch(a.get(), [&](const auto *op) {
            int result = 0;
            for_each_field_pair(*op, *static_cast<decltype(op)>(b.get()),
                                [&](const auto &fa, const auto &fb) {
                                    result = result ? result : (*this)(fa, fb);
                                });
            return result;
        });
    }

    using Pair = std::pair<const Node *, const Node *>;
    struct PairHash {
        size_t operator()(const Pair &p) const {
            return hash_combine(uint64_t(uintptr_t(p.first)), uint64_t(uintptr_t(p.second)));
        }
    };
    std::unordered_set<Pair, PairHash> known_equal_;
};

class Hasher {
public:
    Hasher() = default;
    /// Of what is deeper than so many levels the kind and type alone counts.
    explicit Hasher(int levels) : whole_(false), levels_(levels) {
    }
    uint64_t operator()(const Expr &e) {
        return hash_handle(e, e.defined() ? key_of(e.type()) : 0);
    }
    uint64_t operator()(const Stmt &s) {
        return hash_handle(s, 0);
    }
    uint64_t operator()(const Range &r) {
        return hash_combine((*this)(r.min), (*this)(r.extent));
    }
    template<typename T>
    uint64_t operator()(const std::vector<T> &v) {
        uint64_t h = v.size();
        for (const T &x : v) {
            h = hash_combine(h, (*this)(x));
        }
        return h;
    }
    uint64_t operator()(double x) {
        return bits_of(x);
    }
    uint64_t operator()(const Type &t) {
        return key_of(t);
    }
    uint64_t operator()(const Alignment &a) {
        return hash_combine(uint64_t(a.modulus), uint64_t(a.remainder));
    }
    uint64_t operator()(const std::string &s) {
        return hash_combine(s.size(), s);
    }
    template<typename Data>
    uint64_t operator()(const Data &data) {
        return uint64_t(data);
    }

private:
    template<typename Handle>
    uint64_t hash_handle(const Handle &handle, uint64_t type) {
        if (!handle.defined()) {
            return 0;
        }
        uint64_t h = hash_combine(uint64_t(handle.kind()) + 1, type);
        if (levels_ == 0) {
            return h;
        }
        const bool remember = whole_ && !handle->is_unique();
        if (remember) {
            const auto known = known_.find(handle.get());
            if (known != known_.end()) {
                return known->second;
            }
        }
        levels_--;
        dispatch(handle.get(), [&](const auto *op) {
            for_each_field(*op, [&](const auto &field) { h = hash_combine(h, (*this)(field)); });
        });
        levels_++;
        if (remember) {
            known_.emplace(handle.get(), h);
        }
        return h;
    }

    const bool whole_ = true;
    int levels_ = std::numeric_limits<int>::max();
    std::unordered_map<const Node *, uint64_t> known_;
};

}  // namespace

bool equal(const Expr &a, const Expr &b) {
    return Comparer()(a, b) == 0;
}

bool equal(const Stmt &a, const Stmt &b) {
    return Comparer()(a, b) == 0;
}

int compare(const Expr &a, const Expr &b) {
    return Comparer()(a, b);
}

int compare(const Stmt &a, const Stmt &b) {
    return Comparer()(a, b);
}

uint64_t hash(const Expr &e) {
    return Hasher()(e);
}

uint64_t hash(const Stmt &s) {
    return Hasher()(s);
}

uint64_t shallow_hash(const Expr &e, int levels) {
    return Hasher(levels)(e);
}

}  // namespace calotype::internal
