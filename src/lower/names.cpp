// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/names.h"

#include "ir/expr_nodes.h"

namespace calotype::names {

std::string loop(const std::string &func, int stage, const std::string &var) {
    return func + ".s" + std::to_string(stage) + "." + var;
}

std::string loop_min(const std::string &loop) {
    return loop + ".loop_min";
}

std::string loop_max(const std::string &loop) {
    return loop + ".loop_max";
}

std::string loop_extent(const std::string &loop) {
    return loop + ".loop_extent";
}

std::string fused_min(const std::string &loop) {
    return loop + ".fused_min";
}

std::string fused_extent(const std::string &loop) {
    return loop + ".fused_extent";
}

std::string stage_min(const std::string &func, int stage, const std::string &v) {
    return loop(func, stage, v) + ".min";
}

std::string stage_max(const std::string &func, int stage, const std::string &v) {
    return loop(func, stage, v) + ".max";
}

std::string realized_min(const std::string &func, int d) {
    return func + ".min_realized." + std::to_string(d);
}

std::string realized_extent(const std::string &func, int d) {
    return func + ".extent_realized." + std::to_string(d);
}

Expr var(const std::string &name) {
    return internal::Variable::make(Int(32), name);
}

}  // namespace calotype::names
