// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LinkableData: device code from elsewhere as plain data: its bytes in one or several forms, and
// the names of the host functions that come with it. What users build it with is
// linkables/linkable.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/type.h"
#include "runtime/abi/kernels.h"

namespace calotype {

/// Whether the linker may optimise across modules.
enum class LtoMode : uint8_t {
    Allow,    ///< where that is possible
    Require,  ///< an error where it is not
    Never,
};

/// Code in one form.
struct LinkableImage {
    calotype_kind kind = CALOTYPE_PTX;
    uint32_t sm = 0;     ///< 90 for compute capability 9.0; 0: for no one architecture
    char suffix = 0;     ///< 0, 'a' or 'f'
    std::string bytes;   ///< text: without a NUL at its end
    std::string origin;  ///< the file, for messages; not part of what it means
};

/// What calotype_linkable_desc says, with names in the place of addresses.
struct LinkableData {
    std::string name;
    std::vector<LinkableImage> images;  ///< none: callbacks alone
    std::string setup, teardown, user;  ///< extern "C" symbols of the host; empty: none
    std::vector<std::string> after;     ///< names of linkables that are set up first
    LtoMode lto = LtoMode::Allow;
    bool nrt = false;                   ///< uses the device runtime
    bool is_optional = false;           ///< host symbols may be missing
    bool is_threadsafe = false;         ///< callbacks may run concurrently
    bool is_session_dependent = false;  ///< never written to the persistent store
    bool no_teardown_after_loss = false;
    bool is_pinned = false;   ///< linked even if nothing calls it
    bool is_embedded = true;  ///< else the file is read when it is loaded, and checked
    std::string parameter;    ///< of the generator, for messages; not part of what it means
};

namespace internal {

/// " (parameter rng, lib/rng.ptx)": where it comes from, for messages; "" if nobody knows. Empty
/// files are none.
std::string origin_of(const LinkableData &linkable, const std::vector<std::string> &files);

/// A function that a linkable supplies. Its calls are Extern or PureExtern Calls of that name with
/// scalar arguments alone (before vectorization).
struct LinkedFunction {
    /// Of several lanes: a vector, of which a Call picks component `value_index`.
    Type result;
    /// One of several lanes is a vector passed as one value, made of that many arguments of the
    /// Call, one after another.
    std::vector<Type> parameters;

    bool operator==(const LinkedFunction &other) const {
        return result == other.result && parameters == other.parameters;
    }
};

/// What one module, of a device or of the host, takes from linkables.
struct LinkedCode {
    /// In order of set-up: that of declaration.
    std::vector<LinkableData> linkables;
    /// By name, those that are called here.
    std::map<std::string, LinkedFunction> functions;
    /// Kernels allocate device memory on their own: the code generator's own use of the device
    /// runtime.
    bool needs_device_runtime = false;
};

}  // namespace internal

}  // namespace calotype
