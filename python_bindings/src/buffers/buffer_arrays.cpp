// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffer and the arrays of other libraries, in both directions, without copies: the buffer protocol
// and DLPack.
#include <cstring>

#include "array.h"
#include "bindings.h"
#include "buffer.h"

namespace calotype::python {

namespace {

using Runtime::internal::HostAllocation;

// ---- arrays as Buffers ----

// Stands where a Buffer of its own memory has the header of that memory: keeps the array.
struct HeldArray {
    HostAllocation header;
    Array array;
    HeldArray() : header(&HeldArray::end) {
    }
    static void end(void *header) {
        auto *self = reinterpret_cast<HeldArray *>(header);
        // After the end of the interpreter nobody is left to take the memory back.
        if (!Py_IsInitialized()) {
            return;
        }
        nb::gil_scoped_acquire gil;
        delete self;
    }
};

class ForeignBuffer : public Runtime::Buffer<> {
public:
    ForeignBuffer(HeldArray *held, const std::vector<calotype_dimension_t> &shape)
        : Runtime::Buffer<>(held->array.type, held->array.data, shape) {
        host_allocation = &held->header;
    }
    static const HostAllocation *allocation_of(const Runtime::Buffer<> &b) {
        return static_cast<const ForeignBuffer &>(b).host_allocation;
    }
};

// The same memory with elements of another type of their size.
class RetypedBuffer : public Runtime::Buffer<> {
public:
    RetypedBuffer(const Runtime::Buffer<> &b, const Type &t) : Runtime::Buffer<>(b) {
        buf.type = t.to_abi();
    }
};

Buffer<> retyped(const Buffer<> &b, const Type &t) {
    const RetypedBuffer same(b.shared_storage(), t);
    return Buffer<>(static_cast<const Runtime::Buffer<> &>(same));
}

const HeldArray *held_by(const Buffer<> &b) {
    const HostAllocation *a = ForeignBuffer::allocation_of(b.shared_storage());
    return a && a->deallocate == &HeldArray::end ? reinterpret_cast<const HeldArray *>(a) : nullptr;
}

// ---- Buffers as arrays ----

// What a view of a Buffer needs for as long as it is there, numpy's dimension order.
struct Export {
    Runtime::Buffer<> buffer;
    std::vector<Py_ssize_t> shape, strides;

    explicit Export(const Buffer<> &b) : buffer(b.shared_storage()) {
        const Py_ssize_t size = b.type().bytes();
        for (int d = b.dimensions() - 1; d >= 0; d--) {
            shape.push_back(b.dim(d).extent());
            strides.push_back(b.dim(d).stride() * size);
        }
    }
};

// Empty if the memory can be shown.
std::string why_not_shown(const Buffer<> &b) {
    if (!b.defined()) {
        return "an undefined Buffer has no memory";
    }
    if (b.device_dirty() && b.raw_buffer()->host) {
        Buffer<> same = b;
        if (same.copy_to_host() != 0) {
            return "buffer " + b.name() + " could not be copied from its device";
        }
    }
    if (!b.raw_buffer()->host && b.number_of_elements() > 0) {
        return "buffer " + b.name() + " has no memory on the host";
    }
    return "";
}

int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    view->obj = nullptr;
    try {
        const Buffer<> &b = *nb::inst_ptr<Buffer<>>(nb::handle(self));
        std::string problem = why_not_shown(b);
        const char *format = problem.empty() ? format_of(b.type().to_abi()) : nullptr;
        if (problem.empty() && !format) {
            problem = "the buffer protocol has no letter for " + to_string(b.type());
        }
        const bool read_only = problem.empty() && held_by(b) && held_by(b)->array.read_only;
        if (problem.empty() && read_only && (flags & PyBUF_WRITABLE)) {
            problem = "buffer " + b.name() + " is read-only";
        }
        if (!problem.empty()) {
            PyErr_SetString(PyExc_BufferError, problem.c_str());
            return -1;
        }
        auto *shown = new Export(b);
        view->buf = b.raw_buffer()->host;
        view->itemsize = b.type().bytes();
        view->len = Py_ssize_t(b.number_of_elements()) * view->itemsize;
        view->ndim = b.dimensions();
        view->format = flags & PyBUF_FORMAT ? const_cast<char *>(format) : nullptr;
        view->readonly = read_only;
        view->shape = shown->shape.data();
        view->strides = shown->strides.data();
        view->suboffsets = nullptr;
        view->internal = shown;
        view->obj = self;
        Py_INCREF(self);
        return 0;
    } catch (const std::exception &e) {
        PyErr_SetString(PyExc_BufferError, e.what());
        return -1;
    }
}

void release_buffer(PyObject *, Py_buffer *view) {
    delete static_cast<Export *>(view->internal);
}

dlpack::DataType dlpack_type(const Type &t) {
    const uint8_t code = t.is_bool()     ? uint8_t(dlpack::Bool)
                         : t.is_bfloat() ? uint8_t(dlpack::BFloat)
                         : t.is_float()  ? uint8_t(dlpack::Float)
                         : t.is_int()    ? uint8_t(dlpack::Int)
                                         : uint8_t(dlpack::UInt);
    return {code, uint8_t(t.is_bool() ? 8 : t.bits()), 1};
}

// A capsule's tensor, and what it shares.
template<typename Managed>
struct Exported {
    Managed managed = {};
    Runtime::Buffer<> buffer;
    std::vector<int64_t> shape, strides;

