// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calling a compiled pipeline with arguments from Python: arrays become calotype_buffer_ts in
// place, numbers the bits of their type. This is the path of each warm call, and written for it.
#pragma once

#include <Python.h>

#include <memory>
#include <string>
#include <vector>

#include <calotype/runtime/abi/device_context.h>

#include "array.h"

namespace calotype::python {

/// What a pipeline takes in one place.
struct ParameterInfo {
    std::string name;
    bool is_buffer = false, is_output = false;
    calotype_type_t type;
    int dimensions = 0;
    /// Of a scalar: the bits that it has where the caller gives none.
    bool has_default = false;
    uint64_t default_bits = 0;
    PyObject *interned_name = nullptr;
};

/// Names as Python's keywords: "out$1.0", value 0 of a Func whose name was taken, becomes "out_0".
/// Those that would be alike stay as they are.
void make_keywords(std::vector<ParameterInfo> &parameters);

/// All parameters of a pipeline.
class Signature {
public:
    explicit Signature(std::vector<ParameterInfo> parameters);
    ~Signature();
    Signature(const Signature &) = delete;
    Signature &operator=(const Signature &) = delete;

    const std::vector<ParameterInfo> &parameters() const {
        return parameters_;
    }
    /// The arguments in order, from a tuple and perhaps a dict; borrowed, null where a default is
    /// to be taken. An ArrayError names what is missing, unknown or given twice. The keyword
    /// `stream` is not of the pipeline, if it has no such argument.
    void bind(PyObject *args, PyObject *keywords, PyObject **bound, PyObject **stream) const;
    /// "(input: uint8[2], gain: float32 = 1.0, output: uint8[2])"
    std::string text() const;

private:
    void bind_keywords(PyObject *keywords, PyObject **bound, PyObject **stream) const;
    std::string count_text(size_t given) const;
    std::vector<ParameterInfo> parameters_;
};

/// What a call has to know of the code that is called.
struct Callee {
    std::string target;
    /// Null if it has no kernels for CUDA.
    const calotype_device_interface_t *cuda = nullptr;
    /// Whether it works in the context and on the stream that its caller says, else on the default
    /// stream of the context that the runtime chooses.
    bool takes_context = true;
    /// Of the runtime: gives that context.
    int (*acquire_context)(void *user_context, void **context, bool create) = nullptr;
    int (*release_context)(void *user_context) = nullptr;

    /// Null on failure.
    void *own_context() const;
};

/// Whether a target, as text, has that feature.
bool has_feature(const std::string &target, const char *feature);

/// "uint8", "float32", "bool".
std::string type_text(calotype_type_t type);

/// A Buffer of the language as an argument: with the device of the array that it is of, or -1.
struct RawBuffer {
    calotype_buffer_t *buffer = nullptr;
    int cuda_device = -1;
};

/// The arguments of one call, in the form that the argv functions take.
///
/// With arrays on a CUDA device a call works in the order of one stream: that which is asked for,
/// else that of the first such array. Other streams in whose order arrays are used it waits for,
/// and they wait for it. Buffers of the language are used in the order of the default stream.
class CallArguments {
public:
    /// Gives the buffer behind an object that holds one already, or null. Throws if it cannot be
    /// that argument.
    using FindBuffer = RawBuffer (*)(const ParameterInfo &, PyObject *);

    CallArguments(const Signature &signature, const Callee &callee)
        : signature_(signature), callee_(callee) {
    }
    ~CallArguments();
    CallArguments(const CallArguments &) = delete;
    CallArguments &operator=(const CallArguments &) = delete;

    /// Converts; argv has place for the arguments.
    void convert(PyObject *args, PyObject *keywords, FindBuffer find_buffer, const void **argv);
    /// Where the call has to work; null: wherever it likes.
    const calotype_device_context *device_context() const {
        return is_on_device_ ? &context_ : nullptr;
    }
    /// What code is passed: the user's context, or where the call has to work, with it inside.
    const void *device_context(void *user_context) {
        context_.user_context = user_context;
        return is_on_device_ ? &context_ : user_context;
    }
    /// Before and after the call, without the GIL: lets streams wait, brings what was computed on a
    /// device into the host's arrays. An ArrayError, or what went wrong, or nothing.
    void begin();
    std::string finish(void *user_context);

    /// Of what stands on the stack, without values until they are set.
    static constexpr size_t max_arguments = 1024;

private:
    // One array.
    struct Slot {
        Array array;
        calotype_buffer_t buffer = {};
        alignas(calotype_dimension_t) unsigned char shape[max_array_dimensions *
                                                          sizeof(calotype_dimension_t)];
        const ParameterInfo *parameter = nullptr;
        bool is_on_device = false;
    };
    const void *convert_buffer(const ParameterInfo &p, PyObject *value, FindBuffer find_buffer);
    void import(Slot &slot, PyObject *value, void *const *consumer);
    void take(Slot &slot, PyObject *value);
    void take_on_device(Slot &slot);
    void meet_device(const ParameterInfo &p, int device, void *context);
    void choose_stream(PyObject *asked_for);
    void add_stream(void *stream);
    Slot &new_slot();
    Slot &slot(size_t i) {
        return i < slots_in_place ? in_place_[i] : *more_[i - slots_in_place];
    }

    const Signature &signature_;
    const Callee &callee_;
    uint64_t scalars_[max_arguments];
    // The first few need no allocation.
    static constexpr size_t slots_in_place = 4;
    Slot in_place_[slots_in_place];
    std::vector<std::unique_ptr<Slot>> more_;
    size_t used_ = 0;

    bool is_on_device_ = false;
    calotype_device_context context_ = {};
    int device_ = -1;
    const ParameterInfo *first_on_device_ = nullptr;
    AskedStream asked_stream_;
    bool has_default_stream_ = false;  ///< Buffers of the language with memory on a device
    bool must_await_ = false;          ///< a result whose library knows nothing of streams
    struct Waiting {
        Slot *slot;
        PyObject *value;
    };
    std::vector<Waiting> waiting_;  ///< arrays that must be told the stream
    std::vector<void *> streams_;   ///< beside the call's own
};

/// The handle of a stream of CUDA: of an int, an object with __cuda_stream__, a stream of torch or
/// CuPy.
void *stream_of(PyObject *object);

/// What a number is of, put together only where a message says it.
struct NumberName {
    const char *before;
    const std::string &name;
    const char *after;
    std::string text() const {
        return before + name + after;
    }
};

/// For messages: "argument 'gain'", "3 (int)", and text of Python.
std::string quoted(const ParameterInfo &p);
std::string described(PyObject *object);
/// The end of a message that something is no array: what to do if numpy can make one of it.
std::string array_advice(PyObject *object);
std::string utf8(PyObject *text);

/// The bits of a Python number as a value of that type. An ArrayError that names `what` if it is
/// none or does not fit.
uint64_t number_bits(PyObject *value, calotype_type_t type, const NumberName &what);

}  // namespace calotype::python
