// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

#include <dlfcn.h>

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

#include "gil.h"
#include "ref.h"

namespace calotype::python {

namespace {

// What the run on this thread has reported, and what threads of a runtime's pool have.
thread_local std::string *report_of_thread = nullptr;
std::mutex elsewhere_mutex;
std::string reported_elsewhere;

// Begins a run and ends it; one in another has its own report.
class Reported {
public:
    Reported() : place_(report_of_thread), outer_(std::exchange(place_, &text_)) {
    }
    ~Reported() {
        place_ = outer_;
    }
    Reported(const Reported &) = delete;
    Reported &operator=(const Reported &) = delete;
    std::string take() {
        std::lock_guard<std::mutex> lock(elsewhere_mutex);
        std::string other = std::exchange(reported_elsewhere, "");
        return text_.empty() ? other : text_;
    }

private:
    std::string text_;
    std::string *&place_;  ///< of the thread
    std::string *outer_;
};

void report(void *, const char *text) {
    if (std::string *mine = report_of_thread) {
        *mine += (mine->empty() ? "" : "\n") + std::string(text);
        return;
    }
    std::lock_guard<std::mutex> lock(elsewhere_mutex);
    reported_elsewhere = text;
}

// What sys.stdout has raised, for the run that prints or the next one that ends. With the GIL.
nanobind::python_error *raised = nullptr;

void raise_again() {
    if (const std::unique_ptr<nanobind::python_error> e{std::exchange(raised, nullptr)}) {
        throw nanobind::python_error(*e);
    }
}

// Without the GIL, as pipelines run without it.
void print(void *, const char *text) {
    const HeldGil gil;
    PyObject *out = PySys_GetObject("stdout");
    if (out == Py_None) {
        return;
    }
    PyObject *done = run_python(
        [&] { return out ? PyObject_CallMethod(out, "write", "N", shown(text)) : nullptr; });
    if (!done && !raised) {
        raised = new nanobind::python_error();
    }
    PyErr_Clear();
    Py_XDECREF(done);
}

template<typename Function>
Function as(void *symbol) {
    return reinterpret_cast<Function>(symbol);
}

uint64_t bits_of(const calotype_scalar_value_t &value, calotype_type_t type) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, size_t(type.bytes()));
    return bits;
}

ParameterInfo info_of(const calotype_filter_argument_t &a) {
    ParameterInfo p;
    p.name = a.name;
    p.is_buffer = a.kind != calotype_argument_kind_input_scalar;
    p.is_output = a.kind == calotype_argument_kind_output_buffer;
    p.type = a.type;
    p.dimensions = a.dimensions;
    if (!p.is_buffer && a.scalar_def) {
        p.has_default = true;
        p.default_bits = bits_of(*a.scalar_def, a.type);
    }
    return p;
}

std::string name_of_file(const std::string &path) {
    const std::string name = std::filesystem::path(path).filename().string();
    const std::string stem = name.substr(0, name.find('.'));
    return stem.compare(0, 3, "lib") == 0 ? stem.substr(3) : stem;
}

// "a::b::f" as the Itanium ABI for C++ has it.
std::string cpp_symbol(const std::string &name, const std::string &parameters) {
    std::string parts;
    size_t count = 0;
    for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 2, count++) {
        end = name.find("::", begin);
        const std::string part = name.substr(begin, end - begin);
        parts += std::to_string(part.size()) + part;
    }
    return "_Z" + (count > 1 ? "N" + parts + "E" : parts) + parameters;
}

std::string absolute_path(const std::string &path) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    if (path.empty() || error) {
        throw ArrayError("cannot load '" + path + "': it is not the path of a file");
    }
    return absolute.string();
}

}  // namespace

Library::Library(const std::string &path)
    : handle_(dlopen(absolute_path(path).c_str(), RTLD_NOW | RTLD_LOCAL)), path_(path) {
    if (!handle_) {
        throw ArrayError("cannot load " + path + ": " + dlerror());
    }
    if (void *f = find("calotype_set_error_handler")) {
        as<void (*)(void (*)(void *, const char *))>(f)(report);
    }
    if (void *f = find("calotype_set_custom_print")) {
        as<void (*)(void (*)(void *, const char *))>(f)(print);
    }
}

void *Library::find(const std::string &symbol) const {
    return dlsym(handle_, symbol.c_str());
}

void *Library::find_companion(const std::string &function, const std::string &suffix,
                              const std::string &parameters) const {
    void *found = find(function + suffix);
    return found ? found : find(cpp_symbol(function + suffix, parameters));
}

