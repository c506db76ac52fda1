// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/parser.h"

#include "ir/constants.h"
#include "ir/text/expr_parser.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

class StmtParser : public ExprParser {
public:
    using ExprParser::ExprParser;

    Stmt parse_whole_stmt() {
        Stmt s = sequence(Token::End, "");
        expect_end();
        return s;
    }

private:
    /// A statement of a sequence; `open` if what follows in the sequence is its body.
    struct Item {
        Stmt stmt;
        bool open = false;
    };

    static Stmt with_body(const Stmt &s, Stmt body) {
        if (const LetStmt *let = s.as<LetStmt>()) {
            return LetStmt::make(let->name, let->value, std::move(body));
        }
        const Allocate *op = s.as<Allocate>();
        return with(op, &Allocate::body, std::move(body));
    }

    /// Statements up to the end of the text or the closing symbol, which is not taken.
    Stmt sequence(Token::Kind end, const char *close) {
        std::vector<Item> items;
        while (peek().kind != Token::End && !(end == Token::Symbol && peek().is(close))) {
            items.push_back(statement());
        }
        Stmt rest;
        while (!items.empty()) {
            const Item item = std::move(items.back());
            items.pop_back();
            rest = item.open ? with_body(item.stmt, std::move(rest))
                             : Block::make(item.stmt, std::move(rest));
        }
        return rest;
    }

    Stmt braced() {
        if (++nesting_ > 500) {
            syntax_error(peek(), "statements are nested more than 500 deep");
        }
        expect("{");
        Stmt s = sequence(Token::Symbol, "}");
        expect("}");
        nesting_--;
        return s;
    }

    Item statement() {
        const Token at = peek();
        if (at.is("{")) {
            return {braced()};
        }
        if (accept("let")) {
            const std::string variable = name();
            expect("=");
            return {LetStmt::make(variable, expr(), Stmt()), true};
        }
        if (accept("allocate")) {
            return {allocate(at), true};
        }
        if (at.kind == Token::QuotedName ||
            (at.kind == Token::Name && !is_reserved_word(at.text))) {
            return {assignment(at)};
        }
        if (accept("evaluate")) {
            return {Evaluate::make(expr())};
        }
        if (accept("free")) {
            return {Free::make(name())};
        }
        if (accept("if")) {
            return {if_statement(at)};
        }
        if (accept("assert")) {
            expect("(");
            Expr condition = expr();
            expect(",");
            Expr message = expr();
            expect(")");
            return {well_formed(at, [&] { return AssertStmt::make(condition, message); })};
        }
        return {structure(at)};
    }

    /// The statements that are a word, more words and a body.
    Stmt structure(const Token &at) {
        ForType for_type = ForType::Serial;
        if (at.is("for") || from_string(at.text, &for_type)) {
            take();
            return for_loop(at, for_type);
        }
        if (accept("produce") || accept("consume")) {
            const std::string n = name();
            return ProducerConsumer::make(n, at.is("produce"), braced());
        }
        if (accept("realize")) {
            return realize(at);
        }
        if (accept("hoist")) {
            const std::string n = name();
            return HoistedStorage::make(n, braced());
        }
        if (accept("fork")) {
            Stmt first = braced();
            return Fork::make(first, braced());
        }
        if (accept("acquire")) {
            expect("(");
            Expr semaphore = expr();
            expect(",");
            Expr count = expr();
            expect(")");
            return Acquire::make(semaphore, count, braced());
        }
        if (accept("atomic")) {
            const std::string producer = name();
            const std::string mutex = accept("mutex") ? name() : "";
            return Atomic::make(producer, mutex, braced());
        }
        if (accept("prefetch")) {
            return prefetch(at);
        }
        fail("a statement");
    }

    /// name[place] = value, or name(args if predicate) = value or {values}
    Stmt assignment(const Token &at) {
        const std::string n = name();
        if (peek().is("[")) {
            const Place p = place();
            expect("=");
            Expr value = expr();
            return well_formed(at, [&] {
                return Store::make(n, value, p.index, p.predicate, p.alignment, nullptr,
                                   p.is_streaming);
            });
        }
        if (!peek().is("(")) {
            fail("'[' or '('");
        }
        take();
        std::vector<Expr> args;
        while (!peek().is(")") && !peek().is("if")) {
            args.push_back(expr());
            if (!accept(",")) {
                break;
            }
        }
        Expr predicate = accept("if") ? expr() : const_true();
        expect(")");
        expect("=");
        const std::vector<Expr> values = accept("{") ? list_until("}") : std::vector<Expr>{expr()};
        return well_formed(at, [&] { return Provide::make(n, values, args, predicate); });
    }

