// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeviceWriter: writes the body of one kernel.
//
// A value is held in parts, each a variable or constant: vectors of the widths that the dialect has
// (16, 8, 4, 2 in OpenCL C), then scalars; where it has none, each lane is a scalar. In vectors a
// Bool is a char, all ones or all zeros. 16-bit floats without a type of their own are ushorts, and
// computed with as float.
#pragma once

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/opencl/dialect.h"
#include "ir/module.h"
#include "legalize/legalize.h"
#include "support/scope.h"

namespace calotype::internal {

/// What the kernels of one module share.
struct DeviceFile {
    const Target &target;
    Dialect dialect;
    std::map<std::string, std::string> helpers;  ///< text by name
    std::map<std::string, std::string> externs;  ///< prototypes by name
    std::set<std::string> extensions;            ///< of OpenCL
    bool strict = false;                         ///< some float operation must be done as written
    const LinkedCode *linked = nullptr;          ///< what linkables supply
};

/// A value: its parts' texts, each a name, a literal or, of scalars, an expression in parentheses
/// that is written once.
struct DeviceValue {
    Type type;
    std::vector<std::string> parts;
};

/// "(a + b)" without its parentheses.
std::string bare(const std::string &text);

class DeviceWriter {
public:
    using Texts = std::vector<std::string>;

    DeviceWriter(DeviceFile &file, const DeviceKernel &kernel) : file_(file), kernel_(kernel) {
    }

    /// The whole function.
    std::string write(const std::string &symbol);

    // Used by the tables of intrinsics.

    DeviceValue emit(const Expr &e);
    /// e must be scalar: a name or a constant.
    std::string scalar(const Expr &e);
    void line(const std::string &text);
    void open(const std::string &head);
    void close();
    DeviceFile &file() {
        return file_;
    }
    /// "kernel f_s0_x uses WHAT, which needs ..." and the like begin so.
    std::string where() const;
    /// The form applied to operands of as many lanes as t.
    DeviceValue apply(Type t, const Form &form, std::vector<DeviceValue> operands);
    /// The value in variables or constants, which may be written several times.
    DeviceValue atom(const DeviceValue &v);
    /// Parts from the texts of all lanes.
    DeviceValue from_lanes(Type t, const Texts &lanes);
    std::string lane(const DeviceValue &v, int i) const;
    /// e, or if it is not a constant, a Variable that is bound to its value for the kernel's rest.
    Expr named(const Expr &e);
    /// An index or coordinate of each lane.
    Texts index_lanes(const Expr &index);
    /// The image whose handle that is: the parameter's name.
    std::string image(const Expr &handle) const;
    /// The address of an element of the buffer whose handle that is.
    std::string address(const Expr &handle, Type element, const std::string &index);
    std::string temporary();
    /// The name of a helper, which the file then has.
    std::string helper(const std::string &name, Type t);
    const char *word(Word w) const {
        return internal::word(file_.dialect, w);
    }
    /// A variable's declaration: uninitialised, one a part.
    DeviceValue declare(Type t);
    void assign(const DeviceValue &to, const DeviceValue &from);
    std::string type_name(Type t);

private:
    /// Memory that loads and stores go through.
    struct Buffer {
        std::string text;  ///< of the pointer or array
        Type type;
        Word space = Word::own;
        int64_t alignment = 1;                  ///< of the address, in bytes
        const KernelArgument *image = nullptr;  ///< null: memory with addresses
    };

#define EXPR(Name) DeviceValue emit_node(const Name *op);
#define STMT(Name) void emit_node(const Name *op);
#include "ir/nodes.def"

    void emit(const Stmt &s);

    // Names and text (device_writer.cpp)
    std::string fresh(const std::string &name);
    DeviceValue define(Type t, const Texts &parts, const std::string &name = "");
    Type register_type(Type t) const;
    bool is_bits(Type t) const;
    void check_type(Type t);
    std::string helper_body(const std::string &name, const std::string &function, Type t);
    std::string fill(const std::string &form, const Texts &operands,
                     const std::vector<Type> &types);
    std::string token(const std::string &text, const std::vector<Type> &types);
    std::string splat(Type part, const std::string &scalar);
    std::string word(Word w, const std::string &operand) const;

    // The function's head (kernel_head.cpp)
    std::string parameter(const std::string &name);
    std::string image_parameter(const KernelArgument &a);
    std::string parameters();
    void bind_parameters();
    void declare_shared(const Stmt &s);
    std::string attributes() const;

    // Expressions
    template<typename Op>
    DeviceValue arithmetic(const Op *op, const char *symbol);
    bool is_data(const Expr &e) const;
    void note_data(const std::string &name, const Expr &value);
    bool is_negation(Expr constant, int64_t value) const;
    DeviceValue negation(const Expr &e);
    template<typename Op>
    DeviceValue extremum(const Op *op, const char *name, const char *symbol);
    template<typename Op>
    DeviceValue comparison(const Op *op, const char *symbol);
    DeviceValue divide(const Expr &a, const Expr &b, Type t, bool quotient);
    DeviceValue cast(Type t, const DeviceValue &v);
    DeviceValue small_float_cast(Type t, const DeviceValue &v);
    DeviceValue reinterpret(Type t, const DeviceValue &v);
    DeviceValue extern_call(const Call *op);
    // linked_calls.cpp
    DeviceValue linked_call(const Call *op, const LinkedFunction &signature);
    Texts linked_arguments(const LinkedFunction &signature, const std::vector<DeviceValue> &values,
                           int lane);
    std::string linked_type(const std::string &function, Type t);
    void declare_linked(const std::string &name, const LinkedFunction &signature);
    DeviceValue emit_intrinsic(const Call *op);
    bool has_intrinsic(const Call *op) const;
    Capabilities capabilities() const;
    DeviceValue expand(const Call *op);

    // Memory
    const Buffer &buffer(const std::string &name) const;
    std::string pointer(const Buffer &b, Type element) const;
    std::string pack_type(Type t, int width);
    DeviceValue load_packs(const Load *op, const Buffer &b, const std::string &index);
    std::string from_memory(Type t, const std::string &text) const;
    bool is_aligned(const Buffer &b, Type t, const Alignment &a, int lane, int width) const;
    DeviceValue load_dense(const Load *op, const Buffer &b, const std::string &index);
    void store_dense(const Store *op, const Buffer &b, const std::string &index,
                     const DeviceValue &value);

    // Atomic updates (atomics.cpp)
    bool atomic_store(const Store *op);
    bool atomic_operation(const Buffer &b, const std::string &at, NodeKind kind,
                          const std::string &operand, Type t);
    void compare_and_swap(const Buffer &b, const std::string &at, Type t, const Expr &update);

    DeviceFile &file_;
    const DeviceKernel &kernel_;
    std::ostringstream out_;
    int indent_ = 1;
    int temporaries_ = 0;
    std::set<std::string> names_;
    Texts parameters_;  ///< their names in order
    Scope<DeviceValue> symbols_;
    std::set<std::string> data_names_;  ///< of lets whose values are data
    Scope<Buffer> buffers_;
    std::map<std::string, std::string> shared_;  ///< arrays declared at the function's begin
    std::string atomic_producer_;
};

}  // namespace calotype::internal
