// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The key is a struct: a digest of everything that the values of f are made of (the definitions of
// f and of all Funcs that it needs), then the values of the parameters that occur in them and the
// region that is computed, which parameters may make less than what is allocated. What is marked by
// memoize_tag is represented by its tags. Larger values come first, so that there is no
// padding, whose bytes would not be defined.
#include "lower/instrument/look_up_memoized.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "lower/buffer_header.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "pipeline/compare/key_text.h"
#include "support/hash.h"

namespace calotype::internal {

namespace {

/// Calls of the Func itself, in its updates, do not say its name: a clone has the same values.
class WithoutOwnName : public GraphMutator {
public:
    explicit WithoutOwnName(const std::string &name) : name_(name) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type != CallKind::Func || op->name != name_) {
            return GraphMutator::visit(op);
        }
        return Call::make(op->type, "", mutate(op->args), CallKind::Func, op->value_index);
    }
    const std::string &name_;
};

/// Collects what values depend on, and what they are, over all Funcs needed.
class KeyFinder : public GraphVisitor {
public:
    KeyFinder(const Function &f, const LowerContext &ctx) : memoized_(f), ctx_(ctx) {
        enter(f.name());
    }

    std::vector<Expr> key(const std::vector<Expr> &region) {
        std::for_each(region.begin(), region.end(), [&](const Expr &e) { add_value(e); });
        std::vector<Expr> key;
        Sha256 hash;
        hash.update_field(text_.take());
        const Sha256::Digest digest = hash.finish();
        for (size_t i = 0; i < digest.size(); i += 8) {
            uint64_t word;
            std::memcpy(&word, digest.data() + i, 8);
            key.push_back(make_const(UInt(64), word));
        }
        std::stable_sort(values_.begin(), values_.end(), [](const Expr &a, const Expr &b) {
            return a.type().bytes() > b.type().bytes();
        });
        key.insert(key.end(), values_.begin(), values_.end());
        return key;
    }

private:
    void add_text(const std::string &text) {
        text_.put(text);
    }

    void add(const Expr &e) {
        if (e.defined()) {
            text_.put(WithoutOwnName(memoized_.name()).mutate(e));
            (*this)(e);
        }
    }

    void add_value(const Expr &e) {
        for (const Expr &known : values_) {
            if (equal(known, e)) {
                return;
            }
        }
        values_.push_back(e);
    }

    void enter(const std::string &name) {
        auto it = ctx_.env.find(name);
        if (it == ctx_.env.end() || !entered_.insert(name).second) {
            return;
        }
        const Function &f = it->second;
        add_text(name == memoized_.name() ? "" : name);
        for (int stage = 0; stage < f.stages(); stage++) {
            if (!f.stage(stage)) {
                continue;
            }
            const Definition &def = *f.stage(stage);
            for (const Expr &e : def.args) {
                add(e);
            }
            for (const Expr &e : def.values) {
                add(e);
            }
            add(def.predicate);
            for (const ReductionVariable &rv : def.schedule.rvars) {
                add_text(rv.var);
                add(rv.min);
                add(rv.extent);
            }
        }
        enter_extern(f);
    }

    void enter_extern(const Function &f) {
        if (!f.has_extern_definition()) {
            return;
        }
        add_text(f->extern_name);
        for (const ExternFuncArgument &arg : f->extern_args) {
            if (arg.is_func()) {
                enter(Function(arg.func).name());
            } else if (arg.is_expr()) {
                add(arg.expr);
            } else if (arg.is_image_param()) {
                refuse(arg.image_param.name());
            }
        }
    }

    /// Everything from the first to the last element: names of images repeat from one program to
    /// another.
    void add_image(const ImageContents &image) {
        if (!entered_.insert(image.name).second) {
            return;
        }
        const calotype_buffer_t *raw = image.buffer->raw();
        const int64_t element = Type(raw->type).bytes();
        int64_t first = 0, end = element;
        for (int d = 0; d < raw->dimensions; d++) {
            const int64_t span = int64_t(raw->dim[d].extent - 1) * raw->dim[d].stride * element;
            (span < 0 ? first : end) += span;
            add_text(std::to_string(raw->dim[d].min) + " " + std::to_string(raw->dim[d].extent) +
                     " " + std::to_string(raw->dim[d].stride));
        }
        if (raw->host && end > first) {
            const char *host = reinterpret_cast<const char *>(raw->host);
            text_.put(std::string_view(host + first, size_t(end - first)));
        }
    }

