// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of other libraries as Buffers, and Buffers by the buffer protocol, without copies.
#include <calotype/lang/device_interface.h>

#include "array.h"
#include "bindings.h"
#include "buffer.h"
#include "call.h"
#include "cuda.h"
#include "exchange.h"
#include "instance.h"

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
        HeldGil gil;
        delete self;
    }
};

class ForeignBuffer : public Runtime::Buffer<> {
public:
    ForeignBuffer(HeldArray *held, const std::vector<calotype_dimension_t> &shape)
        : Runtime::Buffer<>(held->array.type, held->array.is_on_host() ? held->array.data : nullptr,
                            shape) {
        host_allocation = &held->header;
        if (held->array.is_on_host()) {
            buf.set_host_dirty(true);
        } else {
            set_device_ownership(Runtime::BufferDeviceOwnership::Unmanaged);
            buf.device = reinterpret_cast<uint64_t>(held->array.data);
            buf.device_interface = cuda_interface();
            buf.set_device_dirty(true);
        }
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

// ---- for the garbage collector ----

// The array, if the Buffer of that object is all that keeps it. What shares its memory, a pipeline or
// a run, has its part in the counts.
PyObject *array_kept_alone(PyObject *self) {
    const Buffer<> *b = nb::inst_ready(self) ? nb::inst_ptr<Buffer<>>(self) : nullptr;
    if (!b || !b->defined() || !b->image()->is_unique() || !b->image()->buffer->is_unique()) {
        return nullptr;
    }
    const HeldArray *held = held_by(*b);
    return held && held->header.ref_count == 1 ? held->array.keeper() : nullptr;
}

int traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(array_kept_alone(self));
    return 0;
}

int clear(PyObject *self) {
    if (array_kept_alone(self)) {
        *nb::inst_ptr<Buffer<>>(self) = Buffer<>();
    }
    return 0;
}

// ---- Buffers as arrays ----

// What a view of a Buffer needs for as long as it is there, numpy's dimension order.
struct Export {
    Runtime::Buffer<> buffer;
    std::vector<Py_ssize_t> shape_and_strides;

    explicit Export(const Runtime::Buffer<> &b)
        : buffer(b), shape_and_strides(2 * size_t(b.dimensions())) {
        const calotype_buffer_t &raw = *b.raw_buffer();
        const int64_t bytes = raw.type.bytes();
        for (int i = 0; i < raw.dimensions; i++) {
            const calotype_dimension_t &d = raw.dim[raw.dimensions - 1 - i];
            shape()[i] = d.extent;
            strides()[i] = d.stride * bytes;
        }
    }
    Py_ssize_t *shape() {
        return shape_and_strides.data();
    }
    Py_ssize_t *strides() {
        return shape() + buffer.dimensions();
    }
};

}  // namespace

std::string why_not_shown(const Buffer<> &b) {
    if (!b.defined()) {
        return "an undefined Buffer has no memory";
    }
    const calotype_buffer_t &raw = *b.raw_buffer();
    if (raw.device_dirty() && raw.host) {
        Buffer<> same = b;
        if (same.copy_to_host() != 0) {
            return "buffer " + b.name() + " could not be copied from its device";
        }
    }
    if (!raw.host && raw.number_of_elements() > 0) {
        return "buffer " + b.name() + " has no memory on the host";
    }
    return "";
}

