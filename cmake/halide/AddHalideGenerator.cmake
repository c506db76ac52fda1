# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_halide_generator(TARGET [SOURCES] <source>...
#     [PACKAGE_NAME <name>] [PACKAGE_NAMESPACE <prefix>] [EXPORT_FILE <file>]
#     [LINK_LIBRARIES <target>...] [PYSTUB <generator>])
#
# add_calotype_generator with the header Halide.h. Building the target PACKAGE_NAME builds all generators of
# the package. PYSTUB makes the Python module <generator>_pystub as well.
function(add_halide_generator TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG
        "" "PACKAGE_NAME;PACKAGE_NAMESPACE;EXPORT_FILE;PYSTUB" "SOURCES;LINK_LIBRARIES")
    if(NOT ARG_PACKAGE_NAME)
        set(ARG_PACKAGE_NAME "${PROJECT_NAME}-halide_generators")
    endif()
    if(NOT ARG_PACKAGE_NAMESPACE)
        set(ARG_PACKAGE_NAMESPACE "${PROJECT_NAME}::halide_generators::")
    endif()
    set(sources ${ARG_SOURCES} ${ARG_UNPARSED_ARGUMENTS})
    set(export "")
    if(ARG_EXPORT_FILE)
        set(export EXPORT_FILE "${ARG_EXPORT_FILE}")
    endif()
    add_calotype_generator("${TARGET}" SOURCES ${sources}
        PACKAGE_NAME "${ARG_PACKAGE_NAME}" PACKAGE_NAMESPACE "${ARG_PACKAGE_NAMESPACE}" ${export}
        LINK_LIBRARIES Calotype::Halide ${ARG_LINK_LIBRARIES})
    if(NOT TARGET "${ARG_PACKAGE_NAME}")
        add_custom_target("${ARG_PACKAGE_NAME}")
    endif()
    add_dependencies("${ARG_PACKAGE_NAME}" "${TARGET}")
    if(NOT TARGET "${ARG_PACKAGE_NAMESPACE}${TARGET}")
        add_executable("${ARG_PACKAGE_NAMESPACE}${TARGET}" ALIAS "${TARGET}")
    endif()
    if(ARG_PYSTUB)
        add_calotype_python_generators("${TARGET}_pystub" SOURCES ${sources}
            GENERATORS "${ARG_PYSTUB}" MODULE_NAME "${ARG_PYSTUB}_pystub"
            LINK_LIBRARIES Calotype::Halide ${ARG_LINK_LIBRARIES})
    endif()
endfunction()

# add_halide_stub(TARGET FROM <generator> [GENERATOR <name>] [OUTPUT_DIR <dir>])
function(add_halide_stub TARGET)
    add_calotype_stub("${TARGET}" ${ARGN})
endfunction()
