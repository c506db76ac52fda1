// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/rdom.h"

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "lang/buffer.h"
#include "lang/image_param.h"
#include "pipeline/check_parameters.h"
#include "support/error.h"
#include "support/text.h"
#include "support/user_text.h"

namespace calotype {

using namespace internal;

namespace {

const char *const dimension_names[] = {"x", "y", "z", "w"};

std::string rvar_name(const std::string &domain, size_t i) {
    return domain + "$" + (i < 4 ? dimension_names[i] : std::to_string(i));
}

Expr checked_bound(const Expr &e, const std::string &domain) {
    const std::string what = "a bound of reduction domain " + domain;
    user_assert(e.defined()) << what << " is undefined";
    const std::optional<int64_t> constant = as_const_int(e);
    const std::optional<double> number = as_const_float(e);
    user_assert(Int(32).can_represent(e.type()) || (constant && *constant == int32_t(*constant)) ||
                (number && Int(32).can_represent(*number)))
        << what << " has type " << e.type() << ", must fit in int32";
    check_is_of_parameters(e, what);
    return e.type() == Int(32) ? e : Cast::make(Int(32), e);
}

}  // namespace

RVar::RVar() : name_(internal::unique_name('r')) {
}

RVar::RVar(const std::string &name) : name_(name) {
    user_assert(!name.empty()) << "the name of an RVar is empty";
    check_name("RVar", name);
}

RVar::RVar(const ReductionDomain &domain, int index)
    : name_(domain.domain()[size_t(index)].var), domain_(domain), index_(index) {
}

Expr RVar::min() const {
    return domain_.defined() ? domain_.domain()[size_t(index_)].min : Expr();
}

Expr RVar::extent() const {
    return domain_.defined() ? domain_.domain()[size_t(index_)].extent : Expr();
}

RVar::operator Expr() const {
    user_assert(domain_.defined())
        << "RVar " << name_ << " is used as a value, but belongs to no reduction domain";
    return Variable::make(Int(32), name_, domain_.symbol());
}

RDom::RDom(const Region &region, const std::string &name) {
    check_name("RDom", name);
    init(region, name);
}

RDom::RDom(const Buffer<void, -1> &buffer) {
    Region region;
    for (int d = 0; d < buffer.dimensions(); d++) {
        region.emplace_back(Expr(buffer.dim(d).min()), Expr(buffer.dim(d).extent()));
    }
    init(region, internal::unique_name(buffer.name() + "$r"));
}

RDom::RDom(const OutputImageParam &buffer) {
    user_assert(buffer.defined()) << "an undefined ImageParam is used";
    Region region;
    for (int d = 0; d < buffer.dimensions(); d++) {
        region.emplace_back(buffer.dim(d).min(), buffer.dim(d).extent());
    }
    init(region, internal::unique_name(buffer.name() + "$r"));
}

RDom::RDom(const ReductionDomain &domain) : domain_(domain) {
    init_vars();
}

void RDom::init(const std::vector<Expr> &bounds, const std::string &name) {
    check_name("RDom", name);
    user_assert(bounds.size() % 2 == 0) << "a reduction domain takes pairs of min and extent, "
                                        << bounds.size() << " bounds were given";
    Region region;
    for (size_t i = 0; i < bounds.size(); i += 2) {
        region.push_back(Range());
        region.back().min = bounds[i];
        region.back().extent = bounds[i + 1];
    }
    init(region, name);
}

void RDom::init(const Region &region, const std::string &name) {
    // Domains may share a given name, by which schedules find the loops of each.
    const std::string domain = name.empty() ? internal::unique_name('r') : name;
    std::vector<ReductionVariable> vars;
    for (size_t i = 0; i < region.size(); i++) {
        vars.push_back({rvar_name(domain, i), checked_bound(region[i].min, domain),
                        checked_bound(region[i].extent, domain)});
    }
    domain_ = ReductionDomain(domain, std::move(vars));
    init_vars();
}

void RDom::init_vars() {
    RVar *const members[] = {&x, &y, &z, &w};
    for (int i = 0; i < 4; i++) {
        *members[i] = i < dimensions() ? RVar(domain_, i) : RVar("undefined");
    }
}

int RDom::dimensions() const {
    return domain_.defined() ? int(domain_.domain().size()) : 0;
}

RVar RDom::operator[](int i) const {
    user_assert(i >= 0 && i < dimensions())
        << "reduction domain has no dimension " << i << ", it has " << dimensions();
    return RVar(domain_, i);
}

RDom::operator RVar() const {
    user_assert(dimensions() == 1)
        << "a reduction domain of " << dimensions()
        << " dimensions is used as an RVar, only one of one dimension can be";
    return RVar(domain_, 0);
}

RDom::operator Expr() const {
    return operator RVar();
}

void RDom::where(Expr condition) {
    domain_.where(std::move(condition));
}

std::ostream &operator<<(std::ostream &out, const RVar &v) {
    out << v.name();
    if (v.domain().defined()) {
        out << " in [" << v.min() << ", " << v.min() + v.extent() << ")";
    }
    return out;
}

std::ostream &operator<<(std::ostream &out, const RDom &r) {
    out << "RDom(";
    for (int i = 0; i < r.dimensions(); i++) {
        out << (i > 0 ? ", " : "") << r[i];
    }
    return out << ")";
}

}  // namespace calotype