    void refuse(const std::string &image) const {
        user_error << "func " << memoized_.name()
                   << " is memoized, but its values depend on image parameter " << image
                   << ": mark what reads it with memoize_tag";
    }

    using GraphVisitor::visit;

    void visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::memoize_expr)) {
            for (size_t i = 1; i < op->args.size(); i++) {
                add_value(op->args[i]);
            }
            return;
        }
        if (op->call_type == CallKind::Image && op->symbol &&
            op->symbol->kind == SymbolKind::Parameter) {
            const Parameter image(op->symbol);
            if (!image->is_constant) {
                refuse(op->name);
            }
            add_image(ImageContents(op->name, image->buffer));
        }
        if (op->call_type == CallKind::Image && op->symbol &&
            op->symbol->kind == SymbolKind::Image) {
            add_image(*static_cast<const ImageContents *>(op->symbol.get()));
        }
        if (op->call_type == CallKind::Func) {
            enter(op->name);
        }
        GraphVisitor::visit(op);
    }

    void visit(const Variable *op) override {
        // Of a buffer, its shape.
        if (op->symbol && op->symbol->kind == SymbolKind::Parameter &&
            (!Parameter(op->symbol).is_buffer() || !op->type.is_handle())) {
            add_value(op);
        }
    }

    const Function &memoized_;
    const LowerContext &ctx_;
    std::set<std::string> entered_;
    std::vector<Expr> values_;
    KeyText text_;
};

/// The parts of the lookup, each a variable of this name.
std::string part(const Function &f, const char *what) {
    return names::part(names::part(f.name(), "memoized"), what);
}

Expr handle_part(const Function &f, const char *what) {
    return Variable::make(Handle(), part(f, what));
}

Expr int_part(const Function &f, const char *what) {
    return Variable::make(Int(32), part(f, what));
}

/// The arguments that lookup and store share.
std::vector<Expr> common_arguments(const Function &f) {
    return {user_context(),           handle_part(f, "key"), int_part(f, "key_size"),
            handle_part(f, "bounds"), f.outputs(),           handle_part(f, "buffers")};
}

/// Enters the result, which has been computed.
Stmt store(const Function &f) {
    const Expr eviction_key = f.schedule().memoize_eviction_key;
    std::vector<Expr> args = common_arguments(f);
    args.push_back(make_const(Bool(), eviction_key.defined()));
    args.push_back(!eviction_key.defined()           ? make_zero(UInt(64))
                   : eviction_key.type().is_handle() ? reinterpret(UInt(64), eviction_key)
                                                     : cast(UInt(64), eviction_key));
    const Expr result = int_part(f, "store");
    const Expr call = call_runtime(RuntimeFunction::memoization_cache_store, args);
    return LetStmt::make(part(f, "store"), call, AssertStmt::make(result == 0, result));
}

/// The storage of each value of a Func.
struct MemoizedStorage {
    std::vector<std::string> buffers;  ///< one a value
    std::vector<Type> types;           ///< of elements in memory
    std::vector<Expr> mins, sizes, strides;
    std::vector<Expr> extents;   ///< that are allocated
    std::vector<Expr> computed;  ///< the ends of the region
};

/// The ends of what is computed of f, as the mark says that bound_allocations puts in front of its
/// production.
std::vector<Expr> computed_region(const Stmt &s, const std::string &f) {
    std::vector<Expr> ends;
    for_each<Call>(s, [&](const Call *op) {
        if (op->is_intrinsic(Intrinsic::memoize_expr) && op->args[1].as<StringImm>()->value == f) {
            ends.assign(op->args.begin() + 2, op->args.end());
        }
    });
    return ends;
}

