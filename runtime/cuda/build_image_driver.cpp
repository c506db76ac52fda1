// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The linker inside of the driver, for where there is no nvJitLink. One link at a time a context,
// and no LTO.
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/build_image_link.h"

namespace calotype {
namespace runtime {

namespace {

// Numbers of the driver's interface.
enum JitOption {
    jit_max_registers = 0,
    jit_info_log = 3,
    jit_info_log_bytes = 4,
    jit_error_log = 5,
    jit_error_log_bytes = 6,
    jit_debug_info = 11,
    jit_line_info = 13
};
constexpr size_t log_bytes = 16384;

int input_type(calotype_kind kind) {
    switch (kind) {
    case CALOTYPE_PTX:
        return 1;
    case CALOTYPE_FATBIN:
        return 2;
    case CALOTYPE_OBJECT:
        return 3;
    case CALOTYPE_ARCHIVE:
        return 4;
    default:
        return 0;  // cubin
    }
}

class Options {
    int names[8];
    void *values[8];
    unsigned used = 0;

    void add(JitOption name, uintptr_t value) {
        names[used] = name;
        values[used++] = reinterpret_cast<void *>(value);
    }

public:
    Options(const calotype_module_desc &desc, char *errors, char *remarks) {
        add(jit_error_log, reinterpret_cast<uintptr_t>(errors));
        add(jit_error_log_bytes, log_bytes);
        add(jit_info_log, reinterpret_cast<uintptr_t>(remarks));
        add(jit_info_log_bytes, log_bytes);
        if (desc.max_registers > 0) {
            add(jit_max_registers, uintptr_t(desc.max_registers));
        }
        if (desc.flags & CALOTYPE_MOD_DEBUG) {
            add(jit_debug_info, 1);
        }
        if (desc.flags & CALOTYPE_MOD_LINEINFO) {
            add(jit_line_info, 1);
        }
    }
    int create(const DriverLinker &linker, void **state) {
        return linker.create(used, names, values, state);
    }
};

void run(const DriverLinker &linker, void *state, const LinkPlan &plan, LinkResult *result) {
    result->step = LinkResult::add;
    for (uint32_t i = 0; i < plan.count && result->code == 0; i++) {
        const calotype_image &image = *plan.inputs[i].image;
        const size_t size = image.size + (image.kind == CALOTYPE_PTX ? 1 : 0);
        result->input = i;
        result->code = linker.add(state, input_type(image.kind), const_cast<void *>(image.data),
                                  size, plan.inputs[i].name, 0, nullptr, nullptr);
    }
    if (result->code) {
        return;
    }
    result->step = LinkResult::complete;
    void *cubin = nullptr;
    result->code = linker.complete(state, &cubin, &result->size);
    result->cubin = result->code ? nullptr : malloc(result->size);
    if (result->cubin) {
        memcpy(result->cubin, cubin, result->size);
    }
}

/** Both logs, each of log_bytes, in one text of malloc. */
char *join_logs(const char *errors, const char *remarks) {
    const size_t first = strnlen(errors, log_bytes), second = strnlen(remarks, log_bytes);
    char *text = static_cast<char *>(calloc(first + second + 1, 1));
    if (text) {
        memcpy(text, errors, first);
        memcpy(text + first, remarks, second);
    }
    return text;
}

}  // namespace

calotype_status link_by_driver(const DriverLinker &linker, const LinkPlan &plan,
                               LinkResult *result) {
    char *errors = static_cast<char *>(calloc(2 * log_bytes, 1));
    if (!errors) {
        return CALOTYPE_E_OOM;
    }
    char *remarks = errors + log_bytes;
    const calotype_status status = linker.enter(linker.self);
    if (status != CALOTYPE_OK) {
        free(errors);
        return status;
    }
    void *state = nullptr;
    Options options(*plan.desc, errors, remarks);
    result->step = LinkResult::create;
    result->code = options.create(linker, &state);
    if (result->code == 0) {
        run(linker, state, plan, result);
    }
    if (state) {
        linker.destroy(state);
    }
    linker.leave(linker.self);
    result->linker_log = join_logs(errors, remarks);
    free(errors);
    return CALOTYPE_OK;
}

}  // namespace runtime
}  // namespace calotype
