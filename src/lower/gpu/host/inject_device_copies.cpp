// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One walk over the statement, in the order in which it runs, that knows of each buffer which of
// its two copies is certainly up to date:
//
//     the host reads or writes      if the host's copy may be stale: calotype_copy_to_host
//     the host has written          the device's copy is stale; set host_dirty
//     a kernel reads or writes      if the device's copy may be stale: calotype_copy_to_device
//     a kernel has written          the host's copy is stale; set device_dirty
//
// A write needs the copy too, since it may leave elements as they were. Where ways join, up to date
// is what is so on all of them; before a loop that uses a buffer on both sides, what holds each
// time round. The dirty bits at run time always say the truth, so that "may be stale" costs a look
// at them.
#include "lower/gpu/host/inject_device_copies.h"

#include "ir/constants.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/checks/error_call.h"
#include "lower/gpu/host/buffer_usage.h"
#include "lower/gpu/host/device_alignment.h"
#include "lower/gpu/host/device_calls.h"
#include "lower/gpu/host/repeated_marks.h"
#include "lower/names.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// Which copies of a buffer are certainly up to date.
struct Known {
    bool host = false, device = false;
    bool operator==(const Known &other) const {
        return host == other.host && device == other.device;
    }
};

using KnownBuffers = std::map<std::string, Known>;

KnownBuffers join(const KnownBuffers &a, const KnownBuffers &b) {
    KnownBuffers result;
    for (const auto &[name, known] : a) {
        const auto other = b.find(name);
        if (other != b.end()) {
            result[name] = {known.host && other->second.host, known.device && other->second.device};
        }
    }
    return result;
}

/// True if a statement mentions the buffer or its header.
class Mentions : public GraphVisitor {
public:
    explicit Mentions(const std::string &name) : name_(name), header_(names::buffer(name)) {
    }
    bool in(const Stmt &s) {
        (*this)(s);
        return found_;
    }
    void operator()(const Stmt &s) override {
        if (!found_) {
            GraphVisitor::operator()(s);
        }
    }
    void operator()(const Expr &e) override {
        if (!found_) {
            GraphVisitor::operator()(e);
        }
    }

private:
    using GraphVisitor::visit;
    void visit(const Load *op) override {
        found_ = found_ || op->name == name_;
        GraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        found_ = found_ || op->name == name_;
        GraphVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        found_ = found_ || op->name == name_ || op->name == header_;
    }
    const std::string &name_;
    const std::string header_;
    bool found_ = false;
};

/// `last` after the last statement of s that mentions the buffer, in the sequence that s is.
Stmt after_last_use(const Stmt &s, const std::string &name, const Stmt &last) {
    if (const Block *op = s.as<Block>()) {
        return Mentions(name).in(op->rest)
                   ? Block::make(op->first, after_last_use(op->rest, name, last))
                   : Block::make(after_last_use(op->first, name, last), op->rest);
    }
    const LetStmt *let = s.as<LetStmt>();
    // A crop of the header is the buffer under another name.
    const bool is_alias =
        let && let->value.type().is_handle() && Mentions(name).in(Evaluate::make(let->value));
    if (let && !is_alias) {
        return LetStmt::make(let->name, let->value, after_last_use(let->body, name, last));
    }
    if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
        return ProducerConsumer::make(op->name, op->is_producer,
                                      after_last_use(op->body, name, last));
    }
    if (const Allocate *op = s.as<Allocate>()) {
        return with(op, &Allocate::body, after_last_use(op->body, name, last));
    }
    return Block::make(s, last);
}

class DeviceCopies : public StmtMutator {
public:
    DeviceCopies(const Stmt &s, LowerContext &ctx) : ctx_(ctx), table_(s, ctx) {
        for (const auto &entry : ctx.used.images) {
            add_argument(entry.first, "constant image " + entry.first);
        }
        for (const auto &entry : ctx.used.parameters) {
            if (entry.second.is_buffer()) {
                add_argument(entry.first, "input buffer " + entry.first);
            }
        }
        for (const Function &f : ctx.outputs) {
            for (int i = 0; i < f.outputs(); i++) {
                add_argument(f.buffer_name(i), "output buffer " + f.buffer_name(i));
            }
        }
    }

private:
    using Mutator::visit;

