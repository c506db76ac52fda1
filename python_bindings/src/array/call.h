// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calling a compiled pipeline with arguments from Python: arrays become calotype_buffer_ts in
// place, numbers the bits of their type. This is the path of each warm call, and written for it.
#pragma once

#include <Python.h>

#include <memory>
#include <string>
#include <vector>

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
    /// to be taken. An ArrayError names what is missing, unknown or given twice.
    void bind(PyObject *args, PyObject *keywords, PyObject **bound) const;
    /// "(input: uint8[2], gain: float32 = 1.0, output: uint8[2])"
    std::string text() const;

private:
    void bind_keywords(PyObject *keywords, PyObject **bound) const;
    std::vector<ParameterInfo> parameters_;
};

/// "uint8", "float32", "bool".
std::string type_text(calotype_type_t type);

/// The arguments of one call, in the form that the argv functions take.
class CallArguments {
public:
    /// Gives the buffer behind an object that holds one already, or null.
    using RawBuffer = calotype_buffer_t *(*)(PyObject *);

    explicit CallArguments(const Signature &signature) : signature_(signature) {
    }
    ~CallArguments();
    CallArguments(const CallArguments &) = delete;
    CallArguments &operator=(const CallArguments &) = delete;

    /// Converts; argv has place for the arguments.
    void convert(PyObject *args, PyObject *keywords, RawBuffer raw_buffer, const void **argv);
    /// After the call: brings what was computed on a device into the arrays. Gives what went wrong,
    /// or nothing.
    std::string copy_results();

    static constexpr size_t max_arguments = 64;

private:
    // One array.
    struct Slot {
        Array array;
        calotype_buffer_t buffer = {};
        alignas(calotype_dimension_t) unsigned char shape[max_array_dimensions *
                                                          sizeof(calotype_dimension_t)];
        bool is_output = false;
    };
    const void *convert_buffer(const ParameterInfo &p, PyObject *value, RawBuffer raw_buffer);
    Slot &new_slot();
    static void end_device_copy(Slot &slot);

    const Signature &signature_;
    uint64_t scalars_[max_arguments];
    // The first few need no allocation.
    static constexpr size_t slots_in_place = 4;
    Slot in_place_[slots_in_place];
    std::vector<std::unique_ptr<Slot>> more_;
    size_t used_ = 0;
};

/// What a number is of, put together only where a message says it.
struct NumberName {
    const char *before;
    const std::string &name;
    const char *after;
    std::string text() const {
        return before + name + after;
    }
};

/// The bits of a Python number as a value of that type. An ArrayError that names `what` if it is
/// none or does not fit.
uint64_t number_bits(PyObject *value, calotype_type_t type, const NumberName &what);

}  // namespace calotype::python
