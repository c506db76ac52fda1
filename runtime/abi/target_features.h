/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Asking whether this machine can run code that was compiled for some target features: how a
 * library compiled for several targets picks one.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum calotype_target_feature_t {
#define CALOTYPE_TARGET_FEATURE(name, bit) calotype_target_feature_##name = bit,
#define CALOTYPE_TARGET_OPTION CALOTYPE_TARGET_FEATURE
#include "target_features.def"
#undef CALOTYPE_TARGET_FEATURE
    calotype_target_feature_end = 128
} calotype_target_feature_t;

/** Processors to tune for. They change speed, never what can run. */
typedef enum calotype_target_processor_t {
    calotype_target_processor_generic = 0
} calotype_target_processor_t;

/** Whether this machine has every feature whose bit is set in `features`, an array of `count`
 * words of 64 bits, feature 0 in the lowest bit of the first. Answers 1 or 0. Of devices it asks
 * the driver: cuda needs a driver and a device of the capability that cuda_capability_... says,
 * opencl a driver and a device; where the program has no code for that kind of device, there is
 * none. Features that the runtime cannot check count as there; those named in the environment
 * variable CT_DISABLE_FEATURES (comma-separated, read at the first call) as missing. */
extern int calotype_can_use_target_features(int count, const uint64_t *features);
typedef int (*calotype_can_use_target_features_t)(int count, const uint64_t *features);
extern calotype_can_use_target_features_t
calotype_set_custom_can_use_target_features(calotype_can_use_target_features_t can_use);
extern int calotype_default_can_use_target_features(int count, const uint64_t *features);

/** Why calotype_default_can_use_target_features() answers 0: the bit of the first feature that is
 * missing, or -1 if none is. */
extern int calotype_missing_target_feature(int count, const uint64_t *features);
/** The name of a feature in target strings, or null. */
extern const char *calotype_target_feature_name(int feature);
/** Count the feature as missing from now on (disable nonzero), or look for it again. Overrides
 * CT_DISABLE_FEATURES. Answers 0, or -1 if there is no such feature. */
extern int calotype_disable_target_feature(int feature, int disable);

#ifdef __cplusplus
}
#endif
