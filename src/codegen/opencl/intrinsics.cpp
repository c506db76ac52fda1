// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intrinsics in kernels: those that are not an expression have a function here; others have a row in
// forms.def, and what has none is expanded to simpler operations.
#include "codegen/opencl/device_images.h"
#include "codegen/opencl/device_writer.h"
#include "ir/constants.h"
#include "ir/conventions/kernels.h"
#include "legalize/expand_intrinsics.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

DeviceValue nothing(const Call *op) {
    return {op->type, {"0"}};
}

// Other groups of threads hide the wait, as in code that LLVM makes for CUDA.
DeviceValue emit_prefetch(DeviceWriter &, const Call *op) {
    return nothing(op);
}

DeviceValue index_of(DeviceWriter &w, const Call *op, Word which) {
    auto d = as_const_int(op->args[0]);
    internal_assert(d && *d >= 0 && *d < 3) << op->name << " of a dimension that is none";
    std::string text = replace_all(w.word(which), "$i", std::to_string(*d));
    text = replace_all(text, "$d", std::string(1, "xyz"[*d]));
    return w.apply(op->type, {text.c_str(), nullptr}, {});
}

DeviceValue emit_block_index(DeviceWriter &w, const Call *op) {
    return index_of(w, op, Word::block_index);
}

DeviceValue emit_thread_index(DeviceWriter &w, const Call *op) {
    return index_of(w, op, Word::thread_index);
}

DeviceValue emit_barrier(DeviceWriter &w, const Call *op) {
    const int64_t fence = as_const_int(op->args[0]).value_or(fence_device | fence_shared);
    const std::string flags = !(fence & fence_device) ? "CLK_LOCAL_MEM_FENCE"
                              : (fence & fence_shared)
                                  ? "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
                                  : "CLK_GLOBAL_MEM_FENCE";
    w.line(replace_all(w.word(Word::barrier), "$0", flags));
    return nothing(op);
}

// Of vectors each value is computed, as any lane may want it.
DeviceValue emit_if_then_else(DeviceWriter &w, const Call *op) {
    Expr no = op->args.size() > 2 ? op->args[2] : make_zero(op->type);
    if (op->args[0].type().is_vector()) {
        return w.emit(Select::make(op->args[0], op->args[1], no));
    }
    std::string condition = w.scalar(op->args[0]);
    DeviceValue result = w.declare(op->type);
    w.open("if (" + condition + ")");
    w.assign(result, w.emit(op->args[1]));
    w.close();
    w.open("else");
    w.assign(result, w.emit(no));
    w.close();
    return result;
}

// Where there is no 128-bit integer, a function does it.
DeviceValue emit_mul_shift(DeviceWriter &w, const Call *op) {
    Type t = op->type;
    user_assert(op->args[0].type() == t && op->args[1].type() == t)
        << w.where() << " multiplies int64 by uint64 and shifts, which needs integers of 128 bits; "
        << "cast to one of the two types";
    std::string text = "{mul_shift:0}($0, $1, $2, ";
    text += op->is_intrinsic(Intrinsic::rounding_mul_shift_right) ? "1)" : "0)";
    DeviceValue a = w.emit(op->args[0]), b = w.emit(op->args[1]);
    DeviceValue q = w.emit(Cast::make(Int(32, t.lanes()), op->args[2]));
    return w.apply(t, {text.c_str(), nullptr}, {a, b, q});
}

DeviceValue emit_dot_product(DeviceWriter &w, const Call *op) {
    Type t = op->type, a = op->args[0].type(), b = op->args[1].type();
    bool same = a.code() == b.code() && a.code() == t.code();
    bool has_dp4a =
        w.file().dialect == Dialect::CUDA && w.file().target.has_feature(Target::CUDACapability61);
    if (same && has_dp4a) {
        DeviceValue x = w.emit(Reinterpret::make(t, op->args[0]));
        DeviceValue y = w.emit(Reinterpret::make(t, op->args[1]));
        return w.apply(t, {"__dp4a($0, $1, $2)", nullptr}, {x, y, w.emit(op->args[2])});
    }
    Type wide = t.with_lanes(a.lanes());
    Expr product = Mul::make(Cast::make(wide, op->args[0]), Cast::make(wide, op->args[1]));
    Expr sum = VectorReduce::make(VectorReduce::Add, product, t.lanes());
    return w.emit(Add::make(op->args[2], sum));
}

