# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_calotype_runtime(TARGET [USE_SHARED_RUNTIME] [TARGETS <target>...] [NO_DEFAULT_TARGETS]
#     [NO_THREADS] [NO_DL_LIBS] [FILE_BASE_NAME <name>] [OUTPUT_DIR <dir>] [FROM <generator>]
#     [PARAMS <param>...])
#
# Makes TARGET, a library that stands for the runtime of generated code, to be given to
# add_calotype_library as USE_RUNTIME. The runtime is one compiled library that serves every target
# of its architecture and finds devices as it runs, so this links Calotype::Runtime and generates
# nothing; the options that choose what would be generated are accepted and need not be given.
# With USE_SHARED_RUNTIME it links the shared library, Calotype::RuntimeShared, of which a process
# has one however many of its libraries use it.
#
# With the parameters runtime_prefixes.export=<prefix> and runtime_prefixes.internal=<prefix> it is a
# runtime of its own under other names, which the generator FROM writes, or one made for that; libraries
# for it have the parameter runtime_prefixes.import=<prefix>.
function(add_calotype_runtime TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG
        "USE_SHARED_RUNTIME;NO_DEFAULT_TARGETS;NO_THREADS;NO_DL_LIBS" "FILE_BASE_NAME;OUTPUT_DIR;FROM"
        "TARGETS;PARAMS")
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "add_calotype_runtime(${TARGET}): unknown: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    add_library(${TARGET} INTERFACE)
    set(prefixes ${ARG_PARAMS})
    list(FILTER prefixes INCLUDE REGEX "^runtime_prefixes\\.")
    if(prefixes)
        _calotype_prefixed_runtime()
    elseif(ARG_USE_SHARED_RUNTIME)
        target_link_libraries(${TARGET} INTERFACE Calotype::RuntimeShared)
    else()
        target_link_libraries(${TARGET} INTERFACE Calotype::Runtime)
    endif()
endfunction()

# In the scope of add_calotype_runtime.
macro(_calotype_prefixed_runtime)
    if(ARG_USE_SHARED_RUNTIME)
        message(FATAL_ERROR "add_calotype_runtime(${TARGET}): ${prefixes} is for a static runtime, "
            "USE_SHARED_RUNTIME asks for the shared one")
    endif()
    if(NOT ARG_FROM)
        _calotype_runtime_writer()
        set(ARG_FROM calotype_runtime_writer)
    endif()
    if(NOT ARG_OUTPUT_DIR)
        set(ARG_OUTPUT_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    endif()
    if(NOT ARG_FILE_BASE_NAME)
        set(ARG_FILE_BASE_NAME "${TARGET}")
    endif()
    set(archive "${ARG_OUTPUT_DIR}/${ARG_FILE_BASE_NAME}.a")
    add_custom_command(OUTPUT "${archive}"
        COMMAND "${ARG_FROM}" -r "${ARG_FILE_BASE_NAME}" -o "${ARG_OUTPUT_DIR}" target=host ${prefixes}
        DEPENDS "${ARG_FROM}" COMMENT "Generating runtime ${TARGET}" VERBATIM)
    add_custom_target(${TARGET}.update DEPENDS "${archive}")
    add_dependencies(${TARGET} ${TARGET}.update)
    find_package(Threads REQUIRED)
    target_link_libraries(${TARGET} INTERFACE "${archive}" Threads::Threads ${CMAKE_DL_LIBS})
    get_target_property(includes Calotype::Runtime INTERFACE_INCLUDE_DIRECTORIES)
    target_include_directories(${TARGET} SYSTEM INTERFACE ${includes})
endmacro()

# A program like those of generators, without any.
function(_calotype_runtime_writer)
    if(NOT TARGET calotype_runtime_writer)
        file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/calotype_runtime_writer.cpp" CONTENT "\n")
        add_calotype_generator(calotype_runtime_writer
            SOURCES "${PROJECT_BINARY_DIR}/calotype_runtime_writer.cpp")
    endif()
endfunction()
