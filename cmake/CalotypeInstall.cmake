# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Where the parts of the package go. Component runtime needs no LLVM; component compiler does.

# Where links would become copies, as in wheels, a library has one name, by which programs load it.
set(links LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(NOT CALOTYPE_LIBRARY_LINKS)
    list(APPEND links NAMELINK_SKIP)
    set_property(TARGET calotype_runtime_shared PROPERTY VERSION)
    if(CALOTYPE_BUILD_COMPILER)
        set_property(TARGET Calotype PROPERTY VERSION)
    endif()
endif()

install(TARGETS ${calotype_runtime_targets} EXPORT CalotypeRuntimeTargets
        COMPONENT calotype_runtime ${links})
install(EXPORT CalotypeRuntimeTargets NAMESPACE Calotype::
        DESTINATION "${calotype_package_dir}" COMPONENT calotype_runtime)
install(FILES "${PROJECT_BINARY_DIR}/CalotypeConfig.cmake"
              "${PROJECT_BINARY_DIR}/CalotypeConfigVersion.cmake"
              ${calotype_helpers}
        DESTINATION "${calotype_package_dir}" COMPONENT calotype_runtime)
install(DIRECTORY "${calotype_halide_package}/"
        DESTINATION "${calotype_halide_package_dir}" COMPONENT calotype_runtime)

set(headers FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.inc")
set(include_dir "${CMAKE_INSTALL_INCLUDEDIR}/calotype")
install(FILES "${calotype_staged}/runtime.h" "${calotype_staged}/buffer.h"
        DESTINATION "${include_dir}" COMPONENT calotype_runtime)
install(FILES "${calotype_staged}/tools/image_io.h" "${calotype_staged}/tools/benchmark.h"
              "${calotype_staged}/tools/pytorch.h"
        DESTINATION "${include_dir}/tools" COMPONENT calotype_runtime)
foreach(part abi cpp tools compat)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/${part}"
            DESTINATION "${include_dir}/runtime" COMPONENT calotype_runtime OPTIONAL ${headers})
endforeach()
install(FILES ${run_main} DESTINATION "${include_dir}/runtime/tools" COMPONENT calotype_runtime)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/"
        DESTINATION "${include_dir}/runtime" COMPONENT calotype_runtime
        FILES_MATCHING REGEX "/runtime/[^/]*\\.h$" REGEX "/runtime/.*/" EXCLUDE)

if(NOT CALOTYPE_BUILD_COMPILER)
    return()
endif()
install(TARGETS ${calotype_compiler_targets} EXPORT CalotypeCompilerTargets
        COMPONENT calotype_compiler ${links})
install(EXPORT CalotypeCompilerTargets NAMESPACE Calotype::
        DESTINATION "${calotype_package_dir}" COMPONENT calotype_compiler)
install(FILES "${PROJECT_SOURCE_DIR}/src/calotype.h"
        DESTINATION "${include_dir}" COMPONENT calotype_compiler)
# All layers whose headers calotype.h reaches; what only the compiler itself sees stays at home.
foreach(layer support target ir arith linkables pipeline lang driver generator)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/${layer}"
            DESTINATION "${include_dir}" COMPONENT calotype_compiler ${headers})
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/src/codegen/llvm_module.h"
              "${PROJECT_SOURCE_DIR}/src/codegen/output_type.h"
        DESTINATION "${include_dir}/codegen" COMPONENT calotype_compiler)
install(FILES "${PROJECT_SOURCE_DIR}/src/codegen/output/output_types.def"
        DESTINATION "${include_dir}/codegen/output" COMPONENT calotype_compiler)