/// Around the storage: the key, the headers and the lookup, and the storage that the lookup found or
/// made.
Stmt look_up(const Function &f, const MemoizedStorage &storage, const Stmt &body,
             const LowerContext &ctx) {
    std::vector<HeaderDimension> shape;
    for (size_t d = 0; d < storage.mins.size(); d++) {
        shape.push_back({storage.mins[d], storage.sizes[d], storage.strides[d]});
    }
    Stmt s = body;
    std::vector<Expr> headers;
    for (size_t i = storage.buffers.size(); i-- > 0;) {
        const Expr header = Variable::make(header_type(), names::buffer(storage.buffers[i]));
        headers.insert(headers.begin(), header);
        const Expr host = Call::make(Handle(), Intrinsic::buffer_get_host, {header});
        s = Allocate::make(storage.buffers[i], storage.types[i], MemoryType::Heap, storage.extents,
                           const_true(), s, host,
                           runtime_function(RuntimeFunction::memoization_cache_release).name);
    }
    const Expr result = int_part(f, "lookup");
    s = Block::make(AssertStmt::make(result >= 0, result), s);
    s = LetStmt::make(part(f, "lookup"),
                      call_runtime(RuntimeFunction::memoization_cache_lookup, common_arguments(f)),
                      s);
    s = LetStmt::make(part(f, "buffers"), Call::make(Handle(), Intrinsic::make_struct, headers), s);
    for (size_t i = storage.buffers.size(); i-- > 0;) {
        check_element_size("func " + f.name() + ", which is memoized,", storage.types[i]);
        s = LetStmt::make(names::buffer(storage.buffers[i]),
                          make_buffer_header(Expr(), storage.types[i], shape), s);
    }
    s = LetStmt::make(part(f, "bounds"), make_buffer_header(Expr(), storage.types[0], shape), s);
    const std::vector<Expr> key = KeyFinder(f, ctx).key(storage.computed);
    int bytes = 0;
    for (const Expr &e : key) {
        bytes += e.type().bytes();
    }
    s = LetStmt::make(part(f, "key_size"), bytes, s);
    return LetStmt::make(part(f, "key"), Call::make(Handle(), Intrinsic::make_struct, key), s);
}

class Memoizer : public StmtMutator {
public:
    explicit Memoizer(const LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    /// All values of a Func are looked up at once, inside of the shapes of all.
    Stmt visit(const Allocate *op) override {
        const Function *f = ctx_.function_of_buffer(op->name);
        if (!f || !is_memoized(*f, ctx_)) {
            return StmtMutator::visit(op);
        }
        const Stmt body = mutate(op->body);
        if (op->name != f->buffer_name(f->outputs() - 1)) {
            return body;
        }
        MemoizedStorage storage;
        for (int i = 0; i < f->outputs(); i++) {
            storage.buffers.push_back(f->buffer_name(i));
            storage.types.push_back(storage_type(f->output_types()[i]));
        }
        const auto part_of_shape = [](const std::string &name) {
            return Variable::make(Int(32), name);
        };
        for (int d = 0; d < int(op->extents.size()); d++) {
            storage.mins.push_back(part_of_shape(names::buffer_min(op->name, d)));
            storage.sizes.push_back(part_of_shape(names::buffer_extent(op->name, d)));
            storage.strides.push_back(part_of_shape(names::buffer_stride(op->name, d)));
        }
        storage.extents = op->extents;
        storage.computed = computed_region(op->body, f->name());
        return look_up(*f, storage, body, ctx_);
    }

    /// What the cache has is not computed. Bounds inference knows nothing of this: the region is
    /// the same.
    Stmt visit(const ProducerConsumer *op) override {
        const Stmt s = StmtMutator::visit(op);
        const auto it = ctx_.env.find(op->name);
        if (!op->is_producer || it == ctx_.env.end() || !is_memoized(it->second, ctx_)) {
            return s;
        }
        const Stmt compute = Block::make(s.as<ProducerConsumer>()->body, store(it->second));
        const Expr is_missing = int_part(it->second, "lookup") == 1;
        return ProducerConsumer::make_produce(op->name, IfThenElse::make(is_missing, compute));
    }

    Stmt visit(const Block *op) override {
        const Evaluate *first = op->first.as<Evaluate>();
        return first && Call::as_intrinsic(first->value, Intrinsic::memoize_expr)
                   ? mutate(op->rest)
                   : StmtMutator::visit(op);
    }

    const LowerContext &ctx_;
};

}  // namespace

bool is_memoized(const Function &f, const LowerContext &ctx) {
    return f.schedule().memoized && !ctx.is_output(f.name());
}

Stmt look_up_memoized(const Stmt &s, LowerContext &ctx) {
    return Memoizer(ctx).mutate(s);
}

}  // namespace calotype::internal
