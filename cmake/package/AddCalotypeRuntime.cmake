# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_calotype_runtime(TARGET [USE_SHARED_RUNTIME] [TARGETS <target>...] [NO_DEFAULT_TARGETS]
#     [NO_THREADS] [NO_DL_LIBS] [FILE_BASE_NAME <name>] [OUTPUT_DIR <dir>] [PARAMS <param>...])
#
# Makes TARGET, a library that stands for the runtime of generated code, to be given to
# add_calotype_library as USE_RUNTIME. The runtime is one compiled library that serves every target
# of its architecture and finds devices as it runs, so this links Calotype::Runtime and generates
# nothing; the options that choose what would be generated are accepted and need not be given.
# With USE_SHARED_RUNTIME it links the shared library, Calotype::RuntimeShared, of which a process
# has one however many of its libraries use it.
function(add_calotype_runtime TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG
        "USE_SHARED_RUNTIME;NO_DEFAULT_TARGETS;NO_THREADS;NO_DL_LIBS" "FILE_BASE_NAME;OUTPUT_DIR" "TARGETS;PARAMS")
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "add_calotype_runtime(${TARGET}): unknown: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    add_library(${TARGET} INTERFACE)
    if(ARG_USE_SHARED_RUNTIME)
        target_link_libraries(${TARGET} INTERFACE Calotype::RuntimeShared)
    else()
        target_link_libraries(${TARGET} INTERFACE Calotype::Runtime)
    endif()
endfunction()
