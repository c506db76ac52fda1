// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of a Target: parsing and printing.
#include <cstdlib>
#include <iterator>
#include <optional>
#include <ostream>
#include <set>

#include "support/compiling.h"
#include "support/environment.h"
#include "support/error.h"
#include "support/text.h"
#include "target/jit_target_text.h"
#include "target/target.h"

namespace calotype {

using namespace internal;

namespace {

// The words of each enumeration in the order of its enumerators.
const char *const os_names[] = {"os_unknown", "linux", "windows", "osx",     "android",
                                "ios",        "qurt",  "noos",    "fuchsia", "wasmrt"};
const char *const arch_names[] = {"arch_unknown", "x86",  "arm",  "hexagon",
                                  "powerpc",      "wasm", "riscv"};
const char *const processor_names[] = {
    "tune_generic", "tune_k8",     "tune_k8_sse3", "tune_amdfam10", "tune_btver1",
    "tune_bdver1",  "tune_bdver2", "tune_bdver3",  "tune_bdver4",   "tune_btver2",
    "tune_znver1",  "tune_znver2", "tune_znver3",  "tune_znver4",   "tune_znver5"};
const char *const feature_names[] = {
#define FEATURE(Name, spelling, merge) spelling,
#include "target/features.def"
};

template<typename Enum, typename Names>
std::optional<Enum> find(const Names &names, const std::string &word) {
    for (size_t i = 0; i < std::size(names); i++) {
        if (word == names[i]) {
            return Enum(i);
        }
    }
    return std::nullopt;
}

std::vector<std::string> all_words() {
    std::vector<std::string> words = {"host", "32", "64", "trace_all"};
    words.insert(words.end(), std::begin(os_names), std::end(os_names));
    words.insert(words.end(), std::begin(arch_names), std::end(arch_names));
    words.insert(words.end(), std::begin(processor_names), std::end(processor_names));
    words.insert(words.end(), std::begin(feature_names), std::end(feature_names));
    return words;
}

/// Reads a target string word by word; what is wrong with it, or an empty string.
class TargetParser {
public:
    std::string parse(const std::string &text, Target *result) {
        const std::vector<std::string> words = internal::split(text, "-");
        for (size_t i = 0; i < words.size(); i++) {
            std::string error = parse_word(words[i], i == 0);
            if (!error.empty()) {
                return error;
            }
        }
        if (!has_arch_ || !has_bits_ || !has_os_) {
            return std::string("it lacks ") +
                   (!has_arch_   ? "an architecture"
                    : !has_bits_ ? "its bits"
                                 : "a system") +
                   " (arch-bits-os, as x86-64-linux, or host)";
        }
        if (target_.vector_bits != 0 && target_.arch != Target::ArchUnknown &&
            !target_.features_any_of({Target::RVV, Target::SVE, Target::SVE2}) &&
            !(target_.vector_bits == 512 && target_.has_feature(Target::AVX10_1))) {
            return "vector_bits_" + std::to_string(target_.vector_bits) +
                   " needs rvv, sve or sve2" +
                   (target_.arch == Target::X86 ? ", or avx10_1 for 512" : "");
        }
        *result = target_;
        return "";
    }

private:
    std::string parse_word(const std::string &word, bool is_first) {
        if (word.empty()) {
            return "there is an empty word";
        }
        if (is_first && word == "host") {
            target_ = get_host_target();
            has_arch_ = has_bits_ = has_os_ = true;
        } else if (auto arch = find<Target::Arch>(arch_names, word)) {
            return set_once(target_.arch, *arch, has_arch_, "architecture", word);
        } else if (word == "32" || word == "64" || word == "0") {
            return set_once(target_.bits, std::atoi(word.c_str()), has_bits_, "number of bits",
                            word);
        } else if (auto os = find<Target::OS>(os_names, word)) {
            return set_once(target_.os, *os, has_os_, "system", word);
        } else if (auto processor = find<Target::Processor>(processor_names, word)) {
            return set_once(target_.processor_tune, *processor, has_tune_, "processor", word);
        } else if (word == "trace_all") {
            target_.set_features(
                {Target::TraceLoads, Target::TraceStores, Target::TraceRealizations});
        } else if (const Target::Feature f = Target::feature_from_name(word);
                   f != Target::FeatureEnd) {
            target_.set_feature(f);
        } else if (internal::starts_with(word, "vector_bits_")) {
            return parse_vector_bits(word);
        } else {
            return "'" + word +
                   "' is not a known architecture, bits, system, processor or feature" +
                   internal::did_you_mean(word, all_words());
        }
        return "";
    }

