// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/loop_level.h"

#include "pipeline/edits.h"
#include "pipeline/level_text.h"
#include "support/copyable_atomic.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

struct LoopLevel::Contents : RefCounted {
    enum class Kind { Undefined, Inlined, Root, Loop };
    Kind kind = Kind::Undefined;
    std::string func, var;
    bool is_rvar = false;
    int stage_index = -1;
    CopyableAtomic<bool> locked{false};  ///< set by each thread that compiles

    bool same_place(const Contents &o) const {
        return kind == o.kind && func == o.func && var == o.var && stage_index == o.stage_index;
    }
};

LoopLevel::LoopLevel() : contents_(new Contents) {
}

LoopLevel::LoopLevel(const std::string &func_name, const std::string &var_name, bool is_rvar,
                     int stage_index)
    : contents_(new Contents) {
    contents_->kind = Contents::Kind::Loop;
    contents_->func = func_name;
    contents_->var = var_name;
    contents_->is_rvar = is_rvar;
    contents_->stage_index = stage_index;
}

LoopLevel::LoopLevel(const LoopLevel &) = default;
LoopLevel::LoopLevel(LoopLevel &&) noexcept = default;
LoopLevel &LoopLevel::operator=(const LoopLevel &) = default;
LoopLevel &LoopLevel::operator=(LoopLevel &&) noexcept = default;
LoopLevel::~LoopLevel() = default;

LoopLevel LoopLevel::inlined() {
    LoopLevel level;
    level.contents_->kind = Contents::Kind::Inlined;
    return level;
}

LoopLevel LoopLevel::root() {
    LoopLevel level;
    level.contents_->kind = Contents::Kind::Root;
    return level;
}

void LoopLevel::set(const LoopLevel &other) {
    user_assert(!locked()) << "cannot set loop level " << internal::level_text(*this)
                           << ", it is locked: the pipeline has been lowered";
    internal::count_edit();
    Contents &c = *contents_;
    c.kind = other.contents_->kind;
    c.func = other.contents_->func;
    c.var = other.contents_->var;
    c.is_rvar = other.contents_->is_rvar;
    c.stage_index = other.contents_->stage_index;
}

LoopLevel &LoopLevel::lock() {
    contents_->locked = true;
    return *this;
}

LoopLevel LoopLevel::copy() const {
    LoopLevel level;
    level.set(*this);
    level.contents_->locked = contents_->locked;
    return level;
}

bool LoopLevel::defined() const {
    return contents_->kind != Contents::Kind::Undefined;
}

bool LoopLevel::locked() const {
    return contents_->locked;
}

const RefCounted *LoopLevel::identity() const {
    return contents_.get();
}

void LoopLevel::check_defined() const {
    user_assert(defined()) << "loop level is used before it was set";
}

bool LoopLevel::is_inlined() const {
    check_defined();
    return contents_->kind == Contents::Kind::Inlined;
}

bool LoopLevel::is_root() const {
    check_defined();
    return contents_->kind == Contents::Kind::Root;
}

std::string LoopLevel::func_name() const {
    check_defined();
    return contents_->func;
}

std::string LoopLevel::var_name() const {
    check_defined();
    return contents_->var;
}

bool LoopLevel::is_rvar() const {
    check_defined();
    return contents_->is_rvar;
}

int LoopLevel::stage_index() const {
    check_defined();
    return contents_->stage_index;
}

std::string LoopLevel::to_string() const {
    user_assert(locked()) << "loop level " << internal::level_text(*this)
                          << " may still be set, and is read: lock() or compiling ends that";
    return internal::level_text(*this);
}

std::string internal::level_text(const LoopLevel &level) {
    if (!level.defined()) {
        return "undefined";
    }
    if (level.is_inlined()) {
        return "inlined";
    }
    if (level.is_root()) {
        return "root";
    }
    const std::string stage =
        level.stage_index() >= 0 ? ".s" + std::to_string(level.stage_index()) : "";
    return level.func_name() + stage + "." + level.var_name();
}

bool LoopLevel::operator==(const LoopLevel &other) const {
    return contents_->same_place(*other.contents_);
}

}  // namespace calotype
