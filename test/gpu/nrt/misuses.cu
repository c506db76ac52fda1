/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A kernel that does one thing wrong: the row of that number. */
#include "runtime/nrt/calotype_nrt.cuh"

enum Misuse {
#define MISUSE(name, call) misuse_##name,
#include "misuses.def"
#undef MISUSE
};

extern "C" __global__ void misuse(int kind) {
    NRT_MemInfo *mi = NRT_MemInfo_new_varsize(8);
    void *block = NRT_Allocate(8);
    NRT_incref(mi);
    NRT_Check(mi);
    NRT_decref(mi);
    NRT_decref(mi);
    NRT_Free(block);
    switch (kind) {
#define MISUSE(name, call)                                                                         \
    case misuse_##name:                                                                            \
        call;                                                                                      \
        break;
#include "misuses.def"
#undef MISUSE
    }
}
