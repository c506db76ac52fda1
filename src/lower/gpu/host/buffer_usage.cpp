// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/buffer_usage.h"

#include "ir/conventions/runtime_calls.h"
#include "ir/visitor.h"
#include "lower/names.h"
#include "support/error.h"

namespace calotype::internal {

void BufferUsage::add(const BufferUsage &other) {
    host_read |= other.host_read;
    host_write |= other.host_write;
    device_read |= other.device_read;
    device_write |= other.device_write;
    anywhere_read |= other.anywhere_read;
    by_header |= other.by_header;
    if (other.api != DeviceAPI::None) {
        api = other.api;
    }
}

DeviceAPI device_of_extern_stage(const std::string &func, const LowerContext &ctx) {
    const auto it = ctx.env.find(func);
    if (it == ctx.env.end() || !it->second.has_extern_definition()) {
        return DeviceAPI::Host;
    }
    const DeviceAPI api = it->second->extern_device_api;
    return api == DeviceAPI::Default_GPU ? ctx.target.get_required_device_api()
           : api == DeviceAPI::None      ? DeviceAPI::Host
                                         : api;
}

class UsageTable::Walk : public Visitor {
public:
    Walk(UsageTable &table, const LowerContext &ctx) : table_(table), ctx_(ctx) {
    }

    void operator()(const Stmt &s) override {
        if (!s.defined()) {
            return;
        }
        Usages *outer_all = all_, *outer_own = own_;
        Usages all, own;
        all_ = &all;
        own_ = &own;
        const bool outer_synchronized = synchronized_;
        synchronized_ = false;
        Visitor::operator()(s);
        all_ = outer_all;
        own_ = outer_own;
        if (all_) {
            for (const auto &[name, usage] : all) {
                (*all_)[name].add(usage);
            }
        }
        if (synchronized_) {
            table_.synchronized_.insert(s.get());
        }
        synchronized_ |= outer_synchronized;
        table_.all_[s.get()] = std::move(all);
        table_.own_[s.get()] = std::move(own);
    }
    using Visitor::operator();

private:
    using Visitor::visit;

    void note(const std::string &name, const BufferUsage &usage) {
        if (usage.api != DeviceAPI::None) {
            const DeviceAPI before = seen_[name];
            user_assert(before == DeviceAPI::None || before == usage.api)
                << "buffer " << name << " is used on " << to_string(before) << " and on "
                << to_string(usage.api) << ": copy it with a Func of its own and copy_to_host()";
            seen_[name] = usage.api;
        }
        (*all_)[name].add(usage);
        (*own_)[name].add(usage);
    }

    void touch(const std::string &name, bool is_write) {
        touch_on(name, is_write, kernel_ == DeviceAPI::None ? DeviceAPI::Host : kernel_);
    }

    void touch_on(const std::string &name, bool is_write, DeviceAPI api) {
        if (local_.count(name)) {
            return;
        }
        BufferUsage usage;
        if (api == DeviceAPI::Host) {
            (is_write ? usage.host_write : usage.host_read) = true;
        } else {
            (is_write ? usage.device_write : usage.device_read) = true;
            usage.api = api;
        }
        note(name, usage);
    }

    void visit(const Load *op) override {
        touch(op->name, false);
        Visitor::visit(op);
    }

    void visit(const Store *op) override {
        touch(op->name, true);
        Visitor::visit(op);
    }

    void visit(const For *op) override {
        const DeviceAPI outer = kernel_;
        // Bounds of a kernel's loop are the host's to compute, but are not of this statement alone.
        (*this)(op->min);
        (*this)(op->extent);
        if (is_gpu(op->for_type)) {
            kernel_ = op->device_api;
        }
        (*this)(op->body);
        kernel_ = outer;
    }

    void visit(const Allocate *op) override {
        table_.headers_[names::buffer(op->name)] = op->name;
        const bool in_kernel = kernel_ != DeviceAPI::None;
        if (in_kernel) {
            local_.insert(op->name);
        }
        Visitor::visit(op);
        if (in_kernel) {
            local_.erase(op->name);
        }
    }

    void visit(const ProducerConsumer *op) override {
        const DeviceAPI outer = extern_api_;
        if (op->is_producer) {
            extern_api_ = device_of_extern_stage(op->name, ctx_);
            is_copy_ = copies(op->name);
        }
        Visitor::visit(op);
        extern_api_ = outer;
        is_copy_ = false;
    }

    bool copies(const std::string &func) const {
        const auto it = ctx_.env.find(func);
        return it != ctx_.env.end() && it->second->copy_to.has_value();
    }

    void visit(const Acquire *op) override {
        synchronized_ = true;
        Visitor::visit(op);
    }

