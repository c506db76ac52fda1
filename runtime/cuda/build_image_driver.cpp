// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The linker inside of the driver, for where there is no nvJitLink. One link at a time a context,
// and no LTO.
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/build_image_link.h"

namespace calotype::runtime {

using namespace cuda;

namespace {

constexpr size_t log_bytes = 16384;

CUjitInputType input_type(calotype_kind kind) {
    switch (kind) {
    case CALOTYPE_PTX:
        return CU_JIT_INPUT_PTX;
    case CALOTYPE_FATBIN:
        return CU_JIT_INPUT_FATBINARY;
    case CALOTYPE_OBJECT:
        return CU_JIT_INPUT_OBJECT;
    case CALOTYPE_ARCHIVE:
        return CU_JIT_INPUT_LIBRARY;
    default:
        return CU_JIT_INPUT_CUBIN;
    }
}

class Options {
    CUjit_option names[8];
    void *values[8];
    unsigned used = 0;

    void add(CUjit_option name, uintptr_t value) {
        names[used] = name;
        values[used++] = reinterpret_cast<void *>(value);
    }

public:
    Options(const calotype_module_desc &desc, char *errors, char *remarks) {
        add(CU_JIT_ERROR_LOG_BUFFER, reinterpret_cast<uintptr_t>(errors));
        add(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, log_bytes);
        add(CU_JIT_INFO_LOG_BUFFER, reinterpret_cast<uintptr_t>(remarks));
        add(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, log_bytes);
        if (desc.max_registers > 0) {
            add(CU_JIT_MAX_REGISTERS, uintptr_t(desc.max_registers));
        }
        if (desc.flags & CALOTYPE_MOD_DEBUG) {
            add(CU_JIT_GENERATE_DEBUG_INFO, 1);
        }
        if (desc.flags & CALOTYPE_MOD_LINEINFO) {
            add(CU_JIT_GENERATE_LINE_INFO, 1);
        }
    }
    CUresult create(const DriverLinker &linker, CUlinkState *state) {
        return linker.create(used, names, values, state);
    }
};

void run(const DriverLinker &linker, CUlinkState state, const LinkPlan &plan, LinkResult *result) {
    const bool are_added = add_inputs(plan, result, [=](const LinkInput &input, size_t size) {
        return linker.add(state, input_type(input.image->kind),
                          const_cast<void *>(input.image->data), size, input.name, 0, nullptr,
                          nullptr);
    });
    if (!are_added) {
        return;
    }
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
    const calotype_status status = linker.enter(linker.scope);
    if (status != CALOTYPE_OK) {
        free(errors);
        return status;
    }
    CUlinkState state = nullptr;
    Options options(*plan.desc, errors, remarks);
    result->step = LinkResult::create;
    result->code = options.create(linker, &state);
    if (result->code == 0) {
        run(linker, state, plan, result);
    }
    if (state) {
        linker.destroy(state);
    }
    linker.leave(linker.scope);
    result->linker_log = join_logs(errors, remarks);
    free(errors);
    return CALOTYPE_OK;
}

}  // namespace calotype::runtime
