# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# find_package(HalideHelpers): the part of the package Halide that needs no compiler.
#
# Halide_HOST_TARGET, Halide_CMAKE_TARGET: the triples of this machine and of the one CMake compiles for.
# Halide_TARGET (cache; first set from the environment variable HL_TARGET): what add_halide_library
# takes when it gets no TARGETS.

# Whatever the project asks for: older policies have no IN_LIST, for one.
cmake_policy(VERSION 3.25)

# The package Calotype is in the folder above in a build tree, beside this folder where it is installed. A
# project that names a folder of its own for Halide may have a link to this one there.
file(REAL_PATH "${CMAKE_CURRENT_LIST_DIR}" _halide_folder)
find_package(Calotype QUIET CONFIG NO_DEFAULT_PATH
             PATHS "${_halide_folder}/.." "${_halide_folder}/../Calotype")
unset(_halide_folder)
if(NOT Calotype_FOUND)
    set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
    set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE
        "the package Calotype is not found beside ${CMAKE_CURRENT_LIST_DIR}")
    return()
endif()
set(HalideHelpers_FOUND TRUE)

set(Halide_HOST_TARGET "${Calotype_HOST_TARGET}")
set(Halide_CMAKE_TARGET "${Calotype_CMAKE_TARGET}")
set(Halide_TARGET "$ENV{HL_TARGET}" CACHE STRING "The target of libraries that name none")
set(Halide_CACHE_DIR "$ENV{HL_CACHE_DIR}" CACHE PATH
    "Where generators keep what they wrote, to take it from there the next time; empty: nowhere")

include("${CMAKE_CURRENT_LIST_DIR}/HalideComponents.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/AddHalideGenerator.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/AddHalideLibrary.cmake")

_halide_target(Runtime Calotype::HalideRuntime)
_halide_target(Tools Calotype::HalideRuntime Calotype::Tools)
_halide_target(ImageIO Calotype::HalideRuntime Calotype::ImageIO)
_halide_target(ThreadPool Calotype::HalideRuntime Threads::Threads)
_halide_target(RunGenMain Calotype::RunMain)