    /// Headers that an extern function is given: to read, or, where it is given a crop, to write.
    void visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::declare_box_touched)) {
            return;  // for bounds only: nothing is read
        }
        if (op->is_intrinsic(Intrinsic::buffer_crop)) {
            for (const Expr &e : op->args) {
                if (const Variable *v = e.as<Variable>()) {
                    use_header(v->name, true);
                }
            }
        }
        if (op->is_intrinsic(Intrinsic::atomic_add)) {
            if (const Variable *v = op->args[0].as<Variable>()) {
                touch(v->name, false);
                touch(v->name, true);
            }
        }
        if (op->call_type == CallKind::Extern || op->call_type == CallKind::ExternCPlusPlus) {
            synchronized_ |= device_order_of(op->name) == DeviceOrder::Releases;
            for (const Expr &e : op->args) {
                pass_to_function(e);
            }
        }
        Visitor::visit(op);
    }

    static const Call *as_struct(const Expr &e) {
        const Call *call = e.as<Call>();
        return call && call->is_intrinsic(Intrinsic::make_struct) ? call : nullptr;
    }

    void visit(const LetStmt *op) override {
        note_alias(op);
        const bool is_struct = as_struct(op->value) != nullptr;
        if (is_struct) {
            structs_[op->name] = op->value;
        }
        Visitor::visit(op);
        if (is_struct) {
            structs_.erase(op->name);
        }
    }

    /// A header that is made of what another says is one of the same buffer.
    void note_alias(const LetStmt *op) {
        const Call *made = Call::as_intrinsic(op->value, Intrinsic::buffer_init);
        const Call *host =
            made ? Call::as_intrinsic(made->args[2], Intrinsic::buffer_get_host) : nullptr;
        const Variable *of = host ? host->args[0].as<Variable>() : nullptr;
        if (of && !table_.buffer_of_header(of->name).empty()) {
            table_.headers_[op->name] = table_.buffer_of_header(of->name);
        }
    }

    void pass_to_function(const Expr &e) {
        const Variable *v = e.as<Variable>();
        const auto named = v ? structs_.find(v->name) : structs_.end();
        if (const Call *call = as_struct(named == structs_.end() ? e : named->second)) {
            for (const Expr &member : call->args) {
                pass_to_function(member);
            }
        } else if (v) {
            use_header(v->name, false);
        }
    }

    void use_header(const std::string &header, bool is_write) {
        const std::string &name = table_.buffer_of_header(header);
        if (name.empty()) {
            return;
        }
        BufferUsage usage;
        usage.by_header = true;
        usage.anywhere_read = is_copy_ && !is_write;
        note(name, usage);
        if (!usage.anywhere_read) {
            touch_on(name, is_write, extern_api_);
        }
    }

    UsageTable &table_;
    const LowerContext &ctx_;
    Usages *all_ = nullptr, *own_ = nullptr;
    bool synchronized_ = false;
    DeviceAPI kernel_ = DeviceAPI::None;      ///< that we are in
    DeviceAPI extern_api_ = DeviceAPI::Host;  ///< of the extern stage that we are in
    bool is_copy_ = false;                    ///< that stage is copy_to_device or copy_to_host
    std::set<std::string> local_;             ///< storage inside of the kernel
    std::map<std::string, Expr> structs_;     ///< that have a name
    std::map<std::string, DeviceAPI> seen_;
};

UsageTable::UsageTable(const Stmt &s, const LowerContext &ctx) {
    for (const auto &entry : ctx.used.images) {
        headers_[names::buffer(entry.first)] = entry.first;
    }
    for (const auto &entry : ctx.used.parameters) {
        if (entry.second.is_buffer()) {
            headers_[names::buffer(entry.first)] = entry.first;
        }
    }
    for (const Function &f : ctx.outputs) {
        for (int i = 0; i < f.outputs(); i++) {
            headers_[names::buffer(f.buffer_name(i))] = f.buffer_name(i);
        }
    }
    Walk(*this, ctx)(s);
}

const Usages &UsageTable::of(const Stmt &s) const {
    static const Usages none;
    const auto it = all_.find(s.get());
    return it == all_.end() ? none : it->second;
}

const Usages &UsageTable::of_node(const Stmt &s) const {
    static const Usages none;
    const auto it = own_.find(s.get());
    return it == own_.end() ? none : it->second;
}

bool UsageTable::is_synchronized(const Stmt &s) const {
    return synchronized_.count(s.get()) != 0;
}

const std::string &UsageTable::buffer_of_header(const std::string &header) const {
    static const std::string none;
    const auto it = headers_.find(header);
    return it == headers_.end() ? none : it->second;
}

}  // namespace calotype::internal
