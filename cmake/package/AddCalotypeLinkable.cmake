# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_calotype_linkable(TARGET
#     [SOURCE <file>]              CUDA C++, C++ or OpenCL C, compiled to each KIND; for an archive
#                                  there may be several
#     [FILE <file>...]             code that exists, or that another rule makes, taken as it is; several
#                                  are forms of the same code
#     [KIND <kind>...]             of SOURCE: ptx cubin fatbin object archive ltoir bitcode host_bitcode
#                                  cu opencl_c; default: opencl_c of a .cl, else ptx. Without SOURCE:
#                                  the one kind of FILE, where the extension does not tell it
#     [ARCHS <sm>...]              as 80 90a; default 75. cubin: a file each; fatbin, object and
#                                  archive: code for each; ptx, ltoir and bitcode: for the lowest
#     [SETUP <function>] [TEARDOWN <function>] [USER <symbol>]   extern "C" names of the host part
#     [NAME <name>]                default TARGET; what AFTER of others names
#     [AFTER <name>...] [LTO allow|require|never] [NRT] [OPTIONAL] [THREADSAFE] [SESSION] [PIN]
#     [NO_TEARDOWN_AFTER_LOSS] [NO_EMBED]
#     [HOST_SOURCES <file>...] [HOST_LIBRARIES <library>...]
#     [INCLUDES <folder>...] [DEFINES <definition>...] [OPTIONS <flag>...]   to compile SOURCE with;
#                                  not for cu and opencl_c, which are compiled later
#     [DEPENDS <file>...])         when they change, pipelines are generated again: what cu includes
#
# Makes TARGET, device code from elsewhere for LINKABLES of add_calotype_library. Its host part, a
# static library of HOST_SOURCES, is linked to whatever links the pipeline. CUDA C++ is compiled by
# nvcc (Calotype_NVCC) or clang (Calotype_CLANG); both are found where they are installed, and false
# where not. bitcode is for the GPU, host_bitcode for the processor; both are clang's.

find_program(Calotype_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
             PATH_SUFFIXES bin DOC "Compiles CUDA C++ to linkables")
mark_as_advanced(Calotype_NVCC)

# Sets the cache variable Calotype_CLANG: a clang whose bitcode LLVM 19 reads.
function(_calotype_find_clang)
    if(Calotype_CLANG OR DEFINED CACHE{Calotype_CLANG})
        return()
    endif()
    set(found "")
    foreach(name clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++ clang++-14)
        find_program(clang ${name} HINTS /usr/lib/llvm-19/bin NO_CACHE)
        if(clang)
            execute_process(COMMAND "${clang}" -dumpversion
                            OUTPUT_VARIABLE version ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
            if(version VERSION_GREATER_EQUAL 14 AND version VERSION_LESS 20)
                set(found "${clang}")
                break()
            endif()
        endif()
        unset(clang)
    endforeach()
    set(Calotype_CLANG "${found}" CACHE FILEPATH "Compiles linkables to LLVM bitcode; clang++ 14 to 19")
    mark_as_advanced(Calotype_CLANG)
endfunction()
_calotype_find_clang()

function(add_calotype_linkable TARGET)
    set(switches NRT OPTIONAL THREADSAFE SESSION PIN NO_TEARDOWN_AFTER_LOSS)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "${switches};NO_EMBED" "SETUP;TEARDOWN;USER;NAME;LTO"
        "SOURCE;FILE;KIND;ARCHS;AFTER;HOST_SOURCES;HOST_LIBRARIES;INCLUDES;DEFINES;OPTIONS;DEPENDS")
    _calotype_linkable_check()
    set(files "")
    if(ARG_SOURCE)
        foreach(kind ${ARG_KIND})
            cmake_language(CALL _calotype_linkable_${kind})
        endforeach()
        set(ARG_KIND "")
    endif()
    foreach(file ${ARG_FILE})
        cmake_path(ABSOLUTE_PATH file NORMALIZE)
        list(APPEND files "${file}|${ARG_KIND}|")
    endforeach()
    _calotype_linkable_manifest()
    _calotype_linkable_targets()
