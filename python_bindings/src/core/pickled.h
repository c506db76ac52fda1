// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes whose objects can be pickled and copied.
#pragma once

#include <functional>
#include <type_traits>

#include "bindings.h"

namespace calotype::python {

/// What __getstate__ gives: `state`, and beside it the attributes of an object whose class is derived
/// in Python.
nb::object with_attributes(nb::handle self, nb::object state);
/// The two parts of that again.
nb::object own_state(nb::handle state);
void set_attributes(nb::handle self, nb::handle state);
/// __reduce_ex__ for all protocols: 0 and 1 have none of their own for classes that are not Python's.
nb::object reduce(nb::handle self, int protocol);

/// `set_state` makes an object at the address that it is given, of what `get_state` gives.
template<typename T, typename... Ts, typename Get, typename Set>
void make_picklable(PythonClass<T, Ts...> &c, Get get_state, Set set_state) {
    using State = std::decay_t<std::invoke_result_t<Get, const T &>>;
    c.def("__getstate__",
          [get_state](nb::pointer_and_handle<T> self) {
              return with_attributes(self.h, nb::cast(std::invoke(get_state, *self.p)));
          })
        .def("__setstate__",
             [set_state](nb::pointer_and_handle<T> self, nb::object state) {
                 State own;
                 call_assert(nb::try_cast(own_state(state), own))
                     << describe(state) << " is no state of a pickled object of this class";
                 set_state(self.p, own);
                 set_attributes(self.h, state);
             })
        .def("__reduce_ex__", &reduce, "protocol"_a);
}

}  // namespace calotype::python
