// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256 against the examples of FIPS 180-4, with and without the processor's instructions.
#include "runtime/host/data/sha256.h"

#include <gtest/gtest.h>

#include <string>

using namespace calotype::runtime;

namespace {

std::string hex(const calotype_uid &uid) {
    std::string text;
    for (uint8_t byte : uid.b) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::string hash(const std::string &text, bool portable = false) {
    return hex(Sha256(portable).add(text.data(), text.size()).finish());
}

TEST(Sha256, KnownVectors) {
    for (bool portable : {false, true}) {
        EXPECT_EQ(hash("", portable),
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        EXPECT_EQ(hash("abc", portable),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", portable),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        EXPECT_EQ(hash("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjk"
                       "lmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                       portable),
                  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
        EXPECT_EQ(hash(std::string(1000000, 'a'), portable),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

TEST(Sha256, PiecesOfAnySizeAreOneText) {
    std::string text;
    for (int i = 0; i < 300; i++) {
        text += char(i * 7);
    }
    const std::string whole = hash(text);
    EXPECT_EQ(whole, hash(text, true));
    for (size_t piece = 1; piece < 200; piece += 13) {
        Sha256 pieces;
        for (size_t at = 0; at < text.size(); at += piece) {
            pieces.add(text.data() + at, std::min(piece, text.size() - at));
        }
        EXPECT_EQ(hex(pieces.finish()), whole) << piece;
    }
}

}  // namespace
