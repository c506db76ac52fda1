// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FunctionEmitter: turns the body of one function into LLVM instructions. One class, its parts in
// files by topic: expressions.cpp, casts.cpp, division.cpp, memory.cpp, vectors.cpp, calls.cpp and
// the intrinsics_*.cpp, statements.cpp, allocations.cpp, parallel.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/llvm/machine.h"
#include "codegen/llvm/module_emitter.h"
#include "codegen/llvm/types.h"
#include "codegen/parallel_tasks.h"
#include "ir/stmt_nodes.h"
#include "support/scope.h"

namespace calotype::internal {

/// The user gives this scalar: what is computed from it may overflow on the way, as what is read from memory may.
void mark_as_data(llvm::Argument *argument);
/// The same of a captured value, where `value` is what was captured.
void mark_if_data(llvm::LoadInst *captured, const llvm::Value *value);

/// True if so many transcendental functions are called in the body, outside of loops within it, that their code should
/// not stand where they are called.
bool has_much_math(const Stmt &body);

class FunctionEmitter {
public:
    using Value = llvm::Value;

    /// `function` is empty and returns i32, or nothing if its body cannot fail. Names are bound
    /// with `bind` before `emit_body`.
    FunctionEmitter(ModuleEmitter &module, llvm::Function *function, const Machine &machine);

    void bind(const std::string &name, Value *value) {
        symbols_.push(name, value);
    }
    /// What is known of the address that the handle `buffer` will have.
    void set_host_alignment(const std::string &buffer, int bytes) {
        host_alignment_[buffer] = bytes;
    }
    /// Emits the whole function: the body, the ways out, and what they clean up.
    void emit_body(const Stmt &body);

    // Used by the emission tables (intrinsics.cpp, x86/).

    Value *emit(const Expr &e);
    void emit(const Stmt &s);
    llvm::IRBuilder<> &builder() {
        return b_;
    }
    ModuleEmitter &module() {
        return module_;
    }
    const Target &target() const {
        return module_.target();
    }
    const Machine &machine() const {
        return machine_;
    }
    llvm::Type *type(Type t) {
        return llvm_type(module_.context(), t);
    }
    /// True while floats must not be reassociated or contracted.
    bool strict_float() const {
        return strict_float_;
    }
    /// Emits within, computing floats strictly.
    Value *with_strict_float(const std::function<Value *()> &emission);

    // Helpers on values.

    Value *convert(Value *v, Type from, Type to);
    Value *splat(Value *scalar, int lanes);
    Value *int_constant(llvm::Type *t, int64_t value);
    Value *concat(const std::vector<Value *> &parts);
    /// Lanes [begin, begin + lanes); lanes past the end are poison.
    Value *slice(Value *v, int begin, int lanes);
    Value *shuffle(Value *a, Value *b, const std::vector<int> &indices);
    Value *interleave(const std::vector<Value *> &parts);
    std::vector<Value *> interleave_pieces(const std::vector<Value *> &parts);
    Value *interleave_padded(std::vector<Value *> parts);
    Value *transpose(Value *matrix, int columns);
    Value *lane(Value *v, int index);
    /// Applies f to pieces of `lanes` lanes each (the last padded) and joins the results.
    Value *by_pieces(const std::vector<Value *> &args, int lanes,
                     const std::function<Value *(const std::vector<Value *> &)> &f);
    /// Applies f to each lane.
    Value *by_lanes(const std::vector<Value *> &args, int lanes,
                    const std::function<Value *(const std::vector<Value *> &)> &f);
    Value *call_llvm(unsigned intrinsic_id, const std::vector<Value *> &args);
    Value *call_llvm(unsigned intrinsic_id, llvm::Type *overload, const std::vector<Value *> &args);
    /// Calls the C function. Bools and small integers are extended as the ABI wants.
    Value *call_c(const std::string &name, llvm::Type *result, const std::vector<Value *> &args);
    /// `groups` results, each of that many neighbours.
    Value *reduce_groups(Value *v, int groups, VectorReduce::Operator op, Type element);
    Value *divide(Value *a, Value *b, Type t);
    Value *modulo(Value *a, Value *b, Type t);
    Value *min_or_max(Value *a, Value *b, Type t, bool is_max);
    Value *multiply_high_unsigned(Value *a, Value *b);
    Value *user_context();
    /// Leaves the function with the code if the condition (i1) is false.
    void check(Value *condition, const std::function<Value *()> &code);
    /// Storage in the function's frame, made once.
    llvm::AllocaInst *frame_slot(llvm::Type *t, const std::string &name, uint64_t bytes = 0,
                                 int alignment = 0);
    /// Remembers to call `function(user_context, object)` at the end of this function.
    void register_destructor(const std::string &function, Value *object);
    Value *emit_math(Intrinsic id, const std::vector<Value *> &args, Type t);
    Value *emit_intrinsic(const Call *op);
    /// The address of element `index` of a buffer that loads and stores name.
    Value *element_pointer(const std::string &buffer, Type element, const Expr &index,
                           int offset = 0);
    Value *buffer_field(Value *buffer, int field, llvm::Type *t);
    Value *buffer_field_address(Value *buffer, int field);
    Value *dimension_field_address(Value *buffer, Value *dimension, int field);

private:
#define EXPR(Name) Value *emit_node(const Name *op);
#define STMT(Name) void emit_node(const Name *op);
#include "ir/nodes.def"