endfunction()

# The parts of add_calotype_linkable see its variables. Each adds "path|kind|sm" to `files`; kind and
# sm are empty where the file itself tells.

macro(_calotype_linkable_check)
    set(me "add_calotype_linkable(${TARGET})")
    set(kinds ptx cubin fatbin object archive ltoir bitcode host_bitcode cu opencl_c)
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${me}: unknown: ${ARG_UNPARSED_ARGUMENTS}")
    elseif(NOT ARG_SOURCE AND NOT ARG_FILE AND "${ARG_SETUP}${ARG_TEARDOWN}" STREQUAL "")
        message(FATAL_ERROR "${me}: SOURCE and FILE are both missing, and there is no callback")
    elseif(ARG_LTO AND NOT ARG_LTO MATCHES "^(allow|require|never)$")
        message(FATAL_ERROR "${me}: LTO is ${ARG_LTO}, must be allow, require or never")
    endif()
    foreach(kind ${ARG_KIND})
        if(NOT kind IN_LIST kinds)
            message(FATAL_ERROR "${me}: no such KIND: ${kind}; there are ${kinds}")
        endif()
    endforeach()
    list(LENGTH ARG_SOURCE count)
    if(count GREATER 1 AND NOT "${ARG_KIND}" STREQUAL "archive")
        message(FATAL_ERROR "${me}: SOURCE names ${count} files, must be one but for KIND archive")
    endif()
    list(LENGTH ARG_KIND count)
    if(NOT ARG_SOURCE AND count GREATER 1)
        message(FATAL_ERROR "${me}: KIND names ${count} kinds, must be one where there is no SOURCE")
    endif()
    if(NOT ARG_SOURCE AND "${ARG_KIND}" STREQUAL "host_bitcode")
        set(ARG_KIND bitcode)  # the file tells for which machine
    endif()
    foreach(file ${ARG_SOURCE} ${ARG_FILE})
        cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
        get_source_file_property(generated "${file}" GENERATED)
        if(NOT generated AND NOT EXISTS "${file}")
            message(FATAL_ERROR "${me}: no such file: ${file}")
        endif()
    endforeach()
    foreach(kind cu opencl_c)
        foreach(flag INCLUDES DEFINES OPTIONS)
            if(ARG_SOURCE AND ARG_${flag} AND kind IN_LIST ARG_KIND)
                message(FATAL_ERROR "${me}: ${flag} cannot be given with KIND ${kind}, which is not "
                    "compiled here; the source may have what it needs in itself")
            endif()
        endforeach()
    endforeach()
    foreach(arch ${ARG_ARCHS})
        if(NOT arch MATCHES "^[1-9][0-9]+[af]?$")
            message(FATAL_ERROR "${me}: ARCHS has ${arch}, must be like 80 or 90a")
        endif()
    endforeach()
    _calotype_linkable_defaults()
endmacro()

macro(_calotype_linkable_defaults)
    if("${ARG_NAME}" STREQUAL "")
        set(ARG_NAME "${TARGET}")
    endif()
    if(NOT ARG_ARCHS)
        set(ARG_ARCHS 75)
    endif()
    if(ARG_SOURCE AND NOT ARG_KIND)
        if("${ARG_SOURCE}" MATCHES "\\.cl$")
            set(ARG_KIND opencl_c)
        else()
            set(ARG_KIND ptx)
        endif()
    endif()
    # The lowest, by number.
    set(sorted ${ARG_ARCHS})
    list(SORT sorted COMPARE NATURAL)
    list(GET sorted 0 lowest)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.linkable")
    file(MAKE_DIRECTORY "${folder}")
    set(flags ${ARG_OPTIONS})
    foreach(include ${ARG_INCLUDES})
        cmake_path(ABSOLUTE_PATH include NORMALIZE)
        list(APPEND flags "-I${include}")
    endforeach()
    foreach(define ${ARG_DEFINES})
        list(APPEND flags "-D${define}")
    endforeach()
endmacro()

