# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_gpu_random: random kernels, compiled here in two ways, where the toolkit is.
if(NOT CALOTYPE_NVCC)
    message(STATUS "No random kernels on GPUs: they need a CUDA toolkit")
    return()
endif()
add_executable(random_kernels random/make_kernels.cpp)
target_include_directories(random_kernels PRIVATE
    "${PROJECT_SOURCE_DIR}/test" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
target_link_libraries(random_kernels PRIVATE
    calotype_codegen calotype_test_harness calotype_flags)
set(kernels "${CMAKE_CURRENT_BINARY_DIR}/random_kernels.bin")
add_custom_command(OUTPUT "${kernels}"
    COMMAND random_kernels "${kernels}" 720 8
    DEPENDS random_kernels COMMENT "Generating random kernels" VERBATIM)
gpu_executable(test_gpu_random random/random_test.cpp LINK calotype_runtime)
calotype_embed(random/random_test.cpp CALOTYPE_RANDOM_KERNELS "${kernels}")
