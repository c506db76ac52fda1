// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/realization.h"

namespace calotype {

Realization::Realization(const std::vector<Buffer<void>> &buffers) : buffers_(buffers) {
    user_assert(!buffers_.empty()) << "a realization has no buffers";
}

Realization::Realization(std::vector<Buffer<void>> &&buffers) : buffers_(std::move(buffers)) {
    user_assert(!buffers_.empty()) << "a realization has no buffers";
}

const Buffer<void> &Realization::operator[](size_t i) const {
    user_assert(i < buffers_.size())
        << "realization has no buffer " << i << ", it has " << buffers_.size();
    return buffers_[i];
}

Buffer<void> &Realization::operator[](size_t i) {
    return const_cast<Buffer<void> &>(static_cast<const Realization &>(*this)[i]);
}

void Realization::check_single() const {
    user_assert(buffers_.size() == 1)
        << "a realization of " << buffers_.size() << " buffers is used as one buffer";
}

int Realization::device_sync(void *user_context) {
    for (Buffer<void> &b : buffers_) {
        if (int error = b.device_sync(user_context)) {
            return error;
        }
    }
    return 0;
}

}  // namespace calotype
