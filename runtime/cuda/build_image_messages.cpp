// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a linker's failure means and what to do about it. Linkers answer with a number and a log
// that speaks of files which no user has seen; the sentence in front of it speaks of modules and
// linkables.
#include <string.h>

#include "runtime/cuda/build_image_link.h"
#include "runtime/device/failure.h"
#include "runtime/device/linkable_files.h"

namespace calotype::runtime {

void name_input(const LinkInput &input, Text &text) {
    text << (input.is_kernel ? "module '" : "linkable '") << input.name << "'";
}

namespace {

/** Symbols in "Undefined reference to 'NAME' in 'FILE'", one after the other. */
class UndefinedSymbols {
    const char *rest;

public:
    explicit UndefinedSymbols(const char *log) : rest(log ? log : "") {
    }
    bool next(const char **name, size_t *length) {
        const char before[] = "ndefined reference to '";
        const char *found = strstr(rest, before);
        if (!found) {
            return false;
        }
        *name = found + sizeof before - 1;
        const char *end = strchr(*name, '\'');
        *length = end ? size_t(end - *name) : 0;
        rest = *name + *length;
        return end != nullptr;
    }
};

bool is_of_device_runtime(const char *name, size_t length) {
    return length > 4 && strncmp(name, "NRT_", 4) == 0;
}

/** False if the log tells of none. */
bool explain_undefined(const LinkPlan &plan, const char *linker_log, Text &text) {
    UndefinedSymbols symbols(linker_log);
    const char *name;
    size_t length;
    bool any = false;
    while (symbols.next(&name, &length)) {
        any = true;
        text << "module '" << plan.desc->name << "': device function '";
        text.append(name, length);
        if (is_of_device_runtime(name, length) && !uses_nrt(*plan.desc)) {
            text << "' belongs to the device runtime, which is not linked; add 'nrt' to the "
                    "linkable that calls it\n";
        } else {
            text << "' is not defined by the kernels or by any of the " << plan.count - 1
                 << " linkables; add the linkable that defines it\n";
        }
    }
    return any;
}

void explain_add(const LinkPlan &plan, const LinkInput &input, Text &text) {
    name_input(input, text);
    text << ": ";
    describe_image(*input.image, text);
    text << (input.image->kind == CALOTYPE_PTX ? " does not assemble for " : " does not link for ");
    describe_arch(plan.arch.sm, plan.arch.suffix, text);
    switch (input.image->kind) {
    case CALOTYPE_LTOIR:
        text << "; LTO-IR must be made by a toolkit that is no newer than the linker, for that "
                "architecture or an older one\n";
        break;
    case CALOTYPE_PTX:
        text << "\n";
        break;
    default:
        text << "; it is damaged, or made for other architectures: build it for this one, or add "
                "PTX\n";
    }
}

void explain_complete(const LinkPlan &plan, const LinkResult &result, Text &text) {
    if (explain_undefined(plan, result.linker_log, text)) {
        return;
    }
    text << "module '" << plan.desc->name << "' does not link";
    for (uint32_t i = 1; i < plan.count; i++) {
        text << (i == 1 ? " with linkables '" : "', '") << plan.inputs[i].name;
    }
    text << (plan.count > 1 ? "' for " : " for ");
    describe_arch(plan.arch.sm, plan.arch.suffix, text);
    text << "\n";
}

bool is_text_error(const LinkPlan &plan, const LinkResult &result) {
    const char *text = result.linker_log ? result.linker_log : "";
    if (result.step == LinkResult::add) {
        return plan.inputs[result.input].image->kind == CALOTYPE_PTX;
    }
    return result.step == LinkResult::complete && plan.count == 1 &&
           !strstr(text, "ndefined reference");
}

}  // namespace

calotype_status explain_link_failure(const LinkPlan &plan, const LinkResult &result,
                                     const char *linker) {
    Text text;
    switch (result.step) {
    case LinkResult::add:
        explain_add(plan, plan.inputs[result.input], text);
        break;
    case LinkResult::complete:
        explain_complete(plan, result, text);
        break;
    default:
        text << linker << " cannot link for ";
        describe_arch(plan.arch.sm, plan.arch.suffix, text);
        text << "; a newer CUDA toolkit may know it\n";
    }
    text << linker << " answered " << result.code;
    if (result.linker_log && result.linker_log[0]) {
        text << ":\n" << result.linker_log;
    }
    return fail_with(is_text_error(plan, result) ? CALOTYPE_E_COMPILE : CALOTYPE_E_LINK,
                     text << "\n", result.code);
}

}  // namespace calotype::runtime
