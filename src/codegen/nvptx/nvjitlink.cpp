// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/nvjitlink.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include <dlfcn.h>

#include "codegen/nvptx/child_process.h"

namespace calotype::internal {

namespace {

/// The library's functions, as its headers declare them: results are 0 if all went well.
struct NvJitLink {
    using Handle = void *;
    int (*create)(Handle *, uint32_t option_count, const char **options);
    int (*destroy)(Handle *);
    int (*add_data)(Handle, int kind, const void *data, size_t size, const char *name);
    int (*complete)(Handle);
    int (*cubin_size)(Handle, size_t *);
    int (*cubin)(Handle, void *);
    int (*error_log_size)(Handle, size_t *);
    int (*error_log)(Handle, char *);
    int (*info_log_size)(Handle, size_t *);
    int (*info_log)(Handle, char *);

    /// True if the library is there and has them all. It stays loaded.
    bool load(const std::string &path) {
        void *library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        return library && find(library, "nvJitLinkCreate", create) &&
               find(library, "nvJitLinkDestroy", destroy) &&
               find(library, "nvJitLinkAddData", add_data) &&
               find(library, "nvJitLinkComplete", complete) &&
               find(library, "nvJitLinkGetLinkedCubinSize", cubin_size) &&
               find(library, "nvJitLinkGetLinkedCubin", cubin) &&
               find(library, "nvJitLinkGetErrorLogSize", error_log_size) &&
               find(library, "nvJitLinkGetErrorLog", error_log) &&
               find(library, "nvJitLinkGetInfoLogSize", info_log_size) &&
               find(library, "nvJitLinkGetInfoLog", info_log);
    }

private:
    template<typename F>
    static bool find(void *library, const char *name, F &function) {
        function = reinterpret_cast<F>(dlsym(library, name));
        return function != nullptr;
    }
};

using SizeOf = int (*)(NvJitLink::Handle, size_t *);

/// A log of the library, without the zeros at its end.
std::string read_log(NvJitLink::Handle handle, SizeOf size_of,
                     int (*get)(NvJitLink::Handle, char *)) {
    size_t size = 0;
    if (size_of(handle, &size) != 0 || size == 0) {
        return "";
    }
    std::vector<char> text(size + 1, 0);
    return get(handle, text.data()) == 0 ? std::string(text.data()) : "";
}

/// The library's number of a kind of input.
int input_kind(calotype_kind kind) {
    switch (kind) {
#define CALOTYPE_IMAGE_KIND(kind, title, nvjitlink)                                                \
    case kind:                                                                                     \
        return nvjitlink;
#include "runtime/abi/image_kinds.def"
#undef CALOTYPE_IMAGE_KIND
    }
    return 0;
}

void run(const NvJitLink &link, NvJitLink::Handle handle, const std::vector<LinkInput> &inputs,
         LinkResult &result) {
    for (size_t i = 0; i < inputs.size(); i++) {
        const LinkInput &input = inputs[i];
        // Text is read up to its NUL.
        const size_t size = input.bytes->size() + (input.kind == CALOTYPE_PTX ? 1 : 0);
        result.code = link.add_data(handle, input_kind(input.kind), input.bytes->c_str(), size,
                                    input.name.c_str());
        if (result.code != 0) {
            result.refused_input = int(i);
            return;
        }
    }
    size_t size = 0;
    result.code = link.complete(handle);
    if (result.code == 0 && link.cubin_size(handle, &size) == 0 && size > 0) {
        result.cubin.resize(size);
        result.ok = link.cubin(handle, result.cubin.data()) == 0;
    }
}

LinkResult link_with(const NvJitLink &link, const std::vector<LinkInput> &inputs,
                     Capability capability) {
    LinkResult result;
    const std::string arch = "-arch=" + to_string(capability);
    std::vector<const char *> options = {arch.c_str(), "-verbose"};
    if (std::any_of(inputs.begin(), inputs.end(),
                    [](const LinkInput &input) { return input.holds_lto_ir; })) {
        options.push_back("-lto");
    }
    NvJitLink::Handle handle = nullptr;
    result.code = link.create(&handle, uint32_t(options.size()), options.data());
    if (result.code != 0) {
        result.log = "nvJitLink refuses " + arch + " with error " + std::to_string(result.code);
        return result;
    }
    run(link, handle, inputs, result);
    result.log = read_log(handle, link.error_log_size, link.error_log) +
                 read_log(handle, link.info_log_size, link.info_log);
    if (!result.ok && result.log.empty()) {
        result.log = "nvJitLink fails with error " + std::to_string(result.code);
    }
    link.destroy(&handle);
    return result;
}

/// Held shared in calls of the library, and alone while this process is copied.
std::shared_mutex &quiet() {
    static std::shared_mutex mutex;
    return mutex;
}

/// A result on its way between processes: numbers in front, then the log, then the cubin.
struct ResultHead {
    bool ok;
    int code, refused_input;
    size_t log_size, cubin_size;
};

std::string pack(const LinkResult &result) {
    const ResultHead head = {result.ok, result.code, result.refused_input, result.log.size(),
                             result.cubin.size()};
    return std::string(reinterpret_cast<const char *>(&head), sizeof head) + result.log +
           result.cubin;
}

/// Nothing if part of it is missing.
std::optional<LinkResult> unpack(const std::string &bytes) {
    ResultHead head;
    if (bytes.size() < sizeof head) {
        return std::nullopt;
    }
    std::memcpy(&head, bytes.data(), sizeof head);
    if (bytes.size() != sizeof head + head.log_size + head.cubin_size) {
        return std::nullopt;
    }
    LinkResult result;
    result.ok = head.ok;
    result.code = head.code;
    result.refused_input = head.refused_input;
    result.log = bytes.substr(sizeof head, head.log_size);
    result.cubin = bytes.substr(sizeof head + head.log_size);
    return result;
}

LinkResult without_library() {
    LinkResult result;
    result.log = "nvJitLink is not there";
    return result;
}

}  // namespace

bool can_link(const CudaToolkit &toolkit) {
    NvJitLink link;
    return link.load(toolkit.nvjitlink);
}

LinkResult link_in_process(const std::vector<LinkInput> &inputs, Capability capability,
                           const CudaToolkit &toolkit) {
    NvJitLink link;
    if (!link.load(toolkit.nvjitlink)) {
        return without_library();
    }
    const std::shared_lock lock(quiet());
    return link_with(link, inputs, capability);
}

LinkResult link_in_child(const std::vector<LinkInput> &inputs, Capability capability,
                         const CudaToolkit &toolkit) {
    NvJitLink link;
    if (!link.load(toolkit.nvjitlink)) {
        return without_library();
    }
    const ChildResult child = run_in_child(
        [&] { return pack(link_with(link, inputs, capability)); }, std::unique_lock(quiet()));
    if (!child.has_run) {
        return link_in_process(inputs, capability, toolkit);
    }
    if (const auto whole = unpack(child.bytes); whole && child.crash.empty()) {
        return *whole;
    }
    LinkResult result;
    result.crash = child.crash.empty() ? "no result" : child.crash;
    return result;
}

}  // namespace calotype::internal
