// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choice of the image of a linkable for an architecture, and of those that may be needed later.
#pragma once

#include <vector>

#include "codegen/nvptx/capability.h"
#include "ir/linkable.h"

namespace calotype::internal {

/// Machine code runs on its own architecture and, but for suffix 'a', on later ones of the same
/// major number; PTX compiles for its own and later ones; LTO-IR must not be newer than the target.
/// What has suffix 'a' is for its own architecture alone, what has 'f' for those of its family.
bool suits(const LinkableImage &image, Capability capability);

/// The best image for a link: an exact cubin, LTO-IR, a cubin of the family, fatbin, object,
/// archive, PTX; of one kind the latest that suits. Where kernels are LTO-IR, LTO-IR comes first.
/// Null if none suits.
const LinkableImage *choose_image(const LinkableData &linkable, Capability capability,
                                  bool kernels_are_lto_ir);

/// Whether a link at load time may need it, where our half is for `oldest` and later ones and
/// complete cubins for `linked` are embedded.
bool is_needed_later(const LinkableData &linkable, const LinkableImage &image, Capability oldest,
                     const std::vector<Capability> &linked);

}  // namespace calotype::internal
