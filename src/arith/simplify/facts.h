// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts: what is known at a point of the walk, in layers that open and close with the scopes of the
// IR. Every layer also owns what was computed under it: simplified forms and ranges of expressions.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "arith/integer_info.h"
#include "ir/expr_nodes.h"
#include "support/scope.h"

namespace calotype::internal {

class Facts {
public:
    /// Opens a layer; it and all that was learned in it is forgotten at the end of the block.
    class Layer {
    public:
        explicit Layer(Facts &facts);
        /// For the binding of one name and nothing else: keeps what was computed so far in force
        /// where the name is new.
        Layer(Facts &facts, const std::string &binds);
        ~Layer();
        Layer(const Layer &) = delete;
        Layer &operator=(const Layer &) = delete;

    private:
        Facts &facts_;
        size_t bound_names_, truths_, hidden_;
        bool shares_cache_;
    };

    Facts();

    /// What a name's value is made of: of what is read from memory, which may be anything, or of coordinates alone.
    enum class Origin : uint8_t { Unknown, Data, Indices };

    /// The variable means something new from here on: older knowledge of that name is hidden.
    /// Call only right after opening a layer.
    void bind(const std::string &name, const IntegerInfo &info, const Expr &replacement = Expr(),
              const Expr &value = Expr(), Origin origin = Origin::Unknown);
    /// Narrows what is known of a variable. Call only right after opening a layer.
    void refine(const std::string &name, const IntegerInfo &info);
    /// The variable has this value, a constant. Call only right after opening a layer.
    void replace(const std::string &name, const Expr &constant);

    /// What stands for the variable wherever it occurs, or undefined.
    Expr replacement_of(const std::string &name) const;
    /// The value of a let, if it was given to bind() and its own variables mean the same here; else
    /// undefined.
    Expr value_of(const std::string &name) const;
    /// True if some let in force may have such a value.
    bool has_values() const {
        return values_ > 0;
    }
    /// Null where nothing is known.
    const IntegerInfo *info_of(const std::string &name) const;
    Origin origin_of(const std::string &name) const;
    /// True if a replacement that is in force mentions the variable.
    bool in_replacement(const std::string &name) const;

    /// The condition (simplified, Bool) has this value from here on.
    void learn(const Expr &condition, bool value);
    /// 1 if the condition is known to hold, 0 if known not to, -1 if not known.
    int truth_of(const Expr &condition) const;
    bool has_truths() const {
        return !truths_.empty();
    }

    bool is_empty() const {
        return bound_names_.empty() && truths_.empty();
    }

    // Results that hold in the innermost layer.
    const Expr *find_simplified(const Expr &e) const;
    void remember_simplified(const Expr &e, const Expr &simplified);
    const IntegerInfo *find_info(const ExprNode *e) const;
    void remember_info(const ExprNode *e, const IntegerInfo &info);

private:
    void hide_truths_about(const std::string &name);

    struct Variable {
        IntegerInfo info;
        Expr replacement, value;
        size_t depth = 0;                    ///< how many bindings were in force when it was bound
        std::vector<std::string> uses = {};  ///< of the value, its free variables
        Origin origin = Origin::Unknown;
    };
    struct Truth {
        uint64_t hash;
        Expr condition;
        bool value;
        int hidden = 0;  ///< how many binders in force gave a name of the condition another meaning
    };
    void push(const std::string &name, const Variable &variable);

    // The key is kept alive by the value, so that its address is not used again.
    struct Cache {
        std::unordered_map<const ExprNode *, std::pair<Expr, Expr>> simplified;
        std::unordered_map<const ExprNode *, std::pair<Expr, IntegerInfo>> infos;
    };

    Scope<Variable> variables_;
    std::vector<std::string> bound_names_;
    std::unordered_map<std::string, int> replacement_uses_;
    std::vector<Truth> truths_;
    size_t values_ = 0;           ///< how many bindings in force have a value
    std::vector<size_t> hidden_;  ///< indices of the truths that binders in force hide
    std::unordered_map<std::string, int> names_in_truths_;
    std::vector<Cache> caches_;
};

}  // namespace calotype::internal
