# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Component compiler of the package: Calotype::Calotype, Calotype::Generator, Calotype::Halide, and the
# headers of their layers.

set(calotype_layers support target ir arith linkables pipeline lang lower autoschedule legalize codegen driver generator)
set(calotype_compiler_targets Calotype calotype_generator_main calotype_halide calotype_mullapudi2016)

foreach(layer ${calotype_layers})
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/${layer}" "${calotype_staged}/${layer}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/calotype.h" "${calotype_staged}/calotype.h" SYMBOLIC)

add_library(Calotype SHARED)
foreach(layer ${calotype_layers})
    target_sources(Calotype PRIVATE $<TARGET_OBJECTS:calotype_${layer}>)
    add_dependencies(Calotype calotype_${layer})
endforeach()
calotype_public(Calotype Calotype)
set_target_properties(Calotype PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH_USE_LINK_PATH ON LINKER_LANGUAGE CXX)
target_link_libraries(Calotype
    PUBLIC calotype_buffer
    PRIVATE calotype_llvm calotype_runtime Threads::Threads ${CMAKE_DL_LIBS})
# The compiler's copy of the runtime is its own: programs that link another do not meet it.
if(NOT APPLE)
    target_link_options(Calotype PRIVATE "LINKER:--exclude-libs,libcalotype_runtime.a"
        "LINKER:-Bsymbolic-functions")
    # Nor do those that have an LLVM of their own meet its archives.
    if(NOT CALOTYPE_LLVM_SHARED)
        target_link_options(Calotype PRIVATE "LINKER:--exclude-libs,ALL")
    endif()
endif()

file(GLOB main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/generator/cli/main.cpp)
calotype_or_empty(main)
add_library(calotype_generator_main STATIC ${main})
calotype_public(calotype_generator_main Generator)
target_link_libraries(calotype_generator_main PUBLIC Calotype)
calotype_use_flags(calotype_generator_main)
target_include_directories(calotype_generator_main PRIVATE ${PROJECT_SOURCE_DIR}/src)

add_library(calotype_halide INTERFACE)
calotype_public(calotype_halide Halide)
target_include_directories(calotype_halide INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src/generator/compat>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/calotype/generator/compat>)
target_link_libraries(calotype_halide INTERFACE Calotype calotype_halide_runtime)

# libautoschedule_mullapudi2016.so, for those who load the autoscheduler by the name of a file.
add_library(calotype_mullapudi2016 MODULE
    "${PROJECT_SOURCE_DIR}/src/autoschedule/mullapudi2016_module.c")
add_library(Calotype::Mullapudi2016 ALIAS calotype_mullapudi2016)
set_target_properties(calotype_mullapudi2016 PROPERTIES
    EXPORT_NAME Mullapudi2016 PREFIX lib SUFFIX .so OUTPUT_NAME autoschedule_mullapudi2016)
