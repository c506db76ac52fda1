// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/opencl/dialect.h"

#include "support/error.h"

namespace calotype::internal {

const char *word(Dialect dialect, Word w) {
    switch (w) {
#define WORD(name, opencl, cuda)                                                                   \
    case Word::name:                                                                               \
        return dialect == Dialect::OpenCL ? opencl : cuda;
#include "codegen/opencl/words.def"
    }
    internal_error << "a word that no dialect has";
}

const char *scalar_type_name(Dialect dialect, Type t) {
#define TYPE(code_, bits_, opencl, cuda)                                                           \
    if (t.code() == Type::code_ && t.bits() == (bits_)) {                                          \
        return dialect == Dialect::OpenCL ? (opencl) : (cuda);                                     \
    }
#include "codegen/opencl/types.def"
    user_error << (dialect == Dialect::OpenCL ? "OpenCL C" : "CUDA") << " has no type for " << t
               << ", which a kernel computes";
}

namespace {

struct FormRow {
    Intrinsic id;
    bool is_float;
    Form opencl, cuda;
};

const FormRow form_rows[] = {
#define INTEGER(intrinsic, opencl, opencl_vector, cuda)                                            \
    {Intrinsic::intrinsic, false, {opencl, opencl_vector}, {cuda, nullptr}},
#define FLOAT(intrinsic, opencl, cuda)                                                             \
    {Intrinsic::intrinsic, true, {opencl, opencl}, {cuda, nullptr}},
#include "codegen/opencl/forms.def"
};

struct HelperRow {
    const char *name, *opencl, *cuda;
};

const HelperRow helper_rows[] = {
#define HELPER(name, opencl, cuda) {#name, opencl, cuda},
#include "codegen/opencl/helpers.def"
};

const char *const reserved_words[] = {
#define RESERVED(name) #name,
#include "codegen/opencl/reserved.def"
};

}  // namespace

const Form *intrinsic_form(Dialect dialect, Intrinsic id, bool is_float) {
    for (const FormRow &row : form_rows) {
        const Form &form = dialect == Dialect::OpenCL ? row.opencl : row.cuda;
        if (row.id == id && row.is_float == is_float && form.scalar) {
            return &form;
        }
    }
    return nullptr;
}

const char *helper_text(Dialect dialect, const std::string &name, Type t) {
    for (const HelperRow &row : helper_rows) {
        if (row.name == name || row.name == name + (t.is_int() ? "_signed" : "_unsigned")) {
            return dialect == Dialect::CUDA && row.cuda ? row.cuda : row.opencl;
        }
    }
    return nullptr;
}

bool is_reserved(const std::string &name) {
    for (const char *word : reserved_words) {
        if (name == word) {
            return true;
        }
    }
    return name.compare(0, 3, "ct_") == 0 || name.compare(0, 2, "__") == 0 ||
           name.compare(0, 2, "M_") == 0;
}

std::vector<int> part_widths(Dialect dialect, int lanes) {
    std::vector<int> widths;
    int width = dialect == Dialect::OpenCL ? 16 : 1;
    while (lanes > 0) {
        while (width > lanes) {
            width /= 2;
        }
        widths.push_back(width);
        lanes -= width;
    }
    return widths;
}

}  // namespace calotype::internal
