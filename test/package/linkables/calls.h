/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the callbacks of all linkables count. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct tone_calls {
    int setups, teardowns;
};
extern struct tone_calls tone_calls;

#ifdef __cplusplus
}
#endif
