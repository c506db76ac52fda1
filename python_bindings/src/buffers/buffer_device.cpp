// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffer: its copy on a device.
#include "bindings.h"
#include "buffer.h"

namespace calotype::python {

namespace {

Target jit_target(const Target &t) {
    return t == Target() ? get_jit_target_from_environment() : t;
}

using BufferClass = PythonClass<Buffer<>>;

void bind_copies(BufferClass &c) {
    c.def("copy_to_host",
          [](Buffer<> &b) {
              ReleasedGil without_gil;
              return check_device_status(b.copy_to_host(), "copy_to_host");
          })
        .def(
            "copy_to_device",
            [](Buffer<> &b, const Target &t) {
                ReleasedGil without_gil;
                return check_device_status(b.copy_to_device(jit_target(t)), "copy_to_device");
            },
            "target"_a = Target())
        .def(
            "copy_to_device",
            [](Buffer<> &b, DeviceAPI api, const Target &t) {
                ReleasedGil without_gil;
                return check_device_status(b.copy_to_device(api, jit_target(t)), "copy_to_device");
            },
            "device_api"_a, "target"_a = Target())
        .def(
            "device_malloc",
            [](Buffer<> &b, const Target &t) {
                return check_device_status(b.device_malloc(jit_target(t)), "device_malloc");
            },
            "target"_a = Target())
        .def(
            "device_malloc",
            [](Buffer<> &b, DeviceAPI api, const Target &t) {
                return check_device_status(b.device_malloc(api, jit_target(t)), "device_malloc");
            },
            "device_api"_a, "target"_a = Target())
        .def("device_free",
             [](Buffer<> &b) { return check_device_status(b.device_free(), "device_free"); })
        .def(
            "device_wrap_native",
            [](Buffer<> &b, DeviceAPI api, uint64_t handle, const Target &t) {
                return check_device_status(b.device_wrap_native(api, handle, jit_target(t)),
                                           "device_wrap_native");
            },
            "device_api"_a, "handle"_a, "target"_a = Target())
        .def("device_detach_native",
             [](Buffer<> &b) {
                 return check_device_status(b.device_detach_native(), "device_detach_native");
             })
        .def("device_sync", [](Buffer<> &b) {
            ReleasedGil without_gil;
            return check_device_status(b.device_sync(), "device_sync");
        });
}

void bind_state(BufferClass &c) {
    c.def(
        "_get_raw_halide_buffer_t",
        [](const Buffer<> &b) {
            user_assert(b.defined()) << "an undefined buffer has no address";
            return reinterpret_cast<uintptr_t>(b.raw_buffer());
        },
        "The address of the calotype_buffer_t, for ctypes.");
    c.def("has_device_allocation", [](const Buffer<> &b) { return b.has_device_allocation(); })
        .def("host_dirty", [](const Buffer<> &b) { return b.host_dirty(); })
        .def("device_dirty", [](const Buffer<> &b) { return b.device_dirty(); })
        .def(
            "set_host_dirty",
            [](Buffer<> &b, bool dirty) {
                user_assert(!dirty || !b.device_dirty())
                    << "buffer " << b.name()
                    << " is newer on its device: call copy_to_host() first";
                b.set_host_dirty(dirty);
            },
            "dirty"_a = true)
        .def(
            "set_device_dirty",
            [](Buffer<> &b, bool dirty) {
                user_assert(!dirty || !b.host_dirty())
                    << "buffer " << b.name()
                    << " is newer on the host: call copy_to_device() first";
                b.set_device_dirty(dirty);
            },
            "dirty"_a = true)
        .def("device_deallocate", [](Buffer<> &b) { b.device_deallocate(); })
        .def("deallocate", [](Buffer<> &b) { b.deallocate(); })
        .def("allocate", [](Buffer<> &b) {
            user_assert(!b.raw_buffer()->host) << "buffer " << b.name() << " has memory already";
            b.allocate();
        });
}

}  // namespace

int check_device_status(int status, const char *what) {
    runtime_error_if(status != 0) << what << " failed with error " << status;
    return status;
}

void bind_buffer_device(PythonModule &m) {
    BufferClass c = BufferClass::in(m, "Buffer");
    bind_copies(c);
    bind_state(c);
}

}  // namespace calotype::python