namespace {

// Whether the elements follow one another: dimension 0 first, or the last one.
bool is_dense(const calotype_buffer_t &b, bool last_first) {
    int64_t next = 1;
    for (int i = 0; i < b.dimensions; i++) {
        const calotype_dimension_t &d = b.dim[last_first ? b.dimensions - 1 - i : i];
        if (d.extent != 1 && d.stride != next) {
            return false;
        }
        next *= d.extent;
    }
    return true;
}

// Whether the elements lie in memory as C or Fortran have arrays, where who asks wants that.
bool is_in_order(const calotype_buffer_t &b, int flags) {
    const auto wants = [&](int flag) {
        return (flags & flag) == flag;
    };
    if (!wants(PyBUF_STRIDES) || wants(PyBUF_C_CONTIGUOUS)) {
        return is_dense(b, false);
    }
    return wants(PyBUF_F_CONTIGUOUS)     ? is_dense(b, true)
           : wants(PyBUF_ANY_CONTIGUOUS) ? is_dense(b, false) || is_dense(b, true)
                                         : true;
}

// Empty if it can be.
std::string why_not_exported(const Buffer<> &b, int flags) {
    std::string problem = why_not_shown(b);
    if (!problem.empty()) {
        return problem;
    }
    const calotype_buffer_t &raw = *b.raw_buffer();
    if (!format_of(raw.type)) {
        return "the buffer protocol has no letter for " + to_string(b.type());
    }
    if (raw.number_of_elements() > 0 && !is_in_order(raw, flags)) {
        return "the elements of buffer " + b.name() +
               " do not follow one another in memory, as is asked for";
    }
    if ((flags & PyBUF_WRITABLE) && is_read_only(b)) {
        return "buffer " + b.name() + " is read-only";
    }
    return problem;
}

int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    view->obj = nullptr;
    try {
        const Buffer<> &b = instance<Buffer<>>(self);
        const std::string problem = why_not_exported(b, flags);
        if (!problem.empty()) {
            set_error(PyExc_BufferError, problem.c_str());
            return -1;
        }
        auto *shown = new Export(b.shared_storage());
        calotype_buffer_t &raw = *b.raw_buffer();
        view->buf = raw.host;
        view->itemsize = raw.type.bytes();
        view->len = Py_ssize_t(raw.number_of_elements()) * view->itemsize;
        // Who asks for no shape takes the elements for one row of bytes, and may look at this number.
        view->ndim = flags & PyBUF_ND ? raw.dimensions : 1;
        view->format = flags & PyBUF_FORMAT ? const_cast<char *>(format_of(raw.type)) : nullptr;
        view->readonly = is_read_only(b);
        view->shape = flags & PyBUF_ND ? shown->shape() : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shown->strides() : nullptr;
        view->suboffsets = nullptr;
        view->internal = shown;
        view->obj = self;
        // Whoever has the view may write by it.
        raw.set_host_dirty(raw.host_dirty() || !view->readonly);
        Py_INCREF(self);
        return 0;
    } catch (const std::exception &e) {
        set_error(PyExc_BufferError, e.what());
        return -1;
    }
}

void copy_mins(PyObject *self, int32_t *mins) {
    const calotype_buffer_t &b = *instance<Buffer<>>(self).raw_buffer();
    for (int i = 0; i < b.dimensions; i++) {
        mins[i] = b.dim[i].min;
    }
}

void release_buffer(PyObject *, Py_buffer *view) {
    delete static_cast<Export *>(view->internal);
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

// numpy asks for this where the buffer protocol refuses: it has no format for the elements, or it
// raises what is wrong.
nb::object as_numpy_array(nb::handle self, nb::handle dtype, nb::handle copy) {
    const bool has_format = !nb::cast<const Buffer<> &>(self).type().is_bfloat();
    const nb::object view =
        has_format ? nb::steal(PyMemoryView_FromObject(self.ptr())) : numpy_view(self, true);
    if (!view.is_valid()) {
        throw nb::python_error();
    }
    const nb::module_ numpy = nb::module_::import_("numpy");
    // Before version 2 numpy does not ask whether to copy.
    return copy.is_none() ? numpy.attr("asarray")(view, dtype)
                          : numpy.attr("array")(view, dtype, "copy"_a = copy);
}

nb::object bytes_of(nb::handle self) {
    const Buffer<> &b = nb::cast<const Buffer<> &>(self);
    // The buffer protocol has no letter for bfloat16, and the bytes need none.
    const nb::object plain =
        b.type().is_bfloat() ? nb::cast(retyped(b, UInt(16))) : nb::borrow(self);
    const nb::object view = nb::steal(PyMemoryView_FromObject(plain.ptr()));
    if (!view.is_valid()) {
        throw nb::python_error();
    }
    return view.attr("tobytes")();
}

}  // namespace

