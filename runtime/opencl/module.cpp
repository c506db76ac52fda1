// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/opencl/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/runtime_opencl.h"
#include "runtime/device/linkable_files.h"
#include "runtime/host/data/sha256.h"
#include "runtime/host/not_copied.h"
#include "runtime/host/text.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/memory.h"

namespace calotype::runtime::opencl {

namespace {

const calotype_image *find_source(const calotype_image *images, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (images[i].kind == CALOTYPE_OPENCL_C) {
            return &images[i];
        }
    }
    return nullptr;
}

// ---- extensions ------------------------------------------------------------------------------

constexpr char directive[] = "#pragma OPENCL EXTENSION ";
constexpr size_t longest_name = 63;

struct Feature {
    const char *extension, *feature;
};
const Feature features[] = {{"cl_khr_fp16", "cl_half"},
                            {"cl_khr_fp64", "cl_doubles"},
                            {"cl_khr_int64_base_atomics", "cl_atomics64"},
                            {"cl_khr_int64_extended_atomics", "cl_atomics64"}};

/** A word of the list, with blanks around. */
bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) {
            return true;
        }
    }
    return false;
}

/** What the device has, on the heap; null if it does not say. */
char *extensions_of(cl_device_id device) {
    size_t size = 0;
    if (cl().clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &size) != CL_SUCCESS ||
        size == 0) {
        return nullptr;
    }
    auto *list = static_cast<char *>(calloc(size + 1, 1));
    if (list &&
        cl().clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, size, list, nullptr) != CL_SUCCESS) {
        free(list);
        return nullptr;
    }
    return list;
}

/** The name behind the directive with which a line begins; false if it begins otherwise. */
bool read_directive(const char *line, const char *end, char *name) {
    const size_t length = sizeof directive - 1;
    if (size_t(end - line) < length || memcmp(line, directive, length) != 0) {
        return false;
    }
    size_t n = 0;
    for (line += length; line + n < end && line[n] != ' ' && line[n] != ':'; n++) {
        if (n == longest_name) {
            return false;
        }
        name[n] = line[n];
    }
    name[n] = 0;
    return n > 0;
}

/** The first extension that the text enables and the device has not, with the target feature that
 * made the compiler use it. False: there is none, or the device does not say what it has. */
bool explain_lack_of_extension(const DeviceScope &scope, const char *text, size_t size, Text &out) {
    char *list = extensions_of(record_of(scope).device);
    bool lacks = false;
    const char *const end = text + size;
    while (list && text < end && !lacks) {
        char name[longest_name + 1];
        lacks = read_directive(text, end, name) && !has_word(list, name);
        if (lacks) {
            out << "the device has no " << name;
            for (const Feature &known : features) {
                if (strcmp(known.extension, name) == 0) {
                    out << ", which target feature " << known.feature << " asks for";
                }
            }
        }
        while (text < end && *text++ != '\n') {
        }
    }
    free(list);
    return lacks;
}

// ---- programs --------------------------------------------------------------------------------

/** The texts that a module is compiled from, in order. */
class Sources : NotCopied {
    const char **texts = nullptr;
    size_t *sizes = nullptr;
    cl_uint count = 0;

    void add(const calotype_image &image) {
        texts[count] = static_cast<const char *>(image.data);
        sizes[count++] = image.size;
    }

public:
    ~Sources() {
        free(texts);
        free(sizes);
    }

    calotype_status collect(const calotype_module_desc &desc);
    cl_program create_program(const DeviceScope &scope, cl_int *error) {
        return cl().clCreateProgramWithSource(context_of(scope), count, texts, sizes, error);
    }
    bool has_linkables() const {
        return count > 1;
    }
    /** True if one enables an extension that the device has not, which the text then says. */
    bool ask_too_much(const DeviceScope &scope, Text &text) const;
    /** All of them in one piece of the heap, null if there is no memory. */
    char *join(size_t *size) const;
};

calotype_status Sources::collect(const calotype_module_desc &desc) {
    const calotype_image *own = find_source(desc.images, desc.n_images);
    if (!own) {
        return fail_with(CALOTYPE_E_NO_IMAGE, Text() << "module " << desc.name
                                                     << " has no OpenCL C among its "
                                                     << desc.n_images << " images");
    }
    texts = static_cast<const char **>(calloc(desc.n_linkables + 1, sizeof *texts));
    sizes = static_cast<size_t *>(calloc(desc.n_linkables + 1, sizeof *sizes));
    if (!texts || !sizes) {
        return fail_with(CALOTYPE_E_OOM, Text() << "out of host memory for the list of "
                                                << desc.n_linkables + 1 << " sources of module "
                                                << desc.name);
    }
    for (uint32_t i = 0; i < desc.n_linkables; i++) {
        const calotype_linkable_desc &linkable = *desc.linkables[i];
        if (const calotype_image *image = find_source(linkable.images, linkable.n_images)) {
            add(*image);
        } else if (has_code(linkable) && !(linkable.flags & CALOTYPE_LK_OPTIONAL)) {
            return fail_with(CALOTYPE_E_LINK,
                             Text() << "linkable " << linkable.name << " of module " << desc.name
                                    << " has no OpenCL C; OpenCL takes linkables in no other form");
        }
    }
    add(*own);
    return CALOTYPE_OK;
}

