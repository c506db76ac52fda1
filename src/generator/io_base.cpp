// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/io_base.h"

#include "generator/generator_base.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

// The parameters for what a declaration leaves open begin undefined and keep text until it is
// needed.
class SyntheticParam : public GeneratorParamBase {
public:
    SyntheticParam(const std::string &name, const char *kind)
        : GeneratorParamBase(name), kind_(kind) {
    }
    void set_from_string(const std::string &text) override {
        check_may_be_set();
        try {
            check(text);
        } catch (const CompileError &e) {
            fail(e.what());
        }
        text_ = text;
    }
    std::string to_string() const override {
        return text_;
    }
    ParamInfo info() const override {
        return {kind_, "", "", "", {}};
    }

private:
    void check(const std::string &text) const {
        if (kind_ == std::string("type")) {
            for (const std::string &part : split(text, ",")) {
                type_from_name(part);
            }
        } else {
            const int number = parse_number<int>(text);
            user_assert(number >= 0) << "value is " << number << ", must be at least 0";
        }
    }
    const char *kind_;
    std::string text_;
};

}  // namespace

GeneratorIO::GeneratorIO(IOKind kind, IODeclaration declaration)
    : kind_(kind), declared_(std::move(declaration)) {
    const std::string &name = declared_.name;
    if (!types_defined()) {
        type_param_ = std::make_unique<SyntheticParam>(name + ".type", "type");
    }
    if (!dims_defined()) {
        dim_param_ = std::make_unique<SyntheticParam>(name + ".dim", "int32");
    }
    if (!array_size_defined()) {
        size_param_ = std::make_unique<SyntheticParam>(name + ".size", "int32");
    }
    GeneratorBase::add_to_current(this);
}

GeneratorIO::~GeneratorIO() = default;

void GeneratorIO::resolve_params() {
    const auto value = [](const std::unique_ptr<GeneratorParamBase> &p) {
        return p ? p->to_string() : "";
    };
    if (!value(type_param_).empty() && !types_defined()) {
        for (const std::string &name : split(value(type_param_), ",")) {
            declared_.types.push_back(type_from_name(name));
        }
    }
    if (!value(dim_param_).empty() && !dims_defined()) {
        declared_.dimensions = parse_number<int>(value(dim_param_));
    }
    if (!value(size_param_).empty() && !array_size_defined()) {
        declared_.array_size = parse_number<int>(value(size_param_));
    }
}

const std::vector<Type> &GeneratorIO::io_types() const {
    user_assert(types_defined()) << what() << " has no type: set generator parameter '" << io_name()
                                 << ".type'";
    return declared_.types;
}

Type GeneratorIO::io_type() const {
    user_assert(io_types().size() == 1)
        << what() << " has " << io_types().size() << " types, not one";
    return declared_.types[0];
}

int GeneratorIO::io_dims() const {
    user_assert(dims_defined()) << what()
                                << " has no number of dimensions: set generator parameter '"
                                << io_name() << ".dim'";
    return declared_.dimensions;
}

size_t GeneratorIO::array_size() const {
    if (!is_array()) {
        return 1;
    }
    user_assert(array_size_defined())
        << what() << " has no array size: set generator parameter '" << io_name() << ".size'";
    return size_t(declared_.array_size);
}

void GeneratorIO::set_type(const Type &type) {
    set_types({type});
}

void GeneratorIO::set_types(const std::vector<Type> &types) {
    user_assert(!types_defined() || declared_.types == types) << what() << " already has a type";
    declared_.types = types;
}

void GeneratorIO::set_dimensions(int dimensions) {
    user_assert(!dims_defined() || declared_.dimensions == dimensions)
        << what() << " already has " << declared_.dimensions << " dimensions, not " << dimensions;
    declared_.dimensions = dimensions;
}

void GeneratorIO::set_array_size(int size) {
    user_assert(is_array()) << what() << " is not an array";
    user_assert(!array_size_defined() || declared_.array_size == size)
        << what() << " already has size " << declared_.array_size << ", not " << size;
    declared_.array_size = size;
}

std::string GeneratorIO::element_name(size_t i) const {
    return is_array() ? io_name() + "_" + std::to_string(i) : io_name();
}

void GeneratorIO::check_index(size_t i) const {
    user_assert(is_defined_) << what() << " is used before generate()";
    user_assert(i < array_size()) << what() << " has no element " << i << ", it has "
                                  << array_size();
}

}  // namespace calotype::internal
