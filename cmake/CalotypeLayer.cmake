# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# calotype_or_empty(VAR): where the list of sources is empty, an empty source.
function(calotype_or_empty VAR)
    if(NOT ${VAR})
        set(${VAR} "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp" PARENT_SCOPE)
        file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp" CONTENT "\n")
    endif()
endfunction()

# calotype_layer(NAME LINK <target>... [PRIVATE_LINK <target>...] [WITHOUT <source>])
#
# Makes the static library calotype_NAME of all sources in the current folder and those below it.
# LINK lists the layers that this one may include (docs/architecture.md, section 2), no others.
# WITHOUT leaves one source out, for a target of its own.
# New files are picked up by the next build; a folder without sources is an empty library.
function(calotype_layer NAME)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "WITHOUT" "LINK;PRIVATE_LINK")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
    if(ARG_WITHOUT)
        list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_WITHOUT}")
    endif()
    calotype_or_empty(sources)
    add_library(calotype_${NAME} STATIC ${sources})
    target_include_directories(calotype_${NAME} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
    target_link_libraries(calotype_${NAME}
        PUBLIC ${ARG_LINK}
        PRIVATE calotype_flags ${ARG_PRIVATE_LINK})
endfunction()

# calotype_own_pch(NAME [<header>...]): the layer owns a precompiled header, of standard headers and those given, of src.
function(calotype_own_pch NAME)
    if(CALOTYPE_USE_PCH)
        list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/src/")
        target_precompile_headers(calotype_${NAME} PRIVATE
            <algorithm> <array> <atomic> <cstdint> <functional> <map> <memory> <mutex> <optional>
            <set> <sstream> <string> <unordered_map> <utility> <variant> <vector> ${ARGN})
    endif()
endfunction()

# calotype_share_pch(NAME OWNER): the layer uses the precompiled header that the layer OWNER owns.
function(calotype_share_pch NAME OWNER)
    if(CALOTYPE_USE_PCH)
        target_precompile_headers(calotype_${NAME} REUSE_FROM calotype_${OWNER})
    endif()
endfunction()
