// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running pipelines in this process.
#include "driver/callable.h"
#include "driver/pipeline_state.h"
#include "lang/func.h"
#include "lang/pipeline.h"
#include "support/error.h"

#include <algorithm>

namespace calotype {

using namespace internal;

namespace {

using internal::compile_inferred;
using internal::CompiledPipeline;
using internal::JitRun;
using internal::JitState;

// The value or the buffer that an input has now. The buffer stays as long as this does, even if another
// thread sets another one, and the memory that it has in a call even if another deallocates it.
struct InputNow {
    const void *address;
    BufferStoragePtr buffer;
};

// The arguments of one call, in the form that the argv function takes.
class CallArguments {
public:
    CallArguments(const JitRun &run, size_t inputs, size_t outputs) : context_(run.context()) {
        argv_.reserve(1 + inputs + outputs);
        kept_.reserve(inputs);
        argv_.push_back(&context_);
    }
    void add(const void *address) {
        argv_.push_back(address);
    }
    void add(const InputNow &input) {
        add(input.address);
        if (input.buffer.defined()) {
            kept_.push_back(
                {input.buffer, static_cast<const RuntimeBufferStorage &>(*input.buffer).buffer});
        }
    }
    int call(const internal::JitCode &code) const {
        internal_assert(argv_.size() == code.args.size())
            << argv_.size() << " arguments for a function of " << code.args.size();
        return code.argv(argv_.data());
    }

private:
    struct Kept {
        BufferStoragePtr buffer;
        Runtime::Buffer<> memory;
    };
    void *context_;
    std::vector<const void *> argv_;
    std::vector<Kept> kept_;
};

InputNow input_now(const InferredArgument &input) {
    if (input.image.defined()) {
        return {input.image->buffer->raw(), input.image->buffer};
    }
    const Parameter &p = input.parameter;
    if (p.is_buffer()) {
        const BufferStoragePtr buffer = p.buffer();
        runtime_error_if(!buffer.defined()) << "no buffer is set for input " << p.name();
        return {buffer->raw(), buffer};
    }
    user_assert(p->value.has_value()) << "no value is set for parameter " << p.name();
    return {&*p->value, nullptr};
}

const std::vector<Function> &outputs_of(const Pipeline &pipeline) {
    user_assert(pipeline.defined()) << "an undefined pipeline is used";
    return pipeline.contents()->outputs;
}

// One buffer without memory for each value of each output.
Realization make_outputs(const Pipeline &pipeline, const std::vector<int32_t> &sizes) {
    std::vector<Buffer<>> buffers;
    for (const Function &f : outputs_of(pipeline)) {
        user_assert(size_t(f.dimensions()) == sizes.size())
            << "output func " << f.name() << " has " << f.dimensions() << " dimensions, but "
            << sizes.size() << " sizes are given";
        for (size_t d = 0; d < sizes.size(); d++) {
            user_assert(sizes[d] >= 0)
                << "output func " << f.name() << " is asked for with size " << sizes[d]
                << " in dimension " << d << ", must not be negative";
        }
        for (const Type &t : f.output_types()) {
            buffers.emplace_back(Runtime::Buffer<>(t.to_abi(), nullptr, sizes));
        }
    }
    return Realization(std::move(buffers));
}

std::vector<calotype_buffer_t *> raw_buffers(const Pipeline::RealizationArg &arg) {
    std::vector<calotype_buffer_t *> result;
    result.reserve(arg.size());
    if (arg.buf) {
        result.push_back(arg.buf);
    } else if (arg.r) {
        for (size_t i = 0; i < arg.r->size(); i++) {
            result.push_back((*arg.r)[i].raw_buffer());
        }
    } else {
        for (Buffer<> &b : *arg.buffer_list) {
            result.push_back(b.raw_buffer());
        }
    }
    return result;
}

/// Whether all of the buffers hold [0, size) in each dimension.
bool covers(const Realization &r, const std::vector<int32_t> &sizes) {
    for (size_t i = 0; i < r.size(); i++) {
        for (size_t d = 0; d < sizes.size(); d++) {
            const calotype_dimension_t &dim = r[i].raw_buffer()->dim[d];
            if (dim.min > 0 || int64_t(dim.min) + dim.extent < sizes[d]) {
                return false;
            }
        }
    }
    return true;
}

/// Of an image that has no elements, for which there is no memory either: the call would take it for a
/// question.
calotype_buffer_t with_address(const calotype_buffer_t &empty) {
    alignas(64) static uint8_t nothing[64];
    calotype_buffer_t result = empty;
    result.host = nothing;
    return result;
}

bool is_empty_image(const calotype_buffer_t *b) {
    return b->is_bounds_query() && b->number_of_elements() == 0;
}

/// One call with the values that inputs have now, which have memory: without, it would only ask which
/// region is needed, and write nothing.
void run(const CompiledPipeline &compiled, const JITHandlers &handlers, JITUserContext *context,
         const std::vector<calotype_buffer_t *> &outputs) {
    JitRun run(context, handlers);
    CallArguments args(run, compiled.inputs.size(), outputs.size());
    std::vector<calotype_buffer_t> empty_images;  // they stay where they are until the call
    for (const InferredArgument &input : compiled.inputs) {
        InputNow now = input_now(input);
        const auto *image = static_cast<const calotype_buffer_t *>(now.address);
        if (input.arg.is_buffer() && image->is_bounds_query()) {
            runtime_error_if(!is_empty_image(image))
                << "input image " << input.arg.name << " has no memory: allocate() makes some; "
                << "infer_input_bounds() asks which region is needed";
            empty_images.reserve(compiled.inputs.size());
            empty_images.push_back(with_address(*image));
            now.address = &empty_images.back();
        }
        args.add(now);
    }
    for (calotype_buffer_t *b : outputs) {
        args.add(b);
    }
    run.check(args.call(*compiled.code));
}

void check_outputs(const Pipeline &pipeline, const std::vector<calotype_buffer_t *> &buffers) {
    size_t i = 0;
    for (const Function &f : outputs_of(pipeline)) {
        for (const Type &t : f.output_types()) {
            if (i < buffers.size()) {
                const calotype_buffer_t &b = *buffers[i];
                user_assert(b.type == t.to_abi())
                    << "buffer " << i << " for output func " << f.name() << " has type "
                    << Type(b.type) << ", must have " << t;
                user_assert(b.dimensions == f.dimensions())
                    << "buffer " << i << " for output func " << f.name() << " has " << b.dimensions
                    << " dimensions, must have " << f.dimensions();
            }
            i++;
        }
    }
    user_assert(i == buffers.size())
        << "the pipeline has " << i << " outputs, but " << buffers.size() << " buffers are given";
}

}  // namespace

// ---- realize ----

Realization Pipeline::realize(std::vector<int32_t> sizes, const Target &target) {
    return realize(nullptr, std::move(sizes), target);
}

Realization Pipeline::realize(JITUserContext *context, std::vector<int32_t> sizes,
                              const Target &target) {
    Realization r = make_outputs(*this, sizes);
    std::vector<calotype_buffer_t *> outputs = raw_buffers(r);
    JitState &state = JitState::of(*this);
    const std::shared_ptr<const CompiledPipeline> compiled = compile_inferred(*this, target);
    const JITHandlers &handlers = state.handlers;
    // Schedules may compute more than is asked for, which the buffers then need room for. If it is
    // less, the run says so.
    if (!compiled->target.has_feature(Target::NoBoundsQuery)) {
        run(*compiled, handlers, context, outputs);
        if (!covers(r, sizes)) {
            r = make_outputs(*this, sizes);
            outputs = raw_buffers(r);
        }
    }
    for (size_t i = 0; i < r.size(); i++) {
        r[i].allocate();
    }
    run(*compiled, handlers, context, outputs);
    // Buffers that the caller gives stay where they were written; these are for the host to read.
    for (size_t i = 0; i < r.size(); i++) {
        r[i].copy_to_host(context ? static_cast<void *>(context) : nullptr);
        for (size_t d = 0; d < sizes.size(); d++) {
            if (r[i].dim(int(d)).min() != 0 || r[i].dim(int(d)).extent() != sizes[d]) {
                r[i].crop(int(d), 0, sizes[d]);
            }
        }
    }
    return r;
}

void Pipeline::realize(RealizationArg output, const Target &target) {
    realize(nullptr, std::move(output), target);
}

void Pipeline::realize(JITUserContext *context, RealizationArg output, const Target &target) {
    const std::vector<calotype_buffer_t *> outputs = raw_buffers(output);
    check_outputs(*this, outputs);
    JitState &state = JitState::of(*this);
    run(*compile_inferred(*this, target), state.handlers, context, outputs);
}

// ---- infer_input_bounds ----

namespace {

using Shape = std::vector<calotype_dimension_t>;

Shape shape_of(const calotype_buffer_t *b) {
    return Shape(b->dim, b->dim + b->dimensions);
}

// A buffer that asks which region the pipeline needs.
class Query {
public:
    Query(const Parameter &p)
        : parameter_(p),
          buffer_(p.type().to_abi(), nullptr, std::vector<int>(size_t(p.dimensions()), 0)) {
        remember();
    }
    calotype_buffer_t *raw() {
        return buffer_.raw_buffer();
    }
    /// True if the last run changed the answer.
    bool remember() {
        const Shape now = shape_of(buffer_.raw_buffer());
        const bool changed = now != last_;
        last_ = now;
        return changed;
    }
    /// Memory for the answer becomes the parameter's buffer.
    void finish() {
        Runtime::Buffer<> answer(parameter_.type().to_abi(), nullptr, int(last_.size()),
                                 last_.data());
        answer.allocate();
        parameter_.set_buffer(Buffer<>(std::move(answer)).image()->buffer);
    }

private:
    Parameter parameter_;
    Runtime::Buffer<> buffer_;
    Shape last_;
};

constexpr int max_queries = 16;

}  // namespace

void Pipeline::infer_input_bounds(const std::vector<int32_t> &sizes, const Target &target) {
    infer_input_bounds(nullptr, sizes, target);
}

void Pipeline::infer_input_bounds(RealizationArg output, const Target &target) {
    infer_input_bounds(nullptr, std::move(output), target);
}

void Pipeline::infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes,
                                  const Target &target) {
    Realization r = make_outputs(*this, sizes);
    infer_input_bounds(context, RealizationArg(r), target);
}

