// Made by Calotype from generator mixer. Do not edit.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <calotype/calotype.h>

namespace calotype_register_generator {
namespace mixer_ns {
std::unique_ptr<calotype::internal::GeneratorBase> factory(const calotype::GeneratorContext &context);
}
}

namespace audio {
class Mix final {
public:
    enum class Enum_mode { product, sum };
    static std::string Enum_mode_to_text(Enum_mode value) {
        switch (value) {
        case Enum_mode::product:
            return "product";
        case Enum_mode::sum:
            return "sum";
        }
        return "";
    }

    struct Inputs {
        calotype::StubInput func;
        calotype::StubInput buffer;
        std::vector<calotype::Expr> weights;
    };

    struct GeneratorParams {
        Enum_mode mode{Enum_mode::sum};
        float gain{float(1.5)};
        bool twice{false};
        std::string text{"a \"b\""};
        calotype::LoopLevel level{calotype::LoopLevel::inlined()};
        calotype::Type output_type{};

        std::map<std::string, std::string> to_map() const {
            std::map<std::string, std::string> result;
            result["mode"] = Enum_mode_to_text(mode);
            result["gain"] = calotype::internal::number_to_string(gain);
            result["twice"] = twice ? "true" : "false";
            result["text"] = text;
            if (output_type != calotype::Type()) result["output.type"] = calotype::internal::type_to_name(output_type);
            return result;
        }
    };

    struct Outputs {
        calotype::Func output;
        calotype::Target target;
        calotype::Pipeline pipeline;

        calotype::Pipeline get_pipeline() const {
            return pipeline;
        }
        calotype::Realization realize(std::vector<int32_t> sizes) {
            return pipeline.realize(std::move(sizes), target);
        }
        void realize(calotype::Pipeline::RealizationArg buffers) {
            pipeline.realize(std::move(buffers), target);
        }
        operator calotype::Func() const {
            return output;
        }
        template<typename... Args>
        calotype::FuncRef operator()(Args &&...args) const {
            return output(std::forward<Args>(args)...);
        }
    };

    static Outputs generate(const calotype::GeneratorContext &context, const Inputs &inputs) {
        return generate(context, inputs, GeneratorParams());
    }
    static Outputs generate(const calotype::GeneratorContext &context, const Inputs &inputs,
                            const GeneratorParams &params) {
        auto generator = calotype_register_generator::mixer_ns::factory(context);
        generator->set_params(params.to_map());
        generator->set_param("level", params.level);
        Outputs outputs;
        outputs.pipeline = generator->build_pipeline({
            {calotype::StubInput(inputs.func)},
            {calotype::StubInput(inputs.buffer)},
            std::vector<calotype::StubInput>(inputs.weights.begin(), inputs.weights.end()),
        });
        outputs.target = generator->get_target();
        outputs.output = generator->outputs()[0]->checked_funcs()[0];
        return outputs;
    }
};
}
