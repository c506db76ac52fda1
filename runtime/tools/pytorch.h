// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of torch as arguments of pipelines, for the headers that generators write as
// pytorch_wrapper. Nothing is copied. With CALOTYPE_PYTORCH_CUDA defined also tensors on CUDA
// devices, on torch's current stream.
#pragma once

#include <climits>
#include <string>

#include <ATen/ATen.h>

#include "../abi/buffer.h"
#include "../abi/device_context.h"
#include "../abi/device_interface.h"
#include "../abi/errors.h"

#ifdef CALOTYPE_PYTORCH_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <dlfcn.h>
#endif

namespace calotype {
namespace pytorch {

/** One call: on what device it works, which its first tensor says. */
class Call {
public:
    /** `cuda` is null if the pipeline has no kernels for CUDA. */
    Call(const char *name, const calotype_device_interface_t *cuda)
        : name(name), device_interface(cuda) {
    }
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

    void *user_context() {
        return is_on_cuda ? &context : nullptr;
    }
    void check(int code) const {
        TORCH_CHECK(code == 0, name, " failed: ", calotype_error_code_summary(code));
    }

private:
    friend class Argument;
    void meet(const at::Tensor &tensor, const char *argument) {
        TORCH_CHECK(tensor.is_cpu() || (tensor.is_cuda() && device_interface), "argument '",
                    argument, "' of ", name, " is on device ", tensor.device(),
                    ", for which it has no code");
        if (!tensor.is_cuda()) {
            return;
        }
        TORCH_CHECK(!is_on_cuda || device == tensor.device().index(), "argument '", argument,
                    "' of ", name, " is on device ", tensor.device(), ", others on device ",
                    int(device));
        if (!is_on_cuda) {
            use_device(tensor);
        }
    }
#ifdef CALOTYPE_PYTORCH_CUDA
    void use_device(const at::Tensor &tensor) {
        device = tensor.device().index();
        guard.set_device(tensor.device());
        is_on_cuda = true;
        context = {CALOTYPE_DEVICE_CONTEXT_MAGIC, current_context(),
                   c10::cuda::getCurrentCUDAStream(device).stream(), nullptr, device_interface};
    }
    static void *current_context() {
        using GetCurrent = int (*)(void **);
        static void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        static const auto get_current =
            library ? reinterpret_cast<GetCurrent>(dlsym(library, "cuCtxGetCurrent")) : nullptr;
        void *found = nullptr;
        TORCH_CHECK(get_current && get_current(&found) == 0, "there is no CUDA context");
        return found;
    }
    c10::cuda::OptionalCUDAGuard guard;
#else
    void use_device(const at::Tensor &) {
    }
#endif

    const char *name;
    const calotype_device_interface_t *device_interface;
    calotype_device_context context = {};
    bool is_on_cuda = false;
    at::DeviceIndex device = 0;
};

/** A tensor as a buffer: its dimensions in the opposite order. */
class Argument {
public:
    Argument(Call &call, const at::Tensor &tensor, const char *name, calotype_type_t type,
             int dimensions) {
        TORCH_CHECK(type_of(tensor.scalar_type()) == type, "argument '", name, "' of ", call.name,
                    " has elements of type ", tensor.scalar_type(), ", must have ", text_of(type));
        TORCH_CHECK(tensor.dim() == dimensions, "argument '", name, "' of ", call.name, " has ",
                    tensor.dim(), " dimensions, must have ", dimensions);
        call.meet(tensor, name);
        for (int i = 0; i < dimensions; i++) {
            const int64_t extent = tensor.size(dimensions - 1 - i);
            const int64_t stride = tensor.stride(dimensions - 1 - i);
            TORCH_CHECK(extent <= INT_MAX && stride <= INT_MAX, "argument '", name, "' of ",
                        call.name, " is too large");
            shape[i] = calotype_dimension_t(0, int32_t(extent), int32_t(stride));
        }
        buffer.type = type;
        buffer.dimensions = dimensions;
        buffer.dim = shape;
        if (tensor.is_cuda()) {
            buffer.device = reinterpret_cast<uint64_t>(tensor.data_ptr());
            buffer.device_interface = call.device_interface;
            buffer.set_device_dirty(true);
        } else {
            buffer.host = static_cast<uint8_t *>(tensor.data_ptr());
            buffer.set_host_dirty(true);
        }
        is_on_host = tensor.is_cpu();
        context = call.user_context();
    }
    ~Argument() {
        if (is_on_host && buffer.device_interface) {
            buffer.device_interface->device_free(context, &buffer);
        }
    }
    /** Of a result on the host: brings there what was computed on a device. */
    void finish(const Call &call) {
        if (is_on_host && buffer.device_dirty()) {
            call.check(buffer.device_interface->copy_to_host(context, &buffer));
        }
    }
    Argument(const Argument &) = delete;
    Argument &operator=(const Argument &) = delete;
    operator calotype_buffer_t *() {
        return &buffer;
    }

private:
    static calotype_type_t type_of(at::ScalarType type) {
        const auto bits = uint8_t(c10::elementSize(type) * 8);
        if (type == at::kBool) {
            return {calotype_type_uint, 1};
        }
        if (type == at::kBFloat16) {
            return {calotype_type_bfloat, 16};
        }
        if (c10::isFloatingType(type)) {
            return {calotype_type_float, bits};
        }
        TORCH_CHECK(c10::isIntegralType(type, false), "pipelines have no type ", type);
        return {c10::isSignedType(type) ? calotype_type_int : calotype_type_uint, bits};
    }
    static std::string text_of(calotype_type_t type) {
        static const char *const codes[] = {"int", "uint", "float", "handle", "bfloat"};
        return type.code == calotype_type_uint && type.bits == 1
                   ? "bool"
                   : codes[type.code] + std::to_string(type.bits);
    }

    calotype_buffer_t buffer = {};
    calotype_dimension_t shape[16];
    bool is_on_host = true;
    void *context = nullptr;
};

}  // namespace pytorch
}  // namespace calotype
