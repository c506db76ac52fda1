// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Digest: SHA-256 of a list of values.
#pragma once

#include <cstdint>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/SHA256.h>

namespace calotype::internal {

/// Every value goes in with its length, so that no two contents look alike.
class Digest {
public:
    void add(const std::string &bytes) {
        add(uint64_t(bytes.size()));
        sha_.update(llvm::StringRef(bytes));
    }
    void add(uint64_t value) {
        uint8_t bytes[8];
        for (int i = 0; i < 8; i++) {
            bytes[i] = uint8_t(value >> (8 * i));
        }
        sha_.update(llvm::ArrayRef<uint8_t>(bytes));
    }
    std::string result() {
        const auto bytes = sha_.final();
        return std::string(bytes.begin(), bytes.end());
    }

private:
    llvm::SHA256 sha_;
};

}  // namespace calotype::internal
