// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linkables in the form of the command line:
//
//     list     = item (',' item)*
//     item     = [images] (';' key ['=' value])*  |  '@' manifest
//     images   = path ('+' path)*
//
// The keys are those of a table that manifests share; docs/linkables.md explains each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linkables/linkable.h"

namespace calotype::internal {

/// The name that a file gives: "rng.sm_80" of "lib/rng.sm_80.cubin".
std::string linkable_name_of(const std::string &path);

/// Exactly one.
Linkable linkable_from_text(const std::string &text);
std::vector<Linkable> linkables_from_text(const std::string &text);
/// An item that says the same, as far as files have what it holds.
std::string linkable_to_text(const Linkable &linkable);

/// A file of a linkable with what is said of it; empty: nothing is.
struct ImageText {
    std::string path, kind, sm;
};
/// A key with its value, as text.
using LinkableProperty = std::pair<std::string, std::string>;

/// One linkable of these files, or of none, with these properties. `what` is the text it comes
/// from.
Linkable make_linkable(const std::string &what, const std::vector<ImageText> &images,
                       const std::vector<LinkableProperty> &properties);

/// Those of a JSON file; paths in it are relative to it.
std::vector<Linkable> linkables_from_manifest(const std::string &path);

}  // namespace calotype::internal