    Stmt if_statement(const Token &at) {
        expect("(");
        Expr condition = expr();
        expect(")");
        Stmt then_case = braced(), else_case;
        if (accept("else")) {
            const Token next = peek();
            else_case = accept("if") ? if_statement(next) : braced();
        }
        return well_formed(at, [&] { return IfThenElse::make(condition, then_case, else_case); });
    }

    template<typename Enum>
    Enum enumerator(const char *what) {
        Enum value;
        if (!from_string(peek().text, &value)) {
            fail(what);
        }
        take();
        return value;
    }

    Stmt for_loop(const Token &at, ForType for_type) {
        DeviceAPI device = DeviceAPI::None;
        if (accept("<")) {
            device = enumerator<DeviceAPI>("a device");
            expect(">");
        }
        expect("(");
        const std::string n = name();
        expect(",");
        Expr min = expr();
        expect(",");
        Expr extent = expr();
        expect(")");
        Partition partition = Partition::Auto;
        if (accept("partition")) {
            expect("(");
            partition = enumerator<Partition>("auto, never or always");
            expect(")");
        }
        Stmt body = braced();
        return well_formed(
            at, [&] { return For::make(n, min, extent, for_type, partition, device, body); });
    }

    MemoryType memory_type() {
        return accept("in") ? enumerator<MemoryType>("a kind of memory") : MemoryType::Auto;
    }

    Expr when() {
        if (!accept("when")) {
            return const_true();
        }
        expect("(");
        Expr condition = expr();
        expect(")");
        return condition;
    }

    Stmt allocate(const Token &at) {
        const std::string n = name();
        expect("[");
        const Type t = type();
        const std::vector<Expr> extents =
            accept(",") ? list_until("]") : (expect("]"), std::vector<Expr>());
        const MemoryType memory = memory_type();
        Expr condition = when(), new_expr;
        std::string deleter;
        int padding = 0;
        if (accept("memory")) {
            expect("(");
            new_expr = expr();
            expect(")");
        }
        if (accept("deleter")) {
            expect("(");
            if (peek().kind != Token::String) {
                fail("a string");
            }
            deleter = take().text;
            expect(")");
        }
        if (accept("padding")) {
            expect("(");
            padding = small_integer();
            expect(")");
        }
        return well_formed(at, [&] {
            return Allocate::make(n, t, memory, extents, condition, Stmt(), new_expr, deleter,
                                  padding);
        });
    }

    Region bounds() {
        Region region;
        expect("(");
        while (!accept(")")) {
            if (!region.empty()) {
                expect(",");
            }
            const Token at = peek();
            expect("[");
            Expr min = expr();
            expect(",");
            Expr extent = expr();
            expect("]");
            region.push_back(well_formed(at, [&] { return Range(min, extent); }));
        }
        return region;
    }

    std::vector<Type> types() {
        if (!accept(":")) {
            return {Int(32)};
        }
        if (!accept("{")) {
            return {type()};
        }
        std::vector<Type> list;
        while (!accept("}")) {
            if (!list.empty()) {
                expect(",");
            }
            list.push_back(type());
        }
        return list;
    }

    Stmt realize(const Token &at) {
        const std::string n = name();
        const Region region = bounds();
        const std::vector<Type> t = types();
        const MemoryType memory = memory_type();
        Expr condition = when();
        Stmt body = braced();
        return well_formed(at,
                           [&] { return Realize::make(n, t, memory, region, condition, body); });
    }

    Stmt prefetch(const Token &at) {
        const std::string n = name();
        const Region region = bounds();
        const std::vector<Type> t = types();
        expect("at");
        const std::string loop = name();
        expect("from");
        const std::string from = name();
        expect("offset");
        Expr offset = expr();
        expect("bound");
        const auto strategy =
            enumerator<PrefetchBoundStrategy>("clamp, guard_with_if or non_faulting");
        Expr condition = when();
        Stmt body = braced();
        return well_formed(at, [&] {
            return Prefetch::make(n, t, region, loop, from, offset, strategy, condition, body);
        });
    }

    int nesting_ = 0;
};

}  // namespace

Expr parse_expr(const std::string &text) {
    return ExprParser(text).parse_whole_expr();
}

Stmt parse_stmt(const std::string &text) {
    return StmtParser(text).parse_whole_stmt();
}

}  // namespace calotype::internal
