// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code that is not what it is called, and texts that name it wrongly.
#include <calotype/calotype.h>

#include "harness/expect_error.h"
#include "harness/linkable_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace calotype {
namespace {

using namespace test;

const std::string extensions =
    ".ptx, .cubin, .fatbin, .o, .obj, .a, .lib, .ltoir, .cu, .cl, .ocl, .bc";

// L11.
TEST(LinkableFiles, extensions) {
    LinkableFolder dir;
    const std::string none = dir.add("rng", cubin()), odd = dir.add("rng.xyz", cubin());
    EXPECT_COMPILE_ERROR(Linkable::from_path(none),
                         "linkable file '" + none +
                             "' has no extension that tells its kind, which may be one of " +
                             extensions + "; give kind=");
    EXPECT_COMPILE_ERROR(Linkable::from_path(odd), "linkable file '" + odd +
                                                       "' has extension '.xyz', which is none of " +
                                                       extensions + "; give kind=");
    EXPECT_EQ(Linkable::from_path(none, CALOTYPE_CUBIN).data().images[0].kind, CALOTYPE_CUBIN);
    EXPECT_EQ(Linkable::from_path(odd, CALOTYPE_CUBIN).data().images[0].kind, CALOTYPE_CUBIN);
}

// L11.
TEST(LinkableFiles, missing) {
    LinkableFolder dir;
    EXPECT_COMPILE_ERROR(Linkable::from_path(dir.path("rng.ptx")),
                         "linkable file '" + dir.path("rng.ptx") + "' does not exist");
    internal::make_directories(dir.path("folder.ptx"));
    EXPECT_COMPILE_ERROR(Linkable::from_path(dir.path("folder.ptx")),
                         "linkable file '" + dir.path("folder.ptx") + "' is a folder");
    EXPECT_COMPILE_ERROR(Linkable::from_text("/dev/zero;kind=ptx"),
                         "linkable file '/dev/zero' is not a regular file");
    ASSERT_EQ(mkfifo(dir.path("queue.ptx").c_str(), 0600), 0);
    EXPECT_COMPILE_ERROR(Linkable::from_path(dir.path("queue.ptx")),
                         "linkable file '" + dir.path("queue.ptx") + "' is not a regular file");
}

// What each extension says of what each kind holds.
// L11.
TEST(LinkableFiles, another_kind) {
    LinkableFolder dir;
    struct Row {
        const char *extension, *wanted;
    };
    const Row rows[] = {{"ptx", "PTX"},         {"cubin", "a cubin"},
                        {"fatbin", "a fatbin"}, {"o", "an object with device code"},
                        {"a", "an archive"},    {"ltoir", "LTO-IR"},
                        {"cu", "CUDA C++"},     {"cl", "OpenCL C"},
                        {"bc", "LLVM bitcode"}};
    const std::pair<std::string, const char *> contents[] = {
        {ptx(), "PTX"},
        {cubin(), "a cubin"},
        {fatbin(), "a fatbin"},
        {device_object(), "an object with device code"},
        {host_object(), "an object without device code"},
        {archive(), "an archive"},
        {"!<thin>\n", "a thin archive, which has no members of its own"},
        {ltoir(), "LTO-IR"},
        {bitcode(), "LLVM bitcode"},
        {"int f();", "text"},
        {std::string("\1\2\3\4", 4), "bytes of no known kind"},
    };
    for (const Row &row : rows) {
        const std::string path = dir.path("x." + std::string(row.extension));
        for (const auto &[bytes, found] : contents) {
            const bool is_source =
                std::string(row.extension) == "cu" || std::string(row.extension) == "cl";
            const bool fits = std::string(found) == row.wanted ||
                              (is_source && std::string(found) == "text") ||
                              (std::string(row.extension) == "o" && bytes == cubin());
            dir.add("x." + std::string(row.extension), bytes);
            EXPECT_COMPILE_ERROR(Linkable::from_path(path).defined(),
                                 fits ? "[no error]"
                                      : "linkable file '" + path + "' holds " + found +
                                            ", must hold " + row.wanted +
                                            " because of its extension '." + row.extension + "'");
        }
    }
}

// L11.
TEST(LinkableFiles, kind_that_is_given) {
    LinkableFolder dir;
    const std::string path = dir.add("rng.ptx", ptx()), odd = dir.add("rng.x", ptx());
    EXPECT_COMPILE_ERROR(Linkable::from_path(path, CALOTYPE_CUBIN),
                         "linkable file '" + path +
                             "' is ptx by its extension, but kind=cubin is given");
    EXPECT_COMPILE_ERROR(Linkable::from_path(odd, CALOTYPE_CUBIN),
                         "linkable file '" + odd +
                             "' holds PTX, must hold a cubin because of kind=cubin");
    EXPECT_COMPILE_ERROR(Linkable::from_path(odd, CALOTYPE_HOST_ONLY),
                         "linkable file '" + odd +
                             "' is given as kind=host_only, which has no file");
    EXPECT_COMPILE_ERROR(Linkable::from_text(path + ";kind=cubn"),
                         "linkable file '" + path +
                             "': there is no kind 'cubn', did you mean 'cubin'?");
    EXPECT_COMPILE_ERROR(
        Linkable::from_text(path + ";kind=spirv"),
        "linkable file '" + path +
            "': there is no kind 'spirv', there are ptx, cubin, fatbin, object, archive, ltoir, "
            "cu, opencl_c, bitcode, host_only");
    EXPECT_COMPILE_ERROR(Linkable::from_bytes(CALOTYPE_CUBIN, ptx(), "l"),
                         "linkable 'l' holds PTX, must hold a cubin");
    EXPECT_COMPILE_ERROR(Linkable::from_bytes(CALOTYPE_HOST_ONLY, "x", "l"),
                         "linkable 'l' is given bytes of kind host_only, which has none");
    EXPECT_COMPILE_ERROR(Linkable::from_bytes(calotype_kind(77), "x", "l"),
                         "there is no kind of linkable of number 77");
}

TEST(LinkableFiles, empty_and_truncated) {
    LinkableFolder dir;
    auto error = [&](const std::string &name, const std::string &bytes) {
        const std::string path = dir.add(name, bytes);
        std::string text =
            error_of<CompileError>([&] { (void)Linkable::from_path(path).defined(); });
        const size_t quote = text.find("' ");
        return quote == std::string::npos ? text : text.substr(quote + 2);
    };
    EXPECT_EQ(error("x.ptx", ""), "is empty");
    EXPECT_EQ(error("x.cubin", ""), "is empty");
    EXPECT_EQ(error("x.cu", std::string(3, '\0')), "is empty");
    auto cut = [](const std::string &bytes) {
        return bytes.substr(0, bytes.size() - 1);
    };
    EXPECT_EQ(error("x.cubin", cut(cubin())),
              "is truncated: it has 133 bytes, its headers speak of 134");
    EXPECT_EQ(error("x.cubin", cubin().substr(0, 40)),
              "is truncated: it has 40 bytes, its headers speak of 64");
    EXPECT_EQ(error("x.o", device_object().substr(0, 100)),
              "is truncated: it has 100 bytes, its headers speak of 128");
    EXPECT_EQ(error("x.fatbin", cut(fatbin(100))),
              "is truncated: it has 115 bytes, its headers speak of 116");
    EXPECT_EQ(error("x.a", cut(archive("abcd"))),
              "is truncated: it has 71 bytes, its headers speak of 72");
    EXPECT_EQ(error("x.a", archive(device_object())), "[no error]");
    EXPECT_EQ(error("x.a", archive(cubin() + "x")), "[no error]");
    EXPECT_EQ(error("x.a", "!<arch>\n"), "is an archive without members");
    EXPECT_EQ(error("x.a", archive(host_object() + "x") + "\n" + archive("abcd").substr(8)),
              "is an archive without device code in its 2 members");
    EXPECT_EQ(error("x.fatbin", fatbin(0)), "is a fatbin without code");
    EXPECT_EQ(error("x.ltoir", ltoir().substr(0, 31)),
              "is truncated: it has 31 bytes, its headers speak of 32");
    EXPECT_EQ(error("x.bc", bitcode("c")), "is truncated: it has 5 bytes, its headers speak of 8");
    const std::string wrapped =
        Bytes(20).put(0, 0x0B17C0DEu).put(8, 20u).put(12, 8u).text + bitcode();
    EXPECT_EQ(error("x.bc", wrapped), "[no error]");
    EXPECT_EQ(error("x.bc", cut(wrapped)),
              "is truncated: it has 27 bytes, its headers speak of 28");
    // Parts that end beyond what numbers hold.
    const std::string far = Bytes(64).put(0, cubin().substr(0, 64)).put(40, ~uint64_t(0)).text;
    EXPECT_EQ(error("x.cubin", far),
              "is truncated: it has 64 bytes, its headers speak of 18446744073709551615");
}

TEST(LinkableFiles, nothing_to_read_later) {
    EXPECT_COMPILE_ERROR((void)Linkable::from_bytes(CALOTYPE_PTX, ptx(), "l").embed(false),
                         "linkable 'l' has an image that comes from no file, which embed=0 needs");
}

TEST(LinkableFiles, architectures) {
    LinkableFolder dir;
    const std::string path = dir.add("rng.cubin", cubin(80)), fat = dir.add("rng.fatbin", fatbin());
    EXPECT_COMPILE_ERROR(Linkable::from_text(path + ";sm=90"),
                         "'" + path + "' is for sm_80, but sm=90 is given");
    EXPECT_COMPILE_ERROR(
        Linkable::from_text(fat + ";sm=ninety"),
        "linkable file '" + fat +
            "': 'ninety' is not an architecture, which is a number with perhaps an a "
            "or f behind it, as 90a");
    EXPECT_EQ(Linkable::from_text(fat + ";sm=sm_90a").data().images[0].sm, 90u);
    EXPECT_COMPILE_ERROR((void)Linkable::from_path(fat).sm(9),
                         "linkable 'rng': sm is 9, must be at least 10, with perhaps an a or f "
                         "behind it");
    for (const std::string sm : {"11", "999", "80a", "90f"}) {
        EXPECT_COMPILE_ERROR(
            Linkable::from_text(fat + ";sm=" + sm),
            "'" + fat + "' is given sm=" + sm +
                ", which is not an architecture: there are 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, "
                "70, "
                "72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121, with an a behind it "
                "from 90 on, with an f from 100 on");
    }
    const std::string newer = dir.add("newer.cubin", cubin(130));
    EXPECT_EQ(Linkable::from_text(newer + ";sm=130").data().images[0].sm, 130u);
    EXPECT_COMPILE_ERROR((void)Linkable::host_only("h").sm(90), "linkable 'h' has no image for sm");
    EXPECT_COMPILE_ERROR((void)Linkable::from_path(path).add_path(path),
                         "linkable 'rng' has two images of kind cubin for sm_80: '" + path +
                             "' and '" + path + "'");
}

// ---- the text ----

TEST(LinkableTexts, keys) {
    LinkableFolder dir;
    const std::string rng = dir.add("rng.ptx", ptx());
    EXPECT_COMPILE_ERROR(Linkable::from_text(rng + ";setp=f"),
                         "linkable 'rng': key 'setp' is not known, did you mean 'setup'?");
    EXPECT_COMPILE_ERROR(
        Linkable::from_text(rng + ";color=f"),
        "linkable 'rng': key 'color' is not known, there are kind, sm, name, setup, teardown, "
        "user, lto, after, nrt, optional, threadsafe, session, no_teardown_after_loss, pin, embed");
    EXPECT_COMPILE_ERROR(Linkable::from_text(rng + ";setup"),
                         "linkable 'rng': key 'setup' has no value");
    EXPECT_COMPILE_ERROR(Linkable::from_text(rng + ";sm="),
                         "linkable '" + rng + ";sm=': key 'sm' has no value");
    EXPECT_COMPILE_ERROR(Linkable::from_text(rng + ";setup=f;setup=g"),
                         "linkable 'rng': key 'setup' is given twice");
    EXPECT_COMPILE_ERROR(Linkable::from_text(rng + ";nrt=yes"),
                         "linkable 'rng': nrt is 'yes', must be 0 or 1");
    EXPECT_COMPILE_ERROR(Linkable::from_text(rng + ";lto=maybe"),
                         "linkable 'rng': lto is 'maybe', must be never, allow or require");
    EXPECT_COMPILE_ERROR(
        Linkable::from_text(rng + ";setup=ns::f"),
        "linkable 'rng': setup 'ns::f' is not the name of a C function or variable");
    EXPECT_COMPILE_ERROR(Linkable::from_text(rng + ";user=1x"),
                         "linkable 'rng': user '1x' is not the name of a C function or variable");
}

TEST(LinkableTexts, items) {
    LinkableFolder dir;
    const std::string rng = dir.add("rng.ptx", ptx());
    EXPECT_COMPILE_ERROR(Linkable::list_from_text(rng + ",," + rng),
                         "an item of '" + rng + ",," + rng + "' is empty");
    EXPECT_COMPILE_ERROR(Linkable::from_text(rng + "," + rng),
                         "'" + rng + "," + rng + "' gives 2 linkables, must give 1");
    EXPECT_COMPILE_ERROR(Linkable::from_text(";nrt"),
                         "linkable ';nrt' has neither a file nor a callback");
    EXPECT_COMPILE_ERROR(Linkable::from_text(";setup=f;kind=ptx"),
                         "linkable ';setup=f;kind=ptx': kind and sm are of a file, and none is "
                         "given");
}

TEST(LinkableTexts, manifests) {
    LinkableFolder dir;
    const std::string file = dir.path("m.json");
    dir.add("a.ptx", ptx());
    auto error = [&](const std::string &json) {
        dir.add("m.json", json);
        return error_of<CompileError>([&] { Linkable::list_from_text("@" + file); });
    };
    const std::string at = "manifest '" + file + "': ";
    EXPECT_EQ(error("{\n\"path\": \"a.ptx\",\n}"), at + "it is no JSON, line 3");
    EXPECT_EQ(error(""), at + "it is no JSON, line 1");
    EXPECT_EQ(error(R"({"path": "a.ptx", "sm": 1e999})"),
              at + "it cannot be read: number overflow parsing '1e999'");
    EXPECT_EQ(error("[1]"), at + "the manifest is [1], must be an object");
    EXPECT_EQ(error(R"({"linkables": 3})"), at + "'linkables' is 3, must be a list");
    EXPECT_EQ(error(R"({"linkables": [], "x": 1})"), at + "beside 'linkables' it has other keys");
    EXPECT_EQ(error(R"({"linkables": [7]})"), at + "a linkable is 7, must be an object");
    EXPECT_EQ(error(R"({"path": "a.ptx", "setup": null})"),
              at + "'setup' is null, must be a string, a whole number from 0 on, or true or false");
    EXPECT_EQ(error(R"({"path": "a.ptx", "sm": -5})"),
              at + "'sm' is -5, must be a string, a whole number from 0 on, or true or false");
    EXPECT_EQ(error(R"({"path": "a.ptx", "sm": 80.5})"),
              at + "'sm' is 80.5, must be a string, a whole number from 0 on, or true or false");
    EXPECT_EQ(error(R"({"path": "a.ptx", "setup": "f", "setup": "g"})"),
              at + "key 'setup' is given twice");
    EXPECT_EQ(error(R"({"images": [{"path": "a.ptx"}, {"path": "b.ptx", "path": "c.ptx"}]})"),
              at + "key 'path' is given twice");
    EXPECT_EQ(error(R"({"path": "a.ptx", "name": "a\u0000b"})"), at + "'name' has a NUL in it");
    const std::string deep = std::string(200000, '[') + std::string(200000, ']');
    EXPECT_EQ(error("{\"path\": " + deep + "}"), at + "its values lie more than 16 deep");
    EXPECT_EQ(error(deep), at + "its values lie more than 16 deep");
    EXPECT_EQ(error("{\"path\": [[[[[[[1]]]]]]]}"),
              at + "'path' is [[[[[[[1]]]]]]], must be a string, a whole number from 0 on, or true "
                   "or false");
    EXPECT_EQ(error(R"({"path": "a.ptx", "stup": "f"})"),
              at + "linkable 'a': key 'stup' is not known, did you mean 'setup'?");
    EXPECT_EQ(error(R"({"path": "a.ptx", "nrt": "on"})"),
              at + "linkable 'a': nrt is 'on', must be 0 or 1");
    EXPECT_EQ(error(R"({"path": "b.ptx"})"),
              at + "linkable file '" + dir.path("b.ptx") + "' does not exist");
    EXPECT_EQ(error(R"({"images": [{"path": "a.ptx", "knd": "ptx"}]})"),
              at + "key 'knd' of an image is not known, did you mean 'kind'?");
    EXPECT_EQ(error(R"({"images": [{"kind": "ptx"}]})"), at + "an image has no path");
    EXPECT_EQ(error(R"({"images": ["a.ptx"]})"),
              at + "an item of 'images' is \"a.ptx\", must be an object");
    EXPECT_EQ(error(R"({"images": "a.ptx"})"), at + "'images' is \"a.ptx\", must be a list");
    EXPECT_EQ(error(R"({"images": [{"path": "a.ptx"}], "sm": 80})"),
              at + "a linkable has 'images' and, beside them, 'path', 'kind' or 'sm'");
    EXPECT_EQ(error(R"({"sm": 80, "setup": "f"})"), at + "a linkable has 'sm' but no 'path'");
    EXPECT_EQ(error(R"({"kind": "ptx", "setup": "f"})"),
              at + "a linkable has 'kind' ptx but no 'path'");
    EXPECT_EQ(error("{}"), at + "linkable '{}' has neither a file nor a callback");
    EXPECT_COMPILE_ERROR(Linkable::from_text("@" + dir.path("none.json")),
                         "manifest '" + dir.path("none.json") + "' does not exist");
    internal::make_directories(dir.path("folder"));
    EXPECT_COMPILE_ERROR(Linkable::from_text("@" + dir.path("folder")),
                         "manifest '" + dir.path("folder") + "' is a folder");
    EXPECT_COMPILE_ERROR(Linkable::from_text("@"),
                         "'@' stands alone, a manifest's path must follow it");
    EXPECT_COMPILE_ERROR(Linkable::from_text("@/dev/zero"),
                         "manifest '/dev/zero' is not a regular file");
}

}  // namespace
}  // namespace calotype
