// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/printer.h"

#include <ostream>
#include <sstream>
#include <unordered_map>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/text/syntax.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

class Printer : public Visitor {
public:
    explicit Printer(std::ostream &out) : out_(out) {
    }

    /// With parentheses if e binds looser than `at_least`.
    void print(const Expr &e, Precedence at_least = Precedence::Let) {
        if (!e.defined()) {
            out_ << "(undefined)";
            return;
        }
        if (depth_in_expression_ == 0) {
            shared_.clear();
            printed_ = distinct_ = 0;
        }
        const auto [number, is_new] =
            e.get()->is_unique() ? std::pair<size_t, bool>(0, true) : number_of(e);
        if (!is_new && printed_ > small_expression + often * distinct_) {
            out_ << "#" << number;
            return;
        }
        printed_++;
        repeating_ += !is_new;
        distinct_ += repeating_ == 0;
        depth_in_expression_++;
        print_in_full(e, at_least);
        depth_in_expression_--;
        repeating_ -= !is_new;
    }

    void print_in_full(const Expr &e, Precedence at_least) {
        const InfixOperator *op = infix_operator(e.kind());
        const Precedence own = op            ? op->precedence
                               : e.as<Let>() ? Precedence::Let
                                             : Precedence::Primary;
        if (own < at_least) {
            out_ << "(";
            (*this)(e);
            out_ << ")";
        } else {
            (*this)(e);
        }
    }

    /// A statement and those after it that belong to one braced group.
    void print_sequence(Stmt s) {
        while (s.defined()) {
            if (const Block *block = s.as<Block>()) {
                const bool extends_to_end =
                    block->first.as<LetStmt>() || block->first.as<Allocate>();
                if (extends_to_end) {
                    indent() << "{\n";
                    print_indented(block->first);
                    indent() << "}\n";
                } else {
                    (*this)(block->first);
                }
                s = Stmt(block->rest);
            } else if (const LetStmt *let = s.as<LetStmt>()) {
                indent() << "let " << name_to_text(let->name) << " = ";
                print(let->value);
                out_ << "\n";
                s = Stmt(let->body);
            } else if (const Allocate *allocate = s.as<Allocate>()) {
                print_allocate(allocate);
                s = Stmt(allocate->body);
            } else {
                (*this)(s);
                return;
            }
        }
    }

private:
    std::ostream &out_;
    int depth_ = 0;

    // An expression whose tree is large, and much larger than its graph, is cut short: what was
    // printed before becomes its number, #3. Such text cannot be parsed, but it ends.
    static constexpr size_t small_expression = 2048, often = 8;
    std::unordered_map<const ExprNode *, size_t> shared_;  ///< in the order of their printing
    size_t printed_ = 0, distinct_ = 0;                    ///< nodes of this expression so far
    int depth_in_expression_ = 0, repeating_ = 0;

    /// The number of a node with several owners, and whether it is met for the first time.
    std::pair<size_t, bool> number_of(const Expr &e) {
        const auto [it, is_new] = shared_.emplace(e.get(), shared_.size());
        return {it->second, is_new};
    }

    std::ostream &indent() {
        return out_ << std::string(size_t(depth_) * 2, ' ');
    }

    void print_indented(const Stmt &s) {
        depth_++;
        print_sequence(s);
        depth_--;
    }

    /// " {", the body, "}" and no new line.
    void print_braced(const Stmt &body) {
        out_ << " {\n";
        print_indented(body);
        indent() << "}";
    }

    void print_body(const Stmt &body) {
        print_braced(body);
        out_ << "\n";
    }

    void print_list(const std::vector<Expr> &list) {
        for (size_t i = 0; i < list.size(); i++) {
            out_ << (i ? ", " : "");
            print(list[i]);
        }
    }

    /// name(arg, arg)
    void print_function(const char *name, const std::vector<Expr> &args) {
        out_ << name << "(";
        print_list(args);
        out_ << ")";
    }

    void print_bounds(const Region &bounds) {
        out_ << "(";
        for (size_t i = 0; i < bounds.size(); i++) {
            out_ << (i ? ", [" : "[");
            print(bounds[i].min);
            out_ << ", ";
            print(bounds[i].extent);
            out_ << "]";
        }
        out_ << ")";
    }

    /// The types of a tuple: nothing for a single int32.
    void print_types(const std::vector<Type> &types) {
        if (types.size() == 1) {
            print_type_unless(types[0], Int(32));
            return;
        }
        out_ << ":{";
        for (size_t i = 0; i < types.size(); i++) {
            out_ << (i ? ", " : "") << types[i];
        }
        out_ << "}";
    }

    void print_type_unless(const Type &t, const Type &expected) {
        const std::string text = to_string(t);
        if (text != to_string(expected)) {
            out_ << ":" << text;
        }
    }

    /// Whether the condition is the one that goes without saying.
    static bool always_true(const Expr &condition, int lanes) {
        return !condition.defined() || equal(condition, const_true(lanes));
    }

