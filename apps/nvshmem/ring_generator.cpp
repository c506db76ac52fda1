// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum over all processing elements: rows are handed round in a ring, and each element adds up
// what comes by.
#include <calotype/calotype.h>

namespace {

using calotype::Expr;
using calotype::Var;

/// Sends the row to the next element.
class PassOn : public calotype::Generator<PassOn> {
public:
    /// The last has int ring_put(uint64 inbox, int index, float value); the others it needs.
    LinkableListParam libraries{"libraries"};

    Input<Buffer<float, 1>> row{"row"};
    Input<uint64_t> inbox{"inbox"};       ///< an address of symmetric memory
    Output<Buffer<int32_t, 1>> to{"to"};  ///< to which element each value went

    void generate() {
        to(x) = calotype::extern_device_call(libraries[libraries.size() - 1], "ring_put",
                                             calotype::Int(32), {inbox, x, row(x)});
        to.gpu_tile(x, xi, 128, calotype::TailStrategy::GuardWithIf);
    }

private:
    Var x{"x"}, xi{"xi"};
};

/// What has come by so far.
class AddUp : public calotype::Generator<AddUp> {
public:
    Input<Buffer<float, 1>> sum{"sum"}, row{"row"};
    Output<Buffer<float, 1>> output{"output"};

    void generate() {
        output(x) = sum(x) + row(x);
        output.gpu_tile(x, xi, 128, calotype::TailStrategy::GuardWithIf);
    }

private:
    Var x{"x"}, xi{"xi"};
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(PassOn, pass_on)
CALOTYPE_REGISTER_GENERATOR(AddUp, add_up)
