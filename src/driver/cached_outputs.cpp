// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/cached_outputs.h"

#include "driver/compiler.h"
#include "driver/disk_cache.h"
#include "pipeline/compare/key_text.h"
#include "support/file.h"

namespace calotype::internal {

namespace {

// One build: its jobs, made once and used for the key and for compiling.
class Build {
public:
    Build(const std::string &function, const OutputPaths &paths, const NamedTargets &targets,
          const JobFactory &job_of)
        : function_(function), paths_(paths), targets_(targets), job_of_(job_of) {
    }

    FileContents make() {
        const auto module_of = [&](const std::string &name, const Target &target) {
            const CompileJob &j = job(name, target);
            LoweredModule module = Compiler::of_process().lower(j);
            put_results(j.autoscheduled, &module);
            return module;
        };
        return multitarget_outputs(function_, paths_, targets_, module_of);
    }

    /// Empty if the result must not be kept.
    std::string key() {
        KeyText text;
        text.put("outputs");
        text.put(function_);
        for (const auto &[type, path] : paths_) {
            text.put(output_type_info(type).name);
            text.put(file_name_of(path));
        }
        for (const auto &[name, target] : targets_) {
            const CompileJob &j = job(function_, target);
            const auto key = portable_key(j);
            if (!key || !j.options.print_after.empty() || j.options.print_pass_times) {
                return "";
            }
            text.put(name);
            text.put(*key);
            text.put(j.autoscheduled.schedule_source);
            const auto &features = j.autoscheduled.featurization;
            text.put(std::string(features.begin(), features.end()));
        }
        return text.take();
    }

private:
    const CompileJob &job(const std::string &name, const Target &target) {
        // A function that is one of several differs in its name alone.
        const std::string id = target.without_feature(Target::CPlusPlusMangling).to_string();
        const auto it = jobs_.find(id);
        CompileJob &j =
            it == jobs_.end() ? jobs_.emplace(id, job_of_(name, target)).first->second : it->second;
        j.source.name = name;
        j.target = target;
        return j;
    }

    const std::string &function_;
    const OutputPaths &paths_;
    const NamedTargets &targets_;
    const JobFactory &job_of_;
    std::map<std::string, CompileJob> jobs_;
};

FileContents in_folder(const FileContents &named, const std::string &folder) {
    FileContents files;
    for (const auto &[name, contents] : named) {
        files[folder + name] = contents;
    }
    return files;
}

}  // namespace

FileContents cached_outputs(const std::string &function, const OutputPaths &paths,
                            const NamedTargets &targets, const JobFactory &job_of) {
    Build build(function, paths, targets, job_of);
    const auto cache = DiskCache::from_environment();
    const std::string key = cache ? build.key() : "";
    if (key.empty()) {
        return build.make();
    }
    const std::string &path = paths.begin()->second;
    const std::string folder = path.substr(0, path.size() - file_name_of(path).size());
    FileContents made;
    const std::string packed = cache->get(key, [&] {
        made = build.make();
        FileContents named;
        for (const auto &[file, contents] : made) {
            named[std::string(file_name_of(file))] = contents;
        }
        return pack(named);
    });
    if (made.empty()) {
        if (const auto named = unpack(packed)) {
            return in_folder(*named, folder);
        }
        return build.make();
    }
    return made;
}

}  // namespace calotype::internal
