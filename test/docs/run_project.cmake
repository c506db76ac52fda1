# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the project of one page as a project of its own, runs its program, and the commands that the page shows.

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output
                    WORKING_DIRECTORY "${work}")
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

set(work "${PAGES}/${PAGE}/work")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")
run("${CMAKE_COMMAND}" -E copy_directory "${PAGES}/README/project" source)
run("${CMAKE_COMMAND}" -E rm -rf source/commands)
run("${CMAKE_COMMAND}" -E copy_directory "${PAGES}/${PAGE}/project" source)

set(flags "")
if(SANITIZER)
    set(flags "-fsanitize=${SANITIZER}")
endif()
run("${CMAKE_COMMAND}" -S source -B build -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DCMAKE_CXX_FLAGS=${flags}" "-DCMAKE_PREFIX_PATH=${BUILD}")
run("${CMAKE_COMMAND}" --build build)
run(build/my_program)

# Each file: "$ COMMAND", then what it prints.
file(GLOB commands "${work}/source/commands/*.txt")
set(work "${work}/build")
foreach(file ${commands})
    file(READ "${file}" text)
    string(FIND "${text}" "\n" end)
    string(SUBSTRING "${text}" 0 ${end} command)
    string(REGEX REPLACE "^. " "" command "${command}")
    math(EXPR end "${end} + 1")
    string(SUBSTRING "${text}" ${end} -1 expected)
    separate_arguments(words UNIX_COMMAND "${command}")
    run(${words})
    if(NOT output STREQUAL expected)
        message(FATAL_ERROR "the page says that ${command} prints\n${expected}but it prints\n${output}")
    endif()
endforeach()
