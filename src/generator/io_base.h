// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GeneratorIO: an input or output of a generator: its name and what is known of its type,
// dimensions and array size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generator/param.h"
#include "lang/dimension.h"

namespace calotype {

class Func;

namespace internal {

enum class IOKind { Scalar, Function, Buffer };

/// What a declaration fixes. What it leaves open becomes a generator parameter: NAME.type,
/// NAME.dim, NAME.size.
struct IODeclaration {
    static constexpr int open = -1;

    std::string name;
    std::vector<Type> types;  ///< empty: open; several: a Tuple
    int dimensions = open;
    bool is_array = false;
    int array_size = open;  ///< only of arrays
};

/// Common to inputs and outputs. Constructing one in a generator's class adds it to that generator.
class GeneratorIO {
public:
    GeneratorIO(IOKind kind, IODeclaration declaration);
    virtual ~GeneratorIO();
    GeneratorIO(const GeneratorIO &) = delete;
    GeneratorIO &operator=(const GeneratorIO &) = delete;

    const std::string &io_name() const {
        return declared_.name;
    }
    IOKind kind() const {
        return kind_;
    }
    bool is_array() const {
        return declared_.is_array;
    }
    bool types_defined() const {
        return !declared_.types.empty();
    }
    bool dims_defined() const {
        return declared_.dimensions != IODeclaration::open;
    }
    bool array_size_defined() const {
        return !declared_.is_array || declared_.array_size != IODeclaration::open;
    }
    /// CompileErrors while open. Scalars have 0 dimensions; what is not an array has size 1.
    const std::vector<Type> &io_types() const;
    Type io_type() const;
    int io_dims() const;
    size_t array_size() const;

    /// For configure(). A CompileError if the declaration fixed it already.
    void set_type(const Type &type);
    void set_types(const std::vector<Type> &types);
    void set_type(const std::vector<Type> &types) {
        set_types(types);
    }
    void set_dimensions(int dimensions);
    void set_array_size(int size);

protected:
    /// Takes what the parameters say, makes the elements. Called once, before generate().
    virtual void define() = 0;
    /// "blur" or, in an array, "blur_2".
    std::string element_name(size_t i) const;
    /// "input 'x'" or "output 'x'".
    virtual std::string what() const = 0;
    void check_index(size_t i) const;
    bool is_defined_ = false;

private:
    friend class GeneratorBase;
    void resolve_params();
    const IOKind kind_;
    IODeclaration declared_;
    // The order of declaration is the order in --help.
    std::unique_ptr<GeneratorParamBase> type_param_, dim_param_, size_param_;
};

/// The element type and size of an array, T[N] or T[]; of what is not an array, the type itself.
template<typename T>
struct ArrayTraits {
    using element = T;
    static constexpr bool is_array = false;
    static constexpr int size = 1;
};
template<typename T, size_t N>
struct ArrayTraits<T[N]> {
    using element = T;
    static constexpr bool is_array = true;
    static constexpr int size = int(N);
};
template<typename T>
struct ArrayTraits<T[]> {
    using element = T;
    static constexpr bool is_array = true;
    static constexpr int size = IODeclaration::open;
};

/// The declaration that the C++ type T of Input<T> or Output<T> makes by itself.
template<typename T>
IODeclaration declare(const std::string &name) {
    IODeclaration d;
    d.name = name;
    d.is_array = ArrayTraits<T>::is_array;
    d.array_size = ArrayTraits<T>::size;
    return d;
}

}  // namespace internal
}  // namespace calotype
