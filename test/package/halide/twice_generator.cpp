// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Halide.h"
#include "soften.stub.h"

namespace {

class SoftenTwice : public Halide::Generator<SoftenTwice> {
public:
    Input<Buffer<uint8_t, 2>> image{"image"};
    Output<Buffer<uint8_t, 2>> soft{"soft"};

    void generate() {
        const Halide::Expr shift(uint8_t(2));
        Halide::Func once = soften::generate(this, {image, shift, 0.5f});
        soft = soften::generate(this, {once, shift, 0.5f});
        once.compute_root();
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(SoftenTwice, soften_twice)
