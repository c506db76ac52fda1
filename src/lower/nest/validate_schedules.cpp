// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/validate_schedules.h"

#include <set>

#include "lower/nest/stage_loops.h"
#include "pipeline/level_text.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

bool is_output(const LowerContext &ctx, const Function &f) {
    for (const Function &output : ctx.outputs) {
        if (output.same_as(f)) {
            return true;
        }
    }
    return false;
}

/// What a schedule says of a Func that is put in place of its calls is lost.
void check_inlined(const Function &f) {
    const FuncSchedule &s = f.schedule();
    for (const LoopLevel *level : {&s.store_level, &s.hoist_storage_level}) {
        user_assert(level->is_inlined())
            << "func " << f.name() << " is inlined, but has storage at " << level_text(*level)
            << ": say where it is computed, by compute_at or compute_root";
    }
    if (!f.can_be_inlined()) {
        return;  // it is computed at each use
    }
    user_assert(!s.memoized) << "func " << f.name()
                             << " is inlined, so no values of it are kept to be memoized: say "
                                "where it is computed, by compute_at or compute_root";
    for (const Dim &dim : f.stage(0)->schedule.dims) {
        user_assert(dim.for_type == ForType::Serial)
            << "func " << f.name() << " is inlined, so it has no loop " << dim.var << " to be "
            << to_string(dim.for_type)
            << ": say where it is computed, by compute_at or compute_root";
    }
    const StageSchedule &stage = f.stage(0)->schedule;
    if (stage.stream_all_loads || !stage.stream_loads.empty() || stage.stream_stores) {
        user_warning << "func " << f.name()
                     << " is inlined, so it has no loads or stores to go around the cache";
    }
}

bool is_on_device(const Function &f) {
    if (f.has_extern_definition()) {
        return f->extern_device_api != DeviceAPI::Host;
    }
    for (int i = 0; i < f.stages(); i++) {
        if (has_gpu_loops(f.stage(i)->schedule)) {
            return true;
        }
    }
    return false;
}

void check_storage(const Function &f) {
    const FuncSchedule &s = f.schedule();
    user_assert(!s.compute_level.is_root() || s.hoist_storage_level.is_inlined() ||
                s.hoist_storage_level.is_root())
        << "storage of func " << f.name() << " is hoisted to " << level_text(s.hoist_storage_level)
        << ", which does not enclose its computation at root";
    const auto is_outside = [&](const LoopLevel &level) {
        return !level.is_inlined() && level != s.compute_level;
    };
    user_assert(!s.async || !is_on_device(f) || !is_outside(s.hoist_storage_level) ||
                s.hoist_storage_level == s.store_level)
        << "func " << f.name() << " is computed on a device and async, so its storage cannot be "
        << "hoisted to " << level_text(s.hoist_storage_level)
        << ": producer and consumer would not know of each other's copies";
    // Copies ahead live at the loop that they are filled in.
    const bool is_filled_ahead = s.memory_type == MemoryType::GPUSharedAsync;
    user_assert(!s.ring_buffer.defined() || is_filled_ahead || is_outside(s.store_level) ||
                is_outside(s.hoist_storage_level))
        << "func " << f.name() << " has a ring buffer, but no loop stands between its storage and "
        << "its computation at " << level_text(s.compute_level)
        << ": say by hoist_storage where the ring lives";
    user_assert(s.memory_type != MemoryType::VTCM && s.memory_type != MemoryType::LockedCache)
        << "func " << f.name() << " is stored in " << to_string(s.memory_type)
        << ", which this build makes no code for";
}

/// Whether f calls the Func of that name, itself or by way of others.
bool reaches(const Function &f, const std::string &name, const Environment &env) {
    std::set<std::string> seen;
    std::vector<Function> open = {f};
    while (!open.empty()) {
        const Environment callees = find_direct_calls(open.back(), env);
        open.pop_back();
        if (callees.count(name)) {
            return true;
        }
        for (const auto &callee : callees) {
            if (seen.insert(callee.first).second) {
                open.push_back(callee.second);
            }
        }
    }
    return false;
}

/// `f.in(g)` where g does not call f. Where f is itself a wrapper, g calls it once that is applied.
void check_wrappers(const LowerContext &ctx) {
    std::set<std::string> wrappers;
    for (const auto &[name, f] : ctx.env) {
        for (const auto &[consumer, wrapper] : f.schedule().wrappers) {
            wrappers.insert(wrapper->name);
        }
    }
    for (const auto &[name, f] : ctx.env) {
        for (const auto &[consumer, wrapper] : f.schedule().wrappers) {
            const auto g = ctx.env.find(consumer);
            user_assert(g == ctx.env.end() || wrappers.count(name) || wrappers.count(consumer) ||
                        reaches(g->second, name, ctx.env))
                << "func " << name << " is wrapped for " << consumer
                << ", which calls it neither itself nor by way of others";
        }
    }
}

/// Of an output with several values, the shape of the first stands for all.
void check_output_constraints(const Function &f) {
    for (int i = 1; i < f.outputs(); i++) {
        const Parameter &buffer = f->output_buffers.at(size_t(i));
        for (int d = 0; d < buffer.dimensions(); d++) {
            user_assert(!buffer.min_constraint(d).defined() &&
                        !buffer.extent_constraint(d).defined())
                << "output buffer " << i << " of func " << f.name()
                << " is constrained in dimension " << d
                << ": the shape of buffer 0 stands for all, constrain that";
        }
    }
}

void check_memoized(const Function &f) {
    const FuncSchedule &s = f.schedule();
    user_assert(!s.memoized || s.compute_level == s.store_level)
        << "func " << f.name() << " cannot be memoized: it is computed at "
        << s.compute_level.to_string() << ", in parts of what is stored at "
        << s.store_level.to_string();
}

}  // namespace

void validate_schedules(const LowerContext &ctx) {
    for (const auto &[name, f] : ctx.env) {
        check_storage(f);
        if (is_output(ctx, f)) {
            user_assert(!f.schedule().memoized)
                << "func " << name << " is an output of the pipeline and cannot be memoized: its "
                << "buffer is the caller's";
            check_output_constraints(f);
        } else if (f.schedule().compute_level.is_inlined()) {
            check_inlined(f);
        } else {
            check_memoized(f);
        }
    }
    check_wrappers(ctx);
}

void validate_names(const LowerContext &ctx) {
    std::set<std::string> of_outputs;
    for (const Function &f : ctx.outputs) {
        for (const Parameter &buffer : f->output_buffers) {
            const auto p = ctx.used.parameters.find(buffer.name());
            user_assert(p == ctx.used.parameters.end() || p->second.same_as(buffer))
                << "an output and a parameter of the pipeline are both named " << buffer.name();
            of_outputs.insert(buffer.name());
        }
    }
    for (const auto &[name, p] : ctx.used.parameters) {
        user_assert(!ctx.env.count(name) || of_outputs.count(name))
            << "a func and a parameter of the pipeline are both named " << name;
    }
}

void validate_groups(const LowerContext &ctx) {
    for (const std::vector<std::string> &group : ctx.fused_groups) {
        for (const std::string &name : group) {
            const FuncSchedule &schedule = ctx.env.at(name).schedule();
            user_assert(group.size() == 1 || !(schedule.memoized || schedule.async))
                << "func " << name << " cannot be " << (schedule.async ? "async" : "memoized")
                << ": its loops are shared with func " << (name == group[0] ? group[1] : group[0])
                << " by compute_with";
        }
    }
}

}  // namespace calotype::internal
