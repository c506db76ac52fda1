// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Detection of the processor and the system.
#include "target/target.h"

#include <initializer_list>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace calotype {

namespace {

Target::OS host_os() {
#if defined(__ANDROID__)
    return Target::Android;
#elif defined(__linux__)
    return Target::Linux;
#elif defined(__APPLE__)
    return Target::OSX;
#elif defined(_WIN32)
    return Target::Windows;
#else
    return Target::OSUnknown;
#endif
}

#if defined(__x86_64__) || defined(__i386__)

struct CpuId {
    uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
    explicit CpuId(uint32_t leaf, uint32_t subleaf = 0) {
        __get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx);
    }
};

bool bit(uint32_t word, int index) {
    return (word >> index) & 1;
}

bool bits(uint32_t word, std::initializer_list<int> indices) {
    for (int i : indices) {
        if (!bit(word, i)) {
            return false;
        }
    }
    return true;
}

/// Which register files the system saves: bit 1 and 2 for AVX, 5 to 7 for AVX-512, 17 and 18 for
/// AMX.
uint64_t saved_registers() {
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t(high) << 32 | low;
}

Target::Processor amd_processor() {
    const CpuId vendor(0), version(1);
    if (vendor.ebx != 0x68747541) {  // "Auth"
        return Target::ProcessorGeneric;
    }
    const int family = int(version.eax >> 8 & 0xf) + int(version.eax >> 20 & 0xff);
    const int model = int(version.eax >> 4 & 0xf) | int(version.eax >> 12 & 0xf0);
    switch (family) {
    case 0x17:
        return model < 0x30 ? Target::ZnVer1 : Target::ZnVer2;
    case 0x19:
        return (model >= 0x10 && model < 0x20) || model >= 0x60 ? Target::ZnVer4 : Target::ZnVer3;
    case 0x1a:
        return Target::ZnVer5;
    default:
        return Target::ProcessorGeneric;
    }
}

void add_avx512_features(Target &t, const CpuId &leaf7, const CpuId &leaf7_1, uint64_t saved) {
    if (!bits(uint32_t(saved), {1, 2, 5, 6, 7}) || !bits(leaf7.ebx, {16, 28})) {
        return;
    }
    t.set_feature(Target::AVX512);
    if (bits(leaf7.ebx, {26, 27})) {
        t.set_feature(Target::AVX512_KNL);
    }
    const bool skylake = bits(leaf7.ebx, {17, 30, 31});
    const bool cannonlake = skylake && bit(leaf7.ebx, 21) && bit(leaf7.ecx, 1);
    // VBMI2, VNNI, BITALG, VPOPCNTDQ and BF16.
    const bool zen4 = cannonlake && bits(leaf7.ecx, {6, 11, 12, 14}) && bit(leaf7_1.eax, 5);
    t.set_feature(Target::AVX512_Skylake, skylake);
    t.set_feature(Target::AVX512_Cannonlake, cannonlake);
    t.set_feature(Target::AVX512_Zen4, zen4);
    // VP2INTERSECT and AVX-VNNI.
    t.set_feature(Target::AVX512_Zen5, zen4 && bit(leaf7.edx, 8) && bit(leaf7_1.eax, 4));
    // AMX (BF16, TILE, INT8), FP16 and AVX-VNNI.
    t.set_feature(Target::AVX512_SapphireRapids, zen4 && bits(leaf7.edx, {22, 23, 24, 25}) &&
                                                     bit(leaf7_1.eax, 4) &&
                                                     bits(uint32_t(saved), {17, 18}));
}

void add_x86_features(Target &t) {
    const CpuId leaf1(1);
    t.set_feature(Target::SSE41, bit(leaf1.ecx, 19));
    t.processor_tune = amd_processor();
    if (!bit(leaf1.ecx, 27)) {  // the system does not manage extended registers
        return;
    }
    const uint64_t saved = saved_registers();
    if (!bits(uint32_t(saved), {1, 2}) || !bit(leaf1.ecx, 28)) {
        return;
    }
    const CpuId leaf7(7), leaf7_1(7, 1), extended(0x80000001);
    t.set_feature(Target::AVX);
    t.set_feature(Target::FMA, bit(leaf1.ecx, 12));
    t.set_feature(Target::F16C, bit(leaf1.ecx, 29));
    t.set_feature(Target::FMA4, bit(extended.ecx, 16));
    // A virtual machine may hide what all processors with AVX2 have, and the feature stands for.
    t.set_feature(Target::AVX2, bit(leaf7.ebx, 5) && bits(leaf1.ecx, {12, 29}));
    t.set_feature(Target::AVXVNNI, bit(leaf7_1.eax, 4));
    add_avx512_features(t, leaf7, leaf7_1, saved);
}

#elif defined(__aarch64__) && defined(__linux__)

/// Bits of what Linux says of the processor (Documentation/arch/arm64/elf_hwcaps.rst).
constexpr unsigned long has_half_precision = 1ul << 10, has_dot_products = 1ul << 20;

void add_arm_features(Target &t) {
    const unsigned long there = getauxval(AT_HWCAP);
    t.set_feature(Target::ARMFp16, (there & has_half_precision) != 0);
    t.set_feature(Target::ARMDotProd, (there & has_dot_products) != 0);
}

#endif

Target find_host_target() {
    const int bits = int(sizeof(void *)) * 8;
#if defined(__x86_64__) || defined(__i386__)
    Target t(host_os(), Target::X86, bits);
    add_x86_features(t);
    return t;
#elif defined(__aarch64__) || defined(__arm__)
    Target t(host_os(), Target::ARM, bits);
#if defined(__aarch64__) && defined(__linux__)
    add_arm_features(t);
#endif
    return t;
#elif defined(__riscv)
    return Target(host_os(), Target::RISCV, bits);
#else
    return Target(host_os(), Target::ArchUnknown, bits);
#endif
}

}  // namespace

Target get_host_target() {
    // In a virtual machine each question to the processor takes microseconds.
    static const Target host = find_host_target();
    return host;
}

}  // namespace calotype