    void add_argument(const std::string &name, const std::string &role) {
        known_[name] = Known();
        roles_[name] = role;
    }

    // What one statement needs before it and leaves behind it.

    struct Surroundings {
        Stmt before, after;
        Stmt around(const Stmt &s) const {
            return Block::make(before, Block::make(s, after));
        }
    };

    Surroundings surroundings(const Usages &usages) {
        Surroundings result;
        for (const auto &[name, usage] : usages) {
            surround(name, usage, result);
        }
        return result;
    }

    void surround(const std::string &name, const BufferUsage &usage, Surroundings &s) {
        const auto it = known_.find(name);
        if (it == known_.end() || handled_.contains(name)) {
            return;
        }
        Known &known = it->second;
        if (usage.on_host()) {
            if (!known.host) {
                const Stmt is_stale = stale_.contains(name) ? set_device_dirty(name) : Stmt();
                s.before = Block::make({s.before, is_stale, bring_to_host(name)});
                known.host = true;
            }
            if (usage.host_write) {
                s.after = Block::make(s.after, set_host_dirty(name));
                known.device = false;
            }
        }
        if (usage.on_device()) {
            if (!known.device) {
                const Stmt is_stale = stale_.contains(name) ? set_host_dirty(name) : Stmt();
                s.before = Block::make({s.before, is_stale, copy_to_device(name, usage.api, ctx_)});
                known.device = true;
            }
            if (usage.device_write) {
                if (!unobserved_.contains(name)) {
                    s.after = Block::make(s.after, set_device_dirty(name));
                }
                known.host = false;
            }
        }
    }

    /// An argument may have come without memory on the host.
    Stmt bring_to_host(const std::string &name) {
        const Stmt copy = copy_to_host(name, ctx_);
        const auto role = roles_.find(name);
        if (role == roles_.end() || ctx_.target.has_feature(Target::NoAsserts)) {
            return copy;
        }
        const Expr host = reinterpret<uint64_t>(Variable::make(Handle(), name));
        return Block::make(copy,
                           check(host != make_zero(UInt(64)), "host_is_null", {role->second}));
    }

    // Statements.

    Stmt visit_leaf(const Stmt &s) {
        return surroundings(table_.of_node(s)).around(s);
    }
    Stmt visit(const Store *op) override {
        return visit_leaf(op);
    }
    Stmt visit(const Evaluate *op) override {
        return visit_leaf(op);
    }
    Stmt visit(const AssertStmt *op) override {
        return visit_leaf(op);
    }

    Stmt visit(const IfThenElse *op) override {
        const Surroundings condition = surroundings(table_.of_node(op));
        const KnownBuffers before = known_;
        const Stmt then_case = mutate(op->then_case);
        const KnownBuffers after_then = known_;
        known_ = before;
        const Stmt else_case = mutate(op->else_case);
        known_ = join(after_then, known_);
        return condition.around(IfThenElse::make(op->condition, then_case, else_case));
    }

    /// The two sides take turns in an order that is not known here: what they share may have
    /// changed whenever one has waited.
    Stmt visit(const Fork *op) override {
        std::vector<std::string> shared;
        for (const auto &[name, usage] : table_.of(op)) {
            if (known_.count(name) && is_mixed(usage)) {
                shared.push_back(name);
                shared_.push(name);
            }
        }
        forget_shared();
        const KnownBuffers before = known_;
        const Stmt first = mutate_side(op->first, op->rest, shared);
        const KnownBuffers after_first = known_;
        known_ = before;
        const Stmt rest = mutate_side(op->rest, op->first, shared);
        known_ = join(after_first, known_);
        forget_shared();
        for (const std::string &name : shared) {
            shared_.pop(name);
        }
        return Fork::make(first, rest);
    }

