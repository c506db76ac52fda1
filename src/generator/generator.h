// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generator<T>: the base of classes that build a pipeline, and the macros that register them.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "generator/generator_base.h"
#include "generator/registry.h"

namespace calotype {

/// A generator is a class with members for its parameters, inputs and outputs, and the steps that
/// build the pipeline:
///
///     class Scale : public Generator<Scale> {
///     public:
///         GeneratorParam<int> factor{"factor", 2, 1, 16};
///         Input<Buffer<uint8_t, 2>> input{"input"};
///         Output<Buffer<uint8_t, 2>> output{"output"};
///
///         void generate() {
///             output(x, y) = input(x / factor, y / factor);
///         }
///         void schedule() {                                  // may be missing
///             output.vectorize(x, natural_vector_size<uint8_t>()).parallel(y);
///         }
///
///     private:
///         Var x{"x"}, y{"y"};
///     };
///     CALOTYPE_REGISTER_GENERATOR(Scale, scale)              // at global scope
///
/// `void configure()`, if there is one, runs first; it may call add_input and add_output.
template<typename T>
class Generator : public internal::GeneratorBase {
public:
    template<typename X>
    using Input = GeneratorInput<X>;
    template<typename X>
    using Output = GeneratorOutput<X>;

    static std::unique_ptr<T> create(const GeneratorContext &context) {
        return internal::GeneratorFactory::create<T>(context, "");
    }
    static std::unique_ptr<T> create(const GeneratorContext &context,
                                     const std::string &registered_name,
                                     const std::string & /*stub_name*/ = "") {
        return internal::GeneratorFactory::create<T>(context, registered_name);
    }

    /// A generator of another class for use inside of this one: with its target, not yet applied.
    template<typename Other>
    std::unique_ptr<Other> create() const {
        return Other::create(this->context());
    }
    /// The same, applied to these inputs.
    template<typename Other, typename... Args>
    std::unique_ptr<Other> apply(const Args &...args) const {
        std::unique_ptr<Other> generator = create<Other>();
        generator->apply(args...);
        return generator;
    }

    /// Build the pipeline from these values, one an input (a vector for an array). Afterwards the
    /// outputs are defined Funcs. A CompileError if the values do not fit the inputs.
    template<typename... Args>
    void apply(const Args &...args) {
        this->build_pipeline({as_stub_inputs(args)...});
    }
    /// Build and run, for tests.
    Realization realize(std::vector<int32_t> sizes) {
        return this->build_pipeline().realize(std::move(sizes), this->get_target());
    }

protected:
    Generator() = default;

private:
    template<typename X>
    static std::vector<internal::StubInput> as_stub_inputs(const X &value) {
        return {internal::StubInput(value)};
    }
    template<typename X>
    static std::vector<internal::StubInput> as_stub_inputs(const std::vector<X> &values) {
        return std::vector<internal::StubInput>(values.begin(), values.end());
    }

    // Each step is called if the class has it.
    template<typename G, typename = decltype(std::declval<G>().configure())>
    static void configure_of(G *g, int) {
        g->configure();
    }
    static void configure_of(void *, long) {
    }
    template<typename G, typename = decltype(std::declval<G>().schedule())>
    static void schedule_of(G *g, int) {
        g->schedule();
    }
    static void schedule_of(void *, long) {
    }
    void call_configure() override {
        configure_of(static_cast<T *>(this), 0);
    }
    void call_generate() override {
        static_cast<T *>(this)->generate();
    }
    void call_schedule() override {
        schedule_of(static_cast<T *>(this), 0);
    }
};

namespace internal {
/// Of void(Class) and of void((Class)) alike: Class.
template<typename T>
struct UnwrapParentheses;
template<typename Class>
struct UnwrapParentheses<void(Class)> {
    using type = Class;
};
}  // namespace internal

}  // namespace calotype

// NOLINTBEGIN
/// Two arguments: class and name; a class with commas in its name stands in parentheses. Three: also the qualified name of the class that -e cpp_stub
/// writes.
#define CALOTYPE_REGISTER_GENERATOR(...)                                                           \
    CALOTYPE_CHOOSE_REGISTRATION(__VA_ARGS__, CALOTYPE_REGISTER_3, CALOTYPE_REGISTER_2, )          \
    (__VA_ARGS__)
#define CALOTYPE_CHOOSE_REGISTRATION(a, b, c, chosen, ...) chosen
#define CALOTYPE_REGISTER_2(Class, name) CALOTYPE_REGISTER_3(Class, name, name)
#define CALOTYPE_REGISTER_3(Class, name, StubName)                                                 \
    namespace calotype_register_generator {                                                        \
    struct calotype_global_scope_checker;                                                          \
    namespace name##_ns {                                                                          \
        std::unique_ptr<::calotype::internal::GeneratorBase> factory(                              \
            const ::calotype::GeneratorContext &context);                                          \
        std::unique_ptr<::calotype::internal::GeneratorBase> factory(                              \
            const ::calotype::GeneratorContext &context) {                                         \
            return ::calotype::internal::UnwrapParentheses<void(Class)>::type::create(             \
                context, #name, #StubName);                                                        \
        }                                                                                          \
        static const ::calotype::internal::GeneratorRegistration registration(#name, #StubName,    \
                                                                              factory);            \
    }                                                                                              \
    }                                                                                              \
    static_assert(std::is_same<::calotype_register_generator::calotype_global_scope_checker,       \
                               calotype_register_generator::calotype_global_scope_checker>::value, \
                  "CALOTYPE_REGISTER_GENERATOR must be used at global scope");

/// Another name for a registered generator, with values for some of its parameters:
///     CALOTYPE_REGISTER_GENERATOR_ALIAS(scale3, scale, {{"factor", "3"}})
#define CALOTYPE_REGISTER_GENERATOR_ALIAS(alias, original, ...)                                    \
    namespace calotype_register_generator {                                                        \
    struct calotype_global_scope_checker;                                                          \
    namespace original##_ns {                                                                      \
        std::unique_ptr<::calotype::internal::GeneratorBase> factory(                              \
            const ::calotype::GeneratorContext &context);                                          \
    }                                                                                              \
    namespace alias##_ns {                                                                         \
        std::unique_ptr<::calotype::internal::GeneratorBase> factory(                              \
            const ::calotype::GeneratorContext &context);                                          \
        std::unique_ptr<::calotype::internal::GeneratorBase> factory(                              \
            const ::calotype::GeneratorContext &context) {                                         \
            auto generator = original##_ns::factory(context);                                      \
            generator->set_params(__VA_ARGS__);                                                    \
            return generator;                                                                      \
        }                                                                                          \
        static const ::calotype::internal::GeneratorRegistration registration(#alias, #alias,      \
                                                                              factory);            \
    }                                                                                              \
    }                                                                                              \
    static_assert(std::is_same<::calotype_register_generator::calotype_global_scope_checker,       \
                               calotype_register_generator::calotype_global_scope_checker>::value, \
                  "CALOTYPE_REGISTER_GENERATOR_ALIAS must be used at global scope");
// NOLINTEND
