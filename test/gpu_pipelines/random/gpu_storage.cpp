// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_pipelines/random/gpu_storage.h"

namespace calotype::test {

void GpuStorage::inside(GpuFunc &f, const GpuLevels &around) {
    const GpuLevel &at = around.back();
    const int store = keep(f, around);
    if (store > 0) {
        hoist(f, around, store);
    }
    draw_.sometimes(at.where == Where::Host ? 14 : 1, "async", f.name + ".async()",
                    [&] { f.func.async(); });
    if (at.where != Where::Host && dice_.chance(50)) {
        memory(f, at);
    }
}

/// Iterations of blocks and threads would race for storage outside of them.
int GpuStorage::around_serial_loops(const GpuLevels &around, int at) {
    while (at > 0 && (around[size_t(at)].is_serial || dice_.chance(1))) {
        at--;
    }
    return at;
}

/// Values that are kept from one iteration to the next. Gives the level of storage, -1 for the root.
int GpuStorage::keep(GpuFunc &f, const GpuLevels &around) {
    const int at = int(around.size()) - 1;
    const int outermost = around_serial_loops(around, at);
    if (around[size_t(at)].is_serial && outermost == 0 && around[0].where == Where::Host &&
        dice_.chance(30)) {
        draw_.apply("store_root", f.name + ".store_root()", [&] { f.func.store_root(); });
        return -1;
    }
    if (outermost == at || !dice_.chance(60)) {
        return at;
    }
    const int store = outermost + dice_(at - outermost);
    const NamedLevel to = named_(around[size_t(store)]);
    draw_.apply("store_at", f.name + ".store_at(" + to.text + ")",
                [&] { f.func.store_at(to.level); });
    if (f.vars.empty()) {
        return store;
    }
    const int factor = dice_.pick<int>({1, 2, 3, 4, 8, 8, 16});
    const Var along = dice_.pick(f.vars);
    draw_.sometimes(35, "fold_storage",
                    f.name + ".fold_storage(" + along.name() + ", " + std::to_string(factor) + ")",
                    [&] { f.func.fold_storage(along, factor); });
    return store;
}

void GpuStorage::hoist(GpuFunc &f, const GpuLevels &around, int store) {
    const int out = around_serial_loops(around, store);
    if (out == store || !dice_.chance(30)) {
        return;
    }
    const NamedLevel to = named_(around[size_t(out + dice_(store - out))]);
    draw_.apply("hoist_storage", f.name + ".hoist_storage(" + to.text + ")",
                [&] { f.func.hoist_storage(to.level); });
    const int n = 2 + dice_(2);
    draw_.sometimes(50, "ring_buffer", f.name + ".ring_buffer(" + std::to_string(n) + ")",
                    [&] { f.func.ring_buffer(n); });
}

void GpuStorage::memory(GpuFunc &f, const GpuLevel &at) {
    using Kinds = std::vector<std::pair<const char *, MemoryType>>;
    static const Kinds of_blocks = {{"GPUShared", MemoryType::GPUShared},
                                    {"GPUShared", MemoryType::GPUShared},
                                    {"GPUSharedAsync", MemoryType::GPUSharedAsync},
                                    {"Heap", MemoryType::Heap},
                                    {"Register", MemoryType::Register}},
                       of_threads = {{"Stack", MemoryType::Stack},
                                     {"Register", MemoryType::Register},
                                     {"GPUShared", MemoryType::GPUShared},
                                     {"Heap", MemoryType::Heap}};
    const auto [text, type] = dice_.pick(at.where == Where::Thread ? of_threads : of_blocks);
    draw_.apply(text, f.name + ".store_in(MemoryType::" + text + ")",
                [&f, type = type] { f.func.store_in(type); });
    if (type == MemoryType::GPUSharedAsync) {
        const int n = 2 + dice_(2);
        draw_.sometimes(40, "ring_buffer", f.name + ".ring_buffer(" + std::to_string(n) + ")",
                        [&] { f.func.ring_buffer(n); });
    }
}

void GpuStorage::shape(GpuFunc &f) {
    if (f.vars.empty()) {
        return;
    }
    const Var first = f.vars[0], last = f.vars.back();
    if (f.vars.size() > 1) {
        draw_.sometimes(8, "reorder_storage",
                        f.name + ".reorder_storage(" + last.name() + ", " + first.name() + ")",
                        [&] { f.func.reorder_storage(last, first); });
    }
    draw_.sometimes(6, "align_storage", f.name + ".align_storage(" + first.name() + ", 8)",
                    [&] { f.func.align_storage(first, 8); });
    draw_.sometimes(5, "align_bounds", f.name + ".align_bounds(" + first.name() + ", 4)",
                    [&] { f.func.align_bounds(first, 4); });
    draw_.sometimes(3, "bound_storage", f.name + ".bound_storage(" + first.name() + ", 300)",
                    [&] { f.func.bound_storage(first, 300); });
}

}  // namespace calotype::test
