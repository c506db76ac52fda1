// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/buffer.h"

#include "ir/expr_nodes.h"
#include "lang/func_ref.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

Runtime::Buffer<> new_buffer_shaped_like(const calotype_buffer_t &shape, calotype_type_t type) {
    calotype_buffer_t like = shape;
    like.type = type;
    return Runtime::Buffer<>::make_with_shape_of(Runtime::Buffer<>(like));
}

BufferBase::BufferBase(Runtime::Buffer<> &&buffer, const std::string &name)
    : image_(new ImageContents(name.empty() ? unique_name('b') : name,
                               new RuntimeBufferStorage(std::move(buffer)))) {
}

const Image &BufferBase::checked() const {
    user_assert(image_.defined()) << "an undefined buffer is used";
    return image_;
}

void BufferBase::check_convertible(calotype_type_t type, int dims) const {
    if (!defined()) {
        return;
    }
    // What a handle points to is not part of the type in memory.
    user_assert(type.bits == 0 || type == this->type().to_abi())
        << "buffer " << name() << " has element type " << this->type()
        << " and is used as a buffer of " << Type(type);
    user_assert(dims == Runtime::AnyDims || dims == dimensions())
        << "buffer " << name() << " has " << dimensions()
        << " dimensions and is used as a buffer of " << dims;
}

Expr BufferBase::call(const std::vector<Expr> &args) const {
    const std::string what = "buffer " + name();
    std::vector<Expr> coordinates = args;
    int count = 0;
    expand_placeholder(what, coordinates, dimensions(), &count);
    user_assert(int(coordinates.size()) == dimensions())
        << what << " is called with " << coordinates.size() << " coordinates, it has "
        << dimensions() << " dimensions";
    return Call::make(type(), name(), as_coordinates(what, coordinates), CallKind::Image, 0,
                      image_);
}

}  // namespace calotype::internal
