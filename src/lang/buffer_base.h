// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BufferBase: what of Buffer<T, Dims> does not depend on the element type and the number of
// dimensions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/argument.h"
#include "ir/enums.h"
#include "ir/expr.h"
#include "lang/device_interface.h"
#include "pipeline/parameter.h"
#include "runtime/cpp/buffer.h"

namespace calotype {
namespace internal {

/// A Runtime::Buffer of any type, shared by all handles to it.
struct RuntimeBufferStorage : BufferStorage {
    explicit RuntimeBufferStorage(Runtime::Buffer<> &&b) : buffer(std::move(b)) {
    }
    calotype_buffer_t *raw() override {
        return buffer.raw_buffer();
    }
    Runtime::Buffer<> buffer;
};

/// New host memory of that type with the mins and extents of a buffer, dimensions in the same order
/// in memory.
Runtime::Buffer<> new_buffer_shaped_like(const calotype_buffer_t &shape, calotype_type_t type);

/// A handle: copies are the same buffer. All members but defined, same_as and image need a defined
/// one.
class BufferBase {
public:
    bool defined() const {
        return image_.defined();
    }
    bool same_as(const BufferBase &other) const {
        return image_ == other.image_;
    }
    const std::string &name() const {
        return checked()->name;
    }
    void set_name(const std::string &name) {
        checked()->name = name;
    }
    Type type() const {
        return Type(untyped().type());
    }
    /// The buffer as the Symbol that calls to it carry.
    const Image &image() const {
        return image_;
    }
    calotype_buffer_t *raw_buffer() const {
        return untyped().raw_buffer();
    }

    int dimensions() const {
        return untyped().dimensions();
    }
    Runtime::Buffer<>::Dimension dim(int i) const {
        return untyped().dim(i);
    }
    int min(int i) const {
        return dim(i).min();
    }
    int extent(int i) const {
        return dim(i).extent();
    }
    int stride(int i) const {
        return dim(i).stride();
    }
    int width() const {
        return untyped().width();
    }
    int height() const {
        return untyped().height();
    }
    int channels() const {
        return untyped().channels();
    }
    int left() const {
        return untyped().left();
    }
    int right() const {
        return untyped().right();
    }
    int top() const {
        return untyped().top();
    }
    int bottom() const {
        return untyped().bottom();
    }
    size_t number_of_elements() const {
        return untyped().number_of_elements();
    }
    size_t size_in_bytes() const {
        return untyped().size_in_bytes();
    }
    template<typename... Args>
    bool contains(Args &&...args) const {
        return untyped().contains(std::forward<Args>(args)...);
    }

    /// Changes of the shape, in place and for all handles; see Runtime::Buffer.
    template<typename... Args>
    void crop(Args &&...args) {
        untyped().crop(std::forward<Args>(args)...);
    }
    void crop(const std::vector<std::pair<int, int>> &rect) {
        untyped().crop(rect);
    }
    template<typename... Args>
    void set_min(Args &&...args) {
        untyped().set_min(std::forward<Args>(args)...);
    }
    void translate(int d, int delta) {
        untyped().translate(d, delta);
    }
    void translate(const std::vector<int> &delta) {
        untyped().translate(delta);
    }
    void transpose(int d1, int d2) {
        untyped().transpose(d1, d2);
    }
    void transpose(const std::vector<int> &order) {
        untyped().transpose(order);
    }

    /// As an argument of a compiled function: an input of this name and type.
    operator Argument() const {
        return Argument(name(), Argument::InputBuffer, type(), dimensions(), ArgumentEstimates());
    }

    /// Copies between host and device; they give 0 or an error code.
    int copy_to_host(void *context = nullptr) {
        return untyped().copy_to_host(context);
    }
    int copy_to_device(const calotype_device_interface_t *interface, void *context = nullptr) {
        return untyped().copy_to_device(interface, context);
    }
    int copy_to_device(const Target &t = get_jit_target_from_environment(),
                       void *context = nullptr);
    int copy_to_device(const DeviceAPI &api, const Target &t = get_jit_target_from_environment(),
                       void *context = nullptr);
    int device_malloc(const calotype_device_interface_t *interface, void *context = nullptr) {
        return untyped().device_malloc(interface, context);
    }
    int device_malloc(const Target &t = get_jit_target_from_environment(), void *context = nullptr);
    int device_malloc(const DeviceAPI &api, const Target &t = get_jit_target_from_environment(),
                      void *context = nullptr);
    int device_wrap_native(const calotype_device_interface_t *interface, uint64_t handle,
                           void *context = nullptr) {
        return untyped().device_wrap_native(interface, handle, context);
    }
    int device_wrap_native(const DeviceAPI &api, uint64_t handle,
                           const Target &t = get_jit_target_from_environment());
    int device_detach_native(void *context = nullptr) {
        return untyped().device_detach_native(context);
    }
    int device_free(void *context = nullptr) {
        return untyped().device_free(context);
    }
    int device_sync(void *context = nullptr) {
        return untyped().device_sync(context);
    }
    bool has_device_allocation() const {
        return untyped().has_device_allocation();
    }
    bool host_dirty() const {
        return untyped().host_dirty();
    }
    bool device_dirty() const {
        return untyped().device_dirty();
    }
    void set_host_dirty(bool dirty = true) {
        untyped().set_host_dirty(dirty);
    }
    void set_device_dirty(bool dirty = true) {
        untyped().set_device_dirty(dirty);
    }
    void allocate() {
        untyped().allocate();
    }
    void deallocate() {
        untyped().deallocate();
    }
    void device_deallocate() {
        untyped().device_deallocate();
    }

    /// The Runtime::Buffer behind all handles, its element type known at run time alone.
    const Runtime::Buffer<> &shared_storage() const {
        return untyped();
    }
    /// The element at these coordinates as an Expr, for use in a pipeline.
    Expr call(const std::vector<Expr> &args) const;

protected:
    BufferBase() = default;
    /// Name empty: one of its own making.
    BufferBase(Runtime::Buffer<> &&buffer, const std::string &name);
    BufferBase(Image image) : image_(std::move(image)) {
    }
    const Image &checked() const;
    Runtime::Buffer<> &untyped() const {
        return static_cast<RuntimeBufferStorage *>(checked()->buffer.get())->buffer;
    }
    /// A CompileError unless defined with this element type (bits 0: any) and dimensions (-1: any),
    /// or not defined.
    void check_convertible(calotype_type_t type, int dimensions) const;

    Image image_;
};

}  // namespace internal
}  // namespace calotype
