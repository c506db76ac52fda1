# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_calotype_generator(TARGET [SOURCES] <source>...
#     [LINK_LIBRARIES <target>...]
#     [PACKAGE_NAME <name>] [PACKAGE_NAMESPACE <prefix>] [EXPORT_FILE <file>])
#
# Makes the executable TARGET of sources that register generators; main() comes from
# Calotype::Generator. TARGET is also exported to EXPORT_FILE, so that a cross build of the same
# project finds it: there this function looks for the package PACKAGE_NAME (default:
# <project>-calotype_generators) and takes the executable from it, if it is found.
#
# The first source may be a Python file that ends in calotype.main(); what it imports need not be named.
# It is run by Calotype_PYTHON (default: the Python of the environment that pip has installed this package
# in, else the one that CMake finds), which must have the package calotype unless this package is that of
# a build folder with it.
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
    if("${ARG_SOURCES};${ARG_UNPARSED_ARGUMENTS}" MATCHES "\\.py(;|$)")
        _calotype_python_generator("${TARGET}" ${ARG_SOURCES} ${ARG_UNPARSED_ARGUMENTS})
        return()
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

# TARGET as a script that runs the Python file.
function(_calotype_python_generator TARGET SOURCE)
    if(NOT Calotype_PYTHON)
        # From <environment>/lib/python<version>/site-packages/calotype/lib/cmake/Calotype.
        cmake_path(SET python NORMALIZE "${Calotype_DIR}/../../../../../../../bin/python3")
        if(NOT Calotype_DIR MATCHES "/site-packages/calotype/" OR NOT EXISTS "${python}")
            find_package(Python REQUIRED COMPONENTS Interpreter)
            set(python "${Python_EXECUTABLE}")
        endif()
        set(Calotype_PYTHON "${python}" CACHE FILEPATH "Runs generators written in Python")
    endif()
    set(files "")
    foreach(file "${SOURCE}" ${ARGN})
        cmake_path(ABSOLUTE_PATH file NORMALIZE)
        list(APPEND files "${file}")
    endforeach()
    list(GET files 0 main)
    set(script "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.sh")
    file(CONFIGURE OUTPUT "${script}" @ONLY CONTENT
"#!/bin/sh
if [ -d '@Calotype_DIR@/python' ]; then
    PYTHONPATH='@Calotype_DIR@/python'\${PYTHONPATH:+:\$PYTHONPATH}
    export PYTHONPATH
fi
exec '@Calotype_PYTHON@' '@main@' \"\$@\"
")
    file(CHMOD "${script}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
         WORLD_READ WORLD_EXECUTE)
    add_executable(${TARGET} IMPORTED GLOBAL)
    set_target_properties(${TARGET} PROPERTIES
        IMPORTED_LOCATION "${script}" CALOTYPE_GENERATOR_FILES "${files}")
endfunction()
