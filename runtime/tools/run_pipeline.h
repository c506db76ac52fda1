// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline with arguments as the command line says.
#pragma once

#include <string>
#include <vector>

#include "run_images.h"
#include "run_options.h"

namespace calotype {
namespace run {

/** What a registration file tells of a pipeline. */
struct Registered {
    int (*call)(void **arguments);
    const calotype_filter_metadata_t *metadata;
};

struct Argument {
    const calotype_filter_argument_t *metadata;
    /** "input "image"", for messages. */
    std::string what;
    /** As given, or the default. */
    std::string text;
    calotype_scalar_value_t scalar;
    ImageSpec spec;
    Image image;
    /** Of a buffer: whether `image` is there yet. */
    bool has_image = false;
    /** Of an input: whether its size is an estimate, which may be less than what is needed. */
    bool is_estimated = false;

    bool is_scalar() const {
        return metadata->kind == calotype_argument_kind_input_scalar;
    }
    bool is_output() const {
        return metadata->kind == calotype_argument_kind_output_buffer;
    }
    /** Handles are the pipeline's own: null. */
    bool is_handle() const {
        return is_scalar() && metadata->type.code == calotype_type_handle;
    }
};

class Pipeline {
    Registered registered;
    const Options &options;
    std::vector<Argument> arguments;

public:
    Pipeline(const Registered &registered, const Options &options);

    void describe() const;
    /** Makes all arguments. */
    void prepare();
    /** Without waiting for a device. */
    void call();
    void wait();
    /** Millions (of 2^20) of pixels of all outputs. */
    double megapixels() const;
    /** Write the outputs to their files. */
    void save();

private:
    void take_texts();
    void take_default(Argument &argument);
    void make_scalar(Argument &argument);
    void make_input(Argument &argument);
    void make_up_input(Argument &argument, const Shape &shape);
    Shape estimated_shape(const Argument &argument, bool optional) const;

    std::vector<Shape> requested_output_shapes() const;
    Shape given_output_shape(const Argument &argument, const std::vector<int> &extents) const;
    Shape guessed_output_shape(const Argument &argument) const;
    bool shrink_outputs(const std::vector<Image> &needed, std::vector<Shape> &outputs) const;
    std::vector<Image> query_bounds(const std::vector<Shape> &outputs);
    void take_needed(Argument &argument, const Image &needed);
    void report(const Argument &argument) const;
};

}  // namespace run
}  // namespace calotype
