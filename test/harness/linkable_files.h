// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The smallest bytes that are device code of each kind, for tests that need no tool to make them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "support/file.h"

namespace calotype::test {

/// Bytes with numbers at places, little-endian.
class Bytes {
public:
    explicit Bytes(size_t size) : text(size, '\0') {
    }
    template<typename T>
    Bytes &put(size_t offset, T value) {
        std::memcpy(&text[offset], &value, sizeof(T));
        return *this;
    }
    Bytes &put(size_t offset, const std::string &value) {
        text.replace(offset, value.size(), value);
        return *this;
    }
    std::string text;
};

inline std::string ptx(const std::string &target = "sm_80", const std::string &comment = "") {
    return "// " + comment + "\n.version 8.0\n.target " + target + "\n.address_size 64\n";
}

/// An ELF file of one section, whose name is the first thing in it.
inline std::string elf(uint16_t machine, uint32_t flags, const std::string &section,
                       uint8_t abi_version = 7) {
    constexpr size_t header = 64;
    Bytes b(header + 64 + section.size() + 1);
    b.put(0, std::string("\x7f"
                         "ELF\x02\x01\x01"));
    b.put(8, abi_version).put(18, machine).put(48, flags);
    b.put(40, uint64_t(header)).put(58, uint16_t(64)).put(60, uint16_t(1)).put(62, uint16_t(0));
    b.put(header + 4, uint32_t(1)).put(header + 24, uint64_t(header + 64));
    b.put(header + 32, uint64_t(section.size() + 1));
    return b.put(header + 64, section).text;
}

inline std::string cubin(uint32_t sm = 80) {
    return elf(190, sm, ".text");
}
inline std::string device_object() {
    return elf(62, 0, "__nv_relfatbin");
}
inline std::string host_object() {
    return elf(62, 0, ".text");
}
inline std::string fatbin(size_t payload = 8) {
    return Bytes(16 + payload)
        .put(0, uint32_t(0xBA55ED50))
        .put(4, uint16_t(1))
        .put(6, uint16_t(16))
        .put(8, uint64_t(payload))
        .text;
}
/// Its header has pairs of numbers from byte 24 on: the architecture, whether it is for that alone,
/// the end.
inline std::string ltoir(uint32_t sm = 80, const std::string &code = "code",
                         bool is_for_one = false) {
    return Bytes(40)
               .put(0, uint32_t(0x7F4E43ED))
               .put(12, uint16_t(24))
               .put(24, uint16_t(1))
               .put(26, uint16_t(sm * 10))
               .put(28, uint16_t(0x20))
               .put(30, uint16_t(is_for_one))
               .put(32, uint16_t(0x63))
               .text +
           code;
}
inline std::string archive(const std::string &member = device_object()) {
    std::string size = std::to_string(member.size());
    size.resize(10, ' ');
    return "!<arch>\n" + std::string("m.o/            0           0     0     644     ") + size +
           "`\n" + member;
}
inline std::string bitcode(const std::string &code = "code") {
    return "BC\xc0\xde" + code;
}

/// A folder of such files.
class LinkableFolder {
public:
    std::string add(const std::string &name, const std::string &bytes) const {
        internal::write_file_atomically(path(name), bytes);
        return path(name);
    }
    std::string path(const std::string &name) const {
        return folder_.path() + "/" + name;
    }

private:
    internal::TemporaryDirectory folder_;
};

}  // namespace calotype::test
