// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/output_plan.h"

#include <cstdio>
#include <set>

#include "codegen/emit.h"
#include "codegen/symbol_name.h"
#include "driver/archive.h"
#include "driver/compiler.h"
#include "driver/dispatch.h"
#include "support/error.h"
#include "support/file.h"

namespace calotype::internal {

namespace {

void check_types(const std::vector<OutputFileType> &types) {
    for (const OutputFileType type : types) {
        user_assert(can_emit(type)) << "emit type '" << output_type_info(type).name
                                    << "' cannot be made by this build of the compiler";
    }
}

void check_targets(const std::vector<std::pair<std::string, Target>> &targets) {
    user_assert(!targets.empty()) << "there is no target";
    const Target &first = targets[0].second;
    std::set<std::string> seen;
    for (const auto &[text, target] : targets) {
        user_assert(seen.insert(target.to_string()).second) << "target " << text << " is given twice";
        user_assert(target.os == first.os && target.arch == first.arch && target.bits == first.bits)
            << "targets " << targets[0].first << " and " << text
            << " differ in architecture, bits or system, so that no machine can run both";
    }
}

// The members of the runtime, for a library that stands alone.
void add_runtime(std::vector<std::pair<std::string, std::string>> &members, const Target &target) {
    if (target.has_feature(Target::NoRuntime)) {
        return;
    }
    for (auto &member : read_static_library(standalone_runtime(target))) {
        members.push_back(std::move(member));
    }
}

FileContents compile_for_one(const OutputPlan &plan, const JobFactory &job_of) {
    const Target &target = plan.targets[0].second;
    std::set<OutputFileType> types(plan.types.begin(), plan.types.end());
    const bool with_library = types.count(OutputFileType::static_library);
    if (with_library) {
        types.insert(OutputFileType::object);
    }
    auto contents = Compiler::of_process().emit(job_of(plan.function, target), types);
    if (with_library) {
        std::vector<std::pair<std::string, std::string>> members = {
            {c_identifier(plan.function) + ".o", contents[OutputFileType::object]}};
        add_runtime(members, target);
        contents[OutputFileType::static_library] = make_static_library(members);
    }
    FileContents files;
    for (const OutputFileType type : plan.types) {
        files[plan.path_base + output_type_info(type).extension] = contents[type];
    }
    return files;
}

FileContents compile_for_several(const OutputPlan &plan, const JobFactory &job_of) {
    std::set<OutputFileType> types_each = {OutputFileType::object}, types_once;
    for (const OutputFileType type : plan.types) {
        if (output_type_info(type).per_target) {
            types_each.insert(type);
        } else if (type != OutputFileType::static_library) {
            types_once.insert(type);
        }
    }
    const bool with_objects = std::count(plan.types.begin(), plan.types.end(), OutputFileType::object) > 0;

    FileContents files;
    Dispatch dispatch;
    std::vector<std::pair<std::string, std::string>> members;
    for (const auto &[text, target] : plan.targets) {
        const std::string name = c_identifier(plan.function) + "_" + c_identifier(text);
        CompileJob job = job_of(name, target.without_feature(Target::CPlusPlusMangling));
        job.source.linkage = LinkageType::External;
        dispatch.add(Compiler::of_process().lower(job), target);
        auto contents = Compiler::of_process().emit(job, types_each);
        for (const OutputFileType type : types_each) {
            if (type != OutputFileType::object || with_objects) {
                files[plan.path_base + "-" + text + output_type_info(type).extension] = contents[type];
            }
        }
        members.emplace_back(name + ".o", std::move(contents[OutputFileType::object]));
    }

    const Target &last = plan.targets.back().second;
    const LoweredModule wrapper = dispatch.module(plan.function, last);
    types_once.insert(OutputFileType::object);
    auto contents = emit_outputs(wrapper, last, types_once);
    members.emplace_back(c_identifier(plan.function) + "_dispatch.o", contents[OutputFileType::object]);
    if (with_objects) {
        files[plan.path_base + "-dispatch" + output_type_info(OutputFileType::object).extension] =
            contents[OutputFileType::object];
    }
    types_once.erase(OutputFileType::object);
    add_runtime(members, last);
    for (const OutputFileType type : types_once) {
        files[plan.path_base + output_type_info(type).extension] = contents[type];
    }
    if (std::count(plan.types.begin(), plan.types.end(), OutputFileType::static_library)) {
        files[plan.path_base + output_type_info(OutputFileType::static_library).extension] =
            make_static_library(members);
    }
    return files;
}

}  // namespace

FileContents compile_outputs(const OutputPlan &plan, const JobFactory &job_of) {
    check_types(plan.types);
    check_targets(plan.targets);
    return plan.targets.size() == 1 ? compile_for_one(plan, job_of) : compile_for_several(plan, job_of);
}

void write_files_together(const FileContents &files) {
    const std::string suffix = ".partial";
    std::vector<std::string> written;
    try {
        for (const auto &[path, contents] : files) {
            write_file_atomically(path + suffix, contents);
            written.push_back(path + suffix);
        }
        for (const auto &[path, contents] : files) {
            user_assert(std::rename((path + suffix).c_str(), path.c_str()) == 0) << "cannot write " << path;
        }
    } catch (...) {
        for (const std::string &path : written) {
            std::remove(path.c_str());
        }
        throw;
    }
}

}  // namespace calotype::internal
