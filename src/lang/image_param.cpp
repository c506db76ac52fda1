// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/image_param.h"

#include "ir/expr_nodes.h"
#include "lang/func.h"
#include "support/error.h"
#include "support/text.h"
#include "support/user_text.h"

namespace calotype {

using namespace internal;

OutputImageParam &OutputImageParam::set_host_alignment(int bytes) {
    parameter_.set_host_alignment(bytes);
    return *this;
}

OutputImageParam &OutputImageParam::set_estimates(const Region &estimates) {
    user_assert(int(estimates.size()) == dimensions())
        << "set_estimates of buffer " << name() << ": " << estimates.size() << " estimates for "
        << dimensions() << " dimensions";
    for (int i = 0; i < dimensions(); i++) {
        dim(i).set_estimate(estimates[size_t(i)].min, estimates[size_t(i)].extent);
    }
    return *this;
}

OutputImageParam &OutputImageParam::store_in(MemoryType type) {
    parameter_.store_in(type);
    return *this;
}

OutputImageParam::operator Argument() const {
    user_assert(defined()) << "an undefined ImageParam is used";
    return Argument(name(), kind_, type(), dimensions(), parameter_.get_argument_estimates());
}

OutputImageParam::operator ExternFuncArgument() const {
    user_assert(defined()) << "an undefined ImageParam is used";
    return parameter_;
}

namespace {

// The Func of a parameter's elements that calls go to, so that in() can replace it.
Function make_image_func(const Parameter &p) {
    Func f(p.name() + "_im");
    std::vector<Var> vars;
    std::vector<Expr> args;
    for (int i = 0; i < p.dimensions(); i++) {
        vars.push_back(Var::implicit(i));
        args.emplace_back(vars.back());
    }
    f(vars) = Call::make(p.type(), p.name(), args, CallKind::Image, 0, p.contents());
    f.function().edit()->required_types = {p.type()};
    f.function().edit()->required_dims = p.dimensions();
    return f.function();
}

}  // namespace

ImageParam::ImageParam(Type t, int dimensions)
    : ImageParam(t, dimensions, internal::unique_name('p')) {
    parameter_.edit()->name_is_explicit = false;
}

ImageParam::ImageParam(Type t, int dimensions, const std::string &name) {
    user_assert(!name.empty()) << "the name of an ImageParam is empty";
    check_name("ImageParam", name);
    user_assert(dimensions >= 0) << "ImageParam " << name << " has " << dimensions
                                 << " dimensions, must not be negative";
    parameter_ = Parameter(t, true, dimensions, name);
    // Funcs that are made later do not get this name, which the buffer has in the compiled
    // function.
    internal::unique_name(name);
    // Programs find Funcs without a name by the one that they get: an ImageParam has a Func from
    // the first, which is replaced by the one of its buffer.
    function_ = Func().function();
    kind_ = Argument::InputBuffer;
    function_ = make_image_func(parameter_);
}

void ImageParam::check_defined() const {
    user_assert(defined()) << "an undefined ImageParam is used";
}

void ImageParam::set(const Buffer<> &b) {
    check_defined();
    if (b.defined()) {
        user_assert(b.type() == type()) << "ImageParam " << name() << " has element type " << type()
                                        << " and is set to a buffer of " << b.type();
        user_assert(b.dimensions() == dimensions())
            << "ImageParam " << name() << " has " << dimensions()
            << " dimensions and is set to a buffer of " << b.dimensions();
    }
    parameter_.set_buffer(b.defined() ? b.image()->buffer : nullptr);
}

Buffer<> ImageParam::get() const {
    check_defined();
    const BufferStoragePtr buffer = parameter_.buffer();
    return buffer.defined() ? Buffer<>(Image(new ImageContents(name(), buffer))) : Buffer<>();
}

void ImageParam::reset() {
    check_defined();
    parameter_.set_buffer(nullptr);
}

Expr ImageParam::operator()(std::vector<Expr> args) const {
    check_defined();
    const std::string what = "ImageParam " + name();
    int count = 0;
    internal::expand_placeholder(what, args, dimensions(), &count);
    user_assert(int(args.size()) == dimensions())
        << what << " is called with " << args.size() << " coordinates, it has " << dimensions()
        << " dimensions";
    return internal::make_func_call(function_, args, 0);
}

Expr ImageParam::operator()(std::vector<Var> args) const {
    return (*this)(std::vector<Expr>(args.begin(), args.end()));
}

ImageParam::operator Func() const {
    check_defined();
    return Func(function_);
}

Func ImageParam::in(const Func &f) {
    return Func(*this).in(f);
}

Func ImageParam::in(const std::vector<Func> &fs) {
    return Func(*this).in(fs);
}

Func ImageParam::in() {
    return Func(*this).in();
}

void ImageParam::trace_loads() {
    check_defined();
    parameter_.trace_loads();
}

ImageParam &ImageParam::add_trace_tag(const std::string &tag) {
    check_defined();
    parameter_.add_trace_tag(tag);
    return *this;
}

}  // namespace calotype
