# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How everything is compiled: language level, warnings, sanitizers, compiler cache and linker.
# The flags that only our own targets get live on the interface target calotype_flags.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# The disk cache tells builds of the compiler apart by it.
add_link_options(LINKER:--build-id=sha1)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_library(calotype_flags INTERFACE)
target_compile_options(calotype_flags INTERFACE
    -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
    -Werror=return-type -Werror=uninitialized
    $<$<BOOL:${CALOTYPE_WERROR}>:-Werror>
    # GCC 12 sees overlaps and overflows in its own std::string when it optimizes.
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>"
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
    # Messages name files by their path in the project, wherever it was built.
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/="
    # Functions of a shared library call each other directly, and are inlined: nobody puts others in their places.
    $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>
    # Lets the compiler cache look through a precompiled header.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)

# calotype_use_flags(TARGET): as linking calotype_flags, but leaves no trace in an exported TARGET.
function(calotype_use_flags TARGET)
    target_compile_options(${TARGET} PRIVATE
        $<TARGET_PROPERTY:calotype_flags,INTERFACE_COMPILE_OPTIONS>)
endfunction()

if(CALOTYPE_SANITIZER)
    # Not vptr: it asks for the type information of LLVM's classes, which LLVM is built without.
    add_compile_options(-fsanitize=${CALOTYPE_SANITIZER} -fno-sanitize=vptr
                        -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${CALOTYPE_SANITIZER})
    # GCC 12 guesses wrong about <regex> under sanitizers.
    target_compile_options(calotype_flags INTERFACE -Wno-maybe-uninitialized)
endif()

if(CALOTYPE_USE_CCACHE AND PROJECT_IS_TOP_LEVEL)
    find_program(CALOTYPE_CCACHE ccache)
    if(CALOTYPE_CCACHE)
        # Without the first the cache refuses every source that uses a precompiled header. With the second it goes by
        # the text of each header instead of by what the preprocessor makes of all: a precompiled header knows the
        # files that it includes once by their text, and is no good where a comment in one of them has changed.
        # Not by CMake's own env: pip may have CMake in another folder each time, and all would be compiled again.
        find_program(CALOTYPE_ENV env REQUIRED)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${CALOTYPE_ENV}"
            CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 "${CALOTYPE_CCACHE}")
        set(CMAKE_C_COMPILER_LAUNCHER "${CALOTYPE_CCACHE}")
    endif()
endif()

if(CALOTYPE_USE_FAST_LINKER AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING)
    find_program(CALOTYPE_MOLD mold)
    find_program(CALOTYPE_LLD ld.lld)
    if(CALOTYPE_MOLD)
        add_link_options(-fuse-ld=mold)
    elseif(CALOTYPE_LLD)
        add_link_options(-fuse-ld=lld)
    endif()
endif()