bool Sources::ask_too_much(const DeviceScope &scope, Text &text) const {
    for (cl_uint i = 0; i < count; i++) {
        if (explain_lack_of_extension(scope, texts[i], sizes[i], text)) {
            return true;
        }
    }
    return false;
}

char *Sources::join(size_t *size) const {
    size_t total = 0;
    for (cl_uint i = 0; i < count; i++) {
        total += sizes[i];
    }
    auto *text = static_cast<char *>(malloc(total + 1));
    size_t at = 0;
    for (cl_uint i = 0; text && i < count; i++) {
        memcpy(text + at, texts[i], sizes[i]);
        at += sizes[i];
    }
    *size = total;
    return text;
}

/** Tell describe_error(). `otherwise` is the status of errors that are no other's. */
calotype_status fail(cl_int error, const char *function, calotype_status otherwise) {
    const calotype_status status = explain(error, function);
    return status == CALOTYPE_E_DEVICE ? otherwise : status;
}

void append_build_log(const DeviceScope &scope, cl_program program, Text &log) {
    size_t size = 0;
    cl_device_id device = record_of(scope).device;
    if (cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
            CL_SUCCESS ||
        size <= 1) {
        return;
    }
    auto *text = static_cast<char *>(calloc(size + 1, 1));
    if (text && cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, text,
                                           nullptr) == CL_SUCCESS) {
        log << "\n" << text;
    }
    free(text);
}

/** Compile for the scope's device. */
calotype_status build_program(const DeviceScope &scope, const calotype_module_desc &desc,
                              const Sources &sources, cl_program program) {
    const char *options = calotype_opencl_get_build_options(scope.user_context);
    cl_device_id device = record_of(scope).device;
    const cl_int error = cl().clBuildProgram(program, 1, &device, options, nullptr, nullptr);
    if (error == CL_SUCCESS) {
        return CALOTYPE_OK;
    }
    if (status_of(error) == CALOTYPE_E_OOM) {
        return explain(error, "clBuildProgram");
    }
    Text text;
    text << "the OpenCL C of module " << desc.name << " does not compile";
    if (*options) {
        text << " with the options \"" << options << "\"";
    }
    text << ": ";
    if (!sources.ask_too_much(scope, text)) {
        text << describe_error(error, "clBuildProgram").c_str();
        append_build_log(scope, program, text);
    }
    set_failure(text, error);
    return status_of(error) == CALOTYPE_E_DEVICE ? CALOTYPE_E_COMPILE : status_of(error);
}

calotype_status compile(const DeviceScope &scope, const calotype_module_desc &desc,
                        Sources &sources, cl_program *program) {
    cl_int error = CL_SUCCESS;
    *program = sources.create_program(scope, &error);
    if (error != CL_SUCCESS) {
        return fail(error, "clCreateProgramWithSource", CALOTYPE_E_COMPILE);
    }
    const calotype_status status = build_program(scope, desc, sources, *program);
    if (status != CALOTYPE_OK) {
        cl().clReleaseProgram(*program);
        *program = nullptr;
    }
    return status;
}

constexpr cl_uint max_devices = 64;

/** Which of the program's devices the scope's is, -1 if there is none or too many. */
int position_of_device(const DeviceScope &scope, cl_program program, cl_uint *count) {
    cl_device_id devices[max_devices];
    if (cl().clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof *count, count, nullptr) !=
            CL_SUCCESS ||
        *count > max_devices ||
        cl().clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices, nullptr) !=
            CL_SUCCESS) {
        return -1;
    }
    for (cl_uint i = 0; i < *count; i++) {
        if (devices[i] == record_of(scope).device) {
            return int(i);
        }
    }
    return -1;
}

/** The binary for the scope's device, false if the driver has none to give. */
bool get_binary(const DeviceScope &scope, cl_program program, LoadableImage *image) {
    cl_uint count = 0;
    size_t sizes[max_devices] = {};
    unsigned char *binaries[max_devices] = {};
    const int position = position_of_device(scope, program, &count);
    if (position < 0 ||
        cl().clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, nullptr) !=
            CL_SUCCESS ||
        sizes[position] == 0) {
        return false;
    }
    // Null for another device: its binary is not wanted.
    binaries[position] = static_cast<unsigned char *>(malloc(sizes[position]));
    if (!binaries[position] ||
        cl().clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof *binaries, binaries,
                              nullptr) != CL_SUCCESS) {
        free(binaries[position]);
        return false;
    }
    image->kind = CALOTYPE_OBJECT;
    image->bytes = binaries[position];
    image->size = sizes[position];
    image->persistable = true;
    return true;
}

