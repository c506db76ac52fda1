// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays as arguments. What most calls need none of, as a second stream, is decided while the
// arrays are looked at and done in begin() and finish().
#include <algorithm>
#include <utility>

#include <calotype/runtime/abi/device_interface.h>

#include "call.h"
#include "cuda.h"
#include "exchange.h"

namespace calotype::python {

namespace {

void check_buffer(const ParameterInfo &p, calotype_type_t type, int dimensions) {
    if (type != p.type) {
        throw ArrayError(quoted(p) + " has elements of type " + type_text(type) + ", must have " +
                         type_text(p.type));
    }
    if (dimensions != p.dimensions) {
        throw ArrayError(quoted(p) + " has " + std::to_string(dimensions) +
                         " dimensions, must have " + std::to_string(p.dimensions));
    }
}

// Elements that are in one place cannot all be results.
void check_distinct(const ParameterInfo &p, int dimensions, const calotype_dimension_t *shape) {
    const auto is_empty = [](const calotype_dimension_t &d) {
        return d.extent == 0;
    };
    if (std::any_of(shape, shape + dimensions, is_empty)) {
        return;
    }
    for (int d = 0; d < dimensions; d++) {
        if (shape[d].stride == 0 && shape[d].extent > 1) {
            throw ArrayError(quoted(p) + " has stride 0 in dimension " + std::to_string(d) +
                             " of extent " + std::to_string(shape[d].extent) +
                             ", its elements share memory: a result must have each in a place of "
                             "its own");
        }
    }
}

// The number in the second place of what __cuda_stream__ gives.
bool handle_in_pair(PyObject *pair, uint64_t *handle) {
    if (!pair || !PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        return false;
    }
    *handle = PyLong_AsUnsignedLongLong(PyTuple_GetItem(pair, 1));
    return !PyErr_Occurred();
}

bool handle_by_protocol(PyObject *object, uint64_t *handle) {
    PyObject *protocol = PyObject_GetAttrString(object, "__cuda_stream__");
    PyObject *pair =
        protocol && PyCallable_Check(protocol) ? PyObject_CallObject(protocol, nullptr) : protocol;
    const bool is_there = handle_in_pair(pair, handle);
    if (pair != protocol) {
        Py_XDECREF(pair);
    }
    Py_XDECREF(protocol);
    forget_python_error();
    return is_there;
}

bool handle_in_attribute(PyObject *object, const char *name, uint64_t *handle) {
    PyObject *value = PyObject_GetAttrString(object, name);
    const bool is_number = value && PyLong_Check(value);
    if (is_number) {
        *handle = PyLong_AsUnsignedLongLong(value);
    }
    const bool is_there = is_number && !PyErr_Occurred();
    Py_XDECREF(value);
    forget_python_error();
    return is_there;
}

}  // namespace

void *stream_of(PyObject *object) {
    uint64_t handle = 0;
    if (PyLong_Check(object) && !PyBool_Check(object)) {
        handle = PyLong_AsUnsignedLongLong(object);
        if (!PyErr_Occurred()) {
            return cuda::plain_stream(handle);
        }
        PyErr_Clear();
    } else if (handle_by_protocol(object, &handle) ||
               handle_in_attribute(object, "cuda_stream", &handle) ||
               handle_in_attribute(object, "ptr", &handle)) {
        return cuda::plain_stream(handle);
    }
    throw ArrayError("stream is " + described(object) +
                     ", must be a stream of CUDA: an object with __cuda_stream__, or a handle");
}

bool has_feature(const std::string &target, const char *feature) {
    return ("-" + target + "-").find(std::string("-") + feature + "-") != std::string::npos;
}

void *Callee::own_context() const {
    void *context = nullptr;
    if (!acquire_context || acquire_context(nullptr, &context, true) != 0) {
        return nullptr;
    }
    release_context(nullptr);
    return context;
}

CallArguments::~CallArguments() {
    for (size_t i = 0; i < used_; i++) {
        // The array's memory is not ours, what the pipeline allocated for it on a device is.
        Slot &s = slot(i);
        if (!s.is_on_device && s.buffer.device && s.buffer.device_interface) {
            s.buffer.device_interface->device_free(nullptr, &s.buffer);
        }
    }
}

CallArguments::Slot &CallArguments::new_slot() {
    const size_t i = used_++;
    if (i < slots_in_place) {
        return in_place_[i];
    }
    more_.push_back(std::make_unique<Slot>());
    return *more_.back();
}

void CallArguments::convert(PyObject *args, PyObject *keywords, FindBuffer find_buffer,
                            const void **argv) {
    const std::vector<ParameterInfo> &parameters = signature_.parameters();
    PyObject *bound[max_arguments];
    PyObject *stream = nullptr;
    signature_.bind(args, keywords, bound, &stream);
    for (size_t i = 0; i < parameters.size(); i++) {
        const ParameterInfo &p = parameters[i];
        if (p.is_buffer) {
            argv[i] = convert_buffer(p, bound[i], find_buffer);
            continue;
        }
        scalars_[i] =
            bound[i] ? number_bits(bound[i], p.type, {"argument '", p.name, "'"}) : p.default_bits;
        argv[i] = &scalars_[i];
    }
    if (is_on_device_ || !waiting_.empty() || (stream && stream != Py_None)) {
        choose_stream(stream);
    }
}

const void *CallArguments::convert_buffer(const ParameterInfo &p, PyObject *value,
                                          FindBuffer find_buffer) {
    if (const RawBuffer raw = find_buffer ? find_buffer(p, value) : RawBuffer(); raw.buffer) {
        check_buffer(p, raw.buffer->type, raw.buffer->dimensions);
        if (p.is_output) {
            check_distinct(p, raw.buffer->dimensions, raw.buffer->dim);
        }
        has_default_stream_ |= callee_.cuda != nullptr;
        if (raw.cuda_device >= 0) {
            meet_device(p, raw.cuda_device, cuda::primary_context(raw.cuda_device));
        }
        return raw.buffer;
    }
    Slot &slot = new_slot();
    slot.parameter = &p;
    import(slot, value, nullptr);
    return &slot.buffer;
}

void CallArguments::import(Slot &slot, PyObject *value, void *const *consumer) {
    const ParameterInfo &p = *slot.parameter;
    Imported imported = Imported::nothing;
    try {
        imported = slot.array.import(value, ViewFor::call, consumer, &asked_stream_);
    } catch (const ArrayError &e) {
        throw ArrayError(quoted(p) + ": " + e.what() + "; it must be an array of " +
                         type_text(p.type) + " with " + std::to_string(p.dimensions) +
                         " dimensions");
    }
    if (imported == Imported::needs_stream) {
        waiting_.push_back({&slot, value});
        return;
    }
    if (imported == Imported::nothing) {
        throw ArrayError(
            quoted(p) + " is " + described(value) + ", must be an array of " + type_text(p.type) +
            " with " + std::to_string(p.dimensions) +
            " dimensions: it is not an instance of Buffer and has no memory of its own" +
            array_advice(value));
    }
    take(slot, value);
}

void CallArguments::take(Slot &slot, PyObject *value) {
    const ParameterInfo &p = *slot.parameter;
    check_buffer(p, slot.array.type, slot.array.dimensions);
    if (p.is_output && slot.array.read_only) {
        throw ArrayError(quoted(p) + " is read-only, and written by the pipeline");
    }
    auto *shape = reinterpret_cast<calotype_dimension_t *>(slot.shape);
    slot.array.copy_shape(shape, true);
    if (p.is_output) {
        check_distinct(p, slot.array.dimensions, shape);
    }
    if (const BufferApi *buffer = buffer_api_of(value)) {
        int32_t mins[max_array_dimensions];
        buffer->copy_mins(value, mins);
        for (int i = 0; i < slot.array.dimensions; i++) {
            shape[i].min = mins[i];
        }
    }
    slot.buffer.type = slot.array.type;
    slot.buffer.dimensions = slot.array.dimensions;
    slot.buffer.dim = shape;
    if (slot.array.is_on_cuda() && (callee_.cuda || !slot.array.is_on_host())) {
        take_on_device(slot);
        return;
    }
    if (!slot.array.is_on_host()) {
        throw ArrayError(quoted(p) + " is on " + slot.array.place() + ", must be on the host");
    }
    slot.buffer.host = static_cast<uint8_t *>(slot.array.data);
    slot.buffer.set_host_dirty(true);
}

void CallArguments::take_on_device(Slot &slot) {
    const ParameterInfo &p = *slot.parameter;
    if (!callee_.cuda) {
        throw ArrayError(quoted(p) + " is on " + slot.array.place() +
                         ", must be on the host: the pipeline was compiled for " + callee_.target +
                         ", without cuda");
    }
    meet_device(p, slot.array.device.id, nullptr);
    if (slot.array.has_stream) {
        add_stream(slot.array.stream);
    } else {
        must_await_ |= p.is_output;
    }
    slot.is_on_device = true;
    // An array without elements may have no address.
    constexpr uint64_t anywhere = 256;
    slot.buffer.device = slot.array.data ? reinterpret_cast<uint64_t>(slot.array.data) : anywhere;
    slot.buffer.device_interface = callee_.cuda;
    slot.buffer.set_device_dirty(true);
}

void CallArguments::meet_device(const ParameterInfo &p, int device, void *context) {
    if (!first_on_device_) {
        first_on_device_ = &p;
        device_ = device;
        is_on_device_ = true;
        context_.magic = CALOTYPE_DEVICE_CONTEXT_MAGIC;
        context_.context = context ? context : cuda::primary_context(device);
        context_.device_interface = callee_.cuda;
    } else if (device != device_) {
        throw ArrayError(quoted(p) + " is on CUDA device " + std::to_string(device) + ", " +
                         quoted(*first_on_device_) + " on device " + std::to_string(device_) +
                         ": all must be on one");
    }
}

// The first is that of the call, if nothing else is asked for.
void CallArguments::add_stream(void *stream) {
    if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end()) {
        streams_.push_back(stream);
    }
}

