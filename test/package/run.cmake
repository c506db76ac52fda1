# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One test of the package: install if need be, then configure, build, install and run a project.

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
                    ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# build_project(SOURCE PREFIX_PATH): configures, builds and installs into ${WORK}/app.
function(build_project SOURCE PREFIX_PATH)
    set(flags "")
    if(SANITIZER)
        set(flags "-fsanitize=${SANITIZER}")
    endif()
    run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/build" -G "${GENERATOR}"
        "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
        "-DCMAKE_CXX_FLAGS=${flags}" "-DCMAKE_C_FLAGS=${flags}"
        "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" "-DCMAKE_INSTALL_PREFIX=${WORK}/app" ${ARGN})
    run("${CMAKE_COMMAND}" --build "${WORK}/build")
    run("${CMAKE_COMMAND}" --install "${WORK}/build")
endfunction()

function(expect_output WHAT)
    if(NOT output MATCHES "${WHAT}")
        message(FATAL_ERROR "expected ${WHAT} in the output, which is:\n${output}")
    endif()
endfunction()

# The same program, on an OpenCL device if there is one (OpenCL's libraries are not made for
# sanitizers), and on the processor because that is asked for.
function(run_with_and_without_device)
    if(NOT SANITIZER)
        run("${WORK}/app/bin/brighten_main")
        expect_output("brighten works")
    endif()
    run("${CMAKE_COMMAND}" -E env CT_DISABLE_FEATURES=opencl "${WORK}/app/bin/brighten_main")
    expect_output("on the processor")
    expect_output("brighten works")
endfunction()

file(REMOVE_RECURSE "${WORK}")
if(KIND STREQUAL "installed")
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first")
    # The package may be moved.
    file(RENAME "${WORK}/first" "${WORK}/prefix")
    build_project("${SOURCE}/downstream" "${WORK}/prefix")
    run_with_and_without_device()
elseif(KIND STREQUAL "build_tree")
    build_project("${SOURCE}/downstream" "${BUILD}")
    run_with_and_without_device()
elseif(KIND STREQUAL "runtime_only")
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix"
        --component calotype_runtime)
    file(GLOB_RECURSE found "${WORK}/prefix/*LLVM*" "${WORK}/prefix/*libCalotype*")
    if(found)
        message(FATAL_ERROR "the runtime brings parts of the compiler: ${found}")
    endif()
    build_project("${SOURCE}/runtime_only" "${WORK}/prefix"
        "-DGENERATED=${WORK}/../installed/build")
    run("${WORK}/app/bin/brighten_main")
    expect_output("brighten works")
endif()
