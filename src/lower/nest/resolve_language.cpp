// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/resolve_language.h"

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "lower/checks/error_call.h"
#include "pipeline/fields.h"

namespace calotype::internal {

namespace {

/// Multiply, add, fold the high bits down: every coordinate reaches every bit of the state.
Expr mix(const Expr &state, const Expr &value) {
    Expr s = (state ^ cast<uint32_t>(value)) * make_const(UInt(32), uint64_t(0x9E3779B1u));
    s = s ^ (s >> make_const(UInt(32), 15));
    s = s * make_const(UInt(32), uint64_t(0x85EBCA6Bu));
    return s ^ (s >> make_const(UInt(32), 13));
}

uint32_t text_hash(const std::string &text) {
    uint32_t h = 2166136261u;
    for (unsigned char c : text) {
        h = (h ^ c) * 16777619u;
    }
    return h;
}

class Resolve : public GraphMutator {
public:
    /// Of what is evaluated once, ahead of all loops.
    Resolve(const std::string &name, const Target &target)
        : target_(target), state_(make_const(UInt(32), uint64_t(text_hash(name)))) {
    }
    Resolve(const Function &f, int stage, const Definition &def, const Target &target)
        : target_(target),
          state_(make_const(UInt(32), uint64_t(text_hash(f.name()) + uint32_t(stage)))) {
        for (size_t i = f.args().size(); i-- > 0;) {
            // An update with something else in that place has no such variable.
            const Expr v = Variable::make(Int(32), f.args()[i]);
            if (stage == 0 || (i < def.args.size() && equal(def.args[i], v))) {
                coordinates_.push_back(v);
            }
        }
        const auto &rvars = def.schedule.rvars;
        for (auto rv = rvars.rbegin(); rv != rvars.rend(); ++rv) {
            coordinates_.push_back(Variable::make(Int(32), rv->var));
        }
    }

protected:
    Expr visit(const Call *op) override {
        Expr e = Mutator::visit(op);
        const Call *call = e.as<Call>();
        switch (call->intrinsic) {
        case Intrinsic::random:
            return random(call);
        case Intrinsic::target_arch_is:
            return make_const(call->type,
                              int(int64_t(target_.arch) == as_const_int(call->args[0])));
        case Intrinsic::target_os_is:
            return make_const(call->type, int(int64_t(target_.os) == as_const_int(call->args[0])));
        case Intrinsic::target_has_feature:
            return make_const(call->type, int(has_feature(call->args[0])));
        case Intrinsic::target_bits:
            return make_const(call->type, target_.bits);
        case Intrinsic::size_of_halide_buffer_t:
            return make_const(call->type, int64_t(sizeof(calotype_buffer_t)));
        case Intrinsic::target_natural_vector_size:
            return make_const(call->type, target_.natural_lanes(call->args.at(0).type().bits()));
        case Intrinsic::require:
            return require(call);
        case Intrinsic::unsafe_promise_clamped:
            return target_.has_feature(Target::CheckUnsafePromises) ? checked_promise(call) : e;
        default:
            return e;
        }
    }

private:
    /// require(condition, value, condition's text, message) -> require(condition, value, call that
    /// reports)
    static Expr require(const Call *call) {
        if (call->args.size() != 4) {
            return call;
        }
        return Call::make(call->type, Intrinsic::require,
                          {call->args[0], call->args[1],
                           error_call("requirement_failed", {call->args[2], call->args[3]})});
    }

    /// The same promise of a value that is looked at first.
    static Expr checked_promise(const Call *call) {
        const Expr &value = call->args[0], &min = call->args[1], &max = call->args[2];
        const Expr text = Call::make(type_of<const char *>(), Intrinsic::stringify,
                                     {Expr("unsafe_promise_clamped of "), value,
                                      Expr(", which must be from "), min, Expr(" to "), max});
        const Expr holds = min <= value && value <= max;
        const Expr checked = Call::make(
            call->type, Intrinsic::require,
            {holds, value, error_call("requirement_failed", {Expr(to_string(holds)), text})});
        return Call::make(call->type, Intrinsic::unsafe_promise_clamped, {checked, min, max});
    }

    bool has_feature(const Expr &e) const {
        if (const StringImm *name = e.as<StringImm>()) {
            return target_.has_feature(Target::feature_from_name(name->value));
        }
        return target_.has_feature(Target::Feature(*as_const_int(e)));
    }

    Expr random(const Call *call) {
        Expr s = mix(state_, make_const(Int(32), calls_++));
        // The last argument is the call's number, which means nothing; a seed may stand before it.
        for (size_t i = 0; i + 1 < call->args.size(); i++) {
            s = mix(s, call->args[i]);
        }
        for (const Expr &c : coordinates_) {
            s = mix(s, c);
        }
        if (call->type == Float(32)) {
            Expr in_one_to_two =
                (s >> make_const(UInt(32), 9)) | make_const(UInt(32), uint64_t(0x3F800000u));
            return reinterpret<float>(in_one_to_two) - 1.0f;
        }
        return call->type == UInt(32) ? s : reinterpret(call->type, s);
    }

    const Target &target_;
    Expr state_;
    /// Those first that change last where nobody schedules: what is mixed of them stands outside of inner loops.
    std::vector<Expr> coordinates_;
    int calls_ = 0;
};

template<typename T>
void resolve_all(T &x, Resolve resolve) {
    mutate_expressions(x, [&](const Expr &e) { return resolve.mutate(e); });
}

}  // namespace

void resolve_language(LowerContext &ctx) {
    for (const auto &[name, f] : ctx.env) {
        for (int i = 0; i < f.stages(); i++) {
            if (f.stage(i)) {
                resolve_all(*f.stage(i), Resolve(f, i, *f.stage(i), ctx.target));
            }
        }
        resolve_all(*f.edit(), Resolve(name, ctx.target));  // schedule, arguments of extern stages
    }
    resolve_all(ctx.requirements, Resolve("", ctx.target));
}

Expr resolve_language(const Expr &e, const Target &target) {
    return e.defined() ? Resolve("", target).mutate(e) : e;
}

}  // namespace calotype::internal
