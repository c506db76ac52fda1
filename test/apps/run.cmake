# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds one app against the build tree and runs its program.
include("${CMAKE_CURRENT_LIST_DIR}/../harness/project.cmake")

file(REMOVE_RECURSE "${WORK}")
build_project("${SOURCE}" "${BUILD}" -DCMAKE_BUILD_TYPE=Release)
if(OUTPUT)
    list(TRANSFORM ARGUMENTS REPLACE "^out" "${WORK}/out")
    run("${CMAKE_COMMAND}" -E env CT_DISABLE_FEATURES=cuda "${WORK}/build/${APP}" ${ARGUMENTS})
    expect_output("${OUTPUT}")
endif()
