// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of fatbins, objects and archives: parts, each with its code in several forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/nvptx/capability.h"
#include "ir/linkable.h"

namespace calotype::internal {

/// One form of a part, as it lies in a fatbin.
struct PackedForm {
    enum class Packing : uint8_t { None, Lz4, Zstd };

    calotype_kind kind = CALOTYPE_PTX;  ///< PTX, cubin or LTO-IR
    uint32_t sm = 0;
    char suffix = 0;
    Packing packing = Packing::None;
    uint64_t begin = 0, size = 0;  ///< of its bytes in the file
    uint64_t unpacked_size = 0;
};
/// What one source file became: PTX, cubins and LTO-IR that define the same names.
using DevicePart = std::vector<PackedForm>;

/// The parts of a fatbin, an object or an archive; none of anything else, or of what is damaged.
std::vector<DevicePart> device_parts(const LinkableImage &image);
/// PTX or a cubin of a part: what suits the architecture, else any. Nothing if it has neither, or
/// if it cannot be unpacked. `image` is what the part lies in.
std::optional<LinkableImage> readable_form(const LinkableImage &image, const DevicePart &part,
                                           Capability capability);

/// Whether an image holds LTO-IR: by its kind, or inside of a fatbin, an object or an archive.
bool holds_lto_ir(const LinkableImage &image);
/// Whether all that the headers of a file tell of lies within it: linkers crash where it does not.
bool is_cut_off(const LinkableImage &image);

/// Bytes in LZ4's block format. Nothing if they are not such a block of that size.
std::optional<std::string> unpack_lz4(const std::string &block, uint64_t unpacked_size);

}  // namespace calotype::internal
