// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GeneratorOutput<T>: what a generator's pipeline computes. T is Buffer<E, D>, Func, a number, or
// an array X[N] or X[] of these.
#pragma once

#include <string>
#include <vector>

#include "generator/input_types.h"
#include "generator/io_base.h"
#include "lang/func.h"
#include "lang/image_param.h"

namespace calotype {
namespace internal {

/// Base of outputs.
class OutputBase : public GeneratorIO {
public:
    OutputBase(IOKind kind, IODeclaration declaration) : GeneratorIO(kind, std::move(declaration)) {
    }
    /// The Funcs, in order, after generate(). A CompileError if one is undefined or not as
    /// declared.
    std::vector<Func> checked_funcs() const;

    /// Outputs that were assigned Funcs of other names are shown under their own.
    void add_metadata_names(MetadataNameMap &names) const;

protected:
    std::string what() const override;
    virtual std::vector<Func> funcs() const = 0;
    /// An undefined Func of the declared types and dimensions.
    Func make_func(size_t i) const;
};

/// A Func to be defined, or to be assigned one that is defined elsewhere.
class FuncOutput : public OutputBase, public Func {
public:
    FuncOutput(IOKind kind, IODeclaration d)
        : OutputBase(kind, std::move(d)), Func(Function("undefined")) {
    }
    const std::string &name() const {
        return io_name();
    }
    /// What is not fixed ahead is known once the Func has its definition.
    int dimensions() const {
        return dims_defined() || !Func::defined() ? io_dims() : Func::dimensions();
    }
    const std::vector<Type> &types() const {
        return types_defined() || !Func::defined() ? io_types() : Func::types();
    }
    Type type() const {
        return types().size() == 1 ? types()[0] : io_type();
    }
    FuncOutput &operator=(const Func &f) {
        static_cast<Func &>(*this) = f;
        return *this;
    }
    /// Another generator's output, or this one's: its Func, not what it was declared as.
    FuncOutput &operator=(const FuncOutput &other) {
        return *this = static_cast<const Func &>(other);
    }
    /// For Input<Buffer<>> handed on and images: the same elements.
    template<typename T, int D>
    FuncOutput &operator=(Buffer<T, D> b) {
        return *this = Func(b);
    }
    FuncOutput &operator=(const ImageParam &p) {
        return *this = Func(p);
    }

    /// The buffer that it is written to, to be constrained.
    Dimension dim(int i) const {
        return output_buffer().dim(i);
    }
    Expr width() const {
        return output_buffer().width();
    }
    Expr height() const {
        return output_buffer().height();
    }
    Expr channels() const {
        return output_buffer().channels();
    }
    Expr left() const {
        return output_buffer().left();
    }
    Expr right() const {
        return output_buffer().right();
    }
    Expr top() const {
        return output_buffer().top();
    }
    Expr bottom() const {
        return output_buffer().bottom();
    }
    Parameter parameter() const {
        return output_buffer().parameter();
    }
    operator OutputImageParam() const {
        return output_buffer();
    }
    /// All coordinates of the buffer.
    operator RDom() const {
        return RDom(output_buffer());
    }
    int host_alignment() const {
        return output_buffer().host_alignment();
    }
    FuncOutput &set_host_alignment(int bytes) {
        output_buffer().set_host_alignment(bytes);
        return *this;
    }

protected:
    void define() override;
    std::vector<Func> funcs() const override;
};

class FuncOutputArray : public OutputBase {
public:
    FuncOutputArray(IOKind kind, IODeclaration d) : OutputBase(kind, std::move(d)) {
    }
    const std::string &name() const {
        return io_name();
    }
    Type type() const {
        return io_type();
    }
    int dimensions() const {
        return io_dims();
    }
    size_t size() const {
        return array_size();
    }
    /// Says how many there are, where neither the declaration nor a parameter does: in configure()
    /// or generate().
    void resize(size_t size);
    const Func &operator[](size_t i) const {
        check_index(i);
        return funcs_[i];
    }
    Func &operator[](size_t i) {
        check_index(i);
        return funcs_[i];
    }
    const Func &at(size_t i) const {
        return (*this)[i];
    }
    auto begin() const {
        return funcs_.begin();
    }
    auto end() const {
        return funcs_.end();
    }

protected:
    void define() override;
    std::vector<Func> funcs() const override;

private:
    std::vector<Func> funcs_;
};

template<typename T>
using OutputFamily = std::conditional_t<ArrayTraits<T>::is_array, FuncOutputArray, FuncOutput>;

/// What T alone declares; numbers are Funcs of no dimensions.
template<typename T>
struct OutputDeclaration {
    using E = typename ArrayTraits<T>::element;
    static constexpr IOKind kind = std::is_same<E, Func>::value ? IOKind::Function
                                   : BufferTraits<E>::value     ? IOKind::Buffer
                                                                : IOKind::Scalar;
    static IODeclaration make(const std::string &name) {
        IODeclaration d = declare<T>(name);
        if constexpr (BufferTraits<E>::value) {
            return BufferTraits<E>::add_to(d);
        } else if constexpr (!std::is_same<E, Func>::value) {
            d.types = {type_of<E>()};
            d.dimensions = 0;
        }
        return d;
    }
};

}  // namespace internal

/// A member of a generator class.
///
///     Output<Buffer<uint8_t, 2>> result{"result"};
///     Output<Func> pair{"pair", {Float(32), Int(32)}, 2};    // a Tuple: two buffers
///     Output<Buffer<float, 2>[]> levels{"levels"};           // levels.size is a generator
///     parameter
template<typename T>
class GeneratorOutput : public internal::OutputFamily<T> {
    using Base = internal::OutputFamily<T>;
    using Declaration = internal::OutputDeclaration<T>;
    static constexpr int open = internal::IODeclaration::open;
    GeneratorOutput(const std::string &name, const std::vector<Type> &types, int d, int size)
        : Base(Declaration::kind, internal::with(Declaration::make(name), types, d, size)) {
    }

public:
    explicit GeneratorOutput(const std::string &name)
        : GeneratorOutput(name, std::vector<Type>(), open, open) {
    }
    explicit GeneratorOutput(const char *name) : GeneratorOutput(std::string(name)) {
    }
    GeneratorOutput(const std::string &name, int d)
        : GeneratorOutput(name, std::vector<Type>(), d, open) {
    }
    GeneratorOutput(const std::string &name, const Type &t, int d = open)
        : GeneratorOutput(name, std::vector<Type>{t}, d, open) {
    }
    GeneratorOutput(const std::string &name, const std::vector<Type> &types, int d = open)
        : GeneratorOutput(name, types, d, open) {
    }
    GeneratorOutput(size_t size, const std::string &name)
        : GeneratorOutput(name, std::vector<Type>(), open, int(size)) {
    }
    GeneratorOutput(size_t size, const std::string &name, int d)
        : GeneratorOutput(name, std::vector<Type>(), d, int(size)) {
    }
    GeneratorOutput(size_t size, const std::string &name, const Type &t, int d = open)
        : GeneratorOutput(name, std::vector<Type>{t}, d, int(size)) {
    }
    GeneratorOutput(size_t size, const std::string &name, const std::vector<Type> &types,
                    int d = open)
        : GeneratorOutput(name, types, d, int(size)) {
    }
    using Base::operator=;
};

}  // namespace calotype
