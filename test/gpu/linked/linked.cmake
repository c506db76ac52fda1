# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Pipelines that call functions of linkables: one a kind and way to link it. Those of
# test/codegen/linkables/make_inputs.sh are there if nvcc and clang are.
add_executable(gpu_linked_generators linked/linked_generator.cpp)
target_link_libraries(gpu_linked_generators PRIVATE Calotype::Generator)

set(inputs "${PROJECT_BINARY_DIR}/test/codegen/linkables")
set(linked_folder "${CMAKE_CURRENT_BINARY_DIR}/linked")
file(MAKE_DIRECTORY "${linked_folder}")
set(linked_files "")
set(linked_includes "")
set(linked_table "")

# linked_pipeline(NAME API LINKABLE [ENVIRONMENT...]): of the generator linked; with API heap, of
# linked_heap, whose linkable uses the device runtime; with without_lto for CUDA, of LTO-IR that
# stays a call.
function(linked_pipeline NAME API LINKABLE)
    set(generator linked)
    set(target x86-64-linux-opencl-cl_doubles)
    set(callbacks ";setup=rng_setup;teardown=rng_teardown")
    if(API MATCHES "cuda|without_lto")
        set(target x86-64-linux-cuda-cuda_capability_90)
        string(APPEND callbacks ";user=rng_user")
    elseif(API STREQUAL heap)
        set(generator linked_heap)
        set(target x86-64-linux-cuda-cuda_capability_90)
        set(callbacks ";nrt")
    elseif(API STREQUAL host)
        set(target x86-64-linux)
        set(callbacks "")
    endif()
    set(files "${linked_folder}/${NAME}.h" "${linked_folder}/${NAME}.o")
    add_custom_command(OUTPUT ${files}
        COMMAND "${CMAKE_COMMAND}" -E env ${ARGN} $<TARGET_FILE:gpu_linked_generators>
            -g ${generator} -f ${NAME} -n ${NAME} -o "${linked_folder}" -e c_header,object
            "target=${target}-no_runtime" "rng=${LINKABLE}${callbacks}"
        DEPENDS gpu_linked_generators test_codegen_linked_inputs "${inputs}/done"
        COMMENT "Generating ${NAME}" VERBATIM)
    set(linked_files ${linked_files} ${files} PARENT_SCOPE)
    set(linked_includes "${linked_includes}#include \"${NAME}.h\"\n" PARENT_SCOPE)
    set(linked_table "${linked_table}LINKED(${NAME}, ${API})\n" PARENT_SCOPE)
endfunction()

linked_pipeline(linked_opencl_c opencl "${CMAKE_CURRENT_SOURCE_DIR}/linked/rng.cl")
if(CALOTYPE_NVCC)
    foreach(form ptx cubin o a fatbin ltoir cu)
        linked_pipeline(linked_${form}_allow cuda "${inputs}/rng.${form};lto=allow")
    endforeach()
    foreach(form ptx cubin o a fatbin cu)
        linked_pipeline(linked_${form}_never cuda "${inputs}/rng.${form};lto=never")
    endforeach()
    foreach(form ltoir cu)
        linked_pipeline(linked_${form}_require cuda "${inputs}/rng.${form};lto=require")
    endforeach()
    linked_pipeline(linked_multi_allow cuda "${inputs}/multi.fatbin;lto=allow")
    linked_pipeline(linked_multi_require cuda "${inputs}/multi.fatbin;lto=require")
    # Without a toolkit all is linked when it is loaded.
    foreach(form ptx cubin o a fatbin)
        linked_pipeline(linked_${form}_later cuda "${inputs}/rng.${form}" CUDA_HOME=/nowhere)
    endforeach()
    linked_pipeline(linked_ltoir_later without_lto "${inputs}/rng.ltoir" CUDA_HOME=/nowhere)
    foreach(form ptx cubin o a fatbin ltoir cu)
        linked_pipeline(linked_heap_${form}_allow heap "${inputs}/heap.${form};lto=allow")
    endforeach()
    foreach(form ltoir cu)
        linked_pipeline(linked_heap_${form}_require heap "${inputs}/heap.${form};lto=require")
    endforeach()
endif()
if(CALOTYPE_CLANG)
    linked_pipeline(linked_bitcode cuda "${inputs}/rng.bc")
    linked_pipeline(linked_bitcode_never cuda "${inputs}/rng.bc;lto=never")
    linked_pipeline(linked_host_bitcode host "${inputs}/rng.bc+${inputs}/host.bc")
endif()
# One kernel, to time its first call: alone, and with a linkable that was linked when it was generated.
if(CALOTYPE_NVCC)
    set(one_files "")
    foreach(row "one_kernel;" "one_linked_kernel;rng=${inputs}/rng.cubin")
        list(POP_FRONT row name)
        set(files "${linked_folder}/${name}.h" "${linked_folder}/${name}.o")
        add_custom_command(OUTPUT ${files}
            COMMAND gpu_linked_generators -g ${name} -f ${name} -n ${name} -o "${linked_folder}"
                -e c_header,object target=x86-64-linux-cuda-cuda_capability_90-no_runtime ${row}
            DEPENDS gpu_linked_generators test_codegen_linked_inputs "${inputs}/done"
            COMMENT "Generating ${name}" VERBATIM)
        list(APPEND one_files ${files})
    endforeach()
    target_sources(bench_first PRIVATE ${one_files})
    target_include_directories(bench_first PRIVATE "${linked_folder}")
    target_compile_definitions(bench_first PRIVATE BENCH_LINKED)
endif()
file(CONFIGURE OUTPUT "${linked_folder}/linked_functions.h"
     CONTENT "#pragma once\n${linked_includes}" @ONLY)
file(CONFIGURE OUTPUT "${linked_folder}/linked_functions.def"
     CONTENT "${linked_table}#undef LINKED\n" @ONLY)
set_source_files_properties(${linked_files} PROPERTIES GENERATED TRUE)
add_library(gpu_linked STATIC ${linked_files})
set_target_properties(gpu_linked PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(gpu_linked PUBLIC "${linked_folder}")
target_link_libraries(gpu_linked PUBLIC calotype_runtime calotype_buffer)

gpu_executable(test_gpu_linked linked/linked_test.cpp LINK gpu_linked)
target_include_directories(test_gpu_linked PRIVATE "${PROJECT_BINARY_DIR}/include")
