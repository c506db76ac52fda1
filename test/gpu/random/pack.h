// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels with what they are to give, as bytes that travel from where they are compiled to
// where there is a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace calotype_test {

struct RandomKernel {
    struct Result {
        uint32_t is_float = 0, bits = 0, lanes = 0;
        std::string text;   ///< the expression
        std::string bytes;  ///< its value
    };
    uint32_t seed = 0;
    std::string half;             ///< "PTX" or "CUDA C++": what the kernel was compiled by way of
    std::string cubin;            ///< with a kernel k(const uint8_t *values, uint8_t *out)
    std::string values;           ///< the first argument's bytes
    std::vector<Result> results;  ///< one in each slot of the second
};

/// Appends what it is told to a text.
class PackWriter {
public:
    std::string bytes;

    void operator()(uint32_t value) {
        for (int i = 0; i < 4; i++) {
            bytes += char(value >> (8 * i));
        }
    }
    void operator()(const std::string &text) {
        (*this)(uint32_t(text.size()));
        bytes += text;
    }
};

/// Takes it off again.
class PackReader {
public:
    PackReader(const char *begin, const char *end) : at_(begin), end_(end) {
    }
    bool has_more() const {
        return at_ < end_;
    }
    void operator()(uint32_t &value) {
        value = 0;
        for (int i = 0; i < 4 && has_more(); i++) {
            value |= uint32_t(uint8_t(*at_++)) << (8 * i);
        }
    }
    void operator()(std::string &text) {
        uint32_t size = 0;
        (*this)(size);
        size = size < end_ - at_ ? size : uint32_t(end_ - at_);
        text.assign(at_, size);
        at_ += size;
    }

private:
    const char *at_, *end_;
};

/// The parts of a kernel, in order.
template<typename Pack, typename Kernel>
void for_each_part(Pack &pack, Kernel &kernel, uint32_t count) {
    pack(kernel.seed);
    pack(kernel.half);
    pack(kernel.cubin);
    pack(kernel.values);
    for (uint32_t i = 0; i < count; i++) {
        auto &result = kernel.results[i];
        pack(result.is_float);
        pack(result.bits);
        pack(result.lanes);
        pack(result.text);
        pack(result.bytes);
    }
}

inline void write_kernel(PackWriter &pack, const RandomKernel &kernel) {
    const uint32_t count = uint32_t(kernel.results.size());
    pack(count);
    for_each_part(pack, kernel, count);
}

inline RandomKernel read_kernel(PackReader &pack) {
    RandomKernel kernel;
    uint32_t count = 0;
    pack(count);
    kernel.results.resize(count);
    for_each_part(pack, kernel, count);
    return kernel;
}

}  // namespace calotype_test
