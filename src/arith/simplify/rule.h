// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrite rules as data. Each operator's file holds a table of RuleText; this header says what the
// text means and what it is compiled to. The engine (rule_table.h) and test/rules read the same
// tables.
//
// A rule is one line,   "pattern -> replacement"   or   "pattern -> replacement if condition".
//   x y z w u v        any expression; the same letter twice means equal expressions
//   a b                the same, but not a constant
//   c0 c1 ...          an integer constant that fits 64 bits, or a float constant (maybe broadcast)
//   l0 l1              the lane count of a ramp or broadcast
//   0 1 -1 true false  that constant, in the type of its place
//   + - * / % < <= == != && || !   min max select(c, t, f) ramp(b, s, l) broadcast(v, l) likely(x)
//   > and >= are < and <= with the sides exchanged.
//   fold(e)            in a replacement: the constant e, over constants and lanes. Arithmetic is
//                      exact; a result that the type cannot hold means that the rule does not apply
//                      (types that wrap: the result wraps).
//   fit(e)             the same, but in types that wrap too the result has to fit
// In a condition (and in fold) the constants are plain integers (64 bits; overflow makes it false),
// and
//   lo(x) hi(x)        a constant lower and upper bound of x; false if there is none
//   rem(x, c)          x % c where it is known
//
// Charter, each point checked by test/rules:
//   1. Order: the first rule that applies wins; put special cases above general ones.
//   2. Termination: the replacement is smaller in the Knuth-Bendix order described in
//   docs/simplifier.md.
//   3. Truth: the two sides are equal for every type that the rule claims, under its condition.
//   4. A letter that the two sides have differently often stands for no expression with effects:
//   the
//      engine sees to that.
//   5. In types that do not wrap, sums may be added in another order. What is compared, divided or the operand of a minimum
//      or maximum must not overflow then; of data the engine sees to that too (overflow.cpp).
//   6. A commutative operator matches in either order, min and max of floats as well; write one only. Constants stand on the
//      right of commutative operators, so patterns put them there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

/// The types for which a rule claims to hold: those of its letters and constants that are not
/// themselves conditions. Bits may be combined.
enum RuleTypes : uint8_t {
    exact = 1,         ///< int32 and int64, which do not overflow: true of unbounded integers
    narrow_int = 2,    ///< int8 and int16, which wrap
    unsigned_int = 4,  ///< unsigned integers, which wrap
    boolean = 8,       ///< Bool
    floating = 16,     ///< floats as IEEE 754 has them, with NaN and the sign of zero
    scalar = 32,       ///< added to others: not vectors, where the replacement is more work
    finite = 64,  ///< floats that are taken to be neither NaN nor infinite, where that is asked for
    wrapping = narrow_int | unsigned_int,
    signed_int = exact | narrow_int,
    integer = exact | wrapping | boolean,
    any = integer | floating,
    ordered = integer | finite,  ///< no NaN, and -0.0 is as good as 0.0
};

/// The bit of a type; 0 for handles.
RuleTypes rule_type_of(Type t);

struct RuleText {
    uint8_t types;  ///< of RuleTypes
    const char *text;
};

/// The table of one operator.
struct RuleFile {
    NodeKind root;
    const char *name;
    const RuleText *rules;
    size_t count;
};

extern const RuleFile add_rules, sub_rules, mul_rules, div_rules, mod_rules, min_rules, max_rules,
    lt_rules, eq_rules, and_rules, or_rules, not_rules, select_rules, ramp_rules, broadcast_rules;

/// All tables.
const std::vector<RuleFile> &rule_files();

enum class PatternOp : uint8_t {
    Wild,
    Const,
    Lanes,
    Literal,
    True,
    False,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Min,
    Max,
    EQ,
    NE,
    LT,
    LE,
    And,
    Or,
    Not,
    Select,
    Ramp,
    Broadcast,
    Likely,
    Fold,
    Lo,
    Hi,
    Rem,
    Negate,
};

/// Whether its two operands may change places.
bool is_commutative(PatternOp op);

/// The slot of a Fold written as fit().
constexpr int fold_must_fit = 1;
constexpr int max_wilds = 8, first_nonconstant_wild = 6, max_consts = 6, max_lanes = 2;

/// A node of a compiled pattern. Children are indices into Rule::nodes.
struct PatternNode {
    PatternOp op;
    uint8_t slot = 0;  ///< which letter, constant or lane count
    uint8_t arity = 0;
    bool first_use = false;  ///< in a pattern: binds the slot rather than compares with it
    uint16_t child[3] = {};
    int16_t type_source = -1;  ///< whose type a constant takes: see Rule::type_of_*
    int64_t value = 0;         ///< of a Literal
};

/// A compiled rule: one variant of a RuleText, commutative operators turned one way.
struct Rule {
    static constexpr int type_of_wild = 0;    ///< + slot
    static constexpr int type_of_const = 16;  ///< + slot
    static constexpr int type_of_root = 32;

    uint8_t types = any;
    std::string text;
    std::vector<PatternNode> nodes;
    int pattern = -1, replacement = -1, condition = -1;
    std::vector<int16_t> value_slots;  ///< type sources whose types `types` restricts
    std::vector<uint8_t> repeated;     ///< letters that the two sides have differently often
    /// Operands of comparisons, extremes, quotients and remainders, whose values have to fit their type: those of the
    /// pattern, which do, and those of the replacement that are none of them.
    std::vector<uint16_t> operands, new_operands;
};

/// Compiles a rule to its variants. Throws InternalError that tells what is wrong with the text.
std::vector<Rule> compile_rule(NodeKind root, const RuleText &text);
/// Only the rule as written.
Rule parse_rule(const RuleText &text);

}  // namespace calotype::internal
