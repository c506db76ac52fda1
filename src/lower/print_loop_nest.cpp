// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first pass's result, reduced to what a person wants to see of a schedule:
//
//     produce f:
//       parallel y:
//         produce g:
//           for x:
//             g(...) = ...
//         consume g:
//           vectorized x in [0, 7]:
//             f(...) = ...
//
// What is stored further out than it is computed, or in a memory of the user's choice, has a line
// "store g:"; what is allocated further out than that, a line "allocate g:".
#include <map>
#include <optional>

#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/lower.h"
#include "lower/nest/build_nest.h"
#include "lower/nest/prepare.h"

namespace calotype::internal {

namespace {

class NestPrinter : public Visitor {
public:
    explicit NestPrinter(const LowerContext &ctx) : ctx_(ctx) {
    }
    std::string take() {
        return std::move(text_);
    }

private:
    using Visitor::visit;
    void line(const std::string &text) {
        text_ += std::string(size_t(2 * depth_), ' ') + text + "\n";
    }
    void inside(const Stmt &body) {
        depth_++;
        (*this)(body);
        depth_--;
    }
    void visit(const ProducerConsumer *op) override {
        line((op->is_producer ? "produce " : "consume ") + op->name + ":");
        inside(op->body);
    }
    void visit(const For *op) override {
        const auto known = ctx_.loops.find(op->name);
        const std::string var = known == ctx_.loops.end() ? op->name : known->second.var;
        if (var == outermost_name) {
            (*this)(op->body);
            return;
        }
        std::string text =
            op->for_type == ForType::Serial ? "for " : std::string(to_string(op->for_type)) + " ";
        text += var;
        const std::optional<int64_t> min = constant(op->min), extent = constant(op->extent);
        if (min && extent) {
            text +=
                " in [" + std::to_string(*min) + ", " + std::to_string(*min + *extent - 1) + "]";
        }
        line(text + ":");
        inside(op->body);
    }
    void visit(const LetStmt *op) override {
        if (const auto *value = op->value.as<IntImm>()) {
            constants_[op->name] = value->value;
        }
        (*this)(op->body);
    }
    void visit(const Realize *op) override {
        const bool has_place =
            op->memory_type != MemoryType::Auto && op->memory_type != MemoryType::Heap;
        if (!has_place && is_produced_at_once(op)) {
            (*this)(op->body);
            return;
        }
        line("store " + op->name +
             (has_place ? std::string(" in ") + to_string(op->memory_type) : "") + ":");
        inside(op->body);
    }
    void visit(const HoistedStorage *op) override {
        line("allocate " + op->name + ":");
        inside(op->body);
    }
    // Stored where it is computed.
    static bool is_produced_at_once(const Realize *op) {
        const auto *block = op->body.as<Block>();
        const auto *first = (block ? block->first : op->body).as<ProducerConsumer>();
        return first && first->name == op->name;
    }
    std::optional<int64_t> constant(const Expr &e) const {
        if (const auto *value = e.as<IntImm>()) {
            return value->value;
        }
        const auto *variable = e.as<Variable>();
        const auto known = variable ? constants_.find(variable->name) : constants_.end();
        return known == constants_.end() ? std::nullopt : std::optional<int64_t>(known->second);
    }
    void visit(const Provide *op) override {
        line(op->name + (op->args.empty() ? "() = ..." : "(...) = ..."));
    }
    void visit(const IfThenElse *op) override {
        (*this)(op->then_case);
        (*this)(op->else_case);
    }

    const LowerContext &ctx_;
    std::map<std::string, int64_t> constants_;  ///< lets around this place
    std::string text_;
    int depth_ = 0;
};

}  // namespace

std::string print_loop_nest(const PipelineSource &source, const Target &target) {
    const std::unique_ptr<LowerContext> ctx = prepare(source, target);
    const Stmt nest = build_nest(Stmt(), *ctx);
    NestPrinter printer(*ctx);
    printer(nest);
    return printer.take();
}

}  // namespace calotype::internal
