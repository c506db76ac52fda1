# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_calotype_generator(TARGET [SOURCES] <source>...
#     [LINK_LIBRARIES <target>...]
#     [PACKAGE_NAME <name>] [PACKAGE_NAMESPACE <prefix>] [EXPORT_FILE <file>])
#
# Makes the executable TARGET of sources that register generators; main() comes from
# Calotype::Generator. TARGET is also exported to EXPORT_FILE, so that a cross build of the same
# project finds it: there this function looks for the package PACKAGE_NAME (default:
# <project>-calotype_generators) and takes the executable from it, if it is found.
function(add_calotype_generator TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG
        "" "PACKAGE_NAME;PACKAGE_NAMESPACE;EXPORT_FILE" "SOURCES;LINK_LIBRARIES")
    if(NOT ARG_PACKAGE_NAME)
        set(ARG_PACKAGE_NAME "${PROJECT_NAME}-calotype_generators")
    endif()
    if(NOT ARG_PACKAGE_NAMESPACE)
        set(ARG_PACKAGE_NAMESPACE "${PROJECT_NAME}::calotype_generators::")
    endif()
    if(NOT ARG_EXPORT_FILE)
        set(ARG_EXPORT_FILE "${PROJECT_BINARY_DIR}/cmake/${ARG_PACKAGE_NAME}-config.cmake")
    endif()

    if(CMAKE_CROSSCOMPILING)
        find_package("${ARG_PACKAGE_NAME}" QUIET)
        if(TARGET "${ARG_PACKAGE_NAMESPACE}${TARGET}")
            add_executable(${TARGET} ALIAS "${ARG_PACKAGE_NAMESPACE}${TARGET}")
            return()
        endif()
        message(WARNING "${TARGET} is compiled for the machine that is compiled for; package "
            "${ARG_PACKAGE_NAME} with generators for this machine was not found")
    endif()
    if(NOT TARGET Calotype::Generator)
        message(FATAL_ERROR "add_calotype_generator(${TARGET}) needs the component compiler: "
            "find_package(Calotype COMPONENTS compiler)")
    endif()

    add_executable(${TARGET} ${ARG_SOURCES} ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries(${TARGET} PRIVATE Calotype::Generator ${ARG_LINK_LIBRARIES})
    cmake_path(GET ARG_EXPORT_FILE PARENT_PATH export_folder)
    file(MAKE_DIRECTORY "${export_folder}")
    export(TARGETS ${TARGET} NAMESPACE "${ARG_PACKAGE_NAMESPACE}"
           APPEND FILE "${ARG_EXPORT_FILE}")
endfunction()