    /// While this side copies what the other wrote, that goes on writing: the dirty bits, which stand
    /// for the whole buffer, are cleared too late. What one side only reads and the other writes on
    /// the other device is copied whatever they say.
    Stmt mutate_side(const Stmt &side, const Stmt &other, const std::vector<std::string> &shared) {
        std::vector<std::string> read;
        for (const std::string &name : shared) {
            const BufferUsage here = usage_in(side, name), there = usage_in(other, name);
            const bool reads = !here.host_write && !here.device_write;
            const bool across =
                (here.host_read && !here.device_read && there.device_write && !there.host_write) ||
                (here.device_read && !here.host_read && there.host_write && !there.device_write);
            if (reads && across) {
                read.push_back(name);
                stale_.push(name);
            }
        }
        const Stmt s = mutate(side);
        for (const std::string &name : read) {
            stale_.pop(name);
        }
        return s;
    }

    BufferUsage usage_in(const Stmt &s, const std::string &name) const {
        const Usages &all = table_.of(s);
        const auto usage = all.find(name);
        return usage == all.end() ? BufferUsage() : usage->second;
    }

    Stmt visit(const Acquire *op) override {
        const Surroundings s = surroundings(table_.of_node(op));
        forget_shared();
        return s.around(Acquire::make(op->semaphore, op->count, mutate(op->body)));
    }

    void forget_shared() {
        for (auto &[name, known] : known_) {
            if (shared_.contains(name)) {
                known = Known();
            }
        }
    }