    template<typename T>
    std::string set_once(T &field, T value, bool &done, const char *what, const std::string &word) {
        if (done && field != value) {
            return "'" + word + "' is a second " + what;
        }
        field = value;
        done = true;
        return "";
    }

    std::string parse_vector_bits(const std::string &word) {
        const std::string digits = word.substr(std::string("vector_bits_").size());
        const bool numeric = !digits.empty() && digits.size() <= 5 &&
                             digits.find_first_not_of("0123456789") == std::string::npos;
        const int value = numeric ? std::atoi(digits.c_str()) : 0;
        if (value <= 0 || (value & (value - 1)) != 0) {
            return "'" + word + "' must end in a power of two";
        }
        target_.vector_bits = value;
        return "";
    }

    Target target_;
    bool has_arch_ = false, has_bits_ = false, has_os_ = false, has_tune_ = false;
};

}  // namespace

Target::Target(const std::string &text) {
    if (text.empty()) {
        *this = get_host_target();
        return;
    }
    const std::string error = TargetParser().parse(text, this);
    user_assert(error.empty()) << "target '" << text << "': " << error;
}

Target::Target(const char *text) : Target(std::string(text)) {
}

// A text with unknowns stands for a target all the same, but no code can be made for it.
bool Target::validate_target_string(const std::string &text) {
    Target target;
    return TargetParser().parse(text, &target).empty() && !target.has_unknowns();
}

std::string Target::to_string() const {
    std::string text =
        std::string(arch_names[arch]) + "-" + std::to_string(bits) + "-" + os_names[os];
    if (processor_tune != ProcessorGeneric) {
        text += std::string("-") + processor_names[processor_tune];
    }
    const bool traces_all =
        features_[TraceLoads] && features_[TraceStores] && features_[TraceRealizations];
    std::set<std::string> names;  // in alphabetical order
    for (int i = 0; i < FeatureEnd; i++) {
        const bool is_part =
            traces_all && (i == TraceLoads || i == TraceStores || i == TraceRealizations);
        if (features_[i]) {
            names.insert(is_part ? "trace_all" : feature_names[i]);
        }
    }
    for (const std::string &name : names) {
        text += "-" + name;
    }
    if (vector_bits != 0) {
        text += "-vector_bits_" + std::to_string(vector_bits);
    }
    return text;
}

std::string Target::feature_to_name(Feature f) {
    user_assert(f >= 0 && f < FeatureEnd) << "there is no target feature number " << int(f);
    return feature_names[f];
}

Target::Feature Target::feature_from_name(const std::string &name) {
    return find<Feature>(feature_names, name == "hvx_128" ? "hvx" : name).value_or(FeatureEnd);
}

std::string Target::os_to_name(OS os) {
    return os_names[os];
}

std::string Target::arch_to_name(Arch arch) {
    return arch_names[arch];
}

std::ostream &operator<<(std::ostream &out, const Target &target) {
    return out << target.to_string();
}

Target get_target_from_environment() {
    const char *text = internal::environment("TARGET");
    return text ? Target(text) : get_host_target();
}

namespace {

Target jit_target_of(const std::string &text) {
    // What the host has is found out once: not while the process forks.
    const internal::CompilingScope compiling;
    const Target host = get_host_target();
    Target target = text.empty() ? host : Target(text);
    target.set_feature(Target::JIT);
    user_assert(target.os == host.os && target.arch == host.arch && target.bits == host.bits)
        << "CT_JIT_TARGET is '" << target.to_string() << "', must be for this machine, '"
        << host.to_string() << "'";
    user_assert(!target.has_feature(Target::NoBoundsQuery))
        << "CT_JIT_TARGET is '" << target.to_string() << "', must not have no_bounds_query";
    return target;
}

}  // namespace

Target internal::JitTargetVariable::read() {
    const char *now = environment("JIT_TARGET");
    const std::string_view text = now ? now : "";
    if (!is_read_ || text != text_) {
        target_ = jit_target_of(std::string(text));
        text_ = text;
        is_read_ = true;
    }
    return target_;
}

Target internal::read_jit_target() {
    return JitTargetVariable().read();
}

}  // namespace calotype
