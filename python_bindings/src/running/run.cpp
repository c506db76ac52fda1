// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run.h"

#include <utility>

#include <calotype/driver/jit_shared_runtime.h>

#include "buffer.h"
#include "interruptible.h"

namespace calotype::python {

namespace {

bool is_size(nb::handle h) {
    return are_sizes(nb::make_tuple(h));
}

// Not all are sizes, or else the list were one: it is wrong as that if it begins with a size.
void check_items(nb::handle list) {
    const bool of_sizes = nb::len(list) > 0 && is_size(list[0]);
    size_t i = 0;
    for (nb::handle item : nb::iter(list)) {
        call_assert(!of_sizes || is_size(item))
            << "size " << i << " of a realization is " << describe(item) << ", must be an int";
        call_assert(of_sizes || i > 0 || is_buffer_like(item))
            << describe(item) << " is no size, which is an int, and no Buffer";
        call_assert(of_sizes || is_buffer_like(item))
            << "output " << i << " of a realization is " << describe(item)
            << ", must be a Buffer or an array";
        i++;
    }
}

// What is filled: buffers, and which of them are views of arrays.
struct Outputs {
    std::vector<Buffer<>> buffers;
    std::vector<Buffer<>> of_arrays;
    std::vector<Runtime::Buffer<>> kept;  ///< their memory, also if another thread deallocates one

