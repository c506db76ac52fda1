// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/matrix/matrix_product.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

constexpr int64_t max_extent = 4096;

/// Takes a nest apart, from the outside in.
class ProductMatcher {
public:
    explicit ProductMatcher(const std::vector<KernelLoop> &threads) : threads_(threads) {
    }

    MatrixMatch run(const For *outermost) {
        if (check_threads() && peel(outermost) && name_loops() && match_sum()) {
            match_operands();
        }
        return {product_, why_not_};
    }

private:
    bool fail(const std::string &why_not) {
        why_not_ = why_not;
        return false;
    }

    bool check_threads() {
        constexpr int sizes[] = {4, 8};
        for (size_t d = 0; d < 2; d++) {
            const auto size =
                d < threads_.size() ? as_const_int(threads_[d].extent) : std::optional<int64_t>(1);
            if (size != sizes[d]) {
                return fail("a block has " + (size ? std::to_string(*size) : "a variable number") +
                            " threads in dimension " + "xy"[d] + ", must have " +
                            std::to_string(sizes[d]) + " for gpu_matrix_multiply");
            }
        }
        return true;
    }

    /// The loops, and the store with all pure lets and the loops' minima in place.
    bool peel(Stmt s) {
        for (;;) {
            if (const LetStmt *let = s.as<LetStmt>(); let && is_pure(let->value)) {
                s = substitute(let->name, let->value, let->body);
                continue;
            }
            const For *op = s.as<For>();
            if (!op || op->for_type != ForType::Matrix) {
                break;
            }
            const auto extent = as_const_int(simplify(op->extent));
            if (!extent || *extent > max_extent) {
                return fail("the extent of loop " + op->name + " is " + to_string(op->extent) +
                            ", must be a constant of at most " + std::to_string(max_extent));
            }
            loops_.push_back({op->name, int(*extent)});
            s = is_const_zero(op->min)
                    ? op->body
                    : substitute(op->name, op->min + Variable::make(Int(32), op->name), op->body);
        }
        store_ = s;
        product_.store = store_.as<Store>();
        if (!product_.store || !product_.store->value.type().is_scalar() ||
            !is_trivially_true(product_.store->predicate)) {
            return fail("its loops hold more than one unconditional store");
        }
        product_.statement = store_;
        return true;
    }

    bool name_loops() {
        const size_t n = loops_.size();
        if (n < 3 || loops_[n - 2].extent != 2 || loops_[n - 3].extent != 2) {
            return fail("its loops are not those that gpu_matrix_multiply makes");
        }
        product_.depth = loops_[n - 1];
        product_.column = loops_[n - 2];
        product_.row = loops_[n - 3];
        product_.tiles.assign(loops_.begin(), loops_.end() - 3);
        return true;
    }

    /// c[i] = c[i] + a*b, in any order.
    bool match_sum() {
        const Store *store = product_.store;
        const Add *sum = store->value.as<Add>();
        const auto is_old_value = [&](const Expr &e) {
            const Load *load = e.as<Load>();
            return load && load->name == store->name && equal(load->index, store->index);
        };
        const Mul *product = nullptr;
        if (sum && is_old_value(sum->a)) {
            product = sum->b.as<Mul>();
        } else if (sum && is_old_value(sum->b)) {
            product = sum->a.as<Mul>();
        }
        if (!product) {
            return fail("it must add a product to its own value, but computes " +
                        to_string(store->value));
        }
        if (uses_var(store->index, product_.depth.name)) {
            return fail("its results depend on the loop " + product_.depth.name +
                        " that is summed over");
        }
        factors_[0] = product->a;
        factors_[1] = product->b;
        return true;
    }

    bool depends_on_row(const Expr &e) const {
        return uses_var(e, product_.row.name) || uses_var(e, threads_[1].name);
    }
    bool depends_on_column(const Expr &e) const {
        return uses_var(e, product_.column.name) || uses_var(e, threads_[0].name);
    }

    bool match_operands() {
        const bool first_has_columns =
            depends_on_column(factors_[0]) || depends_on_row(factors_[1]);
        const Expr &a = factors_[first_has_columns ? 1 : 0];
        const Expr &b = factors_[first_has_columns ? 0 : 1];
        if (depends_on_column(a) || depends_on_row(b)) {
            return fail(
                "one factor must depend on rows and not on columns, the other on columns and "
                "not on rows");
        }
        return match_types(a, b);
    }

    bool match_types(const Expr &a, const Expr &b) {
        const Cast *cast_a = a.as<Cast>(), *cast_b = b.as<Cast>();
        const Type result = product_.store->value.type();
        if (result == Float(32) && is_tf32(a) && is_tf32(b)) {
            product_.kind = MatrixKind::TF32;
            product_.a = a;
            product_.b = b;
            return true;
        }
        const Type ta = cast_a ? cast_a->value.type() : Type();
        const Type tb = cast_b ? cast_b->value.type() : Type();
        if (result == Float(32) && ta == tb && (ta == Float(16) || ta == BFloat(16))) {
            product_.kind = ta.is_bfloat() ? MatrixKind::BFloat16 : MatrixKind::Float16;
        } else if (result == Int(32) && is_byte(ta) && is_byte(tb)) {
            product_.kind = MatrixKind::Int8;
        } else {
            return fail("it adds the product of " + to_string(a) + " and " + to_string(b) + " to " +
                        to_string(result) +
                        "; there are instructions for float32 and products of float16 or of "
                        "bfloat16, each cast to float32, or of tf32() or truncate_to_tf32(), and "
                        "for int32 and products "
                        "of integers of 8 bits, each cast to int32");
        }
        product_.a = cast_a->value;
        product_.b = cast_b->value;
        return true;
    }

    static bool is_tf32(const Expr &e) {
        return Call::as_intrinsic(e, {Intrinsic::round_to_tf32, Intrinsic::trunc_to_tf32});
    }
    static bool is_byte(Type t) {
        return t.bits() == 8 && (t.is_int() || t.is_uint());
    }

    const std::vector<KernelLoop> &threads_;
    std::vector<MatrixLoop> loops_;
    Stmt store_;
    Expr factors_[2];
    MatrixProduct product_;
    std::string why_not_;
};

}  // namespace

int elements_a_register(MatrixKind kind) {
    switch (kind) {
    case MatrixKind::TF32:
        return 1;
    case MatrixKind::Float16:
    case MatrixKind::BFloat16:
        break;
    case MatrixKind::Int8:
        return 4;
    }
    return 2;
}

Expr load_sums(const MatrixProduct &product, const std::vector<Expr> &index) {
    const Store *store = product.store;
    std::vector<Expr> sums;
    for (const Expr &i : index) {
        sums.push_back(Load::make(store->value.type(), store->name, i, const_true(), Alignment(),
                                  store->symbol));
    }
    return Shuffle::make_concat(sums);
}

Stmt store_sums(const MatrixProduct &product, const std::vector<Expr> &index, const Expr &sums) {
    const Store *store = product.store;
    std::vector<Stmt> stores;
    for (size_t i = 0; i < index.size(); i++) {
        stores.push_back(Store::make(store->name, Shuffle::make_extract_element(sums, int(i)),
                                     index[i], const_true(), Alignment(), store->symbol));
    }
    return Block::make(stores);
}

MatrixMatch match_matrix_product(const For *outermost, const std::vector<KernelLoop> &threads) {
    return ProductMatcher(threads).run(outermost);
}

}  // namespace calotype::internal
