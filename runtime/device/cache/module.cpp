// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/module.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/data/pieces.h"

namespace calotype::runtime {

namespace {

const calotype_linkable_desc *copy_linkable(const calotype_linkable_desc &from, Pieces &pieces) {
    calotype_linkable_desc *to = pieces.copy(&from, 1);
    if (to) {
        to->name = pieces.copy(from.name ? from.name : "");
        to->after = pieces.copy(from.after, from.n_after);
        to->images = nullptr;
        to->n_images = 0;
    }
    return to;
}

void copy_kernels(const calotype_module_desc &from, calotype_module_desc *to, Pieces &pieces) {
    calotype_kernel_desc *kernels = pieces.copy(from.kernels, from.n_kernels);
    for (uint32_t i = 0; kernels && i < from.n_kernels; i++) {
        kernels[i].name = pieces.copy(from.kernels[i].name);
        kernels[i].args = pieces.copy(from.kernels[i].args, from.kernels[i].n_args);
    }
    to->kernels = kernels;
}

void copy_linkables(const calotype_module_desc &from, LoadedModule *to, Pieces &pieces) {
    const auto linkables = pieces.make<const calotype_linkable_desc *>(from.n_linkables);
    to->linkables = pieces.make<LoadedLinkable>(from.n_linkables);
    to->setup_order = pieces.make<uint32_t>(from.n_linkables);
    for (uint32_t i = 0; pieces.is_complete() && i < from.n_linkables; i++) {
        linkables[i] = copy_linkable(*from.linkables[i], pieces);
        to->linkables[i].desc = linkables[i];
        for (uint32_t before = 0; before < i; before++) {
            to->linkables[i].repeated |=
                is_same_linkable(*from.linkables[before], *from.linkables[i]);
        }
    }
    to->desc.linkables = linkables;
}

}  // namespace

LoadedModule *make_module(const KernelBackend &backend, const calotype_module_desc &desc) {
    Pieces pieces;
    LoadedModule *module = pieces.make<LoadedModule>(1);
    if (module) {
        module->backend = &backend;
        module->desc = desc;
        module->desc.name = pieces.copy(desc.name ? desc.name : "");
        module->desc.images = nullptr;
        module->desc.n_images = 0;
        module->desc.relocs = nullptr;
        module->desc.n_relocs = 0;
        copy_kernels(desc, &module->desc, pieces);
        module->n_functions = desc.n_kernels;
        module->functions = pieces.make<void *>(desc.n_kernels);
        copy_linkables(desc, module, pieces);
    }
    if (!pieces.is_complete()) {
        return nullptr;
    }
    module->allocations = pieces.release();
    return module;
}

void free_module(LoadedModule *module) {
    if (!module) {
        return;
    }
    const KernelBackend &backend = *module->backend;
    if (void *graphs = module->graphs.load()) {
        backend.free_graphs(graphs);
    }
    for_each_function(*module, [&](void *function) {
        if (backend.free_function) {
            backend.free_function(function);
        }
    });
    while (ExtraFunction *extra = module->extra_functions.load()) {
        module->extra_functions.store(extra->next);
        free(extra);
    }
    Pieces::free_all(module->allocations);
}

bool is_same_linkable(const calotype_linkable_desc &a, const calotype_linkable_desc &b) {
    return memcmp(&a.content, &b.content, sizeof a.content) == 0 && a.setup == b.setup &&
           a.teardown == b.teardown && a.user == b.user;
}

bool order_setups(const calotype_module_desc &desc, uint32_t *order, uint32_t *culprit) {
    const auto position = [&](uint32_t linkable, uint32_t done) {
        for (uint32_t i = 0; i < done; i++) {
            if (order[i] == linkable) {
                return i;
            }
        }
        return done;
    };
    // As often as there are linkables, take the first that has all before it.
    for (uint32_t done = 0; done < desc.n_linkables; done++) {
        uint32_t chosen = desc.n_linkables;
        for (uint32_t i = 0; i < desc.n_linkables && chosen == desc.n_linkables; i++) {
            if (position(i, done) < done) {
                continue;
            }
            *culprit = i;
            bool is_possible = true;
            const calotype_linkable_desc &linkable = *desc.linkables[i];
            for (uint32_t a = 0; a < linkable.n_after; a++) {
                is_possible &= position(linkable.after[a], done) < done;
            }
            chosen = is_possible ? i : chosen;
        }
        if (chosen == desc.n_linkables) {
            return false;
        }
        order[done] = chosen;
    }
    return true;
}

}  // namespace calotype::runtime