    void print_when(const Expr &condition) {
        if (!always_true(condition, 1)) {
            out_ << " when(";
            print(condition);
            out_ << ")";
        }
    }

    /// [index if predicate align(modulus, remainder)]
    void print_place(const Expr &index, const Expr &predicate, const Alignment &alignment,
                     bool is_streaming) {
        out_ << "[";
        print(index);
        if (!always_true(predicate, index.type().lanes())) {
            out_ << " if ";
            print(predicate);
        }
        if (alignment != Alignment()) {
            out_ << " align(" << alignment.modulus << ", " << alignment.remainder << ")";
        }
        out_ << (is_streaming ? " streaming]" : "]");
    }

    void print_allocate(const Allocate *op) {
        indent() << "allocate " << name_to_text(op->name) << "[" << op->type;
        for (const Expr &e : op->extents) {
            out_ << ", ";
            print(e);
        }
        out_ << "]";
        print_memory_type(op->memory_type);
        print_when(op->condition);
        if (op->new_expr.defined()) {
            out_ << " memory(";
            print(op->new_expr);
            out_ << ")";
        }
        if (!op->free_function.empty()) {
            out_ << " deleter(" << quote(op->free_function) << ")";
        }
        if (op->padding != 0) {
            out_ << " padding(" << op->padding << ")";
        }
        out_ << "\n";
    }

    void print_memory_type(MemoryType t) {
        if (t != MemoryType::Auto) {
            out_ << " in " << to_string(t);
        }
    }

    template<typename T>
    void print_infix(const T *op) {
        const InfixOperator *infix = infix_operator(T::kind_tag);
        const bool chains = infix->precedence != Precedence::Comparison;
        print(op->a, chains ? infix->precedence : next(infix->precedence));
        out_ << " " << infix->symbol << " ";
        print(op->b, next(infix->precedence));
    }

protected:
    void visit(const IntImm *op) override {
        out_ << constant_to_text(op);
    }
    void visit(const UIntImm *op) override {
        out_ << constant_to_text(op);
    }
    void visit(const FloatImm *op) override {
        out_ << constant_to_text(op);
    }
    void visit(const StringImm *op) override {
        out_ << quote(op->value);
    }
    void visit(const Broadcast *op) override {
        out_ << "broadcast(";
        print(op->value);
        out_ << ", " << op->lanes << ")";
    }
    void visit(const Cast *op) override {
        out_ << op->type << "(";
        print(op->value);
        out_ << ")";
    }
    void visit(const Reinterpret *op) override {
        out_ << "reinterpret<" << op->type << ">(";
        print(op->value);
        out_ << ")";
    }
    void visit(const Variable *op) override {
        out_ << name_to_text(op->name);
        print_type_unless(op->type, Int(32));
    }
    void visit(const Min *op) override {
        print_function("min", {op->a, op->b});
    }
    void visit(const Max *op) override {
        print_function("max", {op->a, op->b});
    }
#define INFIX(Name)                                                                                \
    void visit(const Name *op) override {                                                          \
        print_infix(op);                                                                           \
    }
    INFIX(Add)
    INFIX(Sub)
    INFIX(Mul)
    INFIX(Div)
    INFIX(Mod)
    INFIX(EQ)
    INFIX(NE)
    INFIX(LT)
    INFIX(LE)
    INFIX(GT)
    INFIX(GE)
    INFIX(And)
    INFIX(Or)
#undef INFIX
    void visit(const Not *op) override {
        out_ << "!";
        print(op->a, Precedence::Primary);
    }
    void visit(const Select *op) override {
        print_function("select", {op->condition, op->true_value, op->false_value});
    }
    void visit(const Load *op) override {
        out_ << name_to_text(op->name);
        print_place(op->index, op->predicate, op->alignment, op->is_streaming);
        print_type_unless(op->type.element_of(), Int(32));
    }
    void visit(const Ramp *op) override {
        out_ << "ramp(";
        print(op->base);
        out_ << ", ";
        print(op->stride);
        out_ << ", " << op->lanes << ")";
    }
    void visit(const Call *op) override {
        switch (op->call_type) {
        case CallKind::Intrinsic:
            out_ << op->name;
            break;
        case CallKind::Func:
            out_ << name_to_text(op->name, true);
            break;
        case CallKind::Image:
        case CallKind::Extern:
        case CallKind::PureExtern:
        case CallKind::ExternCPlusPlus:
            out_ << to_string(op->call_type) << " " << name_to_text(op->name);
            break;
        }
        out_ << "(";
        print_list(op->args);
        out_ << ")";
        if (op->value_index != 0) {
            out_ << "." << op->value_index;
        }
        print_type_unless(op->type, default_call_type(op->args));
    }
    void visit(const Let *op) override {
        out_ << "let " << name_to_text(op->name) << " = ";
        // A let inside the value would take the "in".
        print(op->value, Precedence::Or);
        out_ << " in ";
        print(op->body);
    }
    void visit(const Shuffle *op) override {
        if (op->is_interleave() || op->is_concat()) {
            print_function(op->is_interleave() ? "interleave" : "concat", op->vectors);
            return;
        }
        if (op->is_slice()) {
            out_ << "slice(";
            print(op->vectors[0]);
            out_ << ", " << op->slice_begin() << ", " << op->slice_stride() << ", "
                 << op->indices.size() << ")";
            return;
        }
        out_ << "shuffle([";
        print_list(op->vectors);
        out_ << "], [";
        for (size_t i = 0; i < op->indices.size(); i++) {
            out_ << (i ? ", " : "") << op->indices[i];
        }
        out_ << "])";
    }
    void visit(const VectorReduce *op) override {
        out_ << "vector_reduce(" << to_string(op->op) << ", ";
        print(op->value);
        out_ << ", " << op->type.lanes() << ")";
    }

