// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Box blur: each pixel becomes the mean of the (2 * radius + 1) squared pixels around it.
#include <calotype/calotype.h>

namespace {

enum class Schedule { Simple, Fast };

class Blur : public calotype::Generator<Blur> {
public:
    GeneratorParam<int> radius{"radius", 1, 0, 31};
    GeneratorParam<Schedule> how{
        "schedule", Schedule::Fast, {{"simple", Schedule::Simple}, {"fast", Schedule::Fast}}};
    Input<Buffer<uint8_t, 2>> input{"input"};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() {
        const calotype::Expr width = input.dim(0).extent(), height = input.dim(1).extent();
        clamped(x, y) = calotype::cast<uint16_t>(
            input(clamp(x, input.dim(0).min(), input.dim(0).min() + width - 1),
                  clamp(y, input.dim(1).min(), input.dim(1).min() + height - 1)));
        calotype::Expr row = clamped(x - radius, y);
        for (int i = 1 - radius; i <= radius; i++) {
            row += clamped(x + i, y);
        }
        rows(x, y) = row;
        calotype::Expr sum = calotype::cast<uint32_t>(rows(x, y - radius));
        for (int i = 1 - radius; i <= radius; i++) {
            sum += calotype::cast<uint32_t>(rows(x, y + i));
        }
        const int side = 2 * radius + 1;
        output(x, y) = calotype::cast<uint8_t>((sum + side * side / 2) / (side * side));
    }

    void schedule() {
        if (how == Schedule::Simple) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // A block sums its rows once, where all of its threads find them. There are more rows
            // than lines of threads, so that each thread has some.
            calotype::Var xi("xi"), yi("yi");
            output.gpu_tile(x, y, xi, yi, 32, 8);
            rows.compute_at(output, x).split(y, y, yi, 8).gpu_threads(x, yi);
            return;
        }
        const int lanes = natural_vector_size<uint16_t>();
        calotype::Var yi("yi");
        output.split(y, y, yi, 32).vectorize(x, lanes).parallel(y);
        rows.store_at(output, y).compute_at(output, yi).vectorize(x, lanes);
    }

private:
    calotype::Var x{"x"}, y{"y"};
    calotype::Func clamped{"clamped"}, rows{"rows"};
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Blur, blur)