void CallArguments::choose_stream(PyObject *asked_for) {
    void *stream = streams_.empty() ? nullptr : streams_.front();
    if (asked_for && asked_for != Py_None) {
        stream = stream_of(asked_for);
    }
    if (has_default_stream_) {
        add_stream(nullptr);
    }
    if (!callee_.takes_context) {
        add_stream(stream);
        stream = nullptr;
    }
    for (const Waiting &w : std::exchange(waiting_, {})) {
        import(*w.slot, w.value, &stream);
    }
    is_on_device_ = true;
    context_.magic = CALOTYPE_DEVICE_CONTEXT_MAGIC;
    context_.device_interface = callee_.cuda;
    context_.stream = stream;
    streams_.erase(std::remove(streams_.begin(), streams_.end(), stream), streams_.end());
}

void CallArguments::begin() {
    if (is_on_device_ && !callee_.takes_context && first_on_device_ &&
        callee_.own_context() != context_.context) {
        throw ArrayError(quoted(*first_on_device_) + " is on CUDA device " +
                         std::to_string(device_) +
                         ", and the pipeline, compiled without the feature user_context, works on "
                         "another one");
    }
    if (streams_.empty()) {
        return;
    }
    if (!context_.context && !(context_.context = callee_.own_context())) {
        throw ArrayError("there is no CUDA context to work in");
    }
    for (void *other : streams_) {
        cuda::let_wait(context_.context, context_.stream, other);
    }
}

std::string CallArguments::finish(void *user_context) {
    for (size_t i = 0; i < used_; i++) {
        Slot &s = slot(i);
        if (!s.is_on_device && s.parameter->is_output && s.buffer.device_dirty()) {
            const int status = s.buffer.device_interface->copy_to_host(user_context, &s.buffer);
            if (status != 0) {
                return "a result could not be copied from its device, error " +
                       std::to_string(status);
            }
        }
        if (!s.is_on_device && s.buffer.device && s.buffer.device_interface) {
            s.buffer.device_interface->device_free(user_context, &s.buffer);
        }
    }
    for (void *other : streams_) {
        cuda::let_wait(context_.context, other, context_.stream);
    }
    if (must_await_) {
        cuda::await_stream(context_.context, context_.stream);
    }
    return "";
}

}  // namespace calotype::python
