// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pickled.h"

#include <algorithm>

namespace calotype::python {

// No class has a dictionary as its own state.
nb::object with_attributes(nb::handle self, nb::object state) {
    const nb::object attributes = nb::steal(attribute_of(self.ptr(), "__dict__"));
    if (!attributes.is_valid() || nb::len(attributes) == 0) {
        return state;
    }
    nb::dict both;
    both["state"] = state;
    both["attributes"] = attributes;
    return both;
}

nb::object own_state(nb::handle state) {
    return PyDict_Check(state.ptr()) && nb::cast<nb::dict>(state).contains("state")
               ? nb::object(state["state"])
               : nb::borrow(state);
}

void set_attributes(nb::handle self, nb::handle state) {
    if (PyDict_Check(state.ptr()) && nb::cast<nb::dict>(state).contains("attributes")) {
        self.attr("__dict__").attr("update")(state["attributes"]);
    }
}

nb::object reduce(nb::handle self, int protocol) {
    const nb::handle object(reinterpret_cast<PyObject *>(&PyBaseObject_Type));
    return object.attr("__reduce_ex__")(self, std::max(protocol, 2));
}

}  // namespace calotype::python
