# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the projects of the apps have in common.
find_package(Calotype REQUIRED COMPONENTS runtime compiler)

# With a GPU where there is one as the program runs, without where there is none.
set(targets host-cuda host-opencl host CACHE STRING "What pipelines are compiled for, the preferred first")

# calotype_app(NAME [PIPELINE...]): the program NAME from main.cpp, with pipelines (NAME, if none is named)
# that NAME_generator.cpp registers.
function(calotype_app NAME)
    add_calotype_generator(${NAME}_generator SOURCES ${NAME}_generator.cpp)
    add_executable(${NAME} main.cpp)
    target_include_directories(${NAME} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    target_link_libraries(${NAME} PRIVATE Calotype::ImageIO Calotype::Tools)
    set(pipelines ${ARGN})
    if(NOT pipelines)
        set(pipelines ${NAME})
    endif()
    foreach(pipeline ${pipelines})
        list(GET pipelines 0 first)
        set(runtime "")
        if(NOT pipeline STREQUAL first)
            set(runtime USE_RUNTIME ${first}_pipeline.runtime)
        endif()
        add_calotype_library(${pipeline}_pipeline FROM ${NAME}_generator GENERATOR ${pipeline}
            FUNCTION_NAME ${pipeline} TARGETS ${targets} ${runtime})
        target_link_libraries(${NAME} PRIVATE ${pipeline}_pipeline)
    endforeach()
endfunction()
