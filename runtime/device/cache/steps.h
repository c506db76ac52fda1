// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The slow steps of the cache, as they are shown to the application: by calotype_set_trace(), in
// the log (CT_LOG=cache), and as ranges of NVTX (CT_NVTX). Without the lock.
#pragma once

#include "runtime/abi/kernel_cache.h"
#include "runtime/host/not_copied.h"

namespace calotype::runtime {

/** A range on the calling thread, "calotype load blur", while this lives. */
class Range : NotCopied {
    const bool is_shown;

public:
    Range(const char *verb, const char *name) : is_shown(begin(verb, name)) {
    }
    ~Range() {
        if (is_shown) {
            end();
        }
    }

    /** For ranges that end elsewhere. False: ranges are off. */
    static bool begin(const char *verb, const char *name);
    static void end();
};

/** A step that took so long has just ended. */
void tell_step(calotype_stage stage, uint64_t context_uid, const calotype_module_desc &desc,
               uint64_t ns, calotype_status status);

/** A step from its construction to end(), with its range. */
class Step {
    const calotype_module_desc &desc;
    const Range range;
    const uint64_t begin_ns;

public:
    Step(const char *verb, const calotype_module_desc &desc);
    /** How long it took, in nanoseconds. */
    uint64_t end(calotype_stage stage, uint64_t context_uid, calotype_status status) const;
};

}  // namespace calotype::runtime