DeviceValue emit_warp_shuffle(DeviceWriter &w, const Call *op) {
    user_assert(w.file().dialect == Dialect::CUDA)
        << w.where() << " exchanges values within a warp, which OpenCL C cannot; "
        << "use gpu_threads in the place of gpu_lanes";
    static const char *const functions[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync",
                                            "__shfl_xor_sync"};
    Type t = op->type;
    if (t.bits() < 32) {
        // Its bits travel as an int.
        Type bits = UInt(t.bits(), t.lanes()), carrier = Int(32, t.lanes());
        std::vector<Expr> args = op->args;
        args[0] = Cast::make(carrier, t.is_float() ? Reinterpret::make(bits, args[0]) : args[0]);
        Expr moved = Call::make(carrier, Intrinsic::warp_shuffle, args);
        return w.emit(t.is_float() ? Reinterpret::make(t, Cast::make(bits, moved))
                                   : Cast::make(t, moved));
    }
    int64_t mode = op->args.size() > 2 ? as_const_int(op->args[2]).value_or(0) : 0;
    int64_t width = op->args.size() > 3 ? as_const_int(op->args[3]).value_or(32) : 32;
    std::string text = std::string(functions[mode & 3]) + "(0xffffffffu, $0, $1";
    text += width < 32 ? ", " + std::to_string(width) + ")" : ")";
    DeviceValue v = w.emit(op->args[0]), lane = w.emit(op->args[1]);
    return w.apply(t, {text.c_str(), nullptr}, {v, lane});
}

DeviceValue emit_async_copy(DeviceWriter &w, const Call *op) {
    int64_t n = as_const_int(op->args[4]).value_or(1);
    std::string i = w.scalar(op->args[1]), j = w.scalar(op->args[3]);
    std::string to = w.address(op->args[0], op->type, i);
    std::string from = w.address(op->args[2], op->type, j);
    if (w.file().dialect == Dialect::CUDA) {
        std::string bytes = std::to_string(n * op->type.bytes());
        w.line(w.helper("async_copy", Type()) + "(" + to + ", " + from + ", " + bytes + ");");
        return nothing(op);
    }
    std::string k = w.temporary();
    w.line("for (int " + k + " = 0; " + k + " < " + std::to_string(n) + "; " + k + "++) { " + to +
           "[" + k + "] = " + from + "[" + k + "]; }");
    return nothing(op);
}

DeviceValue emit_async_commit(DeviceWriter &w, const Call *op) {
    if (w.file().dialect == Dialect::CUDA) {
        w.line(w.helper("async_commit", Type()) + "();");
    }
    return nothing(op);
}

DeviceValue emit_async_wait(DeviceWriter &w, const Call *op) {
    if (w.file().dialect == Dialect::CUDA) {
        int64_t n = as_const_int(op->args[0]).value_or(0);
        w.line("#if __CUDA_ARCH__ >= 800");
        w.line("asm volatile(\"cp.async.wait_group " + std::to_string(n) +
               ";\" : : : \"memory\");");
        w.line("#endif");
    }
    return nothing(op);
}

DeviceValue emit_unreachable(DeviceWriter &, const Call *op) {
    return nothing(op);
}

DeviceValue emit_strict_float(DeviceWriter &w, const Call *op) {
    w.file().strict = true;
    return w.emit(op->args[0]);
}

// In OpenCL C the variable stands in the source of a linkable; in CUDA C++ it is declared, as
// bytes.
DeviceValue emit_linked_symbol(DeviceWriter &w, const Call *op) {
    const auto *name = op->args[0].as<StringImm>();
    internal_assert(name) << "linked_symbol needs a name";
    if (w.file().dialect == Dialect::CUDA) {
        w.file().externs[name->value] =
            std::string(w.word(Word::prototype)) + "unsigned char " + name->value + "[];";
    }
    return w.atom({op->type, {"((" + w.type_name(op->type) + ")(&" + name->value + "))"}});
}

