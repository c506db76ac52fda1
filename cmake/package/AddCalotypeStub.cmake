# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_calotype_stub(TARGET FROM <generator executable>
#     [GENERATOR <name>]    the registered name, and that of the file; default TARGET
#     [OUTPUT_DIR <dir>])   default the current binary folder
#
# Writes <GENERATOR>.stub.h, by which other generators and programs use the generator as a function of Funcs.
# To link TARGET is to have that header; the sources of the generator must be compiled in, too. Building
# <TARGET>.update writes the file.
function(add_calotype_stub TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "FROM;GENERATOR;OUTPUT_DIR" "")
    if(NOT ARG_FROM)
        message(FATAL_ERROR "add_calotype_stub(${TARGET}): FROM is missing")
    elseif(NOT TARGET "${ARG_FROM}")
        message(FATAL_ERROR "add_calotype_stub(${TARGET}): FROM ${ARG_FROM} is no target")
    elseif(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "add_calotype_stub(${TARGET}): unknown: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT ARG_GENERATOR)
        set(ARG_GENERATOR "${TARGET}")
    endif()
    if(NOT ARG_OUTPUT_DIR)
        set(ARG_OUTPUT_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    endif()
    cmake_path(ABSOLUTE_PATH ARG_OUTPUT_DIR BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
    file(MAKE_DIRECTORY "${ARG_OUTPUT_DIR}")

    # One written in Python stands in files that the executable does not depend on.
    get_target_property(generator_files "${ARG_FROM}" CALOTYPE_GENERATOR_FILES)
    if(NOT generator_files)
        set(generator_files "")
    endif()
    set(header "${ARG_OUTPUT_DIR}/${ARG_GENERATOR}.stub.h")
    add_custom_command(
        OUTPUT "${header}"
        COMMAND "${ARG_FROM}"
            -g "${ARG_GENERATOR}" -n "${ARG_GENERATOR}" -o "${ARG_OUTPUT_DIR}" -e cpp_stub
        DEPENDS "${ARG_FROM}" ${generator_files}
        COMMENT "Generating ${ARG_GENERATOR}.stub.h"
        VERBATIM)
    add_custom_target("${TARGET}.update" DEPENDS "${header}")
    add_library("${TARGET}" INTERFACE)
    add_dependencies("${TARGET}" "${TARGET}.update")
    target_sources("${TARGET}" INTERFACE
        FILE_SET HEADERS BASE_DIRS "${ARG_OUTPUT_DIR}" FILES "${header}")
endfunction()
