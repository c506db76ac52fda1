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

/// Finds the names of all that is used but for being stored to and kept.
class FindNeeded : public GraphVisitor {
public:
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
    void visit(const Allocate *op) override {
        storage_of_header_.emplace(names::buffer(op->name), op->name);
        Visitor::visit(op);
    }
    void visit(const LetStmt *op) override {
        const auto header = storage_of_header_.find(op->name);
        if (header == storage_of_header_.end()) {
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

    std::unordered_map<std::string, std::string> storage_of_header_;
};

class DropUnread : public StmtMutator {
public:
    explicit DropUnread(const std::unordered_set<std::string> &needed) : needed_(needed) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Allocate *op) override {
        if (needed_.count(op->name) || needed_.count(names::buffer(op->name)) ||
            !has_runtime_device_memory(op) || !op->free_function.empty()) {
            return Mutator::visit(op);
        }
        dropped_.insert({op->name, names::buffer(op->name)});
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
        if (dropped_.count(op->name)) {
            return mutate(op->body);
        }
        return keeps_dropped(op->value)
                   ? LetStmt::make(op->name, make_zero(op->value.type()), mutate(op->body))
                   : Mutator::visit(op);
    }
    bool keeps_dropped(const Expr &e) const {
        const Call *call = e.as<Call>();
        return call && keeps_storage(call) &&
               std::any_of(call->args.begin(), call->args.end(), [&](const Expr &arg) {
                   const Variable *v = arg.as<Variable>();
                   return v && dropped_.count(v->name);
               });
    }

    const std::unordered_set<std::string> &needed_;
    std::unordered_set<std::string> dropped_;  ///< storage and its headers
};

}  // namespace

Stmt drop_unread_storage(const Stmt &s, LowerContext &ctx) {
    Stmt result = s;
    while (true) {
        FindNeeded needed;
        needed(result);
        const Stmt fewer = DropUnread(needed.names).mutate(result);
        if (fewer.same_as(result)) {
            return result;
        }
        result = simplify_early(fewer, ctx);
    }
}

}  // namespace calotype::internal
