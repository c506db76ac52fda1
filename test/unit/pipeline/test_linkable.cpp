// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linkables: kinds, the form of the command line, manifests, and which of a pipeline's are linked.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/expect_error.h"
#include "harness/linkable_files.h"
#include "linkables/linkable.h"
#include "linkables/linkable_image.h"
#include "pipeline/linked_code.h"

namespace calotype {

using namespace internal;

namespace {

using namespace test;

// ---- kinds ----

// L10.
TEST(Linkable, SevenExtensionsSevenKinds) {
    LinkableFolder dir;
    const std::pair<std::string, calotype_kind> files[] = {
        {dir.add("a.ptx", ptx()), CALOTYPE_PTX},
        {dir.add("a.cubin", cubin()), CALOTYPE_CUBIN},
        {dir.add("a.fatbin", fatbin()), CALOTYPE_FATBIN},
        {dir.add("a.o", device_object()), CALOTYPE_OBJECT},
        {dir.add("a.obj", device_object()), CALOTYPE_OBJECT},
        {dir.add("a.a", archive()), CALOTYPE_ARCHIVE},
        {dir.add("a.lib", archive()), CALOTYPE_ARCHIVE},
        {dir.add("a.ltoir", ltoir()), CALOTYPE_LTOIR},
        {dir.add("a.cu", "__device__ int f();"), CALOTYPE_CU},
        {dir.add("a.cl", "int f();"), CALOTYPE_OPENCL_C},
        {dir.add("a.ocl", "int f();"), CALOTYPE_OPENCL_C},
        {dir.add("a.bc", bitcode()), CALOTYPE_BITCODE},
        {dir.add("relocatable.o", cubin()), CALOTYPE_CUBIN},
    };
    for (const auto &[path, kind] : files) {
        const Linkable l = Linkable::from_path(path);
        ASSERT_EQ(l.data().images.size(), 1u);
        EXPECT_EQ(l.data().images[0].kind, kind) << path;
        EXPECT_EQ(l.data().images[0].origin, path);
        EXPECT_EQ(l.data().images[0].bytes, internal::read_file(path));
    }
    EXPECT_EQ(Linkable::from_path(dir.path("a.ptx")).name(), "a");
}

TEST(Linkable, ArchitecturesOfContent) {
    auto arch = [](calotype_kind kind, const std::string &bytes) {
        const LinkableImage image = Linkable::from_bytes(kind, bytes, "l").data().images[0];
        return internal::architecture_name(image.sm, image.suffix);
    };
    EXPECT_EQ(arch(CALOTYPE_PTX, ptx("sm_90a")), "sm_90a");
    EXPECT_EQ(arch(CALOTYPE_PTX, ptx("sm_100f, texmode_independent")), "sm_100f");
    const std::string head = ".version 8.0\n", tail = "\n.address_size 64\n";
    EXPECT_EQ(arch(CALOTYPE_PTX, "// .target sm_120\n" + head + ".target sm_80" + tail), "sm_80");
    EXPECT_EQ(arch(CALOTYPE_PTX, head + "/* .target sm_120 */ .target\t sm_80" + tail), "sm_80");
    EXPECT_EQ(arch(CALOTYPE_PTX, head + ".target\nsm_90a,debug" + tail), "sm_90a");
    EXPECT_EQ(arch(CALOTYPE_PTX, head + ".target texmode_unified, sm_80" + tail), "sm_80");
    EXPECT_EQ(arch(CALOTYPE_PTX, head + ".address_size 64 // .target sm_80"), "sm_0");
    EXPECT_EQ(arch(CALOTYPE_PTX, ".version 8.0 .target // sm_90"), "sm_0");
    EXPECT_EQ(arch(CALOTYPE_CUBIN, cubin(90)), "sm_90");
    EXPECT_EQ(arch(CALOTYPE_CUBIN, elf(190, 0x06005a04, ".text", 8)), "sm_90");
    EXPECT_EQ(arch(CALOTYPE_CUBIN, elf(190, 0x06005a04, "-arch sm_90a -m 64", 8)), "sm_90a");
    EXPECT_EQ(arch(CALOTYPE_LTOIR, ltoir(100)), "sm_100");
    EXPECT_EQ(arch(CALOTYPE_LTOIR, ltoir(90, "code", true)), "sm_90a");
    EXPECT_EQ(arch(CALOTYPE_FATBIN, fatbin()), "sm_0");
}

TEST(Linkable, TextLosesTheNulAtItsEnd) {
    const Linkable l = Linkable::from_bytes(CALOTYPE_PTX, ptx() + std::string(2, '\0'), "l");
    EXPECT_EQ(l.data().images[0].bytes, ptx());
    const std::string commented = "/* .version 1 */ // more\n  " + ptx();
    EXPECT_EQ(Linkable::from_bytes(CALOTYPE_PTX, commented, "l").data().images[0].bytes, commented);
}

TEST(Linkable, SeveralImages) {
    const Linkable l = Linkable::from_bytes(CALOTYPE_PTX, ptx(), "l")
                           .add_image(CALOTYPE_CUBIN, cubin(80))
                           .add_image(CALOTYPE_CUBIN, cubin(90))
                           .add_image(CALOTYPE_BITCODE, bitcode("device"))
                           .add_image(CALOTYPE_BITCODE, bitcode("host"));
    EXPECT_EQ(l.data().images.size(), 5u);
    EXPECT_EQ(l.digests().size(), 5u);
    EXPECT_NE(l.digests()[3], l.digests()[4]);
}

// ---- values ----

TEST(Linkable, PropertiesAreOfACopy) {
    LinkableFolder dir;
    const Linkable plain = Linkable::from_path(dir.add("l.ptx", ptx()));
    const Linkable full = plain.setup("s")
                              .teardown("t")
                              .user("u")
                              .nrt()
                              .lto(LtoMode::Require)
                              .after("x")
                              .after("y")
                              .optional()
                              .threadsafe()
                              .session()
                              .no_teardown_after_loss()
                              .pinned()
                              .embed(false)
                              .name("n");
    EXPECT_EQ(plain.data().setup, "");
    EXPECT_FALSE(plain.data().is_pinned);
    const LinkableData &d = full.data();
    EXPECT_EQ(d.setup + d.teardown + d.user + d.name, "stun");
    EXPECT_EQ(d.after, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(d.lto, LtoMode::Require);
    EXPECT_TRUE(d.nrt && d.is_optional && d.is_threadsafe && d.is_session_dependent &&
                d.no_teardown_after_loss && d.is_pinned);
    EXPECT_FALSE(d.is_embedded);
    EXPECT_FALSE(full.nrt(false).data().nrt);
}

// The program that loads it may run in another folder.
TEST(Linkable, WhatIsNotEmbeddedIsFoundFromAnyFolder) {
    LinkableFolder dir;
    dir.add("l.ptx", ptx());
    const std::string relative = std::filesystem::relative(dir.path("l.ptx")).string();
    const Linkable l = Linkable::from_path(relative);
    EXPECT_EQ(l.data().images[0].origin, relative);
    EXPECT_EQ(l.embed(false).data().images[0].origin, dir.path("l.ptx"));
    EXPECT_EQ(Linkable::host_only("h").embed(false).add_path(relative).data().images[0].origin,
              dir.path("l.ptx"));
}

TEST(Linkable, IdentityIsCodeCallbacksAndUser) {
    LinkableFolder dir;
    const Linkable a = Linkable::from_path(dir.add("a.ptx", ptx())).setup("s");
    EXPECT_TRUE(a.same_as(a));
    EXPECT_TRUE(a.same_as(Linkable::from_bytes(CALOTYPE_PTX, ptx(), "other").setup("s").pinned()));
    EXPECT_FALSE(a.same_as(a.setup("s2")));
    EXPECT_FALSE(a.same_as(a.teardown("t")));
    EXPECT_FALSE(a.same_as(a.user("u")));
    EXPECT_FALSE(a.same_as(Linkable::from_bytes(CALOTYPE_PTX, ptx("sm_90"), "a").setup("s")));
    EXPECT_FALSE(a.same_as(Linkable()));
    EXPECT_TRUE(Linkable().same_as(Linkable()));
    EXPECT_FALSE(Linkable::host_only("a").same_as(Linkable::host_only("b")));
    EXPECT_TRUE(Linkable::host_only("a").setup("s").same_as(Linkable::host_only("b").setup("s")));
}

// ---- the form of the command line ----

TEST(LinkableText, EveryKey) {
    LinkableFolder dir;
    const std::string path = dir.add("rng.ltoir", ltoir(90));
    const Linkable l = Linkable::from_text(
        path + ";name=r;setup=s;teardown=t;user=u;nrt;lto=never;after=a+b;after=c;optional;"
               "threadsafe=1;session;no_teardown_after_loss;pin;embed=0;sm=90a;kind=ltoir");
    const LinkableData &d = l.data();
    EXPECT_EQ(d.name + d.setup + d.teardown + d.user, "rstu");
    EXPECT_EQ(d.after, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(d.lto, LtoMode::Never);
    EXPECT_TRUE(d.nrt && d.is_optional && d.is_threadsafe && d.is_session_dependent &&
                d.no_teardown_after_loss && d.is_pinned && !d.is_embedded);
    EXPECT_EQ(d.images[0].suffix, 'a');
    EXPECT_EQ(Linkable::list_to_text({l}),
              path + ";name=r;setup=s;teardown=t;user=u;lto=never;after=a+b+c;nrt;optional;"
                     "threadsafe;session;no_teardown_after_loss;pin;embed=0");
}

TEST(LinkableText, Lists) {
    LinkableFolder dir;
    dir.add("a=b.cubin", cubin());
    dir.add("c.ptx", ptx());
    const std::string text = dir.path("a=b.cubin") + "+" + dir.path("c.ptx") + ";nrt=0 , " +
                             dir.path("c.ptx") + ";after=a=b,;setup=f";
    const std::vector<Linkable> list = Linkable::list_from_text(text);
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[0].name(), "a=b");
    EXPECT_EQ(list[0].data().images.size(), 2u);
    EXPECT_EQ(list[1].data().after, std::vector<std::string>{"a=b"});
    EXPECT_EQ(list[2].name(), "f");
    EXPECT_TRUE(list[2].data().images.empty());
    EXPECT_TRUE(Linkable::list_from_text("").empty());
    EXPECT_TRUE(Linkable::list_from_text(" ").empty());
    EXPECT_EQ(Linkable::from_text(";kind=host_only;name=callbacks;teardown=g").name(), "callbacks");
}

TEST(LinkableText, Manifests) {
    LinkableFolder dir;
    dir.add("a.ptx", ptx());
    dir.add("code", ltoir(0));
    const std::string one = dir.add("one.json", R"({"path": "a.ptx", "setup": "s", "nrt": true})");
    EXPECT_EQ(Linkable::from_text("@" + one).data().setup, "s");
    EXPECT_TRUE(Linkable::from_text("@" + one).data().nrt);
    const std::string two = dir.add("two.json", R"({"linkables": [
        {"name": "n", "images": [{"path": "a.ptx"}, {"path": "code", "kind": "ltoir", "sm": 90}],
         "after": ["h"], "lto": "require", "pin": true, "embed": false},
        {"name": "h", "setup": "f"}]})");
    const std::vector<Linkable> list =
        Linkable::list_from_text("@" + two + "," + dir.path("a.ptx"));
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[0].name(), "n");
    EXPECT_EQ(list[0].data().images[1].sm, 90u);
    EXPECT_EQ(list[0].data().images[1].origin, dir.path("code"));
    EXPECT_EQ(list[0].data().after, std::vector<std::string>{"h"});
    EXPECT_TRUE(list[0].data().is_pinned && !list[0].data().is_embedded);
    EXPECT_EQ(list[1].data().setup, "f");
}