    void visit(const LetStmt *op) override {
        print_sequence(op);
    }
    void visit(const Allocate *op) override {
        print_sequence(op);
    }
    void visit(const Block *op) override {
        print_sequence(op);
    }
    void visit(const AssertStmt *op) override {
        indent();
        print_function("assert", {op->condition, op->message});
        out_ << "\n";
    }
    void visit(const ProducerConsumer *op) override {
        indent() << (op->is_producer ? "produce " : "consume ") << name_to_text(op->name);
        print_body(op->body);
    }
    void visit(const For *op) override {
        indent() << (op->for_type == ForType::Serial ? "for" : to_string(op->for_type));
        if (op->device_api != DeviceAPI::None) {
            out_ << "<" << to_string(op->device_api) << ">";
        }
        out_ << " (" << name_to_text(op->name) << ", ";
        print_list({op->min, op->extent});
        out_ << ")";
        if (op->partition != Partition::Auto) {
            out_ << " partition(" << to_string(op->partition) << ")";
        }
        print_body(op->body);
    }
    void visit(const Acquire *op) override {
        indent();
        print_function("acquire ", {op->semaphore, op->count});
        print_body(op->body);
    }
    void visit(const Store *op) override {
        indent() << name_to_text(op->name);
        print_place(op->index, op->predicate, op->alignment, op->is_streaming);
        out_ << " = ";
        print(op->value);
        out_ << "\n";
    }
    void visit(const Provide *op) override {
        indent() << name_to_text(op->name) << "(";
        print_list(op->args);
        if (!always_true(op->predicate, 1)) {
            out_ << (op->args.empty() ? "if " : " if ");
            print(op->predicate);
        }
        out_ << ") = ";
        const bool braces = op->values.size() != 1;
        out_ << (braces ? "{" : "");
        print_list(op->values);
        out_ << (braces ? "}\n" : "\n");
    }
    void visit(const Free *op) override {
        indent() << "free " << name_to_text(op->name) << "\n";
    }
    void visit(const Realize *op) override {
        indent() << "realize " << name_to_text(op->name);
        print_bounds(op->bounds);
        print_types(op->types);
        print_memory_type(op->memory_type);
        print_when(op->condition);
        print_body(op->body);
    }
    void visit(const HoistedStorage *op) override {
        indent() << "hoist " << name_to_text(op->name);
        print_body(op->body);
    }
    void visit(const Fork *op) override {
        indent() << "fork";
        print_braced(op->first);
        print_body(op->rest);
    }
    void visit(const IfThenElse *op) override {
        indent();
        print_if(op);
    }
    void print_if(const IfThenElse *op) {
        out_ << "if (";
        print(op->condition);
        out_ << ")";
        print_braced(op->then_case);
        if (const IfThenElse *chained = op->else_case.as<IfThenElse>()) {
            out_ << " else ";
            print_if(chained);
        } else if (op->else_case.defined()) {
            out_ << " else";
            print_body(op->else_case);
        } else {
            out_ << "\n";
        }
    }
    void visit(const Evaluate *op) override {
        indent() << "evaluate ";
        print(op->value);
        out_ << "\n";
    }
    void visit(const Prefetch *op) override {
        indent() << "prefetch " << name_to_text(op->name);
        print_bounds(op->bounds);
        print_types(op->types);
        out_ << " at " << name_to_text(op->at) << " from " << name_to_text(op->from) << " offset ";
        print(op->offset);
        out_ << " bound " << to_string(op->strategy);
        print_when(op->condition);
        print_body(op->body);
    }
    void visit(const Atomic *op) override {
        indent() << "atomic " << name_to_text(op->producer_name);
        if (!op->mutex_name.empty()) {
            out_ << " mutex " << name_to_text(op->mutex_name);
        }
        print_body(op->body);
    }
};

}  // namespace

std::ostream &operator<<(std::ostream &out, const Stmt &s) {
    Printer(out).print_sequence(s);
    return out;
}

std::string to_string(const Expr &e) {
    std::ostringstream out;
    out << e;
    return out.str();
}

std::string to_string(const Stmt &s) {
    std::ostringstream out;
    out << s;
    return out.str();
}

}  // namespace calotype::internal

namespace calotype {

std::ostream &operator<<(std::ostream &out, const Expr &e) {
    internal::Printer(out).print(e);
    return out;
}

}  // namespace calotype