    // expressions.cpp
    template<typename Op>
    Value *emit_arithmetic(const Op *op, Value *(FunctionEmitter::*f)(Value *, Value *, Type));
    llvm::Type *native_float(Type t);
    Value *add(Value *a, Value *b, Type t);
    Value *subtract(Value *a, Value *b, Type t);
    Value *multiply(Value *a, Value *b, Type t);
    Value *minimum(Value *a, Value *b, Type t);
    Value *maximum(Value *a, Value *b, Type t);
    Value *compare(const Expr &a, const Expr &b, NodeKind kind);
    Value *emit_constant(Type t, Value *scalar);

    // casts.cpp
    Value *small_float_to_float32(Value *v, Type from);
    Value *float32_to_small_float(Value *v, Type to);
    Value *float64_to_float32_round_to_odd(Value *v);
    Value *convert_float(Value *v, Type from, Type to);
    Value *float_to_int(Value *v, Type from, Type to);
    Value *int_to_float(Value *v, Type from, Type to);

    // division.cpp
    Value *divide_by_constant(Value *a, int64_t divisor, Type t);
    Value *safe_quotient(Value *a, Value *b, Type t);
    void euclidean(Value *a, Value *b, Type t, Value **quotient, Value **remainder);

    // memory.cpp
    Value *host_pointer(const std::string &buffer);
    Value *element_pointer(const std::string &buffer, Type element, Value *index);
    Value *emit_wide(const Expr &e);
    void bind_wide(const std::string &name, const Expr &value);
    llvm::Align access_alignment(const std::string &buffer, Type element, Alignment index,
                                 int offset = 0);
    void tag_access(llvm::Instruction *access, const std::string &buffer,
                    bool is_streaming = false);
    Value *from_memory(Value *v, Type t);
    Value *to_memory(Value *v, Type t);
    Value *load_scalar(const Load *op);
    Value *load_dense(const Load *op, const Expr &base, int offset, int lanes, Value *mask);
    Value *load_registers(const Load *op, const Expr &base, int lanes);
    Value *load_strided(const Load *op, const Ramp *ramp, int stride);
    Value *load_gather(const Load *op, Value *mask);
    Value *load_ramp(const Load *op, const Ramp *ramp, Value *mask);
    bool is_in_frame(const std::string &buffer);
    bool is_in_scalar_registers(const std::string &buffer);
    Value *load_by_lanes(const Load *op);
    Value *load_by_lanes_later(const Load *op);
    Value *common_pointer(const std::string &buffer, llvm::Type *in_memory, Expr *index);
    std::vector<Value *> lane_pointers(const std::string &buffer, Type element, const Expr &whole);
    std::vector<Value *> strided_pointers(const std::string &buffer, llvm::Type *in_memory,
                                          const Ramp *ramp);
    void store_dense(const Store *op, const Expr &base, Value *value, Value *mask);
    void store_around_cache(const std::string &buffer, Value *value, Value *p, llvm::Align align);
    void store_scatter(const Store *op, Value *value, Value *mask);
    void store_scalar(const Store *op, Value *value);
    bool emit_atomic_store(const Store *op);

