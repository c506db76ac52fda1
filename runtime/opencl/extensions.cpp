// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/opencl/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/opencl/context.h"
#include "runtime/opencl/driver.h"

namespace calotype::runtime::opencl {

namespace {

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

}  // namespace

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

}  // namespace calotype::runtime::opencl
