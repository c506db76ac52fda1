// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/access/image_accesses.h"

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

constexpr size_t max_image_dimensions = 3;

bool has_image_format(const Type &t) {
    return t.is_float() ? t.bits() <= 32 : t.is_int_or_uint() && t.bits() <= 32;
}

/// Small floats are kept as their bits: an image's own conversions may round and flush them.
bool is_bits(const Type &t) {
    return t.is_float() && t.bits() == 16;
}

/// What an element is as an operand of the language's functions.
Type carrier_of(const Type &t) {
    return Type(is_bits(t) ? Type::UInt : t.code(), 32, t.lanes());
}

Expr from_carrier(const Type &t, const Expr &e) {
    return is_bits(t) ? Reinterpret::make(t, cast(UInt(16, t.lanes()), e)) : cast(t, e);
}

Expr to_carrier(const Expr &e) {
    const Type t = e.type();
    return cast(carrier_of(t), is_bits(t) ? Reinterpret::make(UInt(16, t.lanes()), e) : e);
}

class ImageAccesses : public Mutator {
public:
    explicit ImageAccesses(std::map<std::string, KernelArgument> &args) : args_(args) {
    }

private:
    using Mutator::visit;

    KernelArgument &image(const std::string &name, const Type &t, size_t dimensions) {
        KernelArgument &arg = args_[name];
        arg.name = name;
        arg.type = t.element_of();
        arg.is_buffer = true;
        arg.memory = MemoryType::GPUTexture;
        arg.dimensions = int(dimensions);
        return arg;
    }

    std::vector<Expr> operands(const std::string &name, const Call *coordinates) {
        std::vector<Expr> args = {Variable::make(Handle(), name)};
        for (const Expr &e : coordinates->args) {
            args.push_back(mutate(e));
        }
        return args;
    }

    /// Outside of an image there is something to be read, too.
    Expr visit(const Load *op) override {
        const Call *coordinates = as_image_index(op->index);
        if (!coordinates) {
            return Mutator::visit(op);
        }
        const Type t = op->type;
        image(op->name, t, coordinates->args.size()).read = true;
        const Expr value = from_carrier(
            t, Call::make(carrier_of(t), Intrinsic::image_load, operands(op->name, coordinates)));
        return is_trivially_true(op->predicate)
                   ? value
                   : Select::make(mutate(op->predicate), value, make_zero(t));
    }

    Stmt visit(const Store *op) override {
        const Call *coordinates = as_image_index(op->index);
        if (!coordinates) {
            return Mutator::visit(op);
        }
        const Type t = op->value.type();
        image(op->name, t, coordinates->args.size()).written = true;
        std::vector<Expr> args = operands(op->name, coordinates);
        args.push_back(to_carrier(mutate(op->value)));
        args.push_back(mutate(op->predicate));
        return Evaluate::make(Call::make(Int(32), Intrinsic::image_store, args));
    }

    std::map<std::string, KernelArgument> &args_;
};

}  // namespace

Expr image_index(const std::string &name, const Type &t, const std::vector<Expr> &coordinates) {
    user_assert(coordinates.size() <= max_image_dimensions)
        << name << " is stored in gpu_texture with " << coordinates.size()
        << " dimensions, but images of OpenCL have at most " << max_image_dimensions;
    user_assert(has_image_format(t))
        << name << " is stored in gpu_texture with elements of " << t.element_of()
        << ", but images of OpenCL hold integers of 8, 16 and 32 bits, float16, bfloat16 and "
        << "float32";
    // Of a single value there is an image of one element.
    const std::vector<Expr> first = {Expr(0)};
    return Call::make(Int(32), Intrinsic::bundle, coordinates.empty() ? first : coordinates);
}

const Call *as_image_index(const Expr &e) {
    const Call *call = e.as<Call>();
    return call && call->is_intrinsic(Intrinsic::bundle) ? call : nullptr;
}

Stmt use_images(const Stmt &body, std::map<std::string, KernelArgument> &args) {
    return ImageAccesses(args).mutate(body);
}

}  // namespace calotype::internal
