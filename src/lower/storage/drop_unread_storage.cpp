// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/drop_unread_storage.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/constants.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "lower/gpu/host/device_alignment.h"
#include "lower/loops/simplify_early.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

bool has_effects_beside(const Store *op) {
    return has_effects(op->value) || has_effects(op->index) || has_effects(op->predicate);
}

/// Calls that keep the two copies of a buffer alike or make room for one.
bool keeps_storage(const Call *op) {
    if (op->is_intrinsic(Intrinsic::buffer_set_host_dirty) ||
        op->is_intrinsic(Intrinsic::buffer_set_device_dirty)) {
        return true;
    }
    for (const RuntimeFunction f :
         {RuntimeFunction::device_malloc, RuntimeFunction::device_free,
          RuntimeFunction::copy_to_device, RuntimeFunction::copy_to_host}) {
        if (op->name == runtime_function(f).name) {
            return true;
        }
    }
    const StringImm *at_exit =
        op->is_intrinsic(Intrinsic::register_destructor) ? op->args[0].as<StringImm>() : nullptr;
    return at_exit &&
           at_exit->value == runtime_function(RuntimeFunction::device_free_as_destructor).name;
}

/// The names of the storage by those of its headers.
using Headers = std::unordered_map<std::string, std::string>;

Headers headers_of_storage(const Stmt &s) {
    Headers headers;
    for_each<Allocate>(
        s, [&](const Allocate *op) { headers.emplace(names::buffer(op->name), op->name); });
    return headers;
}

/// Finds the names of all that is used but for being stored to and kept.
class FindNeeded : public GraphVisitor {
public:
    explicit FindNeeded(const Headers &headers) : headers_(headers) {
    }
    std::unordered_set<std::string> names;

private:
    using Visitor::visit;

    void visit(const Variable *op) override {
        names.insert(op->name);
    }
    void visit(const Load *op) override {
        names.insert(op->name);
        Visitor::visit(op);
    }
    void visit(const Prefetch *op) override {
        names.insert(op->name);
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        if (has_effects_beside(op)) {
            names.insert(op->name);
        }
        Visitor::visit(op);
    }
    void visit(const Atomic *op) override {
        for_each<Store>(op->body, [&](const Store *store) { names.insert(store->name); });
        Visitor::visit(op);
    }
    void visit(const Call *op) override {
        if (!keeps_storage(op)) {
            Visitor::visit(op);
        }
    }
    void visit(const LetStmt *op) override {
        const auto header = headers_.find(op->name);
        if (header == headers_.end()) {
            Visitor::visit(op);
            return;
        }
        // That a header says where the storage is needs the storage if somebody needs the header.
        for_each<Variable>(op->value, [&](const Variable *v) {
            if (v->name != header->second) {
                names.insert(v->name);
            }
        });
        (*this)(op->body);
    }

    const Headers &headers_;
};

class DropUnread : public StmtMutator {
public:
    DropUnread(const std::unordered_set<std::string> &needed, const Headers &headers)
        : needed_(needed), headers_(headers) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Allocate *op) override {
        if (needed_.count(op->name) || needed_.count(names::buffer(op->name)) ||
            !has_runtime_device_memory(op) || !op->free_function.empty()) {
            return Mutator::visit(op);
        }
        dropped_.insert(op->name);
        return mutate(op->body);
    }
    Stmt visit(const Store *op) override {
        return dropped_.count(op->name) ? Evaluate::make(0) : Stmt(op);
    }
    Stmt visit(const Free *op) override {
        return dropped_.count(op->name) ? Evaluate::make(0) : Stmt(op);
    }
    Stmt visit(const Evaluate *op) override {
        return keeps_dropped(op->value) ? Evaluate::make(0) : Stmt(op);
    }
    Stmt visit(const LetStmt *op) override {
        const auto header = headers_.find(op->name);
        if (header != headers_.end() && dropped_.count(header->second)) {
            return mutate(op->body);
        }
        return keeps_dropped(op->value)
                   ? LetStmt::make(op->name, make_zero(op->value.type()), op->body)
                   : Mutator::visit(op);
    }
    bool keeps_dropped(const Expr &e) const {
        const Call *call = e.as<Call>();
        return call && keeps_storage(call) &&
               std::any_of(call->args.begin(), call->args.end(), [&](const Expr &arg) {
                   const Variable *v = arg.as<Variable>();
                   const auto header = v ? headers_.find(v->name) : headers_.end();
                   return header != headers_.end() && dropped_.count(header->second);
               });
    }

    const std::unordered_set<std::string> &needed_;
    const Headers &headers_;
    std::unordered_set<std::string> dropped_;
};

}  // namespace

Stmt drop_unread_storage(const Stmt &s, LowerContext &ctx) {
    Stmt result = s;
    while (true) {
        const Headers headers = headers_of_storage(result);
        FindNeeded needed(headers);
        needed(result);
        const Stmt fewer = DropUnread(needed.names, headers).mutate(result);
        if (fewer.same_as(result)) {
            return result;
        }
        result = simplify_early(fewer, ctx);
    }
}

}  // namespace calotype::internal
