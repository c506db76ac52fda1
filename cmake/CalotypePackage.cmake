# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What users get: the targets Calotype::..., their headers, and the package that finds them, from the
# build tree and from the install tree. The two look alike: ${build}/include is laid out as the
# installed include folder.

include(CMakePackageConfigHelpers)
set(calotype_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Calotype")
set(calotype_staged "${PROJECT_BINARY_DIR}/include/calotype")

# ---- headers ----
file(MAKE_DIRECTORY "${calotype_staged}")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/runtime" "${calotype_staged}/runtime" SYMBOLIC)
# The short names of the headers that users of generated code need.
foreach(name runtime buffer tools/image_io tools/benchmark tools/pytorch)
    string(REGEX REPLACE "[^/]+$" "" up "${name}")
    string(REGEX REPLACE "[^/]+/" "../" up "${up}")
    file(CONFIGURE OUTPUT "${calotype_staged}/${name}.h" CONTENT
"// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n#pragma once\n#include \"${up}runtime/${name}.h\"\n")
endforeach()

# calotype_public(TARGET NAME): TARGET is Calotype::NAME to users, with the folder of the headers.
function(calotype_public TARGET NAME)
    add_library(Calotype::${NAME} ALIAS ${TARGET})
    set_target_properties(${TARGET} PROPERTIES EXPORT_NAME ${NAME})
    target_include_directories(${TARGET} INTERFACE
        "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include;${calotype_staged}>"
        "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR};${CMAKE_INSTALL_INCLUDEDIR}/calotype>")
    target_compile_features(${TARGET} INTERFACE cxx_std_17)
endfunction()

# ---- component runtime: what users of generated code need ----
calotype_public(calotype_abi ABI)
calotype_public(calotype_buffer Buffer)
calotype_public(calotype_runtime Runtime)
calotype_public(calotype_runtime_shared RuntimeShared)

add_library(calotype_tools INTERFACE)
calotype_public(calotype_tools Tools)
target_include_directories(calotype_tools INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/tools>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/calotype/runtime/tools>)
target_link_libraries(calotype_tools INTERFACE calotype_buffer)

# HalideRuntime.h, HalideBuffer.h and the like, for applications that were written against them.
add_library(calotype_halide_runtime INTERFACE)
calotype_public(calotype_halide_runtime HalideRuntime)
target_include_directories(calotype_halide_runtime INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/compat>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/calotype/runtime/compat>)
target_link_libraries(calotype_halide_runtime INTERFACE calotype_buffer)
# The headers define this too; here it holds for the whole of each source, so that what is declared
# before the first include, and in sources that include none of them, is the same.
target_compile_definitions(calotype_halide_runtime INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:Halide=calotype> halide_buffer_t=calotype_buffer_t)

# Its dependencies are looked up by CalotypeConfig.cmake where they are used, so that this target can
# be made without them.
add_library(calotype_image_io INTERFACE)
calotype_public(calotype_image_io ImageIO)
target_link_libraries(calotype_image_io INTERFACE
    calotype_tools
    $<TARGET_NAME_IF_EXISTS:PNG::PNG>
    $<TARGET_NAME_IF_EXISTS:JPEG::JPEG>)
target_compile_definitions(calotype_image_io INTERFACE
    $<$<NOT:$<TARGET_EXISTS:PNG::PNG>>:CALOTYPE_NO_PNG>
    $<$<NOT:$<TARGET_EXISTS:JPEG::JPEG>>:CALOTYPE_NO_JPEG>)

# main() of a program that runs the pipelines linked into it. Compiled with the user's program, so that it
# reads the image formats found there.
file(GLOB run_main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/tools/run_*.cpp)
add_library(calotype_run_main INTERFACE)
calotype_public(calotype_run_main RunMain)
foreach(file ${run_main})
    cmake_path(GET file FILENAME name)
    target_sources(calotype_run_main INTERFACE
        "$<BUILD_INTERFACE:${file}>"
        "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/calotype/runtime/tools/${name}>")
endforeach()
target_link_libraries(calotype_run_main INTERFACE calotype_image_io Threads::Threads)

if(CALOTYPE_BUILD_COMPILER)
    include(CalotypePackageCompiler)
endif()

# All that a project that finds the package in the build tree needs.
add_custom_target(calotype_package DEPENDS calotype_runtime calotype_runtime_shared)
if(CALOTYPE_BUILD_COMPILER)
    add_dependencies(calotype_package Calotype calotype_generator_main calotype_mullapudi2016)
endif()

# ---- the package ----
set(calotype_runtime_targets calotype_abi calotype_buffer calotype_runtime calotype_runtime_shared
    calotype_tools calotype_image_io calotype_run_main calotype_halide_runtime)
set(calotype_helpers AddCalotypeGenerator AddCalotypeLibrary AddCalotypeLinkable
    AddCalotypePythonExtension AddCalotypePythonGenerators AddCalotypeRuntime AddCalotypeStub
    CalotypePythonModule CalotypeTarget)
list(TRANSFORM calotype_helpers REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/cmake/package/\\1.cmake")

configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/package/CalotypeConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/CalotypeConfig.cmake"
    INSTALL_DESTINATION "${calotype_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/CalotypeConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
foreach(helper ${calotype_helpers})
    configure_file("${helper}" "${PROJECT_BINARY_DIR}" COPYONLY)
endforeach()
export(TARGETS ${calotype_runtime_targets} NAMESPACE Calotype::
       FILE "${PROJECT_BINARY_DIR}/CalotypeRuntimeTargets.cmake")
if(CALOTYPE_BUILD_COMPILER)
    export(TARGETS ${calotype_compiler_targets} NAMESPACE Calotype::
           FILE "${PROJECT_BINARY_DIR}/CalotypeCompilerTargets.cmake")
endif()

# The package Halide, in a folder that find_package(Halide) does not look into unless it is told to.
set(calotype_halide_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/CalotypeHalide")
set(calotype_halide_package "${PROJECT_BINARY_DIR}/CalotypeHalide")
file(GLOB halide_helpers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/halide/*.cmake")
foreach(helper ${halide_helpers})
    cmake_path(GET helper FILENAME name)
    configure_file("${helper}" "${calotype_halide_package}/${name}" COPYONLY)
endforeach()
foreach(name Halide HalideHelpers)
    write_basic_package_version_file("${calotype_halide_package}/${name}ConfigVersion.cmake"
        VERSION 22.0.0 COMPATIBILITY AnyNewerVersion)
endforeach()

if(CALOTYPE_INSTALL)
    include(CalotypeInstall)
endif()
