# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Files of the build that are put into objects.

# calotype_embed(SOURCE DEFINITION FILE [DEPENDS...]): a source that takes in, by an assembler's .incbin, the file that the definition
# names. A cache of compilations sees what is included and not that; so a header with the file's hash is included.
function(calotype_embed source definition file)
    get_filename_component(name "${file}" NAME)
    set(version "${CMAKE_CURRENT_BINARY_DIR}/${name}.version.h")
    add_custom_command(OUTPUT "${version}"
        COMMAND "${CMAKE_COMMAND}" "-DFILE=${file}" "-DOUTPUT=${version}"
            -P "${PROJECT_SOURCE_DIR}/cmake/CalotypeFileVersion.cmake"
        DEPENDS "${file}" ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/CalotypeFileVersion.cmake" VERBATIM)
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS "${definition}=\"${file}\"")
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS -include "${version}")
    set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${file};${version}")
endfunction()
