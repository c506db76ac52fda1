// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of narrow lanes of which the first some are there: nothing before or behind them is read or written, whatever their number.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include "calotype.h"
#include "pipelines/numbers/targets.h"

namespace calotype {
namespace {

const Var x("x");

/// Memory between two pages that nobody may touch.
class Page {
public:
    Page() : size_(size_t(sysconf(_SC_PAGESIZE))) {
        all_ = static_cast<uint8_t *>(
            mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(all_ + size_, size_, PROT_READ | PROT_WRITE);
    }
    ~Page() {
        munmap(all_, 3 * size_);
    }
    Page(const Page &) = delete;
    Page &operator=(const Page &) = delete;

    /// `n` elements at the begin or at the end of it.
    template<typename T>
    Buffer<T> elements(int n, bool at_end) {
        uint8_t *first = all_ + size_ + (at_end ? size_ - size_t(n) * sizeof(T) : 0);
        return Buffer<T>(reinterpret_cast<T *>(first), n);
    }

private:
    const size_t size_;
    uint8_t *all_;
};

template<typename T>
void expect_each_number(int lanes) {
    ImageParam in(type_of<T>(), 1);
    Func copy("copy"), sum("sum");
    const RDom r(0, in.width());
    copy(x) = in(x) + cast<T>(1);
    copy.vectorize(x, lanes, TailStrategy::GuardWithIf);
    sum() = 0;
    sum() += cast<int>(in(r)) * 3;
    sum.update().atomic().vectorize(r, lanes);
    Page source, target;
    for (const Target &t : test::targets()) {
        const Callable copies = copy.compile_to_callable({in}, t);
        const Callable sums = sum.compile_to_callable({in}, t);
        for (int n = 0; n <= 2 * lanes + 1; n++) {
            for (bool at_end : {false, true}) {
                Buffer<T> from = source.elements<T>(n, at_end), to = target.elements<T>(n, at_end);
                int expected = 0;
                for (int i = 0; i < n; i++) {
                    from(i) = T(i * 37 + 11);
                    expected += from(i) * 3;
                }
                Buffer<int> result = Buffer<int>::make_scalar();
                ASSERT_EQ(copies(from, to), 0);
                ASSERT_EQ(sums(from, result), 0);
                ASSERT_EQ(result(), expected) << n << " of " << lanes << " on " << t.to_string();
                for (int i = 0; i < n; i++) {
                    ASSERT_EQ(to(i), T(from(i) + 1)) << i << " of " << n << ", " << t.to_string();
                }
            }
        }
    }
}

/// Of lanes up to a last one, which is there.
template<typename T>
void expect_each_last(int lanes) {
    ImageParam in(type_of<T>(), 1);
    Param<int> last("last");
    Func copy("copy");
    RDom r(0, 2 * lanes);
    r.where(r <= last);
    copy(x) = cast<T>(0);
    copy(r) = in(r) + cast<T>(1);
    copy.update().allow_race_conditions().vectorize(r, lanes);
    Page source, target;
    for (const Target &t : test::targets()) {
        const Callable copies = copy.compile_to_callable({in, last}, t);
        for (int n = 1; n <= 2 * lanes; n++) {
            for (bool at_end : {false, true}) {
                Buffer<T> from = source.elements<T>(n, at_end), to = target.elements<T>(n, at_end);
                for (int i = 0; i < n; i++) {
                    from(i) = T(i * 37 + 11);
                }
                ASSERT_EQ(copies(from, n - 1, to), 0);
                for (int i = 0; i < n; i++) {
                    ASSERT_EQ(to(i), T(from(i) + 1)) << i << " of " << n << ", " << t.to_string();
                }
            }
        }
    }
}

TEST(LeadingLanes, UpToALastOne) {
    expect_each_last<uint8_t>(16);
    expect_each_last<int8_t>(32);
    expect_each_last<uint16_t>(8);
}

TEST(LeadingLanes, Bytes) {
    expect_each_number<uint8_t>(16);
    expect_each_number<int8_t>(32);
    expect_each_number<uint8_t>(64);
}

TEST(LeadingLanes, Words) {
    expect_each_number<int16_t>(8);
    expect_each_number<uint16_t>(32);
}

}  // namespace
}  // namespace calotype
