# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_gpu_nrt: S40 on a GPU. Its kernels, and a library that they call in each form, are compiled
# here, where the toolkit is, and linked with the device runtime where they are loaded.
if(NOT nvcc_architectures AND CALOTYPE_NRT_NVCC)
    execute_process(COMMAND "${CALOTYPE_NRT_NVCC}" --list-gpu-code
                    OUTPUT_VARIABLE nvcc_architectures ERROR_QUIET)
endif()
if(NOT nvcc_architectures MATCHES "sm_90" OR NOT CALOTYPE_NRT_CLANG)
    message(STATUS "No test of the device runtime on GPUs: it needs clang and a toolkit for sm_90")
    return()
endif()
set(nrt "${CMAKE_CURRENT_SOURCE_DIR}/nrt")
set(out "${CMAKE_CURRENT_BINARY_DIR}/nrt")
file(MAKE_DIRECTORY "${out}")
set(nrt_sources "${nrt}/kernels.cu" "${nrt}/library.cu" "${nrt}/all.cu" "${nrt}/work.cuh"
    "${PROJECT_SOURCE_DIR}/runtime/nrt/calotype_nrt.cuh")
set(nrt_forms "")

# nrt_image(KIND SM FILE COMMAND...)
function(nrt_image KIND SM FILE)
    add_custom_command(OUTPUT "${out}/${FILE}" COMMAND ${ARGN} -o "${out}/${FILE}"
        DEPENDS ${nrt_sources} calotype_device_runtime COMMENT "S40: ${FILE}" VERBATIM)
    set(nrt_forms ${nrt_forms} "CALOTYPE_${KIND}:${SM}:${out}/${FILE}" PARENT_SCOPE)
endfunction()

set(clang "${CALOTYPE_NRT_CLANG}" -x cuda --cuda-device-only "--cuda-path=${out}/none" -nocudainc
    -nocudalib -Os -std=c++17 --cuda-gpu-arch=sm_70 -I "${PROJECT_SOURCE_DIR}" -I "${nrt}")
set(nvcc "${CALOTYPE_NRT_NVCC}" -rdc=true -std=c++17 -I "${PROJECT_SOURCE_DIR}" -I "${nrt}")
nrt_image(PTX 70 kernels.ptx ${clang} -fgpu-rdc -S "${nrt}/kernels.cu")
nrt_image(LTOIR 90 kernels.ltoir ${nvcc} -ltoir -gencode arch=compute_90,code=lto_90
    "${nrt}/kernels.cu")
nrt_image(PTX 70 with_bitcode.ptx ${clang} -fgpu-rdc -S "${nrt}/all.cu"
    -Xclang -mlink-bitcode-file -Xclang "${PROJECT_BINARY_DIR}/nrt/calotype_nrt.bc")
nrt_image(PTX 70 library.ptx ${clang} -fgpu-rdc -S "${nrt}/library.cu")
nrt_image(CUBIN 90 library.cubin ${nvcc} -arch=sm_90 -cubin "${nrt}/library.cu")
nrt_image(FATBIN 0 library.fatbin ${nvcc} -arch=sm_90 -fatbin "${nrt}/library.cu")
nrt_image(FATBIN 0 library_multi.fatbin ${nvcc} -fatbin -gencode arch=compute_80,code=sm_80
    -gencode arch=compute_90,code=sm_90 "${nrt}/library.cu")
nrt_image(OBJECT 0 library.o ${nvcc} -arch=sm_90 -c "${nrt}/library.cu")
nrt_image(ARCHIVE 0 library.a ${nvcc} -arch=sm_90 -lib "${nrt}/library.cu")
nrt_image(LTOIR 90 library.ltoir ${nvcc} -ltoir -gencode arch=compute_90,code=lto_90
    "${nrt}/library.cu")

# nrt_test_table(TABLE): ${TABLE}.cpp of the forms so far.
set(embed "${PROJECT_SOURCE_DIR}/runtime/nrt/embed.cmake")
macro(nrt_test_table TABLE)
    list(TRANSFORM nrt_forms REPLACE "^.*:" "" OUTPUT_VARIABLE files)
    add_custom_command(OUTPUT "${out}/${TABLE}.cpp"
        COMMAND "${CMAKE_COMMAND}" "-DFORMS=${nrt_forms}" "-DOUTPUT=${out}/${TABLE}.cpp"
                -DTABLE=${TABLE} -P "${embed}"
        DEPENDS ${files} "${embed}" VERBATIM)
    set(nrt_forms "")
endmacro()
nrt_test_table(s40_images)

set(nrt_sources "${nrt}/misuses.cu" "${nrt}/misuses.def"
    "${PROJECT_SOURCE_DIR}/runtime/nrt/calotype_nrt.cuh")
nrt_image(PTX 75 misuses.ptx ${nvcc} -ptx -arch=compute_75 "${nrt}/misuses.cu")
nrt_test_table(misuse_images)

gpu_executable(test_gpu_nrt nrt/nrt_test.cpp nrt/misuses_test.cpp nrt/real_cuda.cpp
    "${out}/s40_images.cpp" "${out}/misuse_images.cpp" "${CALOTYPE_DEVICE_RUNTIME_SOURCE}"
    "${CALOTYPE_DEVICE_RUNTIME_DEBUG_SOURCE}" LINK calotype_runtime)
add_dependencies(test_gpu_nrt calotype_device_runtime)