# One run of a compiler, ARGN, which also writes what it read. Calotype's own headers are found.
function(_calotype_linkable_compile SOURCE OUTPUT)
    cmake_path(ABSOLUTE_PATH SOURCE NORMALIZE)
    cmake_path(GET OUTPUT FILENAME name)
    set(includes "$<TARGET_PROPERTY:Calotype::Runtime,INTERFACE_INCLUDE_DIRECTORIES>")
    add_custom_command(OUTPUT "${OUTPUT}"
        COMMAND ${ARGN} ${flags} "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" -MD -MF "${OUTPUT}.d" -MT "${OUTPUT}" -o "${OUTPUT}" "${SOURCE}"
        DEPENDS "${SOURCE}" DEPFILE "${OUTPUT}.d"
        COMMENT "Compiling linkable ${name}" VERBATIM COMMAND_EXPAND_LISTS)
endfunction()

# Each source to one file of its own; several are numbered, as two folders may have one name.
macro(_calotype_linkable_each KIND SM EXTENSION)
    list(LENGTH ARG_SOURCE count)
    set(number 0)
    foreach(source ${ARG_SOURCE})
        cmake_path(GET source STEM LAST_ONLY stem)
        if(count GREATER 1)
            math(EXPR number "${number} + 1")
            string(APPEND stem ".${number}")
        endif()
        _calotype_linkable_compile("${source}" "${folder}/${stem}${EXTENSION}" ${ARGN})
        list(APPEND files "${folder}/${stem}${EXTENSION}|${KIND}|${SM}")
    endforeach()
endmacro()

macro(_calotype_linkable_nvcc KIND SM EXTENSION)
    if(NOT Calotype_NVCC)
        message(FATAL_ERROR "${me}: nothing here compiles CUDA C++ to ${KIND}: there is no nvcc; "
            "Calotype_NVCC may name one")
    endif()
    _calotype_linkable_each("${KIND}" "${SM}" "${EXTENSION}"
        "${Calotype_NVCC}" "-ccbin=${CMAKE_CXX_COMPILER}" -rdc=true -std=c++17 -O3 ${ARGN})
endmacro()

macro(_calotype_linkable_ptx)
    if(Calotype_NVCC OR NOT Calotype_CLANG)
        _calotype_linkable_nvcc(ptx "" .ptx -ptx "-arch=compute_${lowest}")
    else()
        _calotype_linkable_clang_cuda(ptx .ptx -S)
    endif()
endmacro()

macro(_calotype_linkable_cubin)
    foreach(arch ${ARG_ARCHS})
        _calotype_linkable_nvcc(cubin "${arch}" ".sm_${arch}.cubin" -cubin "-arch=sm_${arch}")
    endforeach()
endmacro()

macro(_calotype_linkable_ltoir)
    _calotype_linkable_nvcc(ltoir "${lowest}" .ltoir
        -ltoir -gencode "arch=compute_${lowest},code=lto_${lowest}")
endmacro()

# Sets `codes`: machine code for each of ARCHS, and PTX of the lowest.
macro(_calotype_linkable_codes)
    set(codes -gencode "arch=compute_${lowest},code=compute_${lowest}")
    foreach(arch ${ARG_ARCHS})
        list(APPEND codes -gencode "arch=compute_${arch},code=sm_${arch}")
    endforeach()
endmacro()

macro(_calotype_linkable_fatbin)
    _calotype_linkable_codes()
    _calotype_linkable_nvcc(fatbin "" .fatbin -fatbin ${codes})
endmacro()

macro(_calotype_linkable_object)
    _calotype_linkable_codes()
    _calotype_linkable_nvcc(object "" .o -dc -Xcompiler -fPIC ${codes})
endmacro()

macro(_calotype_linkable_archive)
    set(others "${files}")
    set(files "")
    _calotype_linkable_codes()
    _calotype_linkable_nvcc(object "" .in_archive.o -dc -Xcompiler -fPIC ${codes})
    list(TRANSFORM files REPLACE "\\|.*" "" OUTPUT_VARIABLE objects)
    add_custom_command(OUTPUT "${folder}/${TARGET}.a"
        COMMAND "${Calotype_NVCC}" -lib -o "${folder}/${TARGET}.a" ${objects}
        DEPENDS ${objects} COMMENT "Archiving linkable ${TARGET}.a" VERBATIM)
    set(files ${others} "${folder}/${TARGET}.a|archive|")
