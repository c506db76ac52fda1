// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exchange.h"

#include <atomic>

#include "array.h"

namespace calotype::python {

namespace {

PyObject *as_object(PyTypeObject *type) {
    return reinterpret_cast<PyObject *>(type);
}

// What a capsule holds, which is given back; null, with an exception that is forgotten: nothing.
const void *in_capsule(PyObject *capsule, const char *name) {
    const void *found =
        capsule && PyCapsule_IsValid(capsule, name) ? PyCapsule_GetPointer(capsule, name) : nullptr;
    Py_XDECREF(capsule);
    forget_python_error();
    return found;
}

const dlpack::ExchangeApi *find_exchange_api(PyTypeObject *type) {
    const auto *api = static_cast<const dlpack::ExchangeApi *>(
        in_capsule(PyObject_GetAttrString(as_object(type), "__dlpack_c_exchange_api__"),
                   "dlpack_exchange_api"));
    while (api && api->version.major != 1) {
        api = api->previous;
    }
    return api;
}

struct Offers {
    const dlpack::ExchangeApi *exchange;
    const BufferApi *buffer;
};

// The types met so far. Each is kept for ever, so that no other comes to be at its address.
struct Known {
    PyTypeObject *type;
    Offers offers;
    Known *next;
};
std::atomic<Known *> known{nullptr};
constexpr int most_known = 64;
std::atomic<int> known_count{0};

Offers offers_of(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    for (Known *k = known.load(std::memory_order_acquire); k; k = k->next) {
        if (k->type == type) {
            return k->offers;
        }
    }
    const void *buffer =
        in_capsule(PyObject_CallMethod(as_object(type), "__calotype_buffer__", nullptr),
                   BufferApi::capsule_name);
    const Offers offers = {find_exchange_api(type), static_cast<const BufferApi *>(buffer)};
    if (known_count.fetch_add(1) < most_known) {
        Py_INCREF(reinterpret_cast<PyObject *>(type));
        auto *k = new Known{type, offers, known.load()};
        while (!known.compare_exchange_weak(k->next, k)) {
        }
    }
    return offers;
}

}  // namespace

const dlpack::ExchangeApi *exchange_api_of(PyObject *array) {
    return offers_of(array).exchange;
}

const BufferApi *buffer_api_of(PyObject *object) {
    return offers_of(object).buffer;
}

}  // namespace calotype::python
