# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Calotype_CMAKE_TARGET: the target triple that CMake compiles for, as x86-64-linux.
# Calotype_HOST_TARGET: the one of the machine that CMake runs on.
# Calotype_TARGET (cache; first set from the environment variable CT_TARGET): what
# add_calotype_library takes when it gets no TARGETS.

# _calotype_triple(OUTVAR PROCESSOR SYSTEM BITS)
function(_calotype_triple OUTVAR PROCESSOR SYSTEM BITS)
    string(TOLOWER "${PROCESSOR}" arch)
    if(arch MATCHES "^(x86_64|amd64|i[3-6]86|x86)$")
        set(arch x86)
    elseif(arch MATCHES "^(aarch64|arm)")
        set(arch arm)
    elseif(arch MATCHES "^riscv")
        set(arch riscv)
    endif()
    string(TOLOWER "${SYSTEM}" os)
    if(os STREQUAL "darwin")
        set(os osx)
    endif()
    set(${OUTVAR} "${arch}-${BITS}-${os}" CACHE INTERNAL "")
endfunction()

math(EXPR _calotype_bits "8 * ${CMAKE_SIZEOF_VOID_P}")
_calotype_triple(Calotype_CMAKE_TARGET
    "${CMAKE_SYSTEM_PROCESSOR}" "${CMAKE_SYSTEM_NAME}" ${_calotype_bits})
_calotype_triple(Calotype_HOST_TARGET
    "${CMAKE_HOST_SYSTEM_PROCESSOR}" "${CMAKE_HOST_SYSTEM_NAME}" 64)
set(Calotype_TARGET "$ENV{CT_TARGET}" CACHE STRING "The target of libraries that name none")
