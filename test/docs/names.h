// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the snippets of each page may use without saying where it comes from: PAGE_names. A snippet
// may declare the same names itself.
#pragma once

#include <cstdio>
#include <iostream>

#include <calotype/calotype.h>

#include "docs/snippet.h"

#undef assert
#define assert(condition) docs::check(bool(condition), #condition)

namespace docs {

using calotype::Buffer;
using calotype::Expr;
using calotype::Func;
using calotype::ImageParam;
using calotype::RDom;
using calotype::RVar;
using calotype::Var;

struct Names {
    Var x{"x"}, y{"y"}, c{"c"}, u{"u"}, v{"v"}, t{"t"};
    Var xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"};
    RVar ro{"ro"}, ri{"ri"};
    Func f{"f"}, g{"g"};
    Buffer<uint8_t, 2> image = make_image();

    /// 640 x 480.
    static Buffer<uint8_t, 2> make_image() {
        Buffer<uint8_t, 2> image(640, 480);
        image.for_each_element([&](int x, int y) { image(x, y) = uint8_t(x * 3 + y); });
        return image;
    }
};

struct README_names : Names {};
struct architecture_names : Names {};
struct benchmarks_names : Names {};
struct development_names : Names {};
struct generators_names : Names {};
struct gpu_names : Names {};
struct ir_names : Names {};
struct autoscheduling_names : Names {};
struct jit_names : Names {};
struct kernel_cache_names : Names {};
struct package_names : Names {};
struct runtime_names : Names {};
struct simplifier_names : Names {};
struct targets_names : Names {};
struct wrong_names : Names {};

/// A linkable that the processor's code does without.
struct linkables_names : Names {
    calotype::Linkable twice = calotype::Linkable::from_bytes(
        CALOTYPE_PTX, ".version 8.0\n.target sm_80\n.address_size 64\n", "twice");
};

struct language_names : Names {
    ImageParam input{calotype::UInt(8), 2, "input"};
    language_names() {
        input.set(image);
    }
};

/// What the page defines at its beginning: a producer f and a consumer g.
struct schedules_names : Names {
    schedules_names() {
        f(x, y) = x + y;
        g(x, y) = f(x, y) + f(x, y + 1);
    }
};

}  // namespace docs
