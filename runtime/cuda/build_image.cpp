// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/build_image.h"

#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/build_image_link.h"
#include "runtime/cuda/device_symbols.h"
#include "runtime/device/failure.h"
#include "runtime/device/linkable_files.h"
#include "runtime/host/data/growing_array.h"

namespace calotype::runtime {

namespace {

bool needs_link(const calotype_module_desc &desc) {
    for (uint32_t i = 0; i < desc.n_linkables; i++) {
        if (has_code(*desc.linkables[i])) {
            return true;
        }
    }
    return false;
}

/** A cubin, or else a fatbin, that the driver can load as it is. */
const calotype_image *choose_ready(const DeviceArch &arch, const calotype_module_desc &desc) {
    const calotype_image *cubin = choose_cubin(images_of(desc), arch);
    const bool linked = !needs_link(desc);
    if (cubin) {
        return linked || is_complete_cubin(*cubin) ? cubin : nullptr;
    }
    return linked ? find_kind(images_of(desc), CALOTYPE_FATBIN) : nullptr;
}

/** Whether a linkable before that one is the same, by another route. */
bool is_repeated(const calotype_module_desc &desc, uint32_t index) {
    static constexpr calotype_uid unknown = {};
    const calotype_linkable_desc &linkable = *desc.linkables[index];
    for (uint32_t i = 0; i < index; i++) {
        const calotype_linkable_desc &before = *desc.linkables[i];
        const bool is_known = memcmp(&before.content, &unknown, sizeof unknown) != 0;
        if (&before == &linkable ||
            (is_known && memcmp(&before.content, &linkable.content, sizeof unknown) == 0)) {
            return true;
        }
    }
    return false;
}

/** One name that an input defines. */
struct Definition {
    const char *name;
    size_t length;
    uint32_t input;
    uint32_t number;  ///< of all definitions, in order
};

bool is_same_name(const Definition &a, const Definition &b) {
    return a.length == b.length && memcmp(a.name, b.name, a.length) == 0;
}

/** For qsort: equal names stand together, in order. */
int compare(const void *left, const void *right) {
    const Definition &a = *static_cast<const Definition *>(left);
    const Definition &b = *static_cast<const Definition *>(right);
    if (a.length != b.length) {
        return a.length < b.length ? -1 : 1;
    }
    const int order = memcmp(a.name, b.name, a.length);
    return order != 0 ? order : a.number < b.number ? -1 : 1;
}

/** All that the inputs define. */
struct Definitions {
    GrowingArray<Definition> all;
    uint32_t input = 0;  ///< the one that is looked at

    ~Definitions() {
        all.clear();
    }

    /** False: out of memory. */
    bool add(const char *name, size_t length) {
        return all.add({name, length, input, all.n});
    }
    bool gather(const LinkPlan &plan) {
        for (input = 0; input < plan.count; input++) {
            if (!for_each_definition(
                    *plan.inputs[input].image,
                    [&](const char *name, size_t length) { return add(name, length); })) {
                return false;
            }
        }
        if (all.n > 0) {
            qsort(all.items, all.n, sizeof(Definition), compare);
        }
        return true;
    }
    /** The first that an input before has too, which becomes *before; null if there is none. */
    const Definition *find_double(const Definition **before) const {
        const Definition *found = nullptr;
        for (uint32_t i = 1, first = 0; i < all.n; i++) {
            const Definition &it = all.items[i];
            first = is_same_name(all.items[first], it) ? first : i;
            if (all.items[first].input != it.input && (!found || it.number < found->number)) {
                found = &it;
                *before = &all.items[first];
            }
        }
        return found;
    }
};

/** The linkers take what they find first, say so on the console, and do not fail. */
calotype_status refuse_double_definitions(const LinkPlan &plan) {
    Definitions definitions;
    if (!definitions.gather(plan)) {
        return fail_with(CALOTYPE_E_OOM, Text() << "no memory for the names that " << plan.count
                                                << " inputs of the link define\n");
    }
    const Definition *before = nullptr;
    const Definition *twice = definitions.find_double(&before);
    if (!twice) {
        return CALOTYPE_OK;
    }
    Text text;
    name_input(plan.inputs[before->input], text);
    text << " and ";
    name_input(plan.inputs[twice->input], text);
    text << " both define '";
    text.append(twice->name, twice->length);
    return fail_with(CALOTYPE_E_LINK, text << "'; rename one of them, or leave it out\n");
}

bool may_use_lto(const calotype_linkable_desc &linkable) {
    return !(linkable.flags & CALOTYPE_LK_LTO_NEVER);
}

bool offers_lto_ir(const calotype_linkable_desc &linkable) {
    for (uint32_t i = 0; i < linkable.n_images; i++) {
        if (holds_lto_ir(linkable.images[i])) {
            return true;
        }
    }
    return false;
}

bool any_wants_lto(const calotype_module_desc &desc) {
    for (uint32_t i = 0; i < desc.n_linkables; i++) {
        if (may_use_lto(*desc.linkables[i]) && offers_lto_ir(*desc.linkables[i])) {
            return true;
        }
    }
    return false;
}

/** Puts a plan together, or tells why it cannot. */
class Planner {
public:
    Planner(const DeviceArch &arch, const calotype_module_desc &desc, bool linker_knows_lto,
            LinkPlan &plan)
        : arch(arch), desc(desc), linker_knows_lto(linker_knows_lto), plan(plan) {
    }
    calotype_status make();

private:
    const DeviceArch &arch;
    const calotype_module_desc &desc;
    bool linker_knows_lto;
    LinkPlan &plan;

