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
    target_link_libraries(${NAME} PRIVATE ${ARG_LINK} calotype_flags GTest::gtest_main)
    target_compile_definitions(${NAME} PRIVATE
        CALOTYPE_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}"
        CALOTYPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    if(ARG_WHOLE)
        add_test(NAME ${NAME} COMMAND ${NAME})
        set_tests_properties(${NAME} PROPERTIES TIMEOUT 300)
    else()
        gtest_discover_tests(${NAME} TEST_PREFIX "${NAME}." DISCOVERY_MODE PRE_TEST
                             PROPERTIES TIMEOUT 120)
    endif()
endfunction()

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
