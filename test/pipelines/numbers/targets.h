// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets that tests of generated code run on: this machine, and this machine with fewer vector
// instructions.
#pragma once

#include <calotype/calotype.h>

#include <vector>

namespace calotype::test {

inline Target without(Target t, const std::vector<Target::Feature> &features) {
    for (Target::Feature f : features) {
        t = t.without_feature(f);
    }
    return t;
}

/// From the most features to the least.
inline std::vector<Target> targets() {
    const std::vector<Target::Feature> avx512 = {Target::AVX512,
                                                 Target::AVX512_KNL,
                                                 Target::AVX512_Skylake,
                                                 Target::AVX512_Cannonlake,
                                                 Target::AVX512_Zen4,
                                                 Target::AVX512_Zen5,
                                                 Target::AVX512_SapphireRapids,
                                                 Target::AVX10_1};
    const std::vector<Target::Feature> avx = {Target::AVX2, Target::AVX,  Target::FMA,
                                              Target::FMA4, Target::F16C, Target::AVXVNNI};
    const Target host = get_jit_target_from_environment();
    const Target avx2 = without(host, avx512), sse41 = without(avx2, avx),
                 sse2 = without(sse41, {Target::SSE41});
    std::vector<Target> all = {host};
    for (const Target &t : {avx2, sse41, sse2}) {
        if (t != all.back()) {
            all.push_back(t);
        }
    }
    return all;
}

}  // namespace calotype::test