// Constraints may make an answer change what is asked elsewhere, so that it takes several rounds.
void Pipeline::infer_input_bounds(JITUserContext *context, RealizationArg output,
                                  const Target &target) {
    const std::vector<calotype_buffer_t *> outputs = raw_buffers(output);
    check_outputs(*this, outputs);
    const std::shared_ptr<const CompiledPipeline> compiled = compile_inferred(*this, target);
    JitRun run(context, JitState::of(*this).handlers);
    CallArguments args(run, compiled->inputs.size(), outputs.size());
    std::vector<std::unique_ptr<Query>> queries;
    for (const InferredArgument &input : compiled->inputs) {
        if (input.parameter.defined() && input.parameter.is_buffer() &&
            !input.parameter.buffer().defined()) {
            queries.push_back(std::make_unique<Query>(input.parameter));
            args.add(queries.back()->raw());
        } else {
            args.add(input_now(input));
        }
    }
    for (calotype_buffer_t *b : outputs) {
        args.add(b);
    }
    // Outputs without memory ask as well.
    const bool no_output_asks =
        std::none_of(outputs.begin(), outputs.end(),
                     [](const calotype_buffer_t *b) { return b->is_bounds_query(); });
    if (queries.empty() && no_output_asks) {
        return;
    }
    const auto output_shapes = [&] {
        std::vector<Shape> shapes;
        for (const calotype_buffer_t *b : outputs) {
            shapes.push_back(shape_of(b));
        }
        return shapes;
    };
    bool changed = true;
    for (int i = 0; changed; i++) {
        user_assert(i < max_queries)
            << "the bounds of the inputs do not settle after " << max_queries << " rounds";
        const std::vector<Shape> before = output_shapes();
        run.check(args.call(*compiled->code));
        changed = output_shapes() != before;
        for (const auto &query : queries) {
            changed = query->remember() || changed;
        }
    }
    for (const auto &query : queries) {
        query->finish();
    }
}

// ---- compiling ----

void Pipeline::compile_jit(const Target &target) {
    // Not the target of an earlier call.
    const Target wanted = internal::is_open(target) ? get_jit_target_from_environment() : target;
    JitState::of(*this).set_target(compile_inferred(*this, wanted)->target);
}

JITHandlers &Pipeline::jit_handlers() {
    return JitState::of(*this).handlers;
}

void Pipeline::set_jit_externs(const std::map<std::string, JITExtern> &externs) {
    JitState::of(*this).externs = externs;
}

const std::map<std::string, JITExtern> &Pipeline::get_jit_externs() {
    return JitState::of(*this).externs;
}

Callable Pipeline::compile_to_callable(const std::vector<Argument> &args, const Target &target) {
    return Callable(
        internal::compile_with_args(*this, args, JitState::of(*this).resolve_target(target)),
        JitState::of(*this).handlers);
}

}  // namespace calotype
