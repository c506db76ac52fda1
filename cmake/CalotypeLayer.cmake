# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# calotype_layer(NAME LINK <target>... [PRIVATE_LINK <target>...])
#
# Makes the static library calotype_NAME of all sources in the current folder and those below it.
# LINK lists the layers that this one may include (ARCHITECTURE.md, section 2), no others.
# New files are picked up by the next build; a folder without sources is an empty library.
function(calotype_layer NAME)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINK;PRIVATE_LINK")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
    if(NOT sources)
        set(sources "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp")
        file(CONFIGURE OUTPUT "${sources}" CONTENT "\n")
    endif()
    add_library(calotype_${NAME} STATIC ${sources})
    target_include_directories(calotype_${NAME} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
    target_link_libraries(calotype_${NAME}
        PUBLIC ${ARG_LINK}
        PRIVATE calotype_flags ${ARG_PRIVATE_LINK})
endfunction()

# calotype_share_pch(NAME): the layer uses the precompiled header that calotype_support owns.
function(calotype_share_pch NAME)
    if(CALOTYPE_USE_PCH)
        target_precompile_headers(calotype_${NAME} REUSE_FROM calotype_support)
    endif()
endfunction()
