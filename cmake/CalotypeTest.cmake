# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# calotype_test(NAME [SOURCES] <source>... [LINK <target>...] [WHOLE])
#
# Makes the GoogleTest executable NAME and registers each of its tests, or with WHOLE the executable
# as one test (for many tiny tests, where starting the process would cost the most).
function(calotype_test NAME)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "WHOLE" "" "SOURCES;LINK")
    add_executable(${NAME} ${ARG_SOURCES} ${ARG_UNPARSED_ARGUMENTS})
    target_include_directories(${NAME} PRIVATE
        "${PROJECT_SOURCE_DIR}/test" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${NAME} PRIVATE ${ARG_LINK} calotype_test_harness calotype_flags)
    # The precompiled headers are of C++; CMake refuses them for targets with C sources.
    if(CALOTYPE_USE_PCH AND NOT "${ARG_SOURCES};${ARG_UNPARSED_ARGUMENTS}" MATCHES "\\.c(;|$)")
        if("${ARG_LINK}" MATCHES "calotype_(lang|autoschedule|driver|generator)(;|$)")
            target_precompile_headers(${NAME} REUSE_FROM calotype_language_test_pch)
        else()
            target_precompile_headers(${NAME} REUSE_FROM calotype_test_pch)
        endif()
    endif()
    target_compile_definitions(${NAME} PRIVATE
        CALOTYPE_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}"
        CALOTYPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    if(ARG_WHOLE)
        add_test(NAME ${NAME} COMMAND ${NAME})
        set_tests_properties(${NAME} PROPERTIES TIMEOUT 300)
    else()
        # What others' libraries do not free is not ours to report.
        set(leaks "")
        if(CALOTYPE_SANITIZER MATCHES "address")
            set(leaks ENVIRONMENT "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/test/leaks.txt")
        endif()
        set(seconds 120)
        if(CALOTYPE_SANITIZER)
            set(seconds 600)
        endif()
        gtest_discover_tests(${NAME} TEST_PREFIX "${NAME}." DISCOVERY_MODE PRE_TEST
                             PROPERTIES TIMEOUT ${seconds} ${leaks})
    endif()
endfunction()

# Options of the linker for tests in which the host's memory runs out (harness/failing_memory.h).
set(CALOTYPE_FAILING_MEMORY_OPTIONS
    LINKER:--wrap=malloc LINKER:--wrap=calloc LINKER:--wrap=realloc LINKER:--wrap=posix_memalign)

# calotype_test_folder(NAME [FOLDER <folder>] [LINK <target>...] [WHOLE])
#
# One such executable of all sources in FOLDER (default: the current one) and below; nothing while
# there are none.
function(calotype_test_folder NAME)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "WHOLE" "FOLDER" "LINK")
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER}")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    if(sources)
        set(whole "")
        if(ARG_WHOLE)
            set(whole WHOLE)
        endif()
        calotype_test(${NAME} SOURCES ${sources} LINK ${ARG_LINK} ${whole})
    endif()
endfunction()

# calotype_test_part(NAME PCH LINK <target>...): NAME, a library of what executables of tests share, is compiled as they
# are, or the compiler would refuse the precompiled header of the target PCH.
function(calotype_test_part NAME PCH)
    cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "LINK")
    set_target_properties(${NAME} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${NAME} PRIVATE -fPIE)
    target_include_directories(${NAME} PRIVATE
        "${PROJECT_SOURCE_DIR}/test" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${NAME} PUBLIC ${ARG_LINK} GTest::gtest PRIVATE calotype_flags)
    if(CALOTYPE_USE_PCH AND NOT NAME STREQUAL PCH)
        target_precompile_headers(${NAME} REUSE_FROM ${PCH})
    endif()
endfunction()

# calotype_test_pch(NAME [LINK <target>...] HEADERS <header>...): NAME owns a precompiled header of tests.
function(calotype_test_pch NAME)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINK;HEADERS")
    if(CALOTYPE_USE_PCH)
        file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp" CONTENT "\n")
        add_library(${NAME} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp")
        calotype_test_part(${NAME} ${NAME} LINK ${ARG_LINK})
        target_precompile_headers(${NAME} PRIVATE ${ARG_HEADERS} <gtest/gtest.h>)
    endif()
endfunction()

# That of tests of the layers below the language, and that of all others.
calotype_test_pch(calotype_test_pch HEADERS
    <atomic> <chrono> <cstdint> <functional> <map> <memory> <mutex> <set> <sstream> <string> <thread> <vector>)
calotype_test_pch(calotype_language_test_pch LINK calotype_driver HEADERS "${PROJECT_SOURCE_DIR}/src/calotype.h")

# What tests share, and their main().
file(GLOB harness_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/harness/*.cpp")
add_library(calotype_test_harness STATIC ${harness_sources})
target_include_directories(calotype_test_harness PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(calotype_test_harness
    PUBLIC GTest::gtest calotype_ir PRIVATE calotype_flags)