Buffer<> buffer_of_array(nb::handle array, const std::string &name, bool reverse_axes) {
    auto held = std::make_unique<HeldArray>();
    void *const default_stream = nullptr;
    if (held->array.import(array.ptr(), ViewFor::long_use, &default_stream) != Imported::done) {
        throw nb::type_error(
            (describe(array) + " is no array" + array_advice(array.ptr())).c_str());
    }
    if (!held->array.is_on_host() && !(held->array.is_on_cuda() && cuda_interface())) {
        throw ArrayError("the array is on " + held->array.place() +
                         ", must be on the host or on a CUDA device");
    }
    std::vector<calotype_dimension_t> shape(size_t(held->array.dimensions));
    held->array.copy_shape(shape.data(), reverse_axes);
    const ForeignBuffer buffer(held.release(), shape);
    const Buffer<> result(static_cast<const Runtime::Buffer<> &>(buffer), name);
    order_with_array(result, true);
    return result;
}

const calotype_device_interface_t *cuda_interface() {
    static const calotype_device_interface_t *interface =
        get_device_interface_for_device_api(DeviceAPI::CUDA, Target("x86-64-linux-cuda"));
    return interface;
}

int cuda_device_of_array(const Buffer<> &b) {
    const HeldArray *held = held_by(b);
    return held && !held->array.is_on_host() ? held->array.device.id : -1;
}

void order_with_array(const Buffer<> &b, bool before) {
    const HeldArray *held = held_by(b);
    if (!held || held->array.is_on_host() || !held->array.data) {
        return;
    }
    void *context = cuda::primary_context(held->array.device.id);
    if (held->array.has_stream) {
        cuda::let_wait(context, before ? nullptr : held->array.stream,
                       before ? held->array.stream : nullptr);
    } else if (!before) {
        cuda::await_stream(context, nullptr);
    }
}

bool is_read_only(const Buffer<> &b) {
    const HeldArray *held = held_by(b);
    return held && held->array.read_only;
}

void check_writable(const Buffer<> &b, const std::string &what) {
    call_assert(!is_read_only(b)) << what << " writes to buffer " << b.name()
                                  << ", whose memory is that of a read-only array";
}

PyType_Slot *buffer_slots() {
    static PyType_Slot slots[] = {
        {Py_bf_getbuffer, reinterpret_cast<void *>(get_buffer)},
        {Py_bf_releasebuffer, reinterpret_cast<void *>(release_buffer)},
        {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
        {Py_tp_clear, reinterpret_cast<void *>(clear)},
        {0, nullptr},
    };
    return slots;
}

void bind_buffer_arrays(PythonClass<Buffer<>> &c) {
    static const BufferApi api = {&copy_mins};
    c.def_static(
        "__calotype_buffer__", []() { return nb::capsule(&api, BufferApi::capsule_name); },
        nb::sig("def __calotype_buffer__() -> typing.Any"));
    c.def("__array__", &as_numpy_array, "dtype"_a.none() = nb::none(), nb::kw_only(),
          "copy"_a.none() = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, *, copy: typing.Any = None) -> "
                  "typing.Any"));
    c.def("tobytes", &bytes_of, "Copies of the elements as numpy has them in order, x last.",
          nb::sig("def tobytes(self) -> bytes"));
    c.def("numpy_view", &numpy_view, "reverse_axes"_a = true,
          "A numpy array that shares the memory, its axes in the opposite order (x last).",
          nb::sig("def numpy_view(self, reverse_axes: bool = True) -> typing.Any"));
}

}  // namespace calotype::python