endmacro()

macro(_calotype_linkable_need_clang KIND)
    if(NOT Calotype_CLANG)
        message(FATAL_ERROR "${me}: nothing here compiles to ${KIND}: there is no clang++ of "
            "version 14 to 19; Calotype_CLANG may name one")
    endif()
endmacro()

macro(_calotype_linkable_clang_cuda KIND EXTENSION)
    _calotype_linkable_need_clang("${KIND}")
    _calotype_clang_cuda_flags()
    string(REGEX REPLACE "[af]$" "" plain "${lowest}")
    _calotype_linkable_each("${KIND}" "" "${EXTENSION}"
        "${Calotype_CLANG}" -x cuda --cuda-device-only -fgpu-rdc "--cuda-gpu-arch=sm_${plain}"
        ${Calotype_CLANG_CUDA_FLAGS} -std=c++17 -O2 ${ARGN})
endmacro()

macro(_calotype_linkable_bitcode)
    _calotype_linkable_clang_cuda(bitcode .bc -emit-llvm -c)
endmacro()

# CUDA C++ is C++ to the processor: the words that say where a function runs mean nothing there.
macro(_calotype_linkable_host_bitcode)
    _calotype_linkable_need_clang(host_bitcode)
    _calotype_linkable_each(bitcode "" .host.bc
        "${Calotype_CLANG}" -x c++ -D__device__= -D__host__= -D__global__= -D__constant__=
        -D__forceinline__=inline -include cmath -emit-llvm -c -std=c++17 -O2 -fPIC -fno-exceptions
        -fno-rtti)
endmacro()

macro(_calotype_linkable_cu)
    foreach(source ${ARG_SOURCE})
        cmake_path(ABSOLUTE_PATH source NORMALIZE)
        list(APPEND files "${source}|cu|")
    endforeach()
endmacro()

macro(_calotype_linkable_opencl_c)
    foreach(source ${ARG_SOURCE})
        cmake_path(ABSOLUTE_PATH source NORMALIZE)
        list(APPEND files "${source}|opencl_c|")
    endforeach()
endmacro()

