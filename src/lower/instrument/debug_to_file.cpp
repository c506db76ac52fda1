// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/instrument/debug_to_file.h"

#include "ir/conventions/names.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/with.h"
#include "lower/buffer_header.h"
#include "lower/checks/error_call.h"

namespace calotype::internal {

namespace {

/// "name.ext" for the only value, "name.1.ext" for value 1 of several.
std::string file_of(const Function &f, int value) {
    const std::string &file = f->debug_file;
    if (f.outputs() == 1) {
        return file;
    }
    const size_t slash = file.find_last_of('/'), dot = file.find_last_of('.');
    const bool has_extension =
        dot != std::string::npos && (slash == std::string::npos || dot > slash);
    const size_t end = has_extension ? dot : file.size();
    return file.substr(0, end) + "." + std::to_string(value) + file.substr(end);
}

class DebugToFile : public Mutator {
public:
    explicit DebugToFile(LowerContext &ctx) : ctx_(ctx) {
    }

protected:
    using Mutator::visit;

    const Function *debugged(const std::string &name) const {
        auto f = ctx_.env.find(name);
        return f != ctx_.env.end() && !f->second->debug_file.empty() ? &f->second : nullptr;
    }

    Stmt visit(const Realize *op) override {
        const Stmt body = mutate(op->body);
        const Function *f = debugged(op->name);
        if (!f && body.same_as(op->body)) {
            return op;
        }
        return with(op, &Realize::body, f ? Block::make(body, write(*f)) : body);
    }

    Stmt visit(const ProducerConsumer *op) override {
        const Stmt s = Mutator::visit(op);
        const Function *f = debugged(op->name);
        return f && op->is_producer && ctx_.is_output(op->name) ? Block::make(s, write(*f)) : s;
    }

private:
    Stmt write(const Function &f) {
        std::vector<Stmt> writes;
        for (int i = 0; i < f.outputs(); i++) {
            const Expr buffer = Variable::make(header_type(), names::buffer(f.buffer_name(i)));
            const Expr call =
                call_runtime(RuntimeFunction::debug_to_file,
                             {user_context(), StringImm::make(file_of(f, i)), buffer});
            const std::string name = ctx_.names.unique(f.name() + ".debug_to_file");
            const Expr result = Variable::make(Int(32), name);
            writes.push_back(LetStmt::make(
                name, call,
                check(result == 0, "debug_to_file_failed", {f.name(), file_of(f, i), result})));
        }
        return Block::make(writes);
    }

    LowerContext &ctx_;
};

}  // namespace

Stmt debug_to_file(const Stmt &s, LowerContext &ctx) {
    return DebugToFile(ctx).mutate(s);
}

}  // namespace calotype::internal
