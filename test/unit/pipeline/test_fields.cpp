// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No member of a pipeline's data is missing in its fields.
#include <gtest/gtest.h>

#include <cstdint>

#include "pipeline/fields.h"

namespace calotype::internal {
namespace {

/// The members follow each other, each at the first place that its alignment allows, from `begin`
/// on (where the members of a base class end) to the end of the object.
template<typename T>
void expect_complete(T &x, size_t begin, const char *what) {
    const auto at = reinterpret_cast<uintptr_t>(&x);
    const auto aligned = [](size_t offset, size_t to) {
        return (offset + to - 1) / to * to;
    };
    size_t end = begin;
    for_each_member(x, [&](auto member) {
        using Member = std::remove_reference_t<decltype(member.value)>;
        const size_t offset = reinterpret_cast<uintptr_t>(&member.value) - at;
        EXPECT_EQ(offset, aligned(end, alignof(Member)))
            << what << ": the member before " << member.name << " has no field";
        end = offset + sizeof(Member);
    });
    EXPECT_EQ(aligned(end, alignof(T)), sizeof(T)) << what << ": the last member has no field";
}

/// Anything, as a member of an aggregate.
struct Any {
    template<typename T>
    operator T() const;
};
template<typename T, size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
    return requires {
        T{(void(I), Any())...};
    };
}
/// Of an aggregate.
template<typename T, size_t N = 0>
constexpr size_t member_count() {
    if constexpr (takes<T>(std::make_index_sequence<N + 1>())) {
        return member_count<T, N + 1>();
    } else {
        return N;
    }
}

template<typename T>
void expect_complete_aggregate(const char *what) {
    T x;
    expect_complete(x, 0, what);
    EXPECT_EQ(member_count<T>(), std::tuple_size_v<decltype(fields(x))>) << what;
}

TEST(Fields, AreAllMembers) {
    expect_complete_aggregate<ReductionVariable>("ReductionVariable");
    expect_complete_aggregate<Split>("Split");
    expect_complete_aggregate<Dim>("Dim");
    expect_complete_aggregate<Bound>("Bound");
    expect_complete_aggregate<StorageDim>("StorageDim");
    expect_complete_aggregate<PrefetchDirective>("PrefetchDirective");
    expect_complete_aggregate<StageSchedule>("StageSchedule");
    expect_complete_aggregate<FuncSchedule>("FuncSchedule");
    expect_complete_aggregate<Specialization>("Specialization");
    expect_complete_aggregate<BufferConstraint>("BufferConstraint");
    expect_complete_aggregate<Requirement>("Requirement");
    FuseLoopLevel fuse;
    expect_complete(fuse, 0, "FuseLoopLevel");
    ExternFuncArgument argument;
    expect_complete(argument, 0, "ExternFuncArgument");
    Definition definition;
    expect_complete(definition,
                    reinterpret_cast<char *>(&definition.is_init) -
                        reinterpret_cast<char *>(&definition),
                    "Definition");
    FunctionContents function("f");
    expect_complete(function,
                    reinterpret_cast<char *>(&function.name) - reinterpret_cast<char *>(&function),
                    "FunctionContents");
    ParameterContents parameter("p", Int(32), true, 2);
    expect_complete(
        parameter, reinterpret_cast<char *>(&parameter.name) - reinterpret_cast<char *>(&parameter),
        "ParameterContents");
}

}  // namespace
}  // namespace calotype::internal
