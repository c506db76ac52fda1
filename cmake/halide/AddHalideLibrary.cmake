# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_halide_library(TARGET FROM <generator> ...): add_calotype_library with Halide's defaults. The files are
# named after TARGET. Without TARGETS they are for Halide_TARGET or, where that is empty, for this machine
# with all its features unless CMake compiles for another one. What links TARGET has Halide's runtime headers.
macro(add_halide_library TARGET)
    _halide_library_arguments(_halide_arguments "${TARGET}" ${ARGN})
    add_calotype_library("${TARGET}" ${_halide_arguments})
    target_link_libraries("${TARGET}" INTERFACE Halide::Runtime)
    unset(_halide_arguments)
endmacro()

function(_halide_library_arguments OUTVAR TARGET)
    set(arguments ${ARGN})
    foreach(output COMPILER_LOG HLPIPE)
        if(output IN_LIST arguments)
            message(FATAL_ERROR "add_halide_library(${TARGET}): the output ${output} cannot be written here")
        endif()
    endforeach()
    _halide_autoscheduler(arguments)
    if(NOT "FILE_BASE_NAME" IN_LIST arguments)
        list(APPEND arguments FILE_BASE_NAME "${TARGET}")
    endif()
    # TARGETS may be there and empty, as a variable that nobody has set.
    _halide_default_targets(targets)
    list(APPEND arguments DEFAULT_TARGETS ${targets})
    if(Halide_CACHE_DIR)
        list(APPEND arguments CACHE_DIR "${Halide_CACHE_DIR}")
    endif()
    set(${OUTVAR} "${arguments}" PARENT_SCOPE)
endfunction()

# Of Halide's autoschedulers Mullapudi2016 is here, and stands in for the others: their parameters that it
# does not have are left out.
macro(_halide_autoscheduler ARGUMENTS)
    set(_others "Adams2019|Anderson2021|Li2018")
    set(_asked ${${ARGUMENTS}})
    list(FILTER _asked INCLUDE REGEX "^(Halide::|autoscheduler=)?(${_others})$")
    list(JOIN _asked ", " _name)
    if(_asked AND NOT TARGET "${_name}")
        message(STATUS "add_halide_library(${TARGET}): Mullapudi2016 in place of the autoscheduler ${_name}")
        list(TRANSFORM ${ARGUMENTS} REPLACE "^(Halide::|autoscheduler=)?(${_others})$" "\\1Mullapudi2016")
        set(_kept "parallelism|last_level_cache_size|balance|experimental_gpu_schedule")
        set(_dropped ${${ARGUMENTS}})
        list(FILTER _dropped INCLUDE REGEX "^autoscheduler[.]")
        list(FILTER _dropped EXCLUDE REGEX "^autoscheduler[.](${_kept})=")
        if(_dropped)
            list(REMOVE_ITEM ${ARGUMENTS} ${_dropped})
        endif()
    endif()
endmacro()

function(_halide_default_targets OUTVAR)
    set(targets "${Halide_TARGET}")
    if(NOT targets AND Halide_HOST_TARGET STREQUAL Halide_CMAKE_TARGET)
        set(targets host)
    elseif(NOT targets)
        set(targets cmake)
    endif()
    set(${OUTVAR} "${targets}" PARENT_SCOPE)
endfunction()

# add_halide_runtime(TARGET [TARGETS <target>...] [FROM <generator>] [NO_THREADS] [NO_DL_LIBS])
function(add_halide_runtime TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "FROM" "")
    add_calotype_runtime("${TARGET}" ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries("${TARGET}" INTERFACE Halide::Runtime)
endfunction()

# add_halide_python_extension_library(TARGET HALIDE_LIBRARIES <library>... [MODULE_NAME <name>])
function(add_halide_python_extension_library TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MODULE_NAME" "HALIDE_LIBRARIES")
    if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_HALIDE_LIBRARIES)
        message(FATAL_ERROR "add_halide_python_extension_library(${TARGET}): needs HALIDE_LIBRARIES; "
            "unknown: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    add_calotype_python_extension("${TARGET}" LIBRARIES ${ARG_HALIDE_LIBRARIES}
                                  MODULE_NAME "${ARG_MODULE_NAME}")
endfunction()
