// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of windows that move by fractions and multiples of rows: whatever slides, values are those of whole Funcs.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "calotype.h"

namespace calotype {
namespace {

const Var x("x"), y("y"), yo("yo"), yi("yi");

class Chain {
public:
    explicit Chain(uint32_t seed) : engine_(seed) {
        Func first("g0");
        first(x, y) = (x * 7 + y * 13) % 31 + y;
        funcs_.push_back(first);
        const int count = 2 + below(3);
        for (int i = 1; i <= count; i++) {
            add(i);
        }
    }

    Buffer<int> run(bool sliding, int first_row) {
        Func out = funcs_.back();
        if (sliding) {
            schedule(out);
        } else {
            for (Func &f : funcs_) {
                f.compute_root();
            }
        }
        Buffer<int> result(17, 41);
        result.set_min(-2, first_row);
        out.realize(result);
        return result;
    }

private:
    int below(int n) {
        return int(engine_() % uint32_t(n));
    }

    static Expr row(int kind, const Expr &at) {
        switch (kind) {
        case 0:
            return at / 2;
        case 1:
            return (at + 1) / 2;
        case 2:
            return at * 2;
        case 3:
            return (at - 1) / 3;
        case 4:
            return at / 2 + at / 4;
        default:
            return at;
        }
    }

    void add(int number) {
        std::string name(1, 'g');
        name += std::to_string(number);
        Func g(name);
        Expr value = number;
        // Taps are near each other: of the same fraction, of rows that are neighbours.
        const int kind = below(6), taps = 2 + below(3);
        for (int i = 0; i < taps; i++) {
            const size_t from = below(4) == 0 ? size_t(below(number)) : size_t(number) - 1;
            const int here = below(4) == 0 ? below(6) : kind;
            value = value * 3 + funcs_[from](x + (below(3) - 1),
                                             row(here, y + (below(3) - 1)) + (below(5) - 2));
        }
        g(x, y) = value % 1009;
        funcs_.push_back(g);
    }

    void schedule(Func out) {
        const bool split = below(3) == 0;
        if (split) {
            out.split(y, yo, yi, 1 + below(8), TailStrategy::GuardWithIf);
        }
        for (size_t i = 0; i + 1 < funcs_.size(); i++) {
            if (below(5) == 0) {
                continue;  // inlined
            }
            funcs_[i].compute_at(out, split ? yi : y);
            if (split && below(3) == 0) {
                funcs_[i].store_at(out, yo);
            } else {
                funcs_[i].store_root();
            }
            if (below(3) == 0) {
                funcs_[i].vectorize(x, 4);
            }
        }
    }

    std::mt19937 engine_;
    std::vector<Func> funcs_;
};

TEST(SlidingQuotients, HaveTheValuesOfWholeFuncs) {
    for (uint32_t seed = 1; seed <= 40; seed++) {
        SCOPED_TRACE(seed);
        Chain plain(seed), sliding(seed);
        const int first_row = int(seed % 9) - 4;
        const Buffer<int> expected = plain.run(false, first_row);
        const Buffer<int> result = sliding.run(true, first_row);
        for (int j = first_row; j <= expected.dim(1).max(); j++) {
            for (int i = -2; i <= expected.dim(0).max(); i++) {
                ASSERT_EQ(result(i, j), expected(i, j)) << "at " << i << ", " << j;
            }
        }
    }
}

}  // namespace
}  // namespace calotype
