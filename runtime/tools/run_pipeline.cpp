// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_pipeline.h"

#include <algorithm>
#include <iostream>

namespace calotype {
namespace run {

namespace {

std::string names_of(const std::vector<Argument> &arguments) {
    std::string names;
    for (const Argument &argument : arguments) {
        names += (names.empty() ? "" : ", ") + std::string(argument.metadata->name);
    }
    return names;
}

/** The dimension in which neighbours lie together. */
int innermost(const Image &image) {
    for (int d = 0; d < image.dimensions(); d++) {
        if (image.stride(d) == 1) {
            return d;
        }
    }
    return 0;
}

/** What covers both, or nothing where `image` covers `needed`. */
Shape united(const Image &image, const Image &needed) {
    Shape shape;
    bool covers = true;
    for (int d = 0; d < image.dimensions(); d++) {
        const int min = std::min(image.min(d), needed.min(d));
        const int end = std::max(image.min(d) + image.extent(d), needed.min(d) + needed.extent(d));
        covers = covers && min == image.min(d) && end - min == image.extent(d);
        shape.push_back({min, end - min});
    }
    return covers ? Shape() : shape;
}

/** The same elements with another dimension innermost. */
Image with_innermost(const Image &image, int dimension) {
    std::vector<int> extents, mins, order{dimension};
    for (int d = 0; d < image.dimensions(); d++) {
        extents.push_back(image.extent(d));
        mins.push_back(image.min(d));
        if (d != dimension) {
            order.push_back(d);
        }
    }
    Image result(image.type(), extents, order);
    result.set_min(mins);
    result.copy_from(image);
    return result;
}

}  // namespace

Pipeline::Pipeline(const Registered &registered, const Options &options)
    : registered(registered), options(options) {
    for (int i = 0; i < registered.metadata->num_arguments; i++) {
        Argument argument;
        argument.metadata = &registered.metadata->arguments[i];
        argument.what = std::string(argument.is_output() ? "output" : "input") + " \"" +
                        argument.metadata->name + "\"";
        arguments.push_back(argument);
    }
}

void Pipeline::describe() const {
    std::cout << "Filter name: \"" << registered.metadata->name << "\"\n";
    for (const Argument &argument : arguments) {
        const std::string type = name_of_type(argument.metadata->type);
        std::cout << (argument.is_output() ? "  Output \"" : "  Input \"")
                  << argument.metadata->name << "\" is of type ";
        if (argument.is_scalar()) {
            std::cout << type << "\n";
        } else {
            std::cout << "Buffer<" << type << "> with " << argument.metadata->dimensions
                      << " dimensions\n";
        }
    }
}

void Pipeline::prepare() {
    take_texts();
    for (Argument &argument : arguments) {
        if (argument.is_scalar()) {
            make_scalar(argument);
        } else if (!argument.is_output()) {
            make_input(argument);
        }
    }
    std::vector<Shape> outputs = requested_output_shapes();
    std::vector<Image> needed = query_bounds(outputs);
    const int tries = 4;
    for (int i = 0;
         i < tries && options.output_extents == "auto" && shrink_outputs(needed, outputs); i++) {
        needed = query_bounds(outputs);
    }
    for (size_t i = 0; i < arguments.size(); i++) {
        if (!arguments[i].is_scalar()) {
            take_needed(arguments[i], needed[i]);
        }
        report(arguments[i]);
    }
}

void Pipeline::take_texts() {
    for (const auto &given : options.arguments) {
        Argument *found = nullptr;
        for (Argument &argument : arguments) {
            found = argument.metadata->name == given.first ? &argument : found;
        }
        if (!found) {
            fail("there is no argument \"" + given.first + "\" (" + given.second +
                 "), must be one of " + names_of(arguments));
        }
        if (!found->text.empty()) {
            fail(found->what + " is given twice: " + found->text + ", " + given.second);
        }
        found->text = given.second;
    }
    for (Argument &argument : arguments) {
        if (argument.text.empty() && !argument.is_handle()) {
            take_default(argument);
        }
    }
}

void Pipeline::take_default(Argument &argument) {
    if (argument.is_output()) {
        if (!options.benchmark && !options.track_memory) {
            fail(argument.what + " is not given, must be the name of an image file to write");
        }
        return;
    }
    argument.text =
        argument.is_scalar() ? options.default_input_scalars : options.default_input_buffers;
    if (argument.text.empty()) {
        fail(argument.what + " of type " + name_of_type(argument.metadata->type) + " is not given");
    }
}

void Pipeline::make_scalar(Argument &argument) {
    if (argument.is_handle()) {
        return;
    }
    const std::vector<std::string> choices = split(argument.text, ',');
    for (const std::string &choice : choices) {
        const bool is_default = choice == "default";
        if (!is_default && choice != "estimate") {
            argument.scalar = parse_value(argument.what, choice, argument.metadata->type);
            return;
        }
        const calotype_scalar_value_t *value =
            is_default ? argument.metadata->scalar_def : argument.metadata->scalar_estimate;
        if (value) {
            argument.scalar = *value;
            return;
        }
    }
    fail(argument.what + " is " + argument.text + ", but the pipeline has no such value of it");
}

void Pipeline::make_input(Argument &argument) {
    const std::string &what = argument.what;
    const int dimensions = argument.metadata->dimensions;
    argument.spec = parse_image_spec(what, argument.text);
    const std::string &extents_text = argument.spec.extents;
    if (argument.spec.kind == ImageSpec::File) {
        argument.image = load_input(what, argument.spec.value, argument.metadata->type, dimensions);
        argument.has_image = true;
    } else if (extents_text == "estimate" || extents_text == "estimate_then_auto") {
        const Shape shape = estimated_shape(argument, extents_text != "estimate");
        if (int(shape.size()) == dimensions) {
            make_up_input(argument, shape);
            argument.is_estimated = true;
        }
    } else if (extents_text != "auto") {
        const std::vector<int> extents = parse_extents("the size of " + what, extents_text);
        if (int(extents.size()) != dimensions) {
            fail(what + " is " + argument.text + " of " + std::to_string(extents.size()) +
                 " dimensions, must have " + std::to_string(dimensions));
        }
        Shape shape;
        for (int extent : extents) {
            shape.push_back({0, extent});
        }
        make_up_input(argument, shape);
    }
}

/** Empty if there is none; that is an error unless `optional`. */
Shape Pipeline::estimated_shape(const Argument &argument, bool optional) const {
    Shape shape;
    for (int d = 0; d < argument.metadata->dimensions; d++) {
        const int64_t *const *estimates = argument.metadata->buffer_estimates;
        if (!estimates || !estimates[2 * d] || !estimates[2 * d + 1]) {
            if (optional) {
                return {};
            }
            fail(argument.what + " has no estimate of dimension " + std::to_string(d) +
                 ", must have one for \"estimate\"");
        }
        shape.push_back({int(*estimates[2 * d]), int(*estimates[2 * d + 1])});
    }
    return shape;
}

void Pipeline::make_up_input(Argument &argument, const Shape &shape) {
    std::vector<int> mins, extents;
    for (const Range &range : shape) {
        mins.push_back(range.min);
        extents.push_back(range.extent);
    }
    argument.image = Image(argument.metadata->type, nullptr, extents);
    argument.image.set_min(mins);
    allocate_image(argument.what, argument.image);
    fill_image(argument.what, argument.spec, argument.image);
    argument.has_image = true;
}

std::vector<Shape> Pipeline::requested_output_shapes() const {
    std::vector<int> extents;
    const bool is_word = options.output_extents == "auto" || options.output_extents == "estimate";
    if (!is_word) {
        extents = parse_extents("--output_extents", options.output_extents);
    }
    std::vector<Shape> shapes(arguments.size());
    for (size_t i = 0; i < arguments.size(); i++) {
        const Argument &argument = arguments[i];
        if (!argument.is_output()) {
            continue;
        }
        if (options.output_extents == "estimate") {
            shapes[i] = estimated_shape(argument, false);
        } else {
            shapes[i] =
                is_word ? guessed_output_shape(argument) : given_output_shape(argument, extents);
        }
    }
    return shapes;
}

Shape Pipeline::given_output_shape(const Argument &argument,
                                   const std::vector<int> &extents) const {
    Shape shape;
    if (int(extents.size()) < argument.metadata->dimensions) {
        fail("--output_extents is " + options.output_extents + " of " +
             std::to_string(extents.size()) + " dimensions, must have " +
             std::to_string(argument.metadata->dimensions) + " for " + argument.what);
    }
    for (int d = 0; d < argument.metadata->dimensions; d++) {
        shape.push_back({0, extents[size_t(d)]});
    }
    return shape;
}

/** As the first input that there is, and where it has no such dimension, something usual. */
Shape Pipeline::guessed_output_shape(const Argument &argument) const {
    Shape shape;
    for (int d = 0; d < argument.metadata->dimensions; d++) {
        shape.push_back({0, d < 2 ? 1000 : 4});
    }
    for (const Argument &input : arguments) {
        if (!input.has_image || input.image.dimensions() == 0) {
            continue;
        }
        for (size_t d = 0; d < shape.size() && int(d) < input.image.dimensions(); d++) {
            shape[d] = {input.image.min(int(d)), input.image.extent(int(d))};
        }
        break;
    }
    return shape;
}

/** Make outputs smaller for which an input has too few elements. Answers whether any was. */
bool Pipeline::shrink_outputs(const std::vector<Image> &needed, std::vector<Shape> &outputs) const {
    bool changed = false;
    for (size_t i = 0; i < arguments.size(); i++) {
        if (!arguments[i].has_image) {
            continue;
        }
        const Image &have = arguments[i].image;
        for (int d = 0; d < have.dimensions(); d++) {
            const int before = std::max(0, have.min(d) - needed[i].min(d));
            const int after =
                std::max(0, needed[i].min(d) + needed[i].extent(d) - have.min(d) - have.extent(d));
            for (Shape &shape : outputs) {
                if (before + after == 0 || int(shape.size()) <= d) {
                    continue;
                }
                Range &range = shape[size_t(d)];
                // A border, else a change of scale.
                const bool border = before + after <= range.extent / 2;
                const int smaller =
                    border ? range.extent - before - after
                           : int(int64_t(range.extent) * have.extent(d) / needed[i].extent(d));
                range = {range.min + (border ? before : 0), std::max(smaller, 1)};
                changed = true;
            }
        }
    }
    return changed;
}

/** For each argument that is a buffer, the shape in which the pipeline wants it. */
std::vector<Image> Pipeline::query_bounds(const std::vector<Shape> &outputs) {
    std::vector<Image> needed(arguments.size());
    std::vector<void *> pointers;
    for (size_t i = 0; i < arguments.size(); i++) {
        const int dimensions = arguments[i].metadata->dimensions;
        if (arguments[i].is_scalar()) {
            pointers.push_back(&arguments[i].scalar.u);
            continue;
        }
        std::vector<int> mins(size_t(dimensions), 0), extents(size_t(dimensions), 0);
        for (size_t d = 0; d < outputs[i].size(); d++) {
            mins[d] = outputs[i][d].min;
            extents[d] = outputs[i][d].extent;
        }
        needed[i] = Image(arguments[i].metadata->type, nullptr, extents);
        needed[i].set_min(mins);
        pointers.push_back(needed[i].raw_buffer());
    }
    const int error = registered.call(pointers.data());
    if (error) {
        fail("the bounds query of " + std::string(registered.metadata->name) +
             " fails with error " + std::to_string(error));
    }
    return needed;
}

void Pipeline::take_needed(Argument &argument, const Image &needed) {
    if (!argument.has_image) {
        argument.image = Image(*needed.raw_buffer());
        allocate_image(argument.what, argument.image);
        if (!argument.is_output()) {
            fill_image(argument.what, argument.spec, argument.image);
        }
        argument.has_image = true;
        return;
    }
    const Shape larger = united(argument.image, needed);
    if (argument.is_estimated && !larger.empty()) {
        make_up_input(argument, larger);
    }
    if (innermost(argument.image) != innermost(needed)) {
        argument.image = with_innermost(argument.image, innermost(needed));
    }
}

void Pipeline::report(const Argument &argument) const {
    if (options.verbose) {
        std::cerr << argument.what << ": "
                  << (argument.is_scalar() ? argument.text : to_text(argument.image)) << "\n";
    }
}

void Pipeline::call() {
    std::vector<void *> pointers;
    for (Argument &argument : arguments) {
        pointers.push_back(argument.is_scalar() ? static_cast<void *>(&argument.scalar.u)
                                                : argument.image.raw_buffer());
    }
    const int error = registered.call(pointers.data());
    if (error) {
        fail(std::string(registered.metadata->name) + " fails with error " + std::to_string(error));
    }
}

void Pipeline::wait() {
    for (Argument &argument : arguments) {
        if (argument.is_output() && argument.image.has_device_allocation() &&
            argument.image.device_sync()) {
            fail(argument.what + " is not computed: the device has failed");
        }
    }
}

/** What lies in the first two dimensions is a pixel each. */
double Pipeline::megapixels() const {
    double pixels = 0;
    for (const Argument &argument : arguments) {
        double extents = argument.is_output() ? 1 : 0;
        for (int d = 0; argument.is_output() && d < std::min(argument.image.dimensions(), 2); d++) {
            extents *= argument.image.extent(d);
        }
        pixels += extents;
    }
    return pixels / (1024.0 * 1024.0);
}

void Pipeline::save() {
    for (Argument &argument : arguments) {
        if (!argument.is_output()) {
            continue;
        }
        if (argument.image.copy_to_host()) {
            fail(argument.what + " cannot be copied from the device");
        }
        if (!argument.text.empty()) {
            save_output(argument.what, argument.image, argument.text);
        }
    }
}

}  // namespace run
}  // namespace calotype
