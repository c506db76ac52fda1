// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses of images in OpenCL C.
#pragma once

#include "codegen/opencl/device_writer.h"

namespace calotype::internal {

/// image_load(image, coordinates...): one element for each lane.
DeviceValue emit_image_load(DeviceWriter &w, const Call *op);
/// image_store(image, coordinates..., value, predicate), lane by lane.
DeviceValue emit_image_store(DeviceWriter &w, const Call *op);

}  // namespace calotype::internal
