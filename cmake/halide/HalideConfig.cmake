# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# find_package(Halide [VERSION] [COMPONENTS shared JIT Python PNG JPEG]), for projects that were written
# for Halide: its targets and functions, made of those of the package Calotype beside this one.
#
#   Halide::Halide, Halide::Generator     to compile in process, to write generators
#   Halide::Mullapudi2016                 the autoscheduler
#   Halide::Runtime, Halide::Tools, Halide::ImageIO, Halide::ThreadPool, Halide::RunGenMain
#   add_halide_generator, add_halide_stub, add_halide_library, add_halide_runtime,
#   add_halide_python_extension_library

# Whatever the project asks for: older policies have no IN_LIST, for one.
cmake_policy(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/HalideHelpersConfig.cmake")
if(NOT HalideHelpers_FOUND)
    return()
endif()

if(TARGET Calotype::Generator)
    _halide_compiler()
    _halide_target(Generator Calotype::Generator Calotype::Halide)
    _halide_autoscheduler_module()
elseif(NOT CMAKE_CROSSCOMPILING)
    set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
    set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE
        "Halide needs the component compiler of Calotype, which is not installed in ${Calotype_DIR}")
    return()
endif()

# Exceptions and run-time type information are in every build.
set(Halide_ENABLE_EXCEPTIONS YES)
set(Halide_ENABLE_RTTI YES)
set(WITH_AUTOSCHEDULERS YES)
_halide_components()