    // vectors.cpp
    Value *reduce_pair(Value *a, Value *b, VectorReduce::Operator op, Type t);

    // math/emit_math.cpp
    Value *math_in_place(Intrinsic id, const std::vector<Value *> &args, Type t);
    Value *call_math(Intrinsic id, const std::vector<Value *> &args, Type t);

    // calls.cpp
    Value *emit_extern_call(const Call *op);
    // linked_calls.cpp
    Value *emit_linked_call(const Call *op, const LinkedFunction &signature);
    Value *call_function(const Call *op, llvm::Function *callee, const std::vector<Value *> &args);
    llvm::Function *declare_extern(const Call *op);

    // statements.cpp
    void emit_serial_loop(const For *op);
    void keep_scalar(llvm::BranchInst *back);
    void return_if_nonzero(Value *code);
    llvm::BasicBlock *new_block(const char *name);

    // allocations.cpp
    /// A block that the function keeps: on its stack, or on the heap.
    struct FrameBuffer {
        llvm::AllocaInst *address, *size;
        llvm::AllocaInst *heap;  ///< the address while it must be freed
        std::string alias;       ///< what its first user is called
    };
    struct Allocation {
        Value *slot = nullptr;      ///< where the address is kept while it must be freed
        std::string free_function;  ///< of C, (user_context, address)
        int pieces = 0;             ///< bindings in symbols_ to be undone
        bool freed = false;
        std::optional<FrameBuffer> frame_buffer;
    };
    void emit_stored(const Allocate *op, Value *storage, int alignment);
    void emit_stack_allocation(const Allocate *op, int64_t bytes);
    void emit_heap_allocation(const Allocate *op);
    Value *allocation_bytes(const Allocate *op);
    Value *call_malloc(Value *bytes);
    FrameBuffer frame_buffer(const std::string &name);
    Value *grow_frame_buffer(const Allocate *op, Value *bytes, const FrameBuffer &buffer);
    Value *new_frame_block(Value *bytes, const FrameBuffer &buffer);
    void free_allocation(const std::string &name);
    llvm::AllocaInst *cleanup_slot(const std::string &function, bool on_success);
    void emit_cleanups(bool success);

    // parallel.cpp
    void emit_parallel_loop(const For *op);
    struct Closure {
        std::vector<std::string> names;
        llvm::StructType *type = nullptr;
        Value *address = nullptr;
    };
    Closure make_closure(const Stmt &body, const std::vector<std::string> &bound,
                         const std::vector<Value *> &others = {});
    void unpack_closure(const Closure &closure, Value *address, FunctionEmitter &inner);
    void emit_parallel_tasks(const std::vector<ParallelTask> &tasks);
    void emit_part(const Stmt &s);
    void emit_whole(const Stmt &s);
    bool is_part(const Stmt &s) const {
        return parts_ && parts_->count(s.get()) > 0;
    }
    llvm::Function *emit_task_function(const ParallelTask &task, const std::string &name,
                                       const Closure &closure);

    struct Cleanup {
        llvm::AllocaInst *slot;
        std::string function;
        bool on_success;
    };

    ModuleEmitter &module_;
    const Machine &machine_;
    llvm::Function *function_;
    llvm::IRBuilder<> b_;
    Scope<Value *> symbols_;
    Scope<Value *> wide_;  ///< lets in 64 bits; null where there is no more to it than the 32
    std::map<std::string, int> host_alignment_;
    std::vector<FrameBuffer> free_frame_buffers_;
    llvm::AllocaInst *frame_bytes_ = nullptr;  ///< how much of the stack such blocks have taken
    std::map<std::string, std::string> alias_names_;  ///< of what shares storage with another
    Scope<Allocation *> allocations_;
    std::vector<Cleanup> cleanups_;
    llvm::BasicBlock *error_exit_;
    llvm::PHINode *error_code_;
    Value *task_parent_ = nullptr;  ///< inside a task, what nested calls hand on
    bool is_atomic_ = false;        ///< inside Atomic, where stores are atomic updates
    std::string updated_buffer_;    ///< into which the value that is emitted will be stored
    bool strict_float_;
    bool much_math_ = false;  ///< has_much_math() of what is emitted
    std::shared_ptr<const std::set<const StmtNode *>>
        parts_;  ///< functions of their own in the body
};

}  // namespace calotype::internal