    explicit Exported(const Buffer<> &b) : buffer(b.shared_storage()) {
        for (int d = b.dimensions() - 1; d >= 0; d--) {
            shape.push_back(b.dim(d).extent());
            strides.push_back(b.dim(d).stride());
        }
        dlpack::Tensor &t = managed.tensor;
        t.data = b.raw_buffer()->host;
        t.device = {dlpack::CPU, 0};
        t.ndim = b.dimensions();
        t.dtype = dlpack_type(b.type());
        t.shape = shape.data();
        t.strides = strides.data();
        managed.manager = this;
        managed.deleter = [](Managed *m) {
            delete static_cast<Exported *>(m->manager);
        };
    }
};

template<typename Managed>
void end_unused(PyObject *capsule, const char *name) {
    if (PyCapsule_IsValid(capsule, name)) {
        auto *m = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
        m->deleter(m);
    }
}

nb::object capsule_of(const Buffer<> &b, bool versioned, bool read_only) {
    if (versioned) {
        auto *e = new Exported<dlpack::ManagedVersioned>(b);
        e->managed.version = {1, 1};
        e->managed.flags = read_only ? dlpack::read_only_flag : 0;
        return nb::steal(PyCapsule_New(&e->managed, "dltensor_versioned", [](PyObject *p) {
            end_unused<dlpack::ManagedVersioned>(p, "dltensor_versioned");
        }));
    }
    auto *e = new Exported<dlpack::Managed>(b);
    return nb::steal(PyCapsule_New(
        &e->managed, "dltensor", [](PyObject *p) { end_unused<dlpack::Managed>(p, "dltensor"); }));
}

nb::object to_dlpack(const Buffer<> &b, nb::object stream, nb::object max_version,
                     nb::object device, nb::object copy) {
    std::string problem = why_not_shown(b);
    const bool versioned = !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1;
    const bool read_only = problem.empty() && held_by(b) && held_by(b)->array.read_only;
    if (problem.empty() && b.type().is_handle()) {
        problem = "DLPack has no type for " + to_string(b.type());
    } else if (problem.empty() && read_only && !versioned) {
        problem = "buffer " + b.name() + " is read-only, which DLPack before version 1 cannot say";
    } else if (problem.empty() && !device.is_none() &&
               nb::cast<int>(device[0]) != int(dlpack::CPU)) {
        problem = "buffer " + b.name() + " is in memory of the host";
    }
    if (!problem.empty()) {
        throw nb::buffer_error(problem.c_str());
    }
    const bool must_copy = !copy.is_none() && nb::cast<bool>(copy);
    return capsule_of(must_copy ? b.copy() : b, versioned, read_only && !must_copy);
}

nb::object numpy_view(nb::handle self, bool reverse_axes) {
    const Buffer<> &b = nb::cast<const Buffer<> &>(self);
    nb::module_ numpy = nb::module_::import_("numpy");
    nb::object view;
    if (b.type().is_bfloat()) {
        // numpy has this type from the package ml_dtypes, and not through the buffer protocol.
        nb::object words = nb::cast(retyped(b, UInt(16)));
        view = numpy.attr("asarray")(words).attr("view")(
            nb::module_::import_("ml_dtypes").attr("bfloat16"));
    } else {
        view = numpy.attr("asarray")(self);
    }
    return reverse_axes ? view : view.attr("transpose")();
}

}  // namespace

Buffer<> buffer_of_array(nb::handle array, const std::string &name, bool reverse_axes) {
    auto held = std::make_unique<HeldArray>();
    if (!held->array.import(array.ptr())) {
        throw nb::type_error((describe(array) + " is no array").c_str());
    }
    if (!held->array.is_on_host()) {
        throw ArrayError("the array is in memory of device type " +
                         std::to_string(held->array.device.type) + ", must be on the host");
    }
    std::vector<calotype_dimension_t> shape(size_t(held->array.dimensions));
    held->array.copy_shape(shape.data(), reverse_axes);
    const ForeignBuffer buffer(held.release(), shape);
    return Buffer<>(static_cast<const Runtime::Buffer<> &>(buffer), name);
}

void check_writable(const Buffer<> &b, const std::string &what) {
    const HeldArray *held = held_by(b);
    user_assert(!held || !held->array.read_only) << what << " writes to buffer " << b.name()
                                                 << ", whose memory is that of a read-only array";
}

PyType_Slot *buffer_slots() {
    static PyType_Slot slots[] = {
        {Py_bf_getbuffer, reinterpret_cast<void *>(get_buffer)},
        {Py_bf_releasebuffer, reinterpret_cast<void *>(release_buffer)},
        {0, nullptr},
    };
    return slots;
}

void bind_buffer_arrays(nb::class_<Buffer<>> &c) {
    c.def("numpy_view", &numpy_view, "reverse_axes"_a = true,
          "A numpy array that shares the memory, its axes in the opposite order (x last).",
          nb::sig("def numpy_view(self, reverse_axes: bool = True) -> typing.Any"))
        .def("__dlpack__", &to_dlpack, nb::kw_only(), "stream"_a = nb::none(),
             "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
        .def("__dlpack_device__",
             [](const Buffer<> &) { return nb::make_tuple(int(dlpack::CPU), 0); });
}

}  // namespace calotype::python
