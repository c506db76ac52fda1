// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bounds_query.h"

#include <climits>

namespace calotype::python {

namespace {

struct QueryBuffer {
    calotype_buffer_t buffer = {};
    calotype_dimension_t dim[max_array_dimensions] = {};

    explicit QueryBuffer(const ParameterInfo &p) {
        if (p.dimensions > max_array_dimensions) {
            throw ArrayError(quoted(p) + " has " + std::to_string(p.dimensions) +
                             " dimensions, at most " + std::to_string(max_array_dimensions));
        }
        buffer.type = p.type;
        buffer.dimensions = p.dimensions;
        buffer.dim = dim;
    }
    void set_shape(const ParameterInfo &p, PyObject *shape) {
        if (!shape || !PyTuple_Check(shape) || PyTuple_Size(shape) != p.dimensions) {
            PyErr_Clear();
            throw ArrayError(quoted(p) + " needs a shape of " + std::to_string(p.dimensions) +
                             " extents");
        }
        int64_t stride = 1;
        for (int i = 0; i < p.dimensions; i++) {
            const int64_t extent = PyLong_AsLongLong(PyTuple_GetItem(shape, p.dimensions - 1 - i));
            if (PyErr_Occurred() || extent < 0 || extent > INT_MAX || stride > INT_MAX) {
                PyErr_Clear();
                throw ArrayError(quoted(p) + " has a shape of wrong extents");
            }
            dim[i] = calotype_dimension_t(0, int32_t(extent), int32_t(stride));
            stride *= extent;
        }
    }
    std::vector<AxisRange> ranges() const {
        std::vector<AxisRange> result;
        for (int i = buffer.dimensions - 1; i >= 0; i--) {
            result.push_back({dim[i].min, dim[i].extent});
        }
        return result;
    }
};

}  // namespace

BufferRanges query_bounds(const Signature &signature, PyObject *outputs, PyObject *scalars,
                          const std::function<void(const void **argv)> &run) {
    const std::vector<ParameterInfo> &parameters = signature.parameters();
    std::vector<QueryBuffer> buffers;
    buffers.reserve(parameters.size());
    uint64_t bits[CallArguments::max_arguments];
    const void *argv[CallArguments::max_arguments];
    Py_ssize_t output = 0, scalar = 0;
    for (size_t i = 0; i < parameters.size(); i++) {
        const ParameterInfo &p = parameters[i];
        if (p.is_buffer) {
            QueryBuffer &b = buffers.emplace_back(p);
            if (p.is_output) {
                b.set_shape(p, PyTuple_GetItem(outputs, output++));
            }
            argv[i] = &b.buffer;
            continue;
        }
        PyObject *value = PyTuple_GetItem(scalars, scalar++);
        if (!value || (value == Py_None && !p.has_default)) {
            PyErr_Clear();
            throw ArrayError(quoted(p) + " is missing");
        }
        bits[i] = value == Py_None ? p.default_bits
                                   : number_bits(value, p.type, {"argument '", p.name, "'"});
        argv[i] = &bits[i];
    }
    run(argv);
    BufferRanges result;
    for (const QueryBuffer &b : buffers) {
        result.push_back(b.ranges());
    }
    return result;
}

PyObject *to_python(const BufferRanges &ranges) {
    PyObject *list = PyList_New(0);
    for (const std::vector<AxisRange> &axes : ranges) {
        PyObject *inner = PyList_New(0);
        for (const AxisRange &axis : axes) {
            PyObject *pair = Py_BuildValue("(LL)", static_cast<long long>(axis.min),
                                           static_cast<long long>(axis.extent));
            PyList_Append(inner, pair);
            Py_DECREF(pair);
        }
        PyList_Append(list, inner);
        Py_DECREF(inner);
    }
    return list;
}

}  // namespace calotype::python
