// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a function calls back: a reference to a lambda of any type, for as long as the call lasts.
#pragma once

namespace calotype::runtime {

template<typename Signature>
class FunctionRef;

template<typename Result, typename... Args>
class FunctionRef<Result(Args...)> {
    const void *body;
    Result (*call)(const void *body, Args... args);

public:
    template<typename Body>
    FunctionRef(const Body &body)
        : body(&body), call([](const void *body, Args... args) -> Result {
              return (*static_cast<const Body *>(body))(args...);
          }) {
    }
    Result operator()(Args... args) const {
        return call(body, args...);
    }
};

}  // namespace calotype::runtime
