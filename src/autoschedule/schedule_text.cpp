// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "autoschedule/schedule_text.h"

#include <cctype>

namespace calotype::internal {

namespace {

/// As C++ has it.
std::string spelling(TailStrategy tail) {
    internal_assert(tail == TailStrategy::GuardWithIf) << "a tail without a spelling";
    return "TailStrategy::GuardWithIf";
}

std::string quoted(const std::string &text) {
    return "\"" + text + "\"";
}

}  // namespace

ScheduleText::ScheduleText(const std::vector<Function> &order) {
    for (size_t i = 0; i < order.size(); i++) {
        const std::string name = identifier(order[i].name());
        names_[order[i].name()] = name;
        funcs_ << "    Func " << name << " = pipeline.get_func(" << i << ");\n";
    }
}

/// Of the letters that C++ has, and as no other.
std::string ScheduleText::identifier(const std::string &name) {
    std::string plain;
    for (const char c : name) {
        plain += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    }
    if (std::isdigit(static_cast<unsigned char>(plain[0]))) {
        plain = "_" + plain;
    }
    return replace_all(identifiers_.unique(plain), "$", "_n");
}

std::string ScheduleText::variable(const VarOrRVar &v) {
    const std::string key = (v.is_rvar ? "r " : "v ") + v.name();
    auto known = variables_.find(key);
    if (known == variables_.end()) {
        known = variables_.emplace(key, identifier(v.name())).first;
        declarations_ << "    " << (v.is_rvar ? "RVar " : "Var ") << known->second << "("
                      << quoted(v.name()) << ");\n";
    }
    return known->second;
}

std::string ScheduleText::text(const std::string &heading) const {
    std::ostringstream out;
    out << "// " << heading << "\n"
        << "#include \"calotype.h\"\n\n"
        << "inline void apply_schedule(const ::calotype::Pipeline &its_pipeline) {\n"
        << "    using namespace ::calotype;\n"
        << "    Pipeline pipeline = its_pipeline;\n"
        << funcs_.str() << declarations_.str() << body_.str() << "}\n";
    return out.str();
}

StageWriter::StageWriter(const Function &f, int stage, ScheduleText &text)
    : stage_(stage == 0 ? Stage(Func(f)) : Func(f).update(stage - 1)), text_(text),
      chain_(text.name_of(f) + (stage == 0 ? "" : ".update(" + std::to_string(stage - 1) + ")")) {
    if (stage > 0) {
        stage_.unscheduled();
        chain_ += ".unscheduled()";
    }
}

StageWriter::~StageWriter() {
    if (chain_.back() == ')') {
        text_.statement(chain_);
    }
}

void StageWriter::write(const std::string &directive, const std::vector<VarOrRVar> &loops,
                        const std::string &rest) {
    std::vector<std::string> names;
    for (const VarOrRVar &v : loops) {
        names.push_back(text_.variable(v));
    }
    chain_ += "\n        ." + directive + "(" + join(names, ", ") + rest + ")";
}

void StageWriter::split(const VarOrRVar &v, const VarOrRVar &outer, const VarOrRVar &inner,
                        int factor, TailStrategy tail) {
    stage_.split(v, outer, inner, factor, tail);
    write("split", {v, outer, inner}, ", " + std::to_string(factor) + ", " + spelling(tail));
}

void StageWriter::reorder(const std::vector<VarOrRVar> &loops) {
    if (loops.size() > 1) {
        stage_.reorder(loops);
        write("reorder", loops);
    }
}

void StageWriter::vectorize(const VarOrRVar &v) {
    stage_.vectorize(v);
    write("vectorize", {v});
}

void StageWriter::unroll(const VarOrRVar &v) {
    stage_.unroll(v);
    write("unroll", {v});
}

void StageWriter::parallel(const VarOrRVar &v) {
    stage_.parallel(v);
    write("parallel", {v});
}

void StageWriter::gpu_blocks(const std::vector<VarOrRVar> &loops) {
    if (loops.size() == 1) {
        stage_.gpu_blocks(loops[0]);
    } else if (loops.size() == 2) {
        stage_.gpu_blocks(loops[0], loops[1]);
    } else {
        stage_.gpu_blocks(loops[0], loops[1], loops[2]);
    }
    write("gpu_blocks", loops);
}

void StageWriter::gpu_threads(const std::vector<VarOrRVar> &loops) {
    if (loops.size() == 1) {
        stage_.gpu_threads(loops[0]);
    } else {
        stage_.gpu_threads(loops[0], loops[1]);
    }
    write("gpu_threads", loops);
}

void StageWriter::gpu_single_thread() {
    stage_.gpu_single_thread();
    write("gpu_single_thread", {});
}

void compute_root(const Function &f, ScheduleText &text) {
    Func(f).compute_root();
    text.statement(text.name_of(f) + ".compute_root()");
}

void compute_at(const Function &f, const Function &host, const Var &loop, int stage,
                ScheduleText &text) {
    Func(f).compute_at(LoopLevel(host, loop, stage));
    text.statement(text.name_of(f) + ".compute_at(LoopLevel(" + text.name_of(host) + ", " +
                   text.variable(loop) + ", " + std::to_string(stage) + "))");
}

}  // namespace calotype::internal
