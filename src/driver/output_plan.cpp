// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/output_plan.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "codegen/emit.h"
#include "codegen/symbol_name.h"
#include "driver/compiler_stack.h"
#include "driver/dispatch.h"
#include "driver/progress.h"
#include "support/error.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

void check_types(const OutputPaths &paths) {
    for (const auto &entry : paths) {
        user_assert(can_emit(entry.first)) << "emit type '" << output_type_info(entry.first).name
                                           << "' cannot be made by this build of the compiler";
    }
}

void check_targets(const NamedTargets &targets) {
    user_assert(!targets.empty()) << "there is no target";
    const auto &[first_text, first] = targets[0];
    std::set<std::string> seen;
    for (const auto &[text, target] : targets) {
        user_assert(seen.insert(target.to_string()).second)
            << "target " << text << " is given twice";
        user_assert(target.os == first.os && target.arch == first.arch && target.bits == first.bits)
            << "targets " << first_text << " and " << text
            << " differ in architecture, bits or system, so that no machine can run both";
    }
}

std::string library_of(Members members, const Target &target, const RuntimeNamespaceMap &prefixes) {
    if (target.has_feature(Target::NoRuntime)) {
        return make_static_library(members);
    }
    if (prefixes.empty() && !has_runtime_for(target)) {
        user_warning << "the static library for target " << target.to_string()
                     << " has no runtime, as this build of the compiler carries none for it: the "
                        "program must link one";
    } else {
        for (auto &member : read_static_library(standalone_runtime(target, prefixes))) {
            members.push_back(std::move(member));
        }
    }
    return make_static_library(members);
}

std::map<OutputFileType, std::string> emit(const LoweredModule &module, const Target &target,
                                           const std::set<OutputFileType> &types) {
    std::map<OutputFileType, std::string> contents;
    const CompileProgress progress = ProgressScope::current();
    std::function<void(bool)> begins;
    if (progress) {
        begins = [&](bool is_device_code) {
            progress(step_of_code(module, is_device_code));
        };
    }
    run_on_compiler_stack([&] { contents = emit_outputs(module, target, types, begins); });
    return contents;
}

// "dir/out.o" with the suffix in front of the extension.
std::string with_suffix(const std::string &path, OutputFileType type, const std::string &suffix) {
    const std::string extension = output_type_info(type).extension;
    const bool has_it = ends_with(path, extension);
    return path.substr(0, path.size() - (has_it ? extension.size() : 0)) + suffix + extension;
}

// "f" for "host-profile": f_host___profile, a name that callers of one of the targets count on.
std::string name_of_choice(const std::string &function, const std::string &text) {
    return c_identifier(function) + "_" + c_identifier(replace_all(text, "-", "___"));
}

// The parts of a build for several targets, from what each target gives.
class MultitargetBuild {
public:
    MultitargetBuild(const std::string &function, const OutputPaths &paths)
        : function_(function), paths_(paths) {
        for (const auto &entry : paths) {
            if (output_type_info(entry.first).per_target) {
                types_each_.insert(entry.first);
            } else if (entry.first != OutputFileType::static_library) {
                types_once_.insert(entry.first);
            }
        }
        types_each_.insert(OutputFileType::object);
        types_once_.insert(OutputFileType::object);
    }

    void add(const std::string &text, const Target &target, const LoweredModuleFactory &module_of) {
        const std::string name = name_of_choice(function_, text);
        LoweredModule module = module_of(name, target);
        internal_assert(module.functions.size() == 1) << "a choice between targets is one function";
        module.functions[0].linkage = LinkageType::External;
        module.functions[0].name_mangling = NameMangling::C;  // it cannot meet the user's names
        schedule_source_ = module.schedule_source;
        prefixes_ = module.runtime_prefixes;
        dispatch_.add(module, target);
        choices_.push_back(module.functions[0]);
        auto contents = emit(module, target, types_each_);
        for (const OutputFileType type : types_each_) {
            keep_if_asked(type, "-" + text, contents[type]);
        }
        members_.emplace_back(name + ".o", std::move(contents[OutputFileType::object]));
    }