    const calotype_image *choose_kernels();
    const calotype_image *choose_code(const calotype_linkable_desc &linkable, bool kernels_are_lto);
    calotype_status add_linkable(const calotype_linkable_desc &linkable, bool kernels_are_lto);
    calotype_status explain_no_code(const calotype_linkable_desc &linkable);
    void add(const calotype_image &image, const char *name, bool is_kernel);
};

void Planner::add(const calotype_image &image, const char *name, bool is_kernel) {
    plan.inputs[plan.count++] = {&image, name ? name : "", is_kernel};
    // Code for one architecture alone makes the result such code.
    if (image.suffix == 'a' || (image.suffix == 'f' && !plan.arch.suffix)) {
        plan.arch.suffix = image.suffix;
    }
    plan.lto |= linker_knows_lto && holds_lto_ir(image);
}

/** The module's half: LTO-IR where there is some to inline into it, a relocatable cubin, PTX. */
const calotype_image *Planner::choose_kernels() {
    if (linker_knows_lto && any_wants_lto(desc)) {
        if (const calotype_image *image = choose_lto_ir(images_of(desc), arch)) {
            return image;
        }
    }
    if (needs_link(desc)) {
        if (const calotype_image *image = choose_cubin(images_of(desc), arch)) {
            return image;
        }
    }
    if (const calotype_image *image = choose_ptx(images_of(desc), arch)) {
        return image;
    }
    return linker_knows_lto ? choose_lto_ir(images_of(desc), arch) : nullptr;
}

const calotype_image *Planner::choose_code(const calotype_linkable_desc &linkable,
                                           bool kernels_are_lto) {
    const ImageList list = images_of(linkable);
    const calotype_image *lto_ir =
        linker_knows_lto && may_use_lto(linkable) ? choose_lto_ir(list, arch) : nullptr;
    const calotype_image *cubin = choose_cubin(list, arch);
    const bool exact = cubin && cubin->sm == arch.sm;
    if (lto_ir && (kernels_are_lto || !exact)) {
        return lto_ir;
    }
    if (cubin) {
        return cubin;
    }
    for (calotype_kind kind : {CALOTYPE_FATBIN, CALOTYPE_OBJECT, CALOTYPE_ARCHIVE}) {
        if (const calotype_image *image = choose_container(list, kind, arch)) {
            return image;
        }
    }
    return choose_ptx(list, arch);
}

calotype_status Planner::explain_no_code(const calotype_linkable_desc &linkable) {
    const ImageList list = images_of(linkable);
    const calotype_image *lto_ir = find_kind(list, CALOTYPE_LTOIR);
    Text text;
    text << "linkable '" << linkable.name << "' has no code that links for ";
    describe_arch(arch.sm, 0, text);
    text << ": it holds ";
    describe_images(list, text);
    if (lto_ir && is_newer_than(*lto_ir, arch)) {
        text << ", and LTO-IR must not be newer than the target; build it for ";
        describe_arch(arch.sm, 0, text);
        text << " or older";
    } else if (lto_ir && !may_use_lto(linkable)) {
        text << ", and LTO-IR links only with LTO, which it forbids (lto=never); allow it, or add "
                "PTX or a cubin";
    } else if (lto_ir && !linker_knows_lto) {
        text << ", and LTO-IR links only by nvJitLink, which is not found; install it beside the "
                "driver, or add PTX or a cubin";
    } else {
        text << "; add PTX, or a cubin of that architecture";
    }
    return fail_with(CALOTYPE_E_LINK, text << "\n");
}

calotype_status Planner::add_linkable(const calotype_linkable_desc &linkable,
                                      bool kernels_are_lto) {
    if (!has_code(linkable)) {
        return CALOTYPE_OK;
    }
    if (linkable.flags & CALOTYPE_LK_LTO_REQUIRED) {
        const char *missing = !linker_knows_lto          ? "nvJitLink is not found"
                              : !kernels_are_lto         ? "the kernels are not embedded as LTO-IR"
                              : !offers_lto_ir(linkable) ? "it holds no LTO-IR itself"
                                                         : nullptr;
        if (missing) {
            return fail_with(CALOTYPE_E_LINK,
                             Text() << "linkable '" << linkable.name
                                    << "' requires LTO (lto=require), but " << missing
                                    << "; with lto=allow it links without being inlined\n");
        }
    }
    const calotype_image *image = choose_code(linkable, kernels_are_lto);
    if (!image) {
        return linkable.flags & CALOTYPE_LK_OPTIONAL ? CALOTYPE_OK : explain_no_code(linkable);
    }
    if (is_cut_off(*image)) {
        Text text;
        text << "linkable '" << linkable.name << "': ";
        describe_image(*image, text);
        return fail_with(CALOTYPE_E_LINK,
                         text << " is damaged: it ends before what its header tells of; build it "
                                 "again\n");
    }
    add(*image, linkable.name, false);
    const bool could_be_lto = may_use_lto(linkable) && offers_lto_ir(linkable);
    plan.lto_missed |= could_be_lto && !(kernels_are_lto && holds_lto_ir(*image));
    return CALOTYPE_OK;
}

calotype_status Planner::make() {
    plan.arch = arch;
    plan.arch.suffix = 0;
    plan.desc = &desc;
    plan.inputs = static_cast<LinkInput *>(malloc((desc.n_linkables + 1) * sizeof(LinkInput)));
    if (!plan.inputs) {
        return CALOTYPE_E_OOM;
    }
    const calotype_image *kernels = choose_kernels();
    if (!kernels) {
        Text text;
        text << "no image of module '" << desc.name << "' runs on ";
        describe_arch(arch.sm, arch.suffix, text);
        text << ": embedded are ";
        describe_images(images_of(desc), text);
        return fail_with(CALOTYPE_E_NO_IMAGE, text << "; generate it for this architecture too\n");
    }
    add(*kernels, desc.name, true);
    for (uint32_t i = 0; i < desc.n_linkables; i++) {
        if (const calotype_status status =
                is_repeated(desc, i)
                    ? CALOTYPE_OK
                    : add_linkable(*desc.linkables[i], kernels->kind == CALOTYPE_LTOIR)) {
            return status;
        }
    }
    return refuse_double_definitions(plan);
}

void take_as_it_is(const calotype_image &image, LoadableImage *result) {
    *result = {};
    result->kind = image.kind;
    result->bytes = image.data;
    result->size = image.size;
}

/** Move the cubin out of a successful link. */
calotype_status take_linked(const LinkPlan &plan, LinkResult &linked, LoadableImage *result) {
    if (!linked.cubin) {
        return CALOTYPE_E_OOM;
    }
    *result = {};
    result->kind = CALOTYPE_CUBIN;
    result->bytes = linked.cubin;
    result->size = linked.size;
    linked.cubin = nullptr;
    result->owned = result->persistable = result->was_built = true;
    result->was_linked = plan.count > 1;
    result->lto_missed = plan.lto_missed;
    return CALOTYPE_OK;
}

calotype_status link(const BuildTools &tools, const LinkPlan &plan, bool by_nvjitlink,
                     LoadableImage *image) {
    LinkResult result;
    if (by_nvjitlink) {
        link_by_nvjitlink(plan, &result);
    } else {
        if (const calotype_status status = link_by_driver(*tools.linker, plan, &result)) {
            return status;
        }
    }
    if (result.code == 0) {
        return take_linked(plan, result, image);
    }
    return explain_link_failure(plan, result, by_nvjitlink ? "nvJitLink" : "the driver's linker");
}

}  // namespace

bool add_inputs(const LinkPlan &plan, LinkResult *result,
                FunctionRef<int(const LinkInput &input, size_t size)> add) {
    result->step = LinkResult::add;
    for (uint32_t i = 0; i < plan.count && result->code == 0; i++) {
        const calotype_image &image = *plan.inputs[i].image;
        // Without its final NUL, PTX may be read beyond its end.
        const size_t size = image.size + (image.kind == CALOTYPE_PTX ? 1 : 0);
        result->input = i;
        result->code = add(plan.inputs[i], size);
    }
    result->step = result->code ? result->step : LinkResult::complete;
    return result->code == 0;
}

void describe_build_tools(const BuildTools &tools, DeviceArch *arch) {
    if (find_nvjitlink(tools.driver_version)) {
        name_nvjitlink(arch->toolchain, sizeof arch->toolchain);
    } else {
        snprintf(arch->toolchain, sizeof arch->toolchain, "driver %d", tools.driver_version);
    }
}

bool is_image_ready(const DeviceArch &arch, const calotype_module_desc &desc) {
    return choose_ready(arch, desc) != nullptr;
}

calotype_status build_image(const BuildTools &tools, const DeviceArch &arch,
                            const calotype_module_desc &desc, LoadableImage *image) {
    if (const calotype_image *ready = choose_ready(arch, desc)) {
        take_as_it_is(*ready, image);
        return CALOTYPE_OK;
    }
    const bool by_nvjitlink = find_nvjitlink(tools.driver_version);
    LinkPlan plan;
    if (const calotype_status status = Planner(arch, desc, by_nvjitlink, plan).make()) {
        return status;
    }
    if (by_nvjitlink || tools.linker) {
        return link(tools, plan, by_nvjitlink, image);
    }
    if (plan.count == 1 && plan.inputs[0].image->kind == CALOTYPE_PTX) {
        take_as_it_is(*plan.inputs[0].image, image);
        return CALOTYPE_OK;
    }
    return fail_with(
        CALOTYPE_E_LINK,
        Text() << "module '" << desc.name << "' must be linked with " << plan.count - 1
               << " linkables, but there is no linker: nvJitLink is not found, and the "
                  "driver offers none\n");
}

}  // namespace calotype::runtime
