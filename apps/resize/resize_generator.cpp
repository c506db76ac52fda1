// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any size from any other, by a cubic filter that widens where the image becomes smaller.
#include <calotype/calotype.h>

class Resize : public calotype::Generator<Resize> {
public:
    Input<Buffer<float, 3>> input{"input"};     ///< x, y, 3 channels
    Input<float> scale{"scale", 1.0f};          ///< 2: twice the width and height
    Output<Buffer<float, 3>> output{"output"};  ///< of any size

    void generate() {
        // The filter reaches two pixels of what is coarser, input or output, to either side.
        stretch = calotype::max(1.0f / scale, 1.0f);
        k = calotype::RDom(0, cast<int>(calotype::ceil(4.0f * stretch)), "k");
        weigh(weights_x, x);
        weigh(weights_y, y);

        Func in = calotype::BoundaryConditions::repeat_edge(input);
        tall(x, y, c) = 0.0f;
        tall(x, y, c) += weights_y(k, y) * in(x, first(y) + k, c);
        Expr column = calotype::clamp(first(x) + k, input.left(), input.right());
        wide(x, y, c) = 0.0f;
        wide(x, y, c) += weights_x(k, x) * tall(column, y, c);
        output(x, y, c) = wide(x, y, c);

        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        scale.set_estimate(0.75f);
        output.set_estimates({{0, 1152}, {0, 1920}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        Var xi{"xi"}, yi{"yi"};
        if (get_target().has_gpu_feature()) {
            for (Func f : {weights_x, weights_y}) {
                f.compute_root().gpu_tile(f.args()[1], xi, 64);
            }
            Func columns = tall.in();
            columns.compute_root().gpu_blocks(c).gpu_tile(x, y, xi, yi, 32, 8);
            output.gpu_blocks(c).gpu_tile(x, y, xi, yi, 32, 8);
            return;
        }
        // Weights of neighbouring columns lie side by side, for vectors of them; those of a row
        // are read one by one.
        const int lanes = natural_vector_size<float>();
        weights_x.compute_root().reorder_storage(x, j).vectorize(x, lanes);
        weights_y.compute_root();
        output.split(y, y, yi, 8).parallel(y).parallel(c).vectorize(x, 2 * lanes);
        wide.compute_at(output, x).vectorize(x, lanes).unroll(x);
        wide.update().reorder(x, k, y, c).vectorize(x, lanes).unroll(x);
        tall.compute_at(output, yi).vectorize(x, 4 * lanes);
        tall.update()
            .split(x, x, xi, 4 * lanes)
            .reorder(xi, k, x, y, c)
            .vectorize(xi, lanes)
            .unroll(xi);
    }

private:
    /// Where the middle of pixel i of the output is in the input.
    Expr middle(Expr i) {
        return (cast<float>(i) + 0.5f) * (1.0f / scale) - 0.5f;
    }

    /// The first pixel of the input that pixel i of the output is made from.
    Expr first(Expr i) {
        return cast<int>(calotype::ceil(middle(i) - 2.0f * stretch));
    }

    /// weights(j, i): how much pixel first(i) + j counts for pixel i.
    void weigh(Func &weights, Var i) {
        Expr t = calotype::abs(cast<float>(first(i) + j) - middle(i)) / stretch;
        Func raw{"raw"};
        raw(j, i) = cubic(t);
        Func total{"total"};
        total(i) += raw(k, i);
        weights(j, i) = raw(j, i) / total(i);
    }

    /// The piecewise cubic that passes through the samples and has continuous slopes.
    static Expr cubic(Expr t) {
        Expr near = (1.5f * t - 2.5f) * t * t + 1.0f;
        Expr far = ((-0.5f * t + 2.5f) * t - 4.0f) * t + 2.0f;
        return calotype::select(t < 1.0f, near, t < 2.0f, far, 0.0f);
    }

    Var x{"x"}, y{"y"}, c{"c"}, j{"j"};
    calotype::RDom k;
    Expr stretch;
    Func weights_x{"weights_x"}, weights_y{"weights_y"}, tall{"tall"}, wide{"wide"};
};

CALOTYPE_REGISTER_GENERATOR(Resize, resize)
