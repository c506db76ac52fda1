// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates, lane by lane, as two lanes may mean the same element:
//
//     f[i] = f[i] + x     an atomic addition, where the device has one for the type
//     f[i] = e(f[i])      compare and swap of the word that holds it until nobody came between
#include <optional>
#include <utility>

#include "arith/atomic_update.h"
#include "codegen/opencl/device_writer.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

struct Update {
    NodeKind kind;
    Expr operand;
};

/// The operation and x if the value is op(f[i], x).
template<typename Op>
std::optional<Update> as_update(const Store *store) {
    const Op *op = store->value.as<Op>();
    const Expr rest = op ? other_operand(store, op->a, op->b) : Expr();
    return rest.defined() ? std::optional<Update>({store->value.kind(), rest}) : std::nullopt;
}

}  // namespace

void DeviceWriter::emit_node(const Atomic *op) {
    internal_assert(op->mutex_name.empty()) << "an atomic update with a mutex is not lowered";
    std::string before = std::exchange(atomic_producer_, op->producer_name);
    emit(op->body);
    atomic_producer_ = before;
}

// False if the value does not depend on what is stored there: then a plain store will do.
bool DeviceWriter::atomic_store(const Store *op) {
    const Buffer &b = buffer(op->name);
    const Expr replaced = b.space == Word::own ? Expr() : replaced_value(op);
    if (!replaced.defined()) {
        return false;
    }
    Type t = op->value.type().element_of();
    std::optional<Update> update = as_update<Add>(op);
    update = update ? update : as_update<Min>(op);
    update = update ? update : as_update<Max>(op);
    bool always = is_trivially_true(op->predicate);
    DeviceValue predicate = always ? DeviceValue() : atom(emit(op->predicate));
    DeviceValue operand = update ? atom(emit(update->operand)) : DeviceValue();
    Texts indices = index_lanes(op->index);
    for (int i = 0; i < op->value.type().lanes(); i++) {
        std::string index = atom({op->index.type().element_of(), {indices[size_t(i)]}}).parts[0];
        std::string at = pointer(b, t) + " + " + index;
        open(always ? "" : "if (" + lane(predicate, predicate.type.is_vector() ? i : 0) + ")");
        if (!update || !atomic_operation(b, at, update->kind, lane(operand, i), t)) {
            compare_and_swap(b, at, t, updated_lane(op, replaced, i));
        }
        close();
    }
    return true;
}

// True if the device has such an operation: it is written.
bool DeviceWriter::atomic_operation(const Buffer &b, const std::string &at, NodeKind kind,
                                    const std::string &operand, Type t) {
    bool cuda = file_.dialect == Dialect::CUDA, wide = t.bits() == 64;
    bool integer = t.is_int_or_uint() && t.bits() >= 32;
    bool adds_floats = cuda && kind == NodeKind::Add && t.is_float() && t.bits() >= 32;
    bool has_wide = cuda || file_.target.has_feature(Target::CLAtomics64);
    if (!adds_floats && (!integer || (wide && !has_wide))) {
        return false;
    }
    // Sums of signed numbers are those of unsigned ones.
    Type as = kind == NodeKind::Add && integer ? t.with_code(Type::UInt) : t;
    Word w = kind == NodeKind::Add   ? (wide ? Word::atomic_add_64 : Word::atomic_add)
             : kind == NodeKind::Min ? (wide ? Word::atomic_min_64 : Word::atomic_min)
                                     : (wide ? Word::atomic_max_64 : Word::atomic_max);
    if (wide && !cuda) {
        file_.extensions.insert(kind == NodeKind::Add ? "cl_khr_int64_base_atomics"
                                                      : "cl_khr_int64_extended_atomics");
    }
    std::string name = type_name(as),
                pointer =
                    cuda ? name + " *" : "volatile " + std::string(word(b.space)) + name + " *";
    line(std::string(word(w)) + "((" + pointer + ")(" + at + "), (" + name + ")" + operand + ");");
    return true;
}

// The element is the word, or a part of it that is `shift` bits up.
void DeviceWriter::compare_and_swap(const Buffer &b, const std::string &at, Type t,
                                    const Expr &update) {
    bool cuda = file_.dialect == Dialect::CUDA, wide = t.bits() == 64;
    user_assert(!wide || cuda || file_.target.has_feature(Target::CLAtomics64))
        << where() << " updates " << t << " atomically, which OpenCL devices need not be able to: "
        << "add the target feature cl_atomics64";
    if (wide && !cuda) {
        file_.extensions.insert("cl_khr_int64_base_atomics");
    }
    Type u = UInt(wide ? 64 : 32), bits = UInt(t.bytes() * 8);
    bool partial = bits.bits() < 32;
    std::string pointer_type = "volatile " + std::string(word(b.space)) + type_name(u) + " *";
    std::string p = temporary(), old = temporary(), seen = temporary(), shift = temporary();
    std::string address = partial ? "((size_t)(" + at + ") & ~(size_t)3)" : "(" + at + ")";
    line(pointer_type + p + " = (" + pointer_type + ")" + address + ";");
    if (partial) {
        line("const int " + shift + " = (int)((size_t)(" + at + ") & 3) * 8;");
    }
    line(type_name(u) + " " + old + " = *" + p + ", " + seen + ";");
    open("do");
    line(seen + " = " + old + ";");
    std::string part =
        "(" + type_name(bits) + ")(" + (partial ? seen + " >> " + shift : seen) + ")";
    DeviceValue current = define(bits, {part});
    current = t.is_bool() ? cast(t, current) : reinterpret(t, current);
    ScopedBinding<DeviceValue> binding(symbols_, old_value, current);
    DeviceValue fresh = emit(update);
    fresh = t.is_bool() ? cast(bits, fresh) : reinterpret(bits, fresh);
    std::string value = fresh.parts[0];
    if (partial) {
        std::string mask =
            "(" + std::string(bits.bits() == 8 ? "0xffu" : "0xffffu") + " << " + shift + ")";
        value = "(" + seen + " & ~" + mask + ") | ((" + type_name(u) + ")" + value + " << " +
                shift + ")";
    }
    line(old + " = " + word(wide ? Word::atomic_cas_64 : Word::atomic_cas) + "(" +
         (cuda ? "(" + type_name(u) + " *)" : "") + p + ", " + seen + ", " + value + ");");
    indent_--;
    line("} while (" + old + " != " + seen + ");");
}

}  // namespace calotype::internal
