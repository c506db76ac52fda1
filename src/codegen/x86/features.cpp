// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/features.h"

#include "codegen/llvm/target_names.h"

namespace calotype::internal {

namespace {

const FeatureAttributes feature_rows[] = {
    {Target::SSE41, "+sse3,+ssse3,+sse4.1"},
    {Target::AVX, "+sse4.2,+popcnt,+avx"},
    {Target::F16C, "+f16c"},
    {Target::FMA, "+fma"},
    {Target::FMA4, "+fma4"},
    {Target::AVX2, "+avx2,+bmi,+bmi2,+lzcnt"},
    {Target::AVXVNNI, "+avxvnni"},
    {Target::AVX512, "+evex512,+avx512f,+avx512cd"},
    {Target::AVX512_Skylake, "+avx512vl,+avx512bw,+avx512dq"},
    {Target::AVX512_Cannonlake, "+avx512ifma,+avx512vbmi"},
    {Target::AVX512_Zen4,
     "+avx512vbmi2,+avx512vnni,+avx512bitalg,+avx512vpopcntdq,+avx512bf16,+gfni"},
    {Target::AVX512_Zen5, "+avx512vp2intersect"},
    {Target::AVX512_SapphireRapids, "+avx512fp16,+amx-tile,+amx-int8,+amx-bf16"},
    {Target::AVX10_1, "+avx10.1-512"},
    {Target::X86APX, "+egpr,+push2pop2,+ppx,+ndd,+ccmp,+nf"},
};

struct TuningRow {
    Target::Processor processor;
    const char *name;
};

const TuningRow tuning_rows[] = {
    {Target::K8, "k8"},         {Target::K8_SSE3, "k8-sse3"}, {Target::AMDFam10, "amdfam10"},
    {Target::BtVer1, "btver1"}, {Target::BdVer1, "bdver1"},   {Target::BdVer2, "bdver2"},
    {Target::BdVer3, "bdver3"}, {Target::BdVer4, "bdver4"},   {Target::BtVer2, "btver2"},
    {Target::ZnVer1, "znver1"}, {Target::ZnVer2, "znver2"},   {Target::ZnVer3, "znver3"},
    {Target::ZnVer4, "znver4"}, {Target::ZnVer5, "znver5"},
};

}  // namespace

std::string x86_features(const Target &target) {
    return attributes_of(target, feature_rows);
}

bool is_intel_with_avx512(const Target &target) {
    if (target.processor_tune != Target::ProcessorGeneric ||  // those that have names are AMD's
        target.has_feature(Target::AVX512_Zen5)) {
        return false;
    }
    return target.has_feature(Target::AVX512_Zen4)
               ? target.features_any_of({Target::AVX512_SapphireRapids, Target::AVXVNNI})
               : target.has_feature(Target::AVX512_Skylake);
}

bool x86_has_narrow_and_long_lanes(const Target &target) {
    return target.features_any_of({Target::AVX512_Skylake, Target::AVX512_Cannonlake,
                                   Target::AVX512_Zen4, Target::AVX512_Zen5,
                                   Target::AVX512_SapphireRapids, Target::AVX10_1});
}

// Where none is asked for: a processor of the generation that has the features, or the one before Sapphire Rapids: by
// LLVM's model of that, chains of choices, as a largest element's place is found by, become branches.
std::string x86_tuning(const Target &target) {
    for (const TuningRow &row : tuning_rows) {
        if (target.processor_tune == row.processor) {
            return row.name;
        }
    }
    if (target.has_feature(Target::AVX512_Zen5)) {
        return "znver5";
    }
    if (target.has_feature(Target::AVX512_Zen4)) {
        return is_intel_with_avx512(target) ? "icelake-server" : "znver4";
    }
    if (target.has_feature(Target::AVX512_Skylake)) {
        return "skylake-avx512";
    }
    if (target.has_feature(Target::AVX2)) {
        return "haswell";
    }
    return target.has_feature(Target::AVX) ? "corei7-avx" : "generic";
}

}  // namespace calotype::internal
