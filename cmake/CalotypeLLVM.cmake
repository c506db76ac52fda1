# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds LLVM and makes calotype_llvm, the only way to its headers and libraries. The one layer that
# links it is codegen.

find_package(LLVM 19.1 QUIET CONFIG HINTS /usr/lib/llvm-19 /usr/local/opt/llvm@19)
if(NOT LLVM_FOUND)
    message(FATAL_ERROR "LLVM 19.1 or later of 19 was not found, with its headers and CMake files (found and not "
        "taken: ${LLVM_CONSIDERED_VERSIONS}). On Debian and Ubuntu `./dev packages` in the source folder installs it "
        "and all else that is missing; elsewhere set LLVM_DIR to the folder of LLVMConfig.cmake")
endif()
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

# Of what LLVM's archives need themselves zstd becomes a part of what links them, if there is an archive; zlib
# is everywhere. The solver Z3, which only tools of LLVM call, is left out.
function(calotype_link_support_statically)
    get_target_property(libraries LLVMSupport INTERFACE_LINK_LIBRARIES)
    if("zstd::libzstd_shared" IN_LIST libraries)
        find_library(CALOTYPE_ZSTD_LIBRARY NAMES libzstd.a zstd)
        if(NOT CALOTYPE_ZSTD_LIBRARY)
            message(FATAL_ERROR "LLVM's archives need libzstd (CALOTYPE_LLVM_SHARED is OFF): on Debian and "
                "Ubuntu install libzstd-dev")
        endif()
        list(TRANSFORM libraries REPLACE "^zstd::libzstd_shared$" "${CALOTYPE_ZSTD_LIBRARY}")
    endif()
    list(FILTER libraries EXCLUDE REGEX "libz3")
    set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
endfunction()

separate_arguments(calotype_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_library(calotype_llvm INTERFACE)
target_include_directories(calotype_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
# From GCC 13 on it takes the pair of operators new and delete of llvm::GlobalVariable for mismatched.
target_compile_options(calotype_llvm INTERFACE ${calotype_llvm_definitions}
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-mismatched-new-delete>)

if(CALOTYPE_LLVM_SHARED AND TARGET LLVM)
    target_link_libraries(calotype_llvm INTERFACE LLVM)
else()
    llvm_map_components_to_libnames(calotype_llvm_libraries
        core support analysis passes bitreader bitwriter linker irreader objcopy orcjit
        X86 AArch64 RISCV NVPTX)
    target_link_libraries(calotype_llvm INTERFACE ${calotype_llvm_libraries})
    calotype_link_support_statically()
endif()
