// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/names.h"

#include "ir/expr_nodes.h"

namespace calotype::internal::names {

namespace {

std::string of_consumer(const std::string &func, const std::string &what, int consumer) {
    return consumer == 0 ? part(func, what) : part(func, what, size_t(consumer));
}

}  // namespace

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

std::string required_min(const std::string &buffer, int d) {
    return part(buffer, "required_min", size_t(d));
}

std::string required_max(const std::string &buffer, int d) {
    return part(buffer, "required_max", size_t(d));
}

std::string crop(const std::string &buffer) {
    return part(buffer, "crop");
}

std::string query_header(const std::string &func, const std::string &buffer) {
    return part(func, "query") + "." + buffer;
}

std::string query_min(const std::string &func, const std::string &buffer, int d) {
    return part(query_header(func, buffer), "min", size_t(d));
}

std::string query_max(const std::string &func, const std::string &buffer, int d) {
    return part(query_header(func, buffer), "max", size_t(d));
}

std::string mutex(const std::string &func) {
    return part(func, "mutex");
}

std::string semaphore(const std::string &func, int consumer) {
    return of_consumer(func, "semaphore", consumer);
}

std::string ring_semaphore(const std::string &func, int consumer) {
    return of_consumer(func, "ring_semaphore", consumer);
}

std::string folding_semaphore(const std::string &func, int consumer) {
    return of_consumer(func, "folding_semaphore", consumer);
}

std::string folding_places(const std::string &func) {
    return part(func, "folding_places");
}

std::string ring_index(const std::string &func) {
    return part(func, "ring_index");
}

std::string trace_id(const std::string &func) {
    return part(func, "trace_id");
}

std::string given(const std::string &field) {
    return part(field, "given");
}

std::string answered(const std::string &field) {
    return part(field, "answered");
}

std::string part(const std::string &of, const std::string &what) {
    return of + "." + what;
}

std::string part(const std::string &of, const std::string &what, size_t i) {
    return part(of, what) + "." + std::to_string(i);
}

Expr var(const std::string &name) {
    return internal::Variable::make(Int(32), name);
}

}  // namespace calotype::internal::names
