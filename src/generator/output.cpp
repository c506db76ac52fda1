// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/output.h"

namespace calotype::internal {

std::string OutputBase::what() const {
    return "output '" + io_name() + "'";
}

Func OutputBase::make_func(size_t i) const {
    const std::vector<Type> types = types_defined() ? io_types() : std::vector<Type>();
    return Func(types, dims_defined() ? io_dims() : AnyDims, element_name(i));
}

std::vector<Func> OutputBase::checked_funcs() const {
    const std::vector<Func> result = funcs();
    for (size_t i = 0; i < result.size(); i++) {
        const std::string element = "output '" + element_name(i) + "'";
        const Func &f = result[i];
        user_assert(f.defined()) << element << " is not defined by generate()";
        user_assert(!dims_defined() || f.dimensions() == io_dims())
            << element << " has " << f.dimensions() << " dimensions, must have " << io_dims();
        if (!types_defined()) {
            continue;
        }
        user_assert(f.types().size() == io_types().size())
            << element << " has " << f.types().size() << " values, must have " << io_types().size();
        for (size_t j = 0; j < io_types().size(); j++) {
            user_assert(f.types()[j] == io_types()[j])
                << element << " has type " << type_to_name(f.types()[j]) << ", must have "
                << type_to_name(io_types()[j]);
        }
    }
    return result;
}

void OutputBase::add_metadata_names(MetadataNameMap &names) const {
    const std::vector<Func> all = funcs();
    for (size_t i = 0; i < all.size(); i++) {
        const Function f = all[i].function();
        for (int j = 0; j < f.outputs(); j++) {
            const std::string shown =
                element_name(i) + (f.outputs() > 1 ? "." + std::to_string(j) : "");
            if (f.buffer_name(j) != shown) {
                names[f.buffer_name(j)] = shown;
            }
        }
    }
}

void FuncOutput::define() {
    *this = make_func(0);
}

std::vector<Func> FuncOutput::funcs() const {
    return {*this};
}

void FuncOutputArray::define() {
    is_defined_ = true;
    for (size_t i = 0; array_size_defined() && i < array_size(); i++) {
        funcs_.push_back(make_func(i));
    }
}

void FuncOutputArray::resize(size_t size) {
    set_array_size(int(size));
    if (is_defined_ && funcs_.empty()) {
        define();
    }
}

std::vector<Func> FuncOutputArray::funcs() const {
    (void)array_size();  // an error if nobody has said it
    return funcs_;
}

}  // namespace calotype::internal
