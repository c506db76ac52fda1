// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <set>

#include "support/hash.h"

namespace calotype::internal {
namespace {

TEST(Hash, OrderAndLengthMatter) {
    EXPECT_NE(hash_combine(hash_combine(0, uint64_t(1)), uint64_t(2)),
              hash_combine(hash_combine(0, uint64_t(2)), uint64_t(1)));
    EXPECT_NE(hash_combine(0, std::string_view("a")), hash_combine(0, std::string_view("a\0", 2)));
    EXPECT_EQ(hash_bytes("photogram", 9), hash_bytes("photogram", 9));
}

TEST(Hash, SmallInputsDoNotCollide) {
    std::set<uint64_t> seen;
    for (uint64_t a = 0; a < 100; a++) {
        for (uint64_t b = 0; b < 100; b++) {
            seen.insert(hash_combine(hash_combine(0, a), b));
        }
    }
    EXPECT_EQ(seen.size(), 10000u);
}

TEST(Hash, EveryByteCounts) {
    std::string text(20, 'x');
    const uint64_t before = hash_bytes(text.data(), text.size());
    for (char &c : text) {
        c = 'y';
        EXPECT_NE(hash_bytes(text.data(), text.size()), before);
        c = 'x';
    }
}

TEST(Sha256, KnownAnswers) {  // FIPS 180-4, examples
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameAsTheWhole) {
    const std::string text(200, 'q');
    Sha256 pieces;
    for (size_t i = 0; i < text.size(); i += 7) {
        pieces.update(std::string_view(text).substr(i, 7));
    }
    EXPECT_EQ(pieces.finish_hex(), sha256_hex(text));
}

TEST(Sha256, FieldsKeepTheirBorders) {
    Sha256 a, b;
    a.update_field("ab"), a.update_field("c");
    b.update_field("a"), b.update_field("bc");
    EXPECT_NE(a.finish_hex(), b.finish_hex());
}

}  // namespace
}  // namespace calotype::internal
