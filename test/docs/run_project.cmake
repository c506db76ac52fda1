# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the project of one page as a project of its own, runs its program, and the commands that the page shows.

include("${CMAKE_CURRENT_LIST_DIR}/../harness/project.cmake")

set(WORK "${PAGES}/${PAGE}/work")
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
file(COPY "${PAGES}/README/project/" DESTINATION "${WORK}/source")
file(REMOVE_RECURSE "${WORK}/source/commands")
# file(COPY) would keep a file of the same name and time.
run("${CMAKE_COMMAND}" -E copy_directory "${PAGES}/${PAGE}/project" "${WORK}/source")
build_project("${WORK}/source" "${BUILD}")
set(folder "${WORK}")
run(build/my_program)

# Each file: "$ COMMAND", then what it prints.
file(GLOB commands "${WORK}/source/commands/*.txt")
set(folder "${WORK}/build")
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