using Writer = DeviceValue (*)(DeviceWriter &, const Call *);

struct Row {
    Intrinsic id;
    Writer writer;
};

const Row special_forms[] = {
    {Intrinsic::gpu_block_index, emit_block_index},
    {Intrinsic::gpu_thread_index, emit_thread_index},
    {Intrinsic::gpu_thread_barrier, emit_barrier},
    {Intrinsic::gpu_async_copy, emit_async_copy},
    {Intrinsic::gpu_async_commit, emit_async_commit},
    {Intrinsic::gpu_async_wait, emit_async_wait},
    {Intrinsic::warp_shuffle, emit_warp_shuffle},
    {Intrinsic::dot_product_4x8, emit_dot_product},
    {Intrinsic::if_then_else, emit_if_then_else},
    {Intrinsic::strict_float, emit_strict_float},
    {Intrinsic::unreachable, emit_unreachable},
    {Intrinsic::prefetch, emit_prefetch},
    {Intrinsic::linked_symbol, emit_linked_symbol},
    {Intrinsic::image_load, emit_image_load},
    {Intrinsic::image_store, emit_image_store},
};

bool is_shift(const Call *op) {
    return op->is_intrinsic(Intrinsic::shift_left) || op->is_intrinsic(Intrinsic::shift_right);
}

/// By an unsigned distance. In C what is shifted to the left must not be negative.
Form shift_form(const Call *op) {
    return op->is_intrinsic(Intrinsic::shift_left)
               ? Form{"({T})(({U})$0 << $1)", "$0 << convert_{U}($1)"}
               : Form{"({T})($0 >> $1)", "$0 >> convert_{U}($1)"};
}

bool is_mul_shift(const Call *op) {
    return op->is_intrinsic(Intrinsic::mul_shift_right) ||
           op->is_intrinsic(Intrinsic::rounding_mul_shift_right);
}

}  // namespace

// Shifts by unsigned distances are operators.
bool DeviceWriter::has_intrinsic(const Call *op) const {
    for (const Row &row : special_forms) {
        if (row.id == op->intrinsic) {
            return true;
        }
    }
    if (is_mul_shift(op) && op->type.bits() == 64) {
        return true;
    }
    const Type first = op->args.empty() ? op->type : op->args[0].type();
    const bool by_unsigned = is_shift(op) && op->args[1].type().is_uint();
    return !first.is_bool() &&
           (by_unsigned || intrinsic_form(file_.dialect, op->intrinsic, first.is_float()));
}

Capabilities DeviceWriter::capabilities() const {
    Capabilities can;
    can.has_small_float_operation = [this](NodeKind, Type t) {
        return !is_bits(t);
    };
    can.has_intrinsic = [this](const Call *op) {
        return has_intrinsic(op);
    };
    return can;
}

// Of what the writer itself makes.
DeviceValue DeviceWriter::expand(const Call *op) {
    std::vector<Expr> args;
    for (const Expr &a : op->args) {
        args.push_back(named(a));
    }
    Expr simpler = expand_intrinsic(op, args);
    user_assert(simpler.defined()) << where() << " uses " << op->name << ", which "
                                   << word(Word::language) << " code cannot do";
    return emit(simpler);
}

DeviceValue DeviceWriter::emit_intrinsic(const Call *op) {
    for (const Row &row : special_forms) {
        if (row.id == op->intrinsic) {
            return row.writer(*this, op);
        }
    }
    if (is_mul_shift(op) && op->type.bits() == 64) {
        return emit_mul_shift(*this, op);
    }
    Type first = op->args.empty() ? op->type : op->args[0].type();
    const Form *form = intrinsic_form(file_.dialect, op->intrinsic, first.is_float());
    if (!has_intrinsic(op)) {
        return expand(op);
    }
    const bool by_unsigned = is_shift(op) && op->args[1].type().is_uint();
    std::vector<DeviceValue> operands;
    for (const Expr &a : op->args) {
        operands.push_back(emit(a));
    }
    return apply(op->type, by_unsigned ? shift_form(op) : *form, operands);
}

}  // namespace calotype::internal
