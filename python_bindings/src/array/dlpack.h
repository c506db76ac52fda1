// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structures of DLPack 1.x, as its specification has them: how arrays are handed from one
// library to another.
#pragma once

#include <cstdint>

namespace calotype::python::dlpack {

struct Version {
    uint32_t major, minor;
};

enum DeviceType : int32_t {
    CPU = 1,
    CUDA = 2,
    CUDAHost = 3,
    OpenCL = 4,
    CUDAManaged = 13,
};

struct Device {
    DeviceType type;
    int32_t id;
};

enum TypeCode : uint8_t { Int = 0, UInt = 1, Float = 2, BFloat = 4, Bool = 6 };

struct DataType {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};

struct Tensor {
    void *data;
    Device device;
    int32_t ndim;
    DataType dtype;
    int64_t *shape;
    int64_t *strides;  ///< in elements; null: dense, the last dimension innermost
    uint64_t byte_offset;
};

/// In capsules named "dltensor".
struct Managed {
    Tensor tensor;
    void *manager;
    void (*deleter)(Managed *self);
};

constexpr uint64_t read_only_flag = 1, copied_flag = 2;

/// In capsules named "dltensor_versioned".
struct ManagedVersioned {
    Version version;
    void *manager;
    void (*deleter)(ManagedVersioned *self);
    uint64_t flags;
    Tensor tensor;
};

/// What a type of arrays may offer to callers in C, in a capsule named "dlpack_exchange_api" that
/// is its attribute __dlpack_c_exchange_api__. Lives as long as the process. The functions need the
/// GIL and answer 0, or -1 with an exception of Python set.
struct ExchangeApi {
    Version version;
    const ExchangeApi *previous;  ///< of another major version
    int (*allocate)(Tensor *prototype, ManagedVersioned **out, void *error_context,
                    void (*set_error)(void *error_context, const char *kind, const char *message));
    int (*share)(void *array, ManagedVersioned **out);
    int (*to_python)(ManagedVersioned *tensor, void **out);
    int (*look)(void *array, Tensor *out);  ///< may be null. Good while the array is untouched
    int (*current_stream)(DeviceType type, int32_t id, void **out);
};

}  // namespace calotype::python::dlpack