    explicit Outputs(nb::handle h) {
        // A number of numpy has memory, but stands for a size where it is in a list.
        if (is_buffer_like(h) && !is_size(h)) {
            reserve(1);
            add(h);
            return;
        }
        call_assert(PyTuple_Check(h.ptr()) || PyList_Check(h.ptr()))
            << describe(h) << " is no list of sizes, no Buffer, and no tuple of Buffers";
        reserve(nb::len(h));
        check_items(h);
        for (nb::handle item : nb::iter(h)) {
            add(item);
        }
    }

private:
    void reserve(size_t count) {
        buffers.reserve(count);
        kept.reserve(count);
    }
    void add(nb::handle h) {
        Buffer<> b = to_buffer(h);
        call_assert(b.defined()) << "an undefined Buffer is to be filled";
        check_writable(b, "the pipeline");
        for (int d = 0; d < b.dimensions() && b.number_of_elements() > 0; d++) {
            call_assert(b.dim(d).stride() != 0 || b.dim(d).extent() <= 1)
                << "buffer " << b.name() << " has stride 0 in dimension " << d << " of extent "
                << b.dim(d).extent()
                << ", its elements share memory: a result must have each in a place of its own";
        }
        buffers.push_back(b);
        kept.push_back(b.shared_storage());
        if (!is_buffer(h)) {
            of_arrays.push_back(b);
        }
    }
};

nb::object to_python(const Realization &r) {
    if (r.size() == 1) {
        return nb::cast(with_memory(r[0]));
    }
    nb::list buffers;
    for (size_t i = 0; i < r.size(); i++) {
        buffers.append(nb::cast(with_memory(r[i])));
    }
    return nb::tuple(buffers);
}

}  // namespace

namespace {

// Raised where it is not known for which run; under the GIL.
std::exception_ptr raised_elsewhere;

}  // namespace

PythonContext::PythonContext() {
    handlers.custom_print = print;
}

void PythonContext::keep_raised(const nb::python_error &e) {
    JITUserContext *run = calotype::internal::JITSharedRuntime::current_run();
    const bool is_of_python = run && run->handlers.custom_print == print;
    std::exception_ptr &place =
        is_of_python ? static_cast<PythonContext *>(run)->raised_ : raised_elsewhere;
    if (!place) {
        place = std::make_exception_ptr(e);
    }
}

void *PythonContext::on(const calotype_device_context *where) {
    JITUserContext *self = this;
    if (!where) {
        return self;
    }
    where_ = *where;
    where_.user_context = self;
    return &where_;
}

Callee callee_of(const Target &target) {
    Callee callee;
    callee.target = target.to_string();
    if (target.has_feature(Target::CUDA)) {
        callee.cuda = cuda_interface();
        using internal::JITSharedRuntime;
        callee.acquire_context = reinterpret_cast<int (*)(void *, void **, bool)>(
            JITSharedRuntime::find_symbol(target, "calotype_cuda_acquire_context"));
        callee.release_context = reinterpret_cast<int (*)(void *)>(
            JITSharedRuntime::find_symbol(target, "calotype_cuda_release_context"));
    }
    return callee;
}

void PythonContext::check() {
    if (!raised_ && !raised_elsewhere) {
        return;
    }
    const std::exception_ptr first = std::exchange(raised_, nullptr);
    const std::exception_ptr other = std::exchange(raised_elsewhere, nullptr);
    std::rethrow_exception(first ? first : other);
}

void PythonContext::print(JITUserContext *context, const char *text) {
    auto *self = static_cast<PythonContext *>(context);
    HeldGil gil;
    try {
        const nb::object out = nb::module_::import_("sys").attr("stdout");
        if (!out.is_none()) {
            out.attr("write")(nb::steal(shown(text)));
        }
    } catch (...) {
        self->raised_ = caught();
    }
}

namespace {

// An array of one dimension lists sizes where it cannot be what is filled; else what is given.
nb::object sizes_in_array(Pipeline &p, nb::handle given) {
    const nb::object same = nb::borrow(given);
    if (is_buffer(given) || PyTuple_Check(given.ptr()) || PyList_Check(given.ptr()) ||
        !nb::getattr(given, "ndim", nb::none()).equal(nb::int_(1)) ||
        !nb::hasattr(given, "tolist")) {
        return same;
    }
    const int dimensions = p.outputs()[0].dimensions();
    if (dimensions == 1 || nb::len(given) != size_t(dimensions)) {
        return same;
    }
    const nb::object list = given.attr("tolist")();
    return are_sizes(list) ? list : same;
}

// A run that may have to compile first: ended by a signal, that is what is raised.
template<typename F>
void compile_and_run(PythonContext &context, const F &f) {
    Interruptible interruptible;
    std::exception_ptr thrown;
    try {
        context.run(f);
    } catch (...) {
        thrown = caught();
    }
    interruptible.check();
    if (thrown) {
        std::rethrow_exception(thrown);
    }
}

}  // namespace

nb::object realize(Pipeline p, nb::handle given, const Target &target) {
    const nb::object where = sizes_in_array(p, given);
    PythonContext context;
    if (are_sizes(where)) {
        const std::vector<int> sizes = to_sizes(where, "a realization");
        for (const Func &f : p.outputs()) {
            for (const Type &t : f.types()) {
                check_bytes(sizes, t);
            }
        }
        std::optional<Realization> r;
        compile_and_run(context, [&] { r = p.realize(&context, sizes, target); });
        return to_python(*r);
    }
    Outputs outputs(where);
    compile_and_run(context, [&] {
        for (const Buffer<> &b : outputs.of_arrays) {
            order_with_array(b, true);
        }
        p.realize(&context, std::move(outputs.buffers), target);
        for (Buffer<> &b : outputs.of_arrays) {
            if (cuda_device_of_array(b) < 0) {
                check_device_status(b.copy_to_host(), "copying a result to the host");
            }
            order_with_array(b, false);
        }
    });
    return nb::none();
}

void infer_input_bounds(Pipeline p, nb::handle given, const Target &target) {
    const nb::object where = sizes_in_array(p, given);
    PythonContext context;
    const Target t = target == Target() ? get_jit_target_from_environment() : target;
    if (are_sizes(where)) {
        const std::vector<int> sizes = to_sizes(where, "a realization");
        compile_and_run(context, [&] { p.infer_input_bounds(&context, sizes, t); });
        return;
    }
    Outputs outputs(where);
    compile_and_run(context,
                    [&] { p.infer_input_bounds(&context, std::move(outputs.buffers), t); });
}

}  // namespace calotype::python