    FileContents finish(const Target &last) {
        LoweredModule wrapper = dispatch_.module(function_, last);
        wrapper.schedule_source = schedule_source_;
        wrapper.runtime_prefixes = prefixes_;
        auto contents = emit(wrapper, last, types_once_);
        if (types_once_.count(OutputFileType::c_header)) {
            contents[OutputFileType::c_header] = header_of_all(wrapper, last);
        }
        keep_if_asked(OutputFileType::object, "_wrapper", contents[OutputFileType::object]);
        members_.emplace_back(c_identifier(function_) + "_wrapper.o",
                              contents[OutputFileType::object]);
        if (paths_.count(OutputFileType::object) && !last.has_feature(Target::NoRuntime)) {
            keep_if_asked(OutputFileType::object, "_runtime",
                          standalone_runtime_object(last, prefixes_));
        }
        for (const auto &[type, path] : paths_) {
            if (type == OutputFileType::static_library) {
                files_[path] = library_of(members_, last, prefixes_);
            } else if (!output_type_info(type).per_target) {
                files_[path] = contents[type];
            }
        }
        return std::move(files_);
    }

private:
    /// Declares the function and those between which it chooses, which may be called directly.
    std::string header_of_all(const LoweredModule &wrapper, const Target &target) const {
        LoweredModule all = wrapper;
        all.functions.insert(all.functions.end(), choices_.begin(), choices_.end());
        return emit(all, target, {OutputFileType::c_header})[OutputFileType::c_header];
    }

    void keep_if_asked(OutputFileType type, const std::string &suffix,
                       const std::string &contents) {
        const auto path = paths_.find(type);
        if (path != paths_.end()) {
            files_[with_suffix(path->second, type, suffix)] = contents;
        }
    }

    std::string function_;
    const OutputPaths &paths_;
    std::set<OutputFileType> types_each_, types_once_;
    std::string schedule_source_;   ///< of the last target
    RuntimeNamespaceMap prefixes_;  ///< likewise
    Dispatch dispatch_;
    std::vector<LoweredFunction> choices_;
    Members members_;
    FileContents files_;
};

}  // namespace

OutputPaths output_paths(const std::string &path_base, const std::vector<OutputFileType> &types) {
    OutputPaths paths;
    for (const OutputFileType type : types) {
        paths[type] = path_base + output_type_info(type).extension;
    }
    return paths;
}

bool can_make_output(OutputFileType type) {
    return can_emit(type);
}

void put_results(const AutoSchedulerResults &results, LoweredModule *module) {
    module->schedule_source = results.schedule_source;
    module->featurization.assign(results.featurization.begin(), results.featurization.end());
}

FileContents module_outputs(const LoweredModule &module, const Target &target,
                            const OutputPaths &paths) {
    check_types(paths);
    std::set<OutputFileType> types;
    for (const auto &entry : paths) {
        // A library is made of the object here, where the runtime is at hand.
        types.insert(entry.first == OutputFileType::static_library ? OutputFileType::object
                                                                   : entry.first);
    }
    auto contents = emit(module, target, types);
    FileContents files;
    for (const auto &[type, path] : paths) {
        files[path] =
            type == OutputFileType::static_library
                ? library_of({{c_identifier(module.name) + ".o", contents[OutputFileType::object]}},
                             target, module.runtime_prefixes)
                : contents[type];
    }
    return files;
}

FileContents multitarget_outputs(const std::string &function, const OutputPaths &paths,
                                 const NamedTargets &targets,
                                 const LoweredModuleFactory &module_of) {
    check_types(paths);
    check_targets(targets);
    if (targets.size() == 1) {
        const Target &target = targets[0].second;
        return module_outputs(module_of(function, target), target, paths);
    }
    MultitargetBuild build(function, paths);
    for (const auto &[text, target] : targets) {
        build.add(text, target, module_of);
    }
    return build.finish(targets.back().second);
}

void write_files_together(const FileContents &files) {
    const std::string suffix = ".partial";
    std::vector<std::string> written;
    try {
        for (const auto &[path, contents] : files) {
            if (!is_stream(path)) {
                write_file_atomically(path + suffix, contents);
                written.push_back(path + suffix);
            }
        }
        for (const auto &[path, contents] : files) {
            if (is_stream(path)) {
                write_file_atomically(path, contents);
                continue;
            }
            user_assert(std::rename((path + suffix).c_str(), path.c_str()) == 0)
                << "cannot write " << path;
        }
    } catch (...) {
        for (const std::string &path : written) {
            std::remove(path.c_str());
        }
        throw;
    }
}

}  // namespace calotype::internal
