// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/nvjitlink.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "codegen/nvptx/child_process.h"
#include "codegen/nvptx/link_worker.h"
#include "codegen/nvptx/nvjitlink_core.h"

namespace calotype::internal {

namespace {

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

/// What the library is asked for.
struct Request {
    std::string arch;
    std::vector<const char *> options;
    std::vector<ct_link_input> inputs;

    Request(const std::vector<LinkInput> &given, Capability capability)
        : arch("-arch=" + to_string(capability)), options{arch.c_str(), "-verbose"} {
        for (const LinkInput &input : given) {
            // Text is read up to its NUL.
            const size_t size = input.bytes->size() + (input.kind == CALOTYPE_PTX ? 1 : 0);
            inputs.push_back(
                {input_kind(input.kind), input.name.c_str(), input.bytes->c_str(), size});
        }
        if (std::any_of(given.begin(), given.end(),
                        [](const LinkInput &input) { return input.holds_lto_ir; })) {
            options.push_back("-lto");
        }
    }
    Request(const Request &) = delete;
    Request &operator=(const Request &) = delete;
};

/// The result, with words where the library has none.
LinkResult described(LinkResult result, bool is_created, const Request &request) {
    if (!is_created) {
        result.log =
            "nvJitLink refuses " + request.arch + " with error " + std::to_string(result.code);
    } else if (!result.ok && result.log.empty()) {
        result.log = "nvJitLink fails with error " + std::to_string(result.code);
    }
    return result;
}

template<typename T>
void append(std::string &bytes, const T &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// The request as link_worker.h says.
std::string written(const Request &request, const std::string &library) {
    std::string bytes;
    append(bytes,
           ct_worker_request{uint32_t(request.options.size()), uint32_t(request.inputs.size())});
    bytes.append(library.c_str(), library.size() + 1);
    for (const char *option : request.options) {
        bytes.append(option, std::strlen(option) + 1);
    }
    for (const ct_link_input &input : request.inputs) {
        append(bytes, ct_worker_input{input.kind, 0, input.size});
        bytes.append(input.name, std::strlen(input.name) + 1);
        bytes.append(static_cast<const char *>(input.bytes), input.size);
    }
    return bytes;
}

/// Nothing if part of the answer is missing.
std::optional<LinkResult> read_answer(const std::string &bytes, const Request &request) {
    ct_worker_answer head;
    if (bytes.size() < sizeof head) {
        return std::nullopt;
    }
    std::memcpy(&head, bytes.data(), sizeof head);
    if (bytes.size() - sizeof head != head.log_size + head.cubin_size) {
        return std::nullopt;
    }
    LinkResult result;
    result.ok = head.ok != 0;
    result.code = head.code;
    result.refused_input = head.refused_input;
    result.log = bytes.substr(sizeof head, head.log_size);
    result.cubin = bytes.substr(sizeof head + head.log_size);
    return described(std::move(result), head.created != 0, request);
}

LinkResult without_library() {
    LinkResult result;
    result.log = "nvJitLink is not there";
    return result;
}

}  // namespace

bool can_link(const CudaToolkit &toolkit) {
    ct_nvjitlink link;
    return ct_load_nvjitlink(&link, toolkit.nvjitlink.c_str()) != 0;
}

LinkResult link_in_process(const std::vector<LinkInput> &inputs, Capability capability,
                           const CudaToolkit &toolkit) {
    ct_nvjitlink link;
    if (!ct_load_nvjitlink(&link, toolkit.nvjitlink.c_str())) {
        return without_library();
    }
    Request request(inputs, capability);
    ct_link_output out;
    const bool is_created = ct_link(&link, request.options.data(), uint32_t(request.options.size()),
                                    request.inputs.data(), request.inputs.size(), &out) != 0;
    LinkResult result;
    result.ok = out.ok != 0;
    result.code = out.code;
    result.refused_input = out.refused_input;
    result.log.assign(out.log ? out.log : "", out.log_size);
    result.cubin.assign(out.cubin ? out.cubin : "", out.cubin_size);
    std::free(out.log);
    std::free(out.cubin);
    return described(std::move(result), is_created, request);
}

LinkResult link_in_child(const std::vector<LinkInput> &inputs, Capability capability,
                         const CudaToolkit &toolkit) {
    if (!can_link(toolkit)) {
        return without_library();
    }
    const Request request(inputs, capability);
    const ChildResult child = run_link_worker(written(request, toolkit.nvjitlink));
    if (!child.has_run) {
        return link_in_process(inputs, capability, toolkit);
    }
    if (const auto whole = read_answer(child.bytes, request); whole && child.crash.empty()) {
        return *whole;
    }
    LinkResult result;
    result.crash = child.crash.empty() ? "no result" : child.crash;
    return result;
}

}  // namespace calotype::internal
