// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The processor's features, which decide the compiled variants that may run.
#include "runtime/abi/target_features.h"

#include <atomic>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/environment.h"
#include "runtime/host/weak.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif (defined(__aarch64__) || defined(__riscv)) && defined(__linux__)
#include <sys/auxv.h>
#endif

using namespace calotype::runtime;

namespace {

constexpr int words = calotype_target_feature_end / 64;

/** Features of processors by their bits: those that the runtime knows how to check and that are not
 * there. The highest bit of each word is none of theirs. */
struct CpuFeatures {
    uint64_t missing[words] = {};

    void note(calotype_target_feature_t feature, bool there) {
        missing[feature / 64] |= there ? 0 : uint64_t(1) << (feature % 64);
    }
};

#if defined(__x86_64__) || defined(__i386__)

struct CpuidWords {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

CpuidWords cpuid(unsigned leaf, unsigned subleaf = 0) {
    CpuidWords w;
    if (!__get_cpuid_count(leaf, subleaf, &w.eax, &w.ebx, &w.ecx, &w.edx)) {
        return CpuidWords();
    }
    return w;
}

bool has(unsigned word, int bit) {
    return (word >> bit & 1) != 0;
}

/** Register sets that the operating system saves. */
uint64_t saved_register_sets(const CpuidWords &leaf1) {
    if (!has(leaf1.ecx, 27)) {
        return 0;
    }
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t(high) << 32 | low;
}

CpuFeatures cpu_features() {
    const CpuidWords l1 = cpuid(1), l7 = cpuid(7), l7_1 = cpuid(7, 1), ext = cpuid(0x80000001u);
    const uint64_t saved = saved_register_sets(l1);
    const bool os_avx = (saved & 0x06) == 0x06;
    const bool os_avx512 = (saved & 0xe6) == 0xe6;
    const bool os_amx = (saved & 0x60000) == 0x60000;
    const bool os_apx = has(unsigned(saved), 19);

    const bool f_cd = os_avx512 && has(l7.ebx, 16) && has(l7.ebx, 28);
    const bool knl = f_cd && has(l7.ebx, 26) && has(l7.ebx, 27);
    const bool skylake =
        f_cd && has(l7.ebx, 17) && has(l7.ebx, 30) && has(l7.ebx, 31);     // dq, bw, vl
    const bool cannonlake = skylake && has(l7.ebx, 21) && has(l7.ecx, 1);  // ifma, vbmi
    const bool bf16 = has(l7_1.eax, 5);
    const bool zen4 = cannonlake && bf16 && has(l7.ecx, 6) && has(l7.ecx, 11) && has(l7.ecx, 12) &&
                      has(l7.ecx, 14);  // vbmi2, vnni, bitalg, vpopcntdq
    const bool avx_vnni = has(l7_1.eax, 4);
    const bool zen5 = zen4 && avx_vnni && has(l7.edx, 8);  // vp2intersect
    const bool amx = os_amx && has(l7.edx, 22) && has(l7.edx, 24) && has(l7.edx, 25);
    const bool sapphirerapids = zen4 && avx_vnni && has(l7.edx, 23) && amx;

    CpuFeatures f;
    f.note(calotype_target_feature_sse41, has(l1.ecx, 19));
    f.note(calotype_target_feature_avx, os_avx && has(l1.ecx, 28));
    f.note(calotype_target_feature_f16c, os_avx && has(l1.ecx, 29));
    f.note(calotype_target_feature_fma, os_avx && has(l1.ecx, 12));
    f.note(calotype_target_feature_fma4, os_avx && has(ext.ecx, 16));
    f.note(calotype_target_feature_avx2, os_avx && has(l7.ebx, 5));
    f.note(calotype_target_feature_avxvnni, os_avx && avx_vnni);
    f.note(calotype_target_feature_avx512, f_cd);
    f.note(calotype_target_feature_avx512_knl, knl);
    f.note(calotype_target_feature_avx512_skylake, skylake);
    f.note(calotype_target_feature_avx512_cannonlake, cannonlake);
    f.note(calotype_target_feature_avx512_zen4, zen4);
    f.note(calotype_target_feature_avx512_zen5, zen5);
    f.note(calotype_target_feature_avx512_sapphirerapids, sapphirerapids);
    f.note(calotype_target_feature_avx10_1, os_avx512 && has(l7_1.edx, 19));
    f.note(calotype_target_feature_x86apx, os_apx && has(l7_1.edx, 21));
    return f;
}

#elif defined(__aarch64__) && defined(__linux__)

/** Bits of what Linux says of the processor (Documentation/arch/arm64/elf_hwcaps.rst). */
constexpr unsigned long has_half_precision = 1ul << 10, has_dot_products = 1ul << 20;

CpuFeatures cpu_features() {
    const unsigned long there = getauxval(AT_HWCAP);
    CpuFeatures f;
    f.note(calotype_target_feature_arm_fp16, (there & has_half_precision) != 0);
    f.note(calotype_target_feature_arm_dot_prod, (there & has_dot_products) != 0);
    return f;
}

#elif defined(__riscv) && defined(__linux__)

/** Extensions of one letter have its bit (Documentation/arch/riscv/hwprobe.rst has the others). */
constexpr unsigned long has_vectors = 1ul << ('V' - 'A');

CpuFeatures cpu_features() {
    CpuFeatures f;
    f.note(calotype_target_feature_rvv, (getauxval(AT_HWCAP) & has_vectors) != 0);
    return f;
}

#else

CpuFeatures cpu_features() {
    return CpuFeatures();
}

#endif

}  // namespace

// Defined only if the program contains code for the device, which links that part of the
// runtime.
extern "C" {
__attribute__((weak)) int calotype_cuda_can_run(int min_capability);
__attribute__((weak)) int calotype_opencl_can_run(void);
}

namespace {

struct FeatureName {
    const char *name;
    int bit;
};
constexpr FeatureName names[] = {
#define CALOTYPE_TARGET_FEATURE(name, bit) {#name, bit},
#include "runtime/abi/target_features.def"
#undef CALOTYPE_TARGET_FEATURE
};

bool is_set(int count, const uint64_t *features, int bit) {
    return bit / 64 < count && (features[bit / 64] >> (bit % 64) & 1) != 0;
}

/** Whether cpu_features().missing has the bit. It is asked once: the question is slow on virtual
 * machines. */
bool processor_lacks(int bit) {
    static constexpr uint64_t known = uint64_t(1) << 63;
    static std::atomic<uint64_t> answers[words] = {};
    std::atomic<uint64_t> &answer = answers[bit / 64];
    uint64_t word = answer.load(std::memory_order_relaxed);
    if (word == 0) {
        word = cpu_features().missing[bit / 64] | known;
        answer.store(word, std::memory_order_relaxed);
    }
    return ((word & ~known) >> (bit % 64) & 1) != 0;
}

/** Features that the user wants to be missing. */
struct Disabled {
    std::atomic<bool> is_read{false};
    std::atomic<uint64_t> bits[words] = {};