Kernel::Kernel(const std::string &path, const std::string &name)
    : library_(std::make_shared<Library>(path)), name_(name.empty() ? name_of_file(path) : name) {
    void *metadata = library_->find_companion(name_, "_metadata", "v");
    argv_ = as<int (*)(const void **)>(library_->find_companion(name_, "_argv", "PPv"));
    if (!metadata || !argv_) {
        throw ArrayError(path + " has no pipeline '" + name_ + "': there is no function " + name_ +
                         (metadata ? "_argv" : "_metadata"));
    }
    metadata_ = as<const calotype_filter_metadata_t *(*)()>(metadata)();
    if (metadata_->version != calotype_filter_metadata_t::VERSION) {
        throw ArrayError(path + ": pipeline '" + name_ + "' has metadata of version " +
                         std::to_string(metadata_->version) + ", must be " +
                         std::to_string(calotype_filter_metadata_t::VERSION));
    }
    std::vector<ParameterInfo> parameters;
    for (int i = 0; i < metadata_->num_arguments; i++) {
        if (i == 0 && std::string(metadata_->arguments[i].name) == "__user_context") {
            takes_user_context_ = true;
            continue;
        }
        parameters.push_back(info_of(metadata_->arguments[i]));
    }
    make_keywords(parameters);
    signature_ = std::make_unique<Signature>(std::move(parameters));
    callee_.target = metadata_->target;
    callee_.takes_context = takes_user_context_;
    find_cuda();
}

void Kernel::find_cuda() {
    void *interface = library_->find("calotype_cuda_device_interface");
    if (!interface || !has_feature(callee_.target, "cuda")) {
        return;
    }
    callee_.cuda = as<const calotype_device_interface_t *(*)()>(interface)();
    callee_.acquire_context =
        as<int (*)(void *, void **, bool)>(library_->find("calotype_cuda_acquire_context"));
    callee_.release_context = as<int (*)(void *)>(library_->find("calotype_cuda_release_context"));
}

void Kernel::fail(int status, const std::string &text) const {
    throw KernelError(text.empty() ? name_ + " failed with error " + std::to_string(status) : text);
}

BufferRanges Kernel::bounds(PyObject *outputs, PyObject *scalars) const {
    return query_bounds(*signature_, outputs, scalars, [&](const void **arguments) {
        const void *user_context = nullptr;
        const void *argv[CallArguments::max_arguments + 1];
        argv[0] = &user_context;
        std::copy(arguments, arguments + signature_->parameters().size(),
                  argv + (takes_user_context_ ? 1 : 0));
        Reported reported;
        if (const int status = argv_(argv)) {
            fail(status, reported.take());
        }
    });
}

std::unique_ptr<Prefetch> Kernel::prefetch(std::optional<int> device) const {
    using GetModules = const calotype_module_desc *const *(*)();
    const auto get = as<GetModules>(library_->find_companion(name_, "_device_modules", "v"));
    const PrefetchFunctions functions = {
        as<decltype(&calotype_prefetch)>(library_->find("calotype_prefetch")),
        as<decltype(&calotype_prefetch_wait)>(library_->find("calotype_prefetch_wait")),
        as<decltype(&calotype_last_error)>(library_->find("calotype_last_error")),
        as<decltype(&calotype_status_text)>(library_->find("calotype_status_text"))};
    return std::make_unique<Prefetch>(functions, get ? get() : nullptr, library_, callee_, device);
}

// As the C function has it, the context may stand before the arguments.
bool Kernel::has_user_context(PyObject *args) const {
    return takes_user_context_ && size_t(PyTuple_Size(args)) == signature_->parameters().size() + 1;
}

void Kernel::call(PyObject *args, PyObject *keywords) const {
    if (!has_user_context(args)) {
        call(nullptr, args, keywords);
        return;
    }
    PyObject *given = PyTuple_GetItem(args, 0);
    void *user_context =
        given != Py_None && PyLong_Check(given) ? PyLong_AsVoidPtr(given) : nullptr;
    if (PyErr_Occurred() || (given != Py_None && !PyLong_Check(given))) {
        PyErr_Clear();
        throw ArrayError("argument '__user_context' is " + described(given) +
                         ", must be None or an address");
    }
    const Ref rest(PyTuple_GetSlice(args, 1, PyTuple_Size(args)));
    call(user_context, rest.get(), keywords);
}

void Kernel::call(void *given_context, PyObject *args, PyObject *keywords) const {
    const void *user_context = nullptr;
    const void *argv[CallArguments::max_arguments + 1];
    argv[0] = &user_context;
    CallArguments arguments(*signature_, callee_);
    run_python(
        [&] { arguments.convert(args, keywords, nullptr, argv + (takes_user_context_ ? 1 : 0)); });
    if (takes_user_context_) {
        user_context = arguments.device_context(given_context);
    }
    Reported reported;
    int status = 0;
    std::string problem;
    {
        const ReleasedGil without_gil;
        arguments.begin();
        status = argv_(argv);
        if (status == 0) {
            problem = arguments.finish(const_cast<void *>(user_context));
        }
    }
    raise_again();
    if (status != 0) {
        fail(status, reported.take());
    }
    if (!problem.empty()) {
        throw KernelError(problem);
    }
}

}  // namespace calotype::python
