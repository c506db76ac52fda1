// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/compile_job.h"

#include <algorithm>
#include <cstdlib>

#include "codegen/nvptx/toolkit.h"
#include "pipeline/compare/key_text.h"
#include "support/environment.h"
#include "support/hash.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

JobKey finish(KeyText &text, const CompileJob &job) {
    JobKey key;
    key.text = text.take();
    key.hash = hash_bytes(key.text.data(), key.text.size());
    key.is_shareable = job.source.custom_passes.empty() && !text.depends_on_files();
    return key;
}

void put_front_half(KeyText &text, const CompileJob &job) {
    const Target target = front_half_target(job.target);
    text.put(target.to_string());
    const bool names_in_code =
        target.features_any_of({Target::Profile, Target::ProfileByTimer, Target::TracePipeline}) ||
        job.source.trace_pipeline;
    text.put(names_in_code ? job.source.name : "");
    text.put_pipeline(job.source);
}

void put_artifact(KeyText &text, const CompileJob &job) {
    put_front_half(text, job);
    text.put(job.source.name);
    text.put(int64_t(job.source.linkage));
    if (job.source.linkage == LinkageType::ExternalPlusMetadata) {
        for (const Argument &a : job.source.args) {
            text.put(a.argument_estimates);
        }
        for (const auto &[from, to] : job.source.metadata_names) {
            text.put(from);
            text.put(to);
        }
    }
    for (const auto &[linkage, prefix] : job.source.runtime_prefixes) {
        text.put(int64_t(linkage));
        text.put(prefix);
    }
    text.put(job.target.to_string());
    text.put(job.options.debug_level);
    if (job.target.has_feature(Target::CUDA)) {
        text.put(identity(find_cuda_toolkit()));
    }
}

std::string environment_text(const char *name) {
    const char *value = environment(name);
    return value ? value : "";
}

}  // namespace

CompileOptions CompileOptions::from_environment(const std::string &pipeline) {
    CompileOptions options;
    options.print_pass_times = environment_text("TIME_LOWERING_PASSES") == "1";
    options.verify = options.verify || environment_text("VERIFY") == "1";
    for (const std::string &rule : split(environment_text("DEBUG_CODEGEN"), ";")) {
        const size_t at = rule.find('@');
        if (at == std::string::npos || rule.substr(at + 1) == pipeline) {
            options.debug_level = std::max(options.debug_level, std::atoi(rule.c_str()));
        }
    }
    if (options.debug_level > 1) {
        options.print_after = "all";
    }
    options.progress = ProgressScope::current();
    return options;
}

bool CompileOptions::operator==(const CompileOptions &o) const {
    return verify == o.verify && print_after == o.print_after &&
           print_pass_times == o.print_pass_times && debug_level == o.debug_level;
}

Target front_half_target(const Target &target) {
    Target t = target;
    t.processor_tune = Target::ProcessorGeneric;
    for (const Target::Feature f :
         {Target::JIT, Target::NoRuntime, Target::CPlusPlusMangling, Target::EmbedBitcode,
          Target::EnableBacktraces, Target::EnableLLVMLoopOpt, Target::DisableLLVMLoopOpt,
          Target::LLVMLargeCodeModel, Target::SanitizerCoverage}) {
        t.set_feature(f, false);
    }
    return t;
}

JobKey front_half_key(const CompileJob &job) {
    KeyText text;
    put_front_half(text, job);
    return finish(text, job);
}

std::optional<std::string> portable_key(const CompileJob &job) {
    KeyText text;
    put_artifact(text, job);
    if (!job.source.custom_passes.empty() || text.depends_on_files()) {
        return std::nullopt;
    }
    return text.take();
}

JobKey artifact_key(const CompileJob &job) {
    KeyText text;
    put_artifact(text, job);
    for (const auto &[name, address] : job.jit_symbols) {
        text.put(name);
        text.put(int64_t(reinterpret_cast<intptr_t>(address)));
    }
    return finish(text, job);
}

}  // namespace calotype::internal