    void set(int bit, bool disable) {
        const uint64_t mask = uint64_t(1) << (bit % 64);
        if (disable) {
            bits[bit / 64].fetch_or(mask);
        } else {
            bits[bit / 64].fetch_and(~mask);
        }
    }

    /** Several threads may do this at once, to the same end. */
    void read_environment() {
        if (is_read.load(std::memory_order_acquire)) {
            return;
        }
        const char *text = environment("CT_DISABLE_FEATURES");
        while (text && *text) {
            const size_t length = strcspn(text, ", ");
            for (const FeatureName &f : names) {
                if (length == strlen(f.name) && memcmp(text, f.name, length) == 0) {
                    set(f.bit, true);
                }
            }
            text += length;
            text += strspn(text, ", ");
        }
        is_read.store(true, std::memory_order_release);
    }

    bool has(int bit) {
        read_environment();
        return (bits[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1) != 0;
    }
};
constinit Disabled disabled;

/** The capability that a feature cuda_capability_XY stands for, as 90; 0 for others. */
constexpr int capability_of(const FeatureName &f) {
    const char prefix[] = "cuda_capability_";
    const char *c = f.name;
    for (const char *p = prefix; *p; p++, c++) {
        if (*c != *p) {
            return 0;
        }
    }
    int value = 0;
    for (; *c >= '0' && *c <= '9'; c++) {
        value = value * 10 + (*c - '0');
    }
    return value;
}

/** A device of some capability has those below. */
int wanted_capability(int count, const uint64_t *features) {
    int wanted = 0;
    for (const FeatureName &f : names) {
        if (f.bit >= calotype_target_feature_cuda_capability_30 &&
            f.bit <= calotype_target_feature_cuda_capability_120 &&
            is_set(count, features, f.bit)) {
            wanted = capability_of(f);
        }
    }
    return wanted;
}

bool is_there(const FeatureName &f, int wanted) {
    if (disabled.has(f.bit)) {
        return false;
    }
    const int capability = capability_of(f);
    if (f.bit == calotype_target_feature_cuda_capability_90a) {  // that architecture and no other
        return calotype_cuda_can_run && calotype_cuda_can_run(capability) != 0 &&
               calotype_cuda_can_run(capability + 1) == 0;
    }
    if (f.bit == calotype_target_feature_cuda || (capability > 0 && capability == wanted)) {
        return calotype_cuda_can_run && calotype_cuda_can_run(capability) != 0;
    }
    if (f.bit == calotype_target_feature_opencl) {
        return calotype_opencl_can_run && calotype_opencl_can_run() != 0;
    }
    return f.bit != calotype_target_feature_vulkan && !processor_lacks(f.bit);
}

}  // namespace

static Hook<calotype_can_use_target_features_t>
    can_use_hook(calotype_default_can_use_target_features);

CALOTYPE_WEAK int calotype_missing_target_feature(int count, const uint64_t *features) {
    if (count <= 0) {
        return -1;
    }
    const int wanted = wanted_capability(count, features);
    for (const FeatureName &f : names) {
        if (is_set(count, features, f.bit) && !is_there(f, wanted)) {
            return f.bit;
        }
    }
    return -1;
}

CALOTYPE_WEAK const char *calotype_target_feature_name(int feature) {
    for (const FeatureName &f : names) {
        if (f.bit == feature) {
            return f.name;
        }
    }
    return nullptr;
}

CALOTYPE_WEAK int calotype_disable_target_feature(int feature, int disable) {
    if (!calotype_target_feature_name(feature)) {
        return -1;
    }
    disabled.read_environment();
    disabled.set(feature, disable != 0);
    return 0;
}

CALOTYPE_WEAK int calotype_default_can_use_target_features(int count, const uint64_t *features) {
    return calotype_missing_target_feature(count, features) < 0;
}

CALOTYPE_WEAK int calotype_can_use_target_features(int count, const uint64_t *features) {
    return can_use_hook.get()(count, features);
}

CALOTYPE_WEAK calotype_can_use_target_features_t
calotype_set_custom_can_use_target_features(calotype_can_use_target_features_t can_use) {
    return can_use_hook.set(can_use);
}