    static bool is_mixed(const BufferUsage &u) {
        return (u.on_host() && u.on_device()) ||
               (u.anywhere_read && (u.host_write || u.device_write));
    }

    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type)) {
            return surroundings(table_.of(op)).around(op);
        }
        Usages one_sided;
        std::vector<std::string> mixed;
        for (const auto &[name, usage] : table_.of(op)) {
            if (!known_.count(name) || handled_.contains(name)) {
                continue;
            }
            if (is_mixed(usage) || table_.is_synchronized(op)) {
                user_assert(!is_mixed(usage) || op->for_type != ForType::Parallel)
                    << "buffer " << name << " is used on the host and on a device inside of the "
                    << "parallel loop " << op->name << ", but made outside of it";
                mixed.push_back(name);
            } else {
                one_sided[name] = usage;
            }
        }
        const Surroundings s = surroundings(one_sided);
        for (const auto &entry : one_sided) {
            handled_.push(entry.first);
        }
        Stmt loop = mixed.empty() ? rebuilt(op, mutate(op->body)) : visit_mixed_loop(op);
        for (const auto &entry : one_sided) {
            handled_.pop(entry.first);
        }
        return s.around(loop);
    }

    static Stmt rebuilt(const For *op, const Stmt &body) {
        return body.same_as(op->body) ? Stmt(op) : with(op, &For::body, body);
    }

    /// What is known at the head of the loop must hold in each iteration; each round of the search
    /// loses some of it.
    Stmt visit_mixed_loop(const For *op) {
        const Surroundings bounds = surroundings(table_.of_node(op));
        KnownBuffers head = known_;
        for (;;) {
            known_ = head;
            const Stmt body = mutate(op->body);
            const KnownBuffers again = join(head, known_);
            if (again == head) {
                known_ = head;
                return bounds.around(rebuilt(op, body));
            }
            head = again;
        }
    }

    Stmt visit(const LetStmt *op) override {
        const Surroundings value = surroundings(table_.of_node(op));
        const std::string &buffer = table_.buffer_of_header(op->name);
        const Call *init = op->value.as<Call>();
        const auto usage = table_.of(op->body).find(buffer);
        if (init && init->is_intrinsic(Intrinsic::buffer_init) &&
            op->name == names::buffer(buffer) && usage != table_.of(op->body).end() &&
            usage->second.on_device() && !is_memoized(buffer)) {
            return value.around(make_device_storage(op, buffer, usage->second));
        }
        Stmt body = mutate(op->body);
        if (init && init->is_intrinsic(Intrinsic::buffer_crop)) {
            body = with_device_crop(op, body);
        }
        return value.around(LetStmt::make(op->name, op->value, body));
    }

    /// A stage on a device writes to the part of the device's memory that the crop stands for.
    Stmt with_device_crop(const LetStmt *op, const Stmt &body) {
        for (const auto &[name, usage] : table_.of_node(op)) {
            if (usage.device_write && known_.count(name)) {
                const Expr crop = Variable::make(op->value.type(), op->name);
                return Block::make(
                    {checked_call(RuntimeFunction::device_crop, {header_of(name), crop}, ctx_),
                     body,
                     Evaluate::make(call_runtime(RuntimeFunction::device_release_crop,
                                                 {user_context(), crop}))});
            }
        }
        return body;
    }

    // Storage of this pipeline.

    static bool is_on_device_alone(const BufferUsage &usage) {
        return usage.on_device() && !usage.on_host();
    }

    /// Storage that the host does not touch stands for no memory: its name alone is used.
    Stmt visit(const Allocate *op) override {
        const auto usage = table_.of(op->body).find(op->name);
        const bool on_device = usage != table_.of(op->body).end() && usage->second.on_device();
        if (!on_device) {
            const Stmt body = mutate(op->body);
            return body.same_as(op->body) ? Stmt(op) : with(op, &Allocate::body, body);
        }
        if (op->new_expr.defined()) {
            return visit_memoized(op);
        }
        conditions_.push(op->name, op->condition);
        const Stmt body = mutate(op->body);
        conditions_.pop(op->name);
        if (!is_on_device_alone(usage->second)) {
            return with(op, &Allocate::body, body);
        }
        return Allocate::make(op->name, op->type, MemoryType::Heap, op->extents, op->condition,
                              body, no_host_memory());
    }

    /// Its memory on the host is the cache's, filled or not; what the lookup has found is newer
    /// than the device's, and what is stored there is read from the host.
    Stmt visit_memoized(const Allocate *op) {
        known_[op->name] = {true, false};
        const Stmt body = after_last_use(mutate(op->body), op->name, device_free(op->name));
        known_.erase(op->name);
        return with(op, &Allocate::body, Block::make(device_free_at_end(op->name), body));
    }

    /// Storage that is the cache's has its header before the lookup.
    bool is_memoized(const std::string &buffer) const {
        const Function *f = ctx_.function_of_buffer(buffer);
        return f && f->schedule().memoized && !ctx_.is_output(f->name());
    }

    Stmt make_device_storage(const LetStmt *op, const std::string &name, const BufferUsage &usage) {
        Expr header = op->value;
        if (is_on_device_alone(usage)) {
            std::vector<Expr> args = header.as<Call>()->args;
            args[2] = make_zero(UInt(64));  // the host's address
            header = Call::make(header.type(), Intrinsic::buffer_init, args);
        }
        const bool unobserved = is_on_device_alone(usage) && !usage.by_header;
        if (unobserved) {
            unobserved_.push(name);
        }
        known_[name] = {true, true};
        Stmt body = mutate(op->body);
        known_.erase(name);
        if (unobserved) {
            unobserved_.pop(name);
        }
        body = after_last_use(body, name, device_free(name));
        Stmt malloc = device_malloc(name, usage.api, ctx_);
        const Expr *condition = conditions_.find(name);
        if (condition && !is_trivially_true(*condition)) {
            malloc = IfThenElse::make(*condition, malloc);
        }
        return LetStmt::make(op->name, header,
                             Block::make({device_free_at_end(name), malloc, body}));
    }

    LowerContext &ctx_;
    const UsageTable table_;
    KnownBuffers known_;
    std::map<std::string, std::string> roles_;  ///< of arguments, for messages
    Scope<> handled_;                           ///< copied outside of the loop that we are in
    Scope<> unobserved_;      ///< on a device alone: nobody looks at the dirty bits
    Scope<> shared_;          ///< by the two sides of the Fork that we are in, one on a device
    Scope<> stale_;           ///< read here, written by the other side on the other device
    Scope<Expr> conditions_;  ///< under which storage is there
};

}  // namespace

Stmt inject_device_copies(const Stmt &s, LowerContext &ctx) {
    return without_repeated_marks(DeviceCopies(s, ctx).mutate(s));
}

}  // namespace calotype::internal
