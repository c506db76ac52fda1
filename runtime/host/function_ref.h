// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A callback parameter: a non-owning reference to a callable of any type, valid during the call.
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