// ---- plans ----

Linkable code(const std::string &name) {
    return Linkable::from_bytes(CALOTYPE_PTX, ptx("sm_80", name), name);
}

UsedParameters uses(const std::vector<std::pair<std::string, Linkable>> &functions) {
    UsedParameters used;
    for (const auto &[name, linkable] : functions) {
        used.linked_functions[name] = new LinkedDeclaration(linkable, {Int(32), {Int(32)}});
    }
    return used;
}

std::vector<std::string> names_of(const std::vector<LinkableData> &list) {
    std::vector<std::string> names;
    for (const LinkableData &l : list) {
        names.push_back(l.name);
    }
    return names;
}

using Names = std::vector<std::string>;

// G2.
TEST(LinkPlan, OrderOfSetUp) {
    const LinkPlan plan({code("b").after("d"), code("a"), code("d")},
                        uses({{"f", code("z")}, {"g", code("c")}}));
    EXPECT_EQ(names_of(plan.linkables()), (Names{"d", "b", "a", "c", "z"}));
}

TEST(LinkPlan, WhatIsUsedIsLinked) {
    const Linkable a = code("a"), b = code("b").after("c"), c = code("c"), d = code("d").pinned();
    const LinkPlan plan({a, b, c, d, Linkable::host_only("e").setup("s")},
                        uses({{"f", a}, {"g", b}}));
    EXPECT_EQ(names_of(plan.code_for({{"f"}, {}}, false).linkables), Names{"a"});
    EXPECT_EQ(names_of(plan.code_for({{"g"}, {}}, false).linkables), (Names{"c", "b"}));
    EXPECT_EQ(names_of(plan.code_for({{}, {}}, true).linkables), (Names{"d", "e"}));
    EXPECT_EQ(names_of(plan.code_for({{"f", "g"}, {}}, true).linkables),
              (Names{"a", "c", "b", "d", "e"}));
    EXPECT_EQ(plan.code_for({{"f"}, {}}, false).functions.at("f").parameters,
              std::vector<Type>{Int(32)});
}