bool says_binary_is_unfit(cl_int error) {
    return error == CL_INVALID_BINARY || error == CL_BUILD_PROGRAM_FAILURE;
}

/** What there is instead of a binary that the driver does not take. */
calotype_status load_source(const DeviceScope &scope, const calotype_module_desc &desc,
                            void **module) {
    Sources sources;
    cl_program program = nullptr;
    calotype_status status = sources.collect(desc);
    status = status == CALOTYPE_OK ? compile(scope, desc, sources, &program) : status;
    *module = program;
    return status;
}

}  // namespace

calotype_status describe(const DeviceScope &scope, DeviceArch *arch) {
    arch->sm = 0;
    arch->suffix = 0;
    Text text;
    text << record_of(scope).tools;
    const char *options = calotype_opencl_get_build_options(scope.user_context);
    if (*options) {
        text << ", " << options;
    }
    // Too long for its place: cut off, with a hash of all.
    constexpr size_t room = sizeof arch->toolchain, cut = room - 66;
    snprintf(arch->toolchain, room, "%s", text.c_str());
    if (text.size() >= room) {
        const calotype_uid hash = sha256(text.c_str(), text.size());
        arch->toolchain[cut] = '#';
        write_hex(hash, sizeof hash.b, arch->toolchain + cut + 1);
    }
    return CALOTYPE_OK;
}

void name_device(const DeviceScope &scope, Text &text) {
    text << record_of(scope).tools;
}

calotype_status build(const DeviceScope &scope, const DeviceArch &arch,
                      const calotype_module_desc &desc, LoadableImage *image) {
    *image = {};
    Sources sources;
    cl_program program = nullptr;
    calotype_status status = sources.collect(desc);
    status = status == CALOTYPE_OK ? compile(scope, desc, sources, &program) : status;
    if (status != CALOTYPE_OK) {
        return status;
    }
    if (!get_binary(scope, program, image)) {
        image->kind = CALOTYPE_OPENCL_C;
        image->bytes = sources.join(&image->size);
    }
    cl().clReleaseProgram(program);
    image->owned = true;
    image->was_built = true;
    image->was_linked = sources.has_linkables();
    if (!image->bytes) {
        return fail_with(CALOTYPE_E_OOM, Text() << "out of host memory for the "
                                                << uint64_t(image->size) << " bytes of module "
                                                << desc.name);
    }
    return CALOTYPE_OK;
}

static calotype_status load_program(const DeviceScope &scope, const calotype_module_desc &desc,
                                    const LoadableImage &image, void **module) {
    if (image.kind == CALOTYPE_OPENCL_C) {
        return load_source(scope, desc, module);
    }
    cl_int error = CL_SUCCESS, binary_status = CL_SUCCESS;
    cl_device_id device = record_of(scope).device;
    const auto *bytes = static_cast<const unsigned char *>(image.bytes);
    cl_program program = cl().clCreateProgramWithBinary(context_of(scope), 1, &device, &image.size,
                                                        &bytes, &binary_status, &error);
    if (error != CL_SUCCESS) {
        return says_binary_is_unfit(error)
                   ? load_source(scope, desc, module)
                   : fail(error, "clCreateProgramWithBinary", CALOTYPE_E_LOAD);
    }
    const char *options = calotype_opencl_get_build_options(scope.user_context);
    error = cl().clBuildProgram(program, 1, &device, options, nullptr, nullptr);
    if (error == CL_SUCCESS) {
        *module = program;
        return CALOTYPE_OK;
    }
    cl().clReleaseProgram(program);
    return says_binary_is_unfit(error) ? load_source(scope, desc, module)
                                       : fail(error, "clBuildProgram", CALOTYPE_E_LOAD);
}

calotype_status load(const DeviceScope &scope, const calotype_module_desc &desc,
                     const LoadableImage &image, void **module) {
    *module = nullptr;
    const calotype_status status = load_program(scope, desc, image, module);
    if (status == CALOTYPE_OK) {
        note_load(record_of(scope));
    } else if (status == CALOTYPE_E_OOM) {
        release_kept_memory();  // the cache makes room as well, and tries once more
    }
    return status;
}

calotype_status unload(const DeviceScope &scope, void *module) {
    note_unload(record_of(scope));
    const cl_int error = cl().clReleaseProgram(static_cast<cl_program>(module));
    return error == CL_SUCCESS ? CALOTYPE_OK : explain(error, "clReleaseProgram");
}

}  // namespace calotype::runtime::opencl
