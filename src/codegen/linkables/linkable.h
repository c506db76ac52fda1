// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties of a linkable that back ends need: what it is called in messages, which of its images
// suits an architecture, and how it travels with the code.
#pragma once

#include <string>
#include <vector>

#include "codegen/device_code.h"
#include "ir/linkable.h"

namespace calotype::internal {

/// "PTX", "cubin", "LTO-IR".
const char *kind_name(calotype_kind kind);
/// "cubin sm_90a", "PTX".
std::string image_title(const LinkableImage &image);
/// "cubin sm_80, PTX sm_80", or "nothing".
std::string image_titles(const LinkableData &linkable);
/// "linkable rng (parameter noise, lib/rng.ptx)", without parameter and file "linkable rng".
std::string linkable_title(const LinkableData &linkable);
std::string linkable_title(const LinkableData &linkable, const LinkableImage &image);

/// The first image of a kind, or null.
const LinkableImage *find_kind(const LinkableData &linkable, calotype_kind kind);

/// SHA-256 of all that decides what it does: code, callbacks and how it is to be linked. 32 bytes.
std::string linkable_digest(const LinkableData &linkable);
/// SHA-256 of bytes, 32 of them.
std::string digest_of(const std::string &bytes);

/// calotype_linkable_desc::flags.
uint32_t linkable_flags(const LinkableData &linkable);
/// Those that the runtime must know: with code left to link, with callbacks, or set up before
/// others.
std::vector<DeviceLinkable> without_unneeded(const std::vector<DeviceLinkable> &linkables);
/// Indices of those that linkable `index` comes after.
std::vector<uint16_t> after_indices(const std::vector<DeviceLinkable> &linkables, size_t index);

}  // namespace calotype::internal
