// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exchange.h"

#include <atomic>

namespace calotype::python {

namespace {

const dlpack::ExchangeApi *look_up(PyTypeObject *type) {
    PyObject *capsule =
        PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__");
    const void *found = nullptr;
    if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api")) {
        found = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    }
    PyErr_Clear();
    Py_XDECREF(capsule);
    const auto *api = static_cast<const dlpack::ExchangeApi *>(found);
    while (api && api->version.major != 1) {
        api = api->previous;
    }
    return api;
}

// The types met so far. Each is kept for ever, so that no other comes to be at its address.
struct Known {
    PyTypeObject *type;
    const dlpack::ExchangeApi *api;
    Known *next;
};
std::atomic<Known *> known{nullptr};
constexpr int most_known = 64;
std::atomic<int> known_count{0};

}  // namespace

const dlpack::ExchangeApi *exchange_api_of(PyObject *array) {
    PyTypeObject *type = Py_TYPE(array);
    for (Known *k = known.load(std::memory_order_acquire); k; k = k->next) {
        if (k->type == type) {
            return k->api;
        }
    }
    const dlpack::ExchangeApi *api = look_up(type);
    if (known_count.fetch_add(1) < most_known) {
        Py_INCREF(reinterpret_cast<PyObject *>(type));
        auto *k = new Known{type, api, known.load()};
        while (!known.compare_exchange_weak(k->next, k)) {
        }
    }
    return api;
}

}  // namespace calotype::python
