# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# For scripts that build projects of strangers. They are given GENERATOR, CXX_COMPILER, C_COMPILER and
# SANITIZER, and work in WORK.

# Where commands run.
set(folder ".")

# Sets `output` to what the command prints; fails if it does.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
                    ERROR_VARIABLE output WORKING_DIRECTORY "${folder}")
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# configure_project(SOURCE PREFIX_PATH [FLAG...]): in ${WORK}/build, to be compiled as Calotype itself.
function(configure_project SOURCE PREFIX_PATH)
    set(flags "")
    if(SANITIZER)
        set(flags "-fsanitize=${SANITIZER}")
    endif()
    run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/build" -G "${GENERATOR}"
        "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
        "-DCMAKE_CXX_FLAGS=${flags}" "-DCMAKE_C_FLAGS=${flags}"
        "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" ${ARGN})
endfunction()

# build_project(SOURCE PREFIX_PATH [FLAG...]): configures and builds.
function(build_project SOURCE PREFIX_PATH)
    configure_project("${SOURCE}" "${PREFIX_PATH}" ${ARGN})
    run("${CMAKE_COMMAND}" --build "${WORK}/build")
    set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_output WHAT)
    if(NOT output MATCHES "${WHAT}")
        message(FATAL_ERROR "expected ${WHAT} in the output, which is:\n${output}")
    endif()
endfunction()