# Sets the cache variable Calotype_CLANG_CUDA_FLAGS: with the toolkit's headers where clang manages
# with those that are there, else the language alone.
function(_calotype_clang_cuda_flags)
    if(DEFINED CACHE{Calotype_CLANG_CUDA_FLAGS})
        return()
    endif()
    set(tried "${CMAKE_BINARY_DIR}/CMakeFiles/calotype_clang_cuda")
    file(WRITE "${tried}/try.cu" "extern \"C\" __device__ float f(float x) { return sinf(x); }\n")
    # CUDA 13 has this header no more; clang 19 includes it all the same.
    file(WRITE "${tried}/include/texture_fetch_functions.h" "")
    cmake_path(GET Calotype_NVCC PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH root)
    set(with "--cuda-path=${root}" "-I${tried}/include" -Wno-unknown-cuda-version)
    set(result 1)
    if(Calotype_NVCC)
        execute_process(COMMAND "${Calotype_CLANG}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_75
                                ${with} -std=c++17 -fsyntax-only "${tried}/try.cu"
                        RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    endif()
    if(NOT result EQUAL 0)
        set(with -nocudainc -nocudalib -Wno-unknown-cuda-version)
        foreach(word device host global constant shared)
            list(APPEND with "-D__${word}__=__attribute__((${word}))")
        endforeach()
        list(APPEND with "-D__forceinline__=inline __attribute__((always_inline))")
    endif()
    set(Calotype_CLANG_CUDA_FLAGS "${with}" CACHE INTERNAL "How clang compiles CUDA C++")
endfunction()

# The parameter's value is a file, so that paths may have any character.
macro(_calotype_linkable_manifest)
    set(items "")
    set(artifacts "")
    foreach(row ${files})
        string(REGEX MATCH "^(.*)\\|(.*)\\|(.*)$" row "${row}")
        set(path "${CMAKE_MATCH_1}")
        set(kind "${CMAKE_MATCH_2}")
        set(sm "${CMAKE_MATCH_3}")
        list(APPEND artifacts "${path}")
        _calotype_json_string(item path "${path}")
        foreach(key kind sm)
            if(${key})
                _calotype_json_string(field ${key} "${${key}}")
                string(APPEND item ", ${field}")
            endif()
        endforeach()
        string(APPEND items ",\n        {${item}}")
    endforeach()
    string(REGEX REPLACE "^," "" items "${items}")
    _calotype_json_string(json name "${ARG_NAME}")
    if(files)
        string(APPEND json ",\n    \"images\": [${items}]")
    endif()
    foreach(key SETUP TEARDOWN USER LTO)
        if(NOT "${ARG_${key}}" STREQUAL "")
            string(TOLOWER "${key}" field)
            _calotype_json_string(field "${field}" "${ARG_${key}}")
            string(APPEND json ",\n    ${field}")
        endif()
    endforeach()
    foreach(key ${switches})
        if(ARG_${key})
            string(TOLOWER "${key}" field)
            string(APPEND json ",\n    \"${field}\": true")
        endif()
    endforeach()
    if(ARG_NO_EMBED)
        string(APPEND json ",\n    \"embed\": false")
    endif()
    if(ARG_AFTER)
        set(names "")
        foreach(name ${ARG_AFTER})
            _calotype_json_text(name "${name}")
            list(APPEND names "${name}")
        endforeach()
        list(JOIN names ", " names)
        string(APPEND json ",\n    \"after\": [${names}]")
    endif()
    set(manifest "${folder}/${TARGET}.json")
    _calotype_write_if_different("${manifest}" "{\n    ${json}\n}\n")
endmacro()

# A string of JSON, with its quotes.
function(_calotype_json_text OUTVAR VALUE)
    string(REPLACE "\\" "\\\\" value "${VALUE}")
    string(REPLACE "\"" "\\\"" value "${value}")
    string(REPLACE "\n" "\\n" value "${value}")
    string(REPLACE "\r" "\\r" value "${value}")
    string(REPLACE "\t" "\\t" value "${value}")
    set(${OUTVAR} "\"${value}\"" PARENT_SCOPE)
endfunction()

function(_calotype_json_string OUTVAR KEY VALUE)
    _calotype_json_text(value "${VALUE}")
    set(${OUTVAR} "\"${KEY}\": ${value}" PARENT_SCOPE)
endfunction()

# A file that is newer only where it has changed; file(CONFIGURE) would replace @words@ in it.
function(_calotype_write_if_different FILE TEXT)
    set(before "")
    if(EXISTS "${FILE}")
        file(READ "${FILE}" before)
    endif()
    if(NOT before STREQUAL TEXT)
        file(WRITE "${FILE}" "${TEXT}")
    endif()
endfunction()

# TARGET stands for the host part; TARGET.update makes the files.
macro(_calotype_linkable_targets)
    foreach(file ${ARG_DEPENDS})
        cmake_path(ABSOLUTE_PATH file NORMALIZE)
        list(APPEND artifacts "${file}")
    endforeach()
    add_custom_target(${TARGET}.update DEPENDS ${artifacts})
    add_library(${TARGET} INTERFACE)
    add_dependencies(${TARGET} ${TARGET}.update)
    set_target_properties(${TARGET} PROPERTIES
        CALOTYPE_LINKABLE "${manifest}" CALOTYPE_LINKABLE_FILES "${artifacts}")
    if(ARG_HOST_SOURCES)
        add_library(${TARGET}.host STATIC ${ARG_HOST_SOURCES})
        target_link_libraries(${TARGET}.host PUBLIC Calotype::Runtime ${ARG_HOST_LIBRARIES})
        target_link_libraries(${TARGET} INTERFACE ${TARGET}.host)
    elseif(ARG_HOST_LIBRARIES)
        target_link_libraries(${TARGET} INTERFACE ${ARG_HOST_LIBRARIES})
    endif()
endmacro()
