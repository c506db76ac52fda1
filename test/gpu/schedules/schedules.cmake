# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_gpu_schedules: random pipelines under random GPU schedules, compiled here for both APIs.
add_executable(random_schedules schedules/make_schedules.cpp)
target_include_directories(random_schedules PRIVATE
    "${PROJECT_SOURCE_DIR}/test" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}"
    "${PROJECT_BINARY_DIR}/include")
target_link_libraries(random_schedules PRIVATE calotype_random_gpu_pipelines calotype_driver calotype_flags)
set(folder "${CMAKE_CURRENT_BINARY_DIR}/schedules")
file(MAKE_DIRECTORY "${folder}")
# Those that devices of both APIs can launch, and whose outputs are as large as their schedules ask.
set(seeds
    0 2 4 6 8 18 20 22 24 26 28 30 34 36 38 40 42 44 46 50 52 54 56 60)
set(objects "")
foreach(seed ${seeds})
    list(APPEND objects "${folder}/random_${seed}_cuda.o" "${folder}/random_${seed}_opencl.o")
endforeach()
add_custom_command(OUTPUT ${objects} "${folder}/schedules.bin" "${folder}/schedules_table.h"
    COMMAND random_schedules "${folder}" ${seeds}
    DEPENDS random_schedules COMMENT "Generating random schedules" VERBATIM)
set_source_files_properties(${objects} PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
gpu_executable(test_gpu_schedules schedules/schedules_test.cpp ${objects}
    LINK calotype_runtime calotype_buffer)
target_include_directories(test_gpu_schedules PRIVATE
    "${folder}" "${PROJECT_SOURCE_DIR}/test" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/include")
calotype_embed(schedules/schedules_test.cpp CALOTYPE_SCHEDULES "${folder}/schedules.bin")
set_property(SOURCE schedules/schedules_test.cpp APPEND PROPERTY OBJECT_DEPENDS "${folder}/schedules_table.h")
