// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes of buffers in each statement, by the host and by devices. Helper of
// inject_device_copies.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lower/context.h"

namespace calotype::internal {

/// What a statement does with one buffer.
struct BufferUsage {
    bool host_read = false, host_write = false;
    bool device_read = false, device_write = false;
    /// By way of its header, wherever its contents are up to date.
    bool anywhere_read = false;
    bool by_header = false;           ///< a function is given the header
    DeviceAPI api = DeviceAPI::None;  ///< of the device that touches it

    bool on_host() const {
        return host_read || host_write;
    }
    bool on_device() const {
        return device_read || device_write;
    }
    void add(const BufferUsage &other);
};

/// By name of the buffer, as Loads and Stores have it.
using Usages = std::map<std::string, BufferUsage>;

/// The usage in every statement of a pipeline, found in one walk. The statements must not change
/// while this is asked.
class UsageTable {
public:
    UsageTable(const Stmt &s, const LowerContext &ctx);

    /// Of the statement and all that is in it.
    const Usages &of(const Stmt &s) const;
    /// Of the expressions that belong to the node itself: a let's value, a condition.
    const Usages &of_node(const Stmt &s) const;
    /// True if statements inside wait for other parts of the pipeline, or wake them.
    bool is_synchronized(const Stmt &s) const;
    /// The buffer that has that header, or "".
    const std::string &buffer_of_header(const std::string &header) const;

private:
    class Walk;
    std::unordered_map<const void *, Usages> all_, own_;
    std::set<const void *> synchronized_;
    std::map<std::string, std::string> headers_;
};

/// The device on which the extern stage `func` works; Host if it is none.
DeviceAPI device_of_extern_stage(const std::string &func, const LowerContext &ctx);

}  // namespace calotype::internal
