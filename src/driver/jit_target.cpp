// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/jit_target.h"

#include "runtime/abi/runtime_cuda.h"
#include "target/jit_target_text.h"

namespace calotype {

Target internal::with_capability_of_device(const Target &target) {
    Target best = target;
    for (int f = Target::CUDACapability30; f <= Target::CUDACapability120; f++) {
        if (!target.has_feature(Target::CUDA) || target.has_feature(Target::Feature(f))) {
            return target;
        }
        const Target with = target.with_feature(Target::Feature(f));
        if (calotype_cuda_can_run(with.get_cuda_capability_lower_bound())) {
            best = with;
        }
    }
    // What runs on that architecture alone may have what others do not.
    constexpr int hopper = 90;
    if (best.get_cuda_capability_lower_bound() == hopper && !calotype_cuda_can_run(hopper + 1)) {
        best = target.with_feature(Target::CUDACapability90a);
    }
    return best;
}

Target get_jit_target_from_environment() {
    return internal::with_capability_of_device(internal::read_jit_target());
}

}  // namespace calotype
