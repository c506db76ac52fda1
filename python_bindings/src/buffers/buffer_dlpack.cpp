// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers as arrays of other libraries by DLPack and the CUDA array interface, where their newest
// elements are: on the host or on a CUDA device. What a device does with a Buffer is done in the
// order of the default stream.
#include <optional>

#include <nanobind/stl/optional.h>

#include "array.h"
#include "bindings.h"
#include "buffer.h"
#include "cuda.h"

namespace calotype::python {

namespace {

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

    Exported(const Buffer<> &b, const dlpack::Device &device) : buffer(b.shared_storage()) {
        for (int d = b.dimensions() - 1; d >= 0; d--) {
            shape.push_back(b.dim(d).extent());
            strides.push_back(b.dim(d).stride());
        }
        dlpack::Tensor &t = managed.tensor;
        t.data = device.type == dlpack::CUDA ? reinterpret_cast<void *>(b.raw_buffer()->device)
                                             : b.raw_buffer()->host;
        t.device = device;
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

nb::object capsule_of(const Buffer<> &b, const dlpack::Device &device, bool versioned,
                      uint64_t flags) {
    if (versioned) {
        auto *e = new Exported<dlpack::ManagedVersioned>(b, device);
        e->managed.version = {1, 1};
        e->managed.flags = flags;
        return nb::steal(PyCapsule_New(&e->managed, "dltensor_versioned", [](PyObject *p) {
            end_unused<dlpack::ManagedVersioned>(p, "dltensor_versioned");
        }));
    }
    auto *e = new Exported<dlpack::Managed>(b, device);
    return nb::steal(PyCapsule_New(
        &e->managed, "dltensor", [](PyObject *p) { end_unused<dlpack::Managed>(p, "dltensor"); }));
}

// Where the newest elements are.
bool is_on_cuda(const Buffer<> &b) {
    const calotype_buffer_t *raw = b.defined() ? b.raw_buffer() : nullptr;
    return raw && raw->device && raw->device_interface == cuda_interface() &&
           (b.device_dirty() || !raw->host);
}

dlpack::Device device_of(const Buffer<> &b) {
    return is_on_cuda(b)
               ? dlpack::Device{dlpack::CUDA, cuda::place_of(b.raw_buffer()->device).device}
               : dlpack::Device{dlpack::CPU, 0};
}

// Lets the consumer's stream wait for what is done with the buffer: None is the default stream, on
// which that is done; -1 asks for nothing.
void order_with_consumer(const Buffer<> &b, nb::handle stream) {
    if (stream.is_none() || nb::cast<int64_t>(stream) == -1) {
        return;
    }
    const auto number = nb::cast<uint64_t>(stream);
    if (number == 0) {
        throw nb::buffer_error("stream is 0, must be None, -1, 1 for the default one or a handle");
    }
    cuda::let_wait(cuda::place_of(b.raw_buffer()->device).context, cuda::plain_stream(number),
                   nullptr);
}

[[noreturn]] void refuse(const std::string &problem) {
    throw nb::buffer_error(problem.c_str());
}

using TwoInts = std::optional<std::pair<int, int>>;

nb::object to_dlpack(const Buffer<> &b, nb::object stream, TwoInts max_version, TwoInts device,
                     std::optional<bool> copy) {
    const bool versioned = max_version && max_version->first >= 1;
    const bool must_copy = copy.value_or(false);
    const bool wants_host = device && device->first == int(dlpack::CPU);
    dlpack::Device where = device_of(b);
    if (device && !wants_host && (device->first != int(where.type) || device->second != where.id)) {
        refuse("buffer " + b.name() + " is in memory of " +
               (where.type == dlpack::CUDA ? "CUDA device " + std::to_string(where.id)
                                           : std::string("the host")));
    }
    if (where.type == dlpack::CUDA && (wants_host || must_copy)) {
        if (copy && !must_copy) {
            refuse("buffer " + b.name() + " is on its device, and copy=False forbids its copy");
        }
        where = {dlpack::CPU, 0};
    }
    const std::string problem = where.type == dlpack::CPU ? why_not_shown(b) : "";
    if (!problem.empty()) {
        refuse(problem);
    }
    if (b.type().is_handle() || !(b.type().is_bfloat() || format_of(b.type()))) {
        refuse("DLPack has no type for " + to_string(b.type()));
    }
    if (is_read_only(b) && !versioned && !must_copy) {
        refuse("buffer " + b.name() + " is read-only, which DLPack before version 1 cannot say");
    }
    if (where.type == dlpack::CUDA) {
        order_with_consumer(b, stream);
    }
    if (where.type == dlpack::CPU && !must_copy && !is_read_only(b)) {
        b.raw_buffer()->set_host_dirty(true);  // whoever has the view may write by it
    }
    return must_copy
               ? capsule_of(b.copy(), where, versioned, dlpack::copied_flag)
               : capsule_of(b, where, versioned, is_read_only(b) ? dlpack::read_only_flag : 0);
}

// "<f4"
std::string typestr(const Type &t) {
    const char kind = t.is_bool() ? 'b' : t.is_float() ? 'f' : t.is_int() ? 'i' : 'u';
    if (t.is_handle() || !format_of(t)) {
        throw nb::attribute_error(("the array interface has no type for " + to_string(t)).c_str());
    }
    return (t.bytes() == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(t.bytes());
}

nb::dict interface_to(const Buffer<> &b, uint64_t address) {
    nb::list shape, strides;
    int64_t dense = b.type().bytes();
    bool is_dense = true;
    for (int d = 0; d < b.dimensions(); d++) {
        const int64_t stride = int64_t(b.dim(d).stride()) * b.type().bytes();
        is_dense = is_dense && (stride == dense || b.dim(d).extent() == 1);
        dense *= b.dim(d).extent();
        shape.insert(0, b.dim(d).extent());
        strides.insert(0, stride);
    }
    nb::dict d;
    d["shape"] = nb::tuple(shape);
    d["strides"] = is_dense ? nb::object(nb::none()) : nb::tuple(strides);
    d["typestr"] = typestr(b.type());
    d["data"] = nb::make_tuple(address, is_read_only(b));
    d["version"] = 3;
    return d;
}

nb::dict cuda_array_interface(const Buffer<> &b) {
    if (!is_on_cuda(b)) {
        throw nb::attribute_error(
            ("the newest elements of buffer " + b.name() + " are not on a CUDA device").c_str());
    }
    nb::dict d = interface_to(b, b.raw_buffer()->device);
    d["stream"] = 1;
    return d;
}

// Of Buffers that the host alone has: asking whether there is one must not copy from a device, nor
// say that the host's elements are the newer ones.
nb::dict array_interface(const Buffer<> &b) {
    if (!b.defined() || b.has_device_allocation() ||
        (!b.raw_buffer()->host && b.number_of_elements() > 0)) {
        throw nb::attribute_error(
            "a Buffer without elements on the host, or with copies of them on "
            "a device, has no __array_interface__");
    }
    return interface_to(b, reinterpret_cast<uintptr_t>(b.raw_buffer()->host));
}

}  // namespace

void bind_buffer_dlpack(PythonClass<Buffer<>> &c) {
    c.def("__dlpack__", &to_dlpack, nb::kw_only(), "stream"_a = nb::none(),
          "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
        .def("__dlpack_device__",
             [](const Buffer<> &b) {
                 const dlpack::Device device = device_of(b);
                 return nb::make_tuple(int(device.type), device.id);
             })
        .def_prop_ro("__array_interface__", &array_interface)
        .def_prop_ro("__cuda_array_interface__", &cuda_array_interface);
}

}  // namespace calotype::python