// Three routes: two parameters and a call.
TEST(LinkPlan, OneLinkableByThreeRoutes) {
    const Linkable l = code("a").setup("s");
    const LinkPlan plan({l.nrt(), l.name("b").pinned().threadsafe(), code("c").after("b")},
                        uses({{"f", l.name("z").lto(LtoMode::Require)}}));
    ASSERT_EQ(names_of(plan.linkables()), (Names{"a", "c"}));
    const LinkableData &d = plan.linkables()[0];
    EXPECT_TRUE(d.nrt && d.is_pinned);
    EXPECT_FALSE(d.is_threadsafe);
    EXPECT_EQ(d.lto, LtoMode::Require);
    EXPECT_EQ(plan.linkables()[1].after, Names{"a"});
    EXPECT_EQ(names_of(plan.code_for({{"f"}, {}}, false).linkables), Names{"a"});
}

// G2.
TEST(LinkPlan, Errors) {
    LinkableFolder dir;
    const Linkable a = Linkable::from_path(dir.add("a.ptx", ptx("sm_90")));
    EXPECT_COMPILE_ERROR(LinkPlan({code("a"), a}, {}),
                         "two linkables of the pipeline are named 'a': 'a' and 'a' (" +
                             dir.path("a.ptx") + "); name= gives one another");
    EXPECT_COMPILE_ERROR(
        LinkPlan({code("noise"), code("b").after("nose")}, {}),
        "linkable 'b' comes after 'nose', which is not a linkable of the pipeline, "
        "did you mean 'noise'?");
    EXPECT_COMPILE_ERROR(
        LinkPlan({code("a").after("b"), code("b").after("c"), code("c").after("a")}, {}),
        "linkables come after each other in a cycle: 'a' after 'b' after 'c' after 'a'");
    EXPECT_COMPILE_ERROR(LinkPlan({code("a").after("a")}, {}),
                         "linkables come after each other in a cycle: 'a' after 'a'");
    EXPECT_COMPILE_ERROR(LinkPlan({a.lto(LtoMode::Require), a.lto(LtoMode::Never)}, {}),
                         "linkable 'a' (" + dir.path("a.ptx") +
                             ") is given with lto=require and with lto=never");
}

