# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds LLVM and makes calotype_llvm, the only way to its headers and libraries. The one layer that
# links it is codegen.

find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19 /usr/local/opt/llvm@19)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

separate_arguments(calotype_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_library(calotype_llvm INTERFACE)
target_include_directories(calotype_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_options(calotype_llvm INTERFACE ${calotype_llvm_definitions})

if(CALOTYPE_LLVM_SHARED AND TARGET LLVM)
    target_link_libraries(calotype_llvm INTERFACE LLVM)
else()
    llvm_map_components_to_libnames(calotype_llvm_libraries
        core support analysis passes bitreader bitwriter linker irreader orcjit
        X86 AArch64 NVPTX)
    target_link_libraries(calotype_llvm INTERFACE ${calotype_llvm_libraries})
endif()