TEST(LinkPlan, MergedModules) {
    const Linkable a = code("a"), b = code("b");
    LinkedCode into = LinkPlan({a}, uses({{"f", a}})).code_for({{"f"}, {}}, false);
    const LinkedCode more =
        LinkPlan({b, a.nrt()}, uses({{"f", a}, {"g", b}})).code_for({{"f", "g"}, {}}, false);
    merge_linked_code(into, more);
    EXPECT_EQ(names_of(into.linkables), (Names{"a", "b"}));
    EXPECT_TRUE(into.linkables[0].nrt);
    EXPECT_EQ(into.functions.size(), 2u);
    LinkedCode other = more;
    other.functions["f"] = {Float(32), {}};
    EXPECT_COMPILE_ERROR(merge_linked_code(into, other),
                         "two modules call function 'f' with different types");
}

LinkedCode all_of(const std::vector<Linkable> &list) {
    std::vector<Linkable> pinned;
    for (const Linkable &l : list) {
        pinned.push_back(l.pinned());
    }
    return LinkPlan(pinned, {}).code_for({}, true);
}

// The order of set-up is that of both.
// G2.
TEST(LinkPlan, OrderOfMergedModules) {
    const Linkable a = code("a"), b = code("b"), c = code("c"), d = code("d");
    LinkedCode into = all_of({a, b.after("a"), c});
    merge_linked_code(into, all_of({c, d, a.after("d")}));
    EXPECT_EQ(names_of(into.linkables), (Names{"d", "a", "b", "c"}));
    EXPECT_EQ(into.linkables[1].after, Names{"d"});
    into = all_of({a.after("b"), b});
    EXPECT_COMPILE_ERROR(merge_linked_code(into, all_of({b.after("a"), a})),
                         "linkables come after each other in a cycle: 'b' after 'a' after 'b'");
    into = all_of({a.after("b"), b});
    const LinkedCode second = all_of({b.after("c"), c});
    merge_linked_code(into, second);
    EXPECT_EQ(names_of(into.linkables), (Names{"c", "b", "a"}));
    EXPECT_COMPILE_ERROR(
        merge_linked_code(into, all_of({c.after("a"), a})),
        "linkables come after each other in a cycle: 'c' after 'a' after 'b' after 'c'");
}

// One that is called "a" here and "b" there is "a" for those that come after it, too.
TEST(LinkPlan, NamesOfMergedModules) {
    const Linkable a = code("a"), b = a.name("b"), c = code("c");
    LinkedCode into = all_of({a});
    merge_linked_code(into, all_of({c.after("b"), b}));
    EXPECT_EQ(names_of(into.linkables), (Names{"a", "c"}));
    EXPECT_EQ(into.linkables[1].after, Names{"a"});
    // Names that the other module gives to something else do not mix them up.
    into = all_of({code("x").name("b"), a});
    merge_linked_code(into, all_of({c.after("b"), b}));
    EXPECT_EQ(names_of(into.linkables), (Names{"b", "a", "c"}));
    EXPECT_EQ(into.linkables[2].after, Names{"a"});
    // What both give has what either says.
    into = all_of({a, c});
    merge_linked_code(into, all_of({c.name("z").after("b"), b}));
    EXPECT_EQ(names_of(into.linkables), (Names{"a", "c"}));
    EXPECT_EQ(into.linkables[1].after, Names{"a"});
}

}  // namespace
}  // namespace calotype
