# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_calotype_library(TARGET FROM <generator executable>
#     [GENERATOR <name>]           the registered name; default TARGET
#     [FUNCTION_NAME <name>]       the C function; default TARGET
#     [NAMESPACE <ns>]             C++ namespace of the function, as a::b
#     [FILE_BASE_NAME <name>]      of the files; default FUNCTION_NAME
#     [OUTPUT_DIR <dir>]           default the current binary folder
#     [USE_RUNTIME <target>]       link this runtime; default one of its own, <TARGET>.runtime
#     [USE_SHARED_RUNTIME]         of its own: the shared library (see add_calotype_runtime)
#     [TARGETS <target>...]        target strings; `host` and `cmake` may stand for the triple of this
#                                  machine and of the one CMake compiles for. Several give one
#                                  library that chooses as it runs, so the most capable comes first.
#                                  Default: DEFAULT_TARGETS, else Calotype_TARGET, else cmake
#     [DEFAULT_TARGETS <target>...]   for functions that pass on arguments with or without TARGETS
#     [FEATURES <feature>...]      added to every target
#     [FEATURES[<triple>] <feature>...]   added to the targets of that triple
#     [PARAMS <name>=<value>...]   of the generator
#     [LINKABLES <name>=<target>,<target>...]   targets of add_calotype_linkable, for parameters that
#                                  are linkables; what links TARGET also gets their host parts
#     [DEPENDS <file or target>...] [PLUGINS <target>...] [AUTOSCHEDULER <target or name>]
#     [CACHE_DIR <dir>]            where the generator keeps what it wrote: CT_CACHE_DIR of its run
#     [C_BACKEND] [GRADIENT_DESCENT] [NO_THREADS] [NO_DL_LIBS]
#     [HEADER <outvar>] [<EXTRA OUTPUT> <outvar>]...)
#
# Makes the static library TARGET of generated code; to link it is to have its header, <name>.h, and
# its runtime. An extra output is also written, and its path, or one path a target where there are
# several, put into the variable: ASSEMBLY BITCODE CONCEPTUAL_STMT CONCEPTUAL_STMT_HTML CPP_STUB
# C_SOURCE CUBIN DEVICE_CODE DEVICE_REPORT FEATURIZATION FUNCTION_INFO_HEADER LLVM_ASSEMBLY PTX PYTHON_EXTENSION
# PYTORCH_WRAPPER REGISTRATION SCHEDULE STMT STMT_HTML. Building <TARGET>.update generates all files and compiles
# nothing.
function(add_calotype_library TARGET)
    _calotype_output_table(table)
    set(outvars HEADER)
    foreach(row ${table})
        string(REGEX REPLACE ":.*" "" keyword "${row}")
        list(APPEND outvars ${keyword})
    endforeach()
    set(arch_features ${ARGN})
    list(FILTER arch_features INCLUDE REGEX "^FEATURES\\[.+\\]$")
    cmake_parse_arguments(PARSE_ARGV 1 ARG
        "C_BACKEND;GRADIENT_DESCENT;NO_THREADS;NO_DL_LIBS;USE_SHARED_RUNTIME"
        "FROM;GENERATOR;FUNCTION_NAME;NAMESPACE;FILE_BASE_NAME;OUTPUT_DIR;USE_RUNTIME;AUTOSCHEDULER;CACHE_DIR;${outvars}"
        "TARGETS;DEFAULT_TARGETS;FEATURES;PARAMS;LINKABLES;DEPENDS;PLUGINS;${arch_features}")
    _calotype_library_defaults()
    _calotype_library_targets(targets)
    _calotype_library_linkables(linkables)
    list(LENGTH targets count)

    # What is compiled or linked in the end: an object, one for each target and that of the choice
    # between them, or C++.
    set(header "${ARG_OUTPUT_DIR}/${ARG_FILE_BASE_NAME}.h")
    if(ARG_C_BACKEND)
        set(kind c_source)
        set(code .calotype_generated.cpp)
    elseif(count GREATER 1)
        set(kind object)
        list(TRANSFORM targets REPLACE "(.+)" "-\\1${CMAKE_CXX_OUTPUT_EXTENSION}" OUTPUT_VARIABLE code)
        list(APPEND code "_wrapper${CMAKE_CXX_OUTPUT_EXTENSION}")
    else()
        set(kind object)
        set(code "${CMAKE_CXX_OUTPUT_EXTENSION}")
    endif()
    list(TRANSFORM code PREPEND "${ARG_OUTPUT_DIR}/${ARG_FILE_BASE_NAME}")
    set(emit c_header ${kind})
    set(files "${header}" ${code})
    foreach(row ${table})
        string(REPLACE ":" ";" row "${row}")
        list(GET row 0 keyword)
        if(ARG_${keyword})
            _calotype_extra_output(paths ${row})
            list(GET row 1 type)
            list(APPEND emit ${type})
            list(APPEND files ${paths})
            set(${ARG_${keyword}} ${paths} PARENT_SCOPE)
        endif()
    endforeach()
    list(REMOVE_DUPLICATES files)
    list(REMOVE_DUPLICATES emit)
    if(ARG_HEADER)
        set(${ARG_HEADER} "${header}" PARENT_SCOPE)
    endif()

    _calotype_generate("${targets}" "${emit}" "${files}")
    add_custom_target(${TARGET}.update DEPENDS ${files})
    _calotype_library_of_code("${code}" "${header}")
endfunction()

# keyword : emit type : extension : "each" if there is one file a target
function(_calotype_output_table OUTVAR)
    set(${OUTVAR}
        ASSEMBLY:assembly:.s:each
        BITCODE:bitcode:.bc:each
        CONCEPTUAL_STMT:conceptual_stmt:.conceptual.stmt:each
        CONCEPTUAL_STMT_HTML:conceptual_stmt_html:.conceptual.stmt.html:each
        C_SOURCE:c_source:.calotype_generated.cpp:one
        CPP_STUB:cpp_stub:.stub.h:one
        CUBIN:cubin:.cubin:each
        DEVICE_CODE:device_code:.device_code:each
        DEVICE_REPORT:device_report:.device_report.txt:each
        FEATURIZATION:featurization:.featurization:each
        FUNCTION_INFO_HEADER:function_info_header:.function_info.h:one
        LLVM_ASSEMBLY:llvm_assembly:.ll:each
        PTX:ptx:.ptx:each
        PYTHON_EXTENSION:python_extension:.py.cpp:one
        PYTORCH_WRAPPER:pytorch_wrapper:.pytorch.h:one
        REGISTRATION:registration:.registration.cpp:one
        SCHEDULE:schedule:.schedule.h:one
        STMT:stmt:.stmt:each
        STMT_HTML:stmt_html:.stmt.html:each
        PARENT_SCOPE)
endfunction()

# The macros below are the parts of add_calotype_library and see its variables.

macro(_calotype_library_defaults)
    if(NOT ARG_FROM)
        message(FATAL_ERROR "add_calotype_library(${TARGET}): FROM is missing")
    elseif(NOT TARGET "${ARG_FROM}")
        message(FATAL_ERROR "add_calotype_library(${TARGET}): FROM ${ARG_FROM} is no target")
    endif()
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "add_calotype_library(${TARGET}): unknown: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    if(ARG_USE_RUNTIME AND ARG_USE_SHARED_RUNTIME)
        message(FATAL_ERROR "add_calotype_library(${TARGET}): USE_RUNTIME ${ARG_USE_RUNTIME} says "
            "which runtime; USE_SHARED_RUNTIME goes to its add_calotype_runtime")
    endif()
    foreach(_default GENERATOR=${TARGET} FUNCTION_NAME=${TARGET}
            OUTPUT_DIR=${CMAKE_CURRENT_BINARY_DIR})
        string(REGEX MATCH "^([^=]+)=(.*)$" _match "${_default}")
        if(NOT ARG_${CMAKE_MATCH_1})
            set(ARG_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
        endif()
    endforeach()
    if(NOT ARG_FILE_BASE_NAME)
        set(ARG_FILE_BASE_NAME "${ARG_FUNCTION_NAME}")
    endif()
    cmake_path(ABSOLUTE_PATH ARG_OUTPUT_DIR BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
    file(MAKE_DIRECTORY "${ARG_OUTPUT_DIR}")
    foreach(_default "${ARG_DEFAULT_TARGETS}" "${Calotype_TARGET}" cmake)
        if(NOT ARG_TARGETS)
            set(ARG_TARGETS "${_default}")
        endif()
    endforeach()
endmacro()

# The target strings in full, each without a runtime of its own.
macro(_calotype_library_targets OUTVAR)
    set(${OUTVAR} "")
    foreach(_target ${ARG_TARGETS})
        string(REGEX REPLACE "^cmake" "${Calotype_CMAKE_TARGET}" _target "${_target}")
        string(REGEX REPLACE "^host" "${Calotype_HOST_TARGET}" _triple "${_target}")
        string(REGEX MATCH "^[^-]+-[^-]+-[^-]+" _triple "${_triple}")
        foreach(_feature ${ARG_FEATURES} ${ARG_FEATURES\[${_triple}\]} no_runtime)
            string(APPEND _target "-${_feature}")
        endforeach()
        list(APPEND ${OUTVAR} "${_target}")
    endforeach()
endmacro()

# LINKABLES become PARAMS and DEPENDS; the variable holds their targets.
macro(_calotype_library_linkables OUTVAR)
    set(${OUTVAR} "")
    foreach(_item ${ARG_LINKABLES})
        if(NOT _item MATCHES "^([^=]+)=([^=]+)$")
            message(FATAL_ERROR "add_calotype_library(${TARGET}): LINKABLES has ${_item}, must be "
                "like PARAMETER=TARGET,TARGET")
        endif()
        set(_parameter "${CMAKE_MATCH_1}")
        string(REPLACE "," ";" _names "${CMAKE_MATCH_2}")
        set(_values "")
        foreach(_name ${_names})
            if(TARGET "${_name}")
                get_target_property(_manifest "${_name}" CALOTYPE_LINKABLE)
            endif()
            if(NOT TARGET "${_name}" OR NOT _manifest)
                message(FATAL_ERROR "add_calotype_library(${TARGET}): LINKABLES ${_item}: ${_name} "
                    "is no target of add_calotype_linkable")
            endif()
            get_target_property(_files "${_name}" CALOTYPE_LINKABLE_FILES)
            list(APPEND ARG_DEPENDS "${_name}.update" "${_manifest}" ${_files})
            # The generator runs in this folder: no character of the build folder's name matters.
            cmake_path(RELATIVE_PATH _manifest BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
                       OUTPUT_VARIABLE _relative)
            list(APPEND _values "@${_relative}")
            list(APPEND ${OUTVAR} "${_name}")
        endforeach()
        list(JOIN _values "," _values)
        list(APPEND ARG_PARAMS "${_parameter}=${_values}")
    endforeach()
    list(REMOVE_DUPLICATES ${OUTVAR})
endmacro()

# The paths of an extra output.
macro(_calotype_extra_output OUTVAR KEYWORD TYPE EXTENSION HOW)
    set(${OUTVAR} "")
    if(count GREATER 1 AND "${HOW}" STREQUAL "each")
        foreach(_target ${targets})
            list(APPEND ${OUTVAR}
                "${ARG_OUTPUT_DIR}/${ARG_FILE_BASE_NAME}-${_target}${EXTENSION}")
        endforeach()
    else()
        set(${OUTVAR} "${ARG_OUTPUT_DIR}/${ARG_FILE_BASE_NAME}${EXTENSION}")
    endif()
endmacro()

# The command that writes all files in one run of the generator.
macro(_calotype_generate TARGETS EMIT FILES)
    set(_function "${ARG_FUNCTION_NAME}")
    if(ARG_NAMESPACE)
        set(_function "${ARG_NAMESPACE}::${_function}")
    endif()
    set(_plugins ${ARG_PLUGINS})
    if(ARG_AUTOSCHEDULER)
        if(TARGET "${ARG_AUTOSCHEDULER}")
            list(APPEND _plugins "${ARG_AUTOSCHEDULER}")
        endif()
        string(REGEX REPLACE ".*::" "" _scheduler "${ARG_AUTOSCHEDULER}")
        list(PREPEND ARG_PARAMS "autoscheduler=${_scheduler}")
    endif()
    set(_plugin_flags "")
    if(_plugins)
        list(TRANSFORM _plugins REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE _plugin_files)
        list(JOIN _plugin_files "," _plugin_files)
        set(_plugin_flags -p "${_plugin_files}")
    endif()
    set(_gradient_flags "")
    if(ARG_GRADIENT_DESCENT)
        set(_gradient_flags -d 1)
    endif()
    string(REPLACE ";" "," _targets "${TARGETS}")
    string(REPLACE ";" "," _emit "${EMIT}")
    set(_environment "")
    if(ARG_CACHE_DIR)
        set(_environment "CT_CACHE_DIR=${ARG_CACHE_DIR}")
    endif()
    # One written in Python says what it has imported.
    get_target_property(_generator_files "${ARG_FROM}" CALOTYPE_GENERATOR_FILES)
    set(_depfile "")
    if(_generator_files)
        list(GET files 0 _first)
        list(APPEND _environment "CT_DEPFILE_OF=${_first}")
        set(_depfile DEPFILE "${_first}.d")
    else()
        set(_generator_files "")
    endif()
    set(_generator "${ARG_FROM}")
    if(_environment)
        set(_generator "${CMAKE_COMMAND}" -E env ${_environment} "$<TARGET_FILE:${ARG_FROM}>")
    endif()
    add_custom_command(
        OUTPUT ${FILES}
        COMMAND ${_generator}
            -g "${ARG_GENERATOR}" -f "${_function}" -n "${ARG_FILE_BASE_NAME}"
            -o "${ARG_OUTPUT_DIR}" -e "${_emit}" ${_plugin_flags} ${_gradient_flags}
            "target=${_targets}" ${ARG_PARAMS}
        DEPENDS ${ARG_FROM} ${_generator_files} ${ARG_DEPENDS} ${_plugins}
        ${_depfile}
        COMMENT "Generating ${ARG_FILE_BASE_NAME} for ${_targets}"
        VERBATIM)
endmacro()

# The library TARGET itself.
macro(_calotype_library_of_code CODE HEADER)
    if(NOT ARG_USE_RUNTIME)
        set(ARG_USE_RUNTIME "${TARGET}.runtime")
        set(_shared "")
        if(ARG_USE_SHARED_RUNTIME)
            set(_shared USE_SHARED_RUNTIME)
        endif()
        add_calotype_runtime("${ARG_USE_RUNTIME}" ${_shared} TARGETS ${ARG_TARGETS})
    endif()
    set(_code "${CODE}")
    set_source_files_properties(${_code} PROPERTIES GENERATED TRUE)
    add_library(${TARGET} STATIC ${_code})
    add_dependencies(${TARGET} ${TARGET}.update)
    set_target_properties(${TARGET} PROPERTIES LINKER_LANGUAGE CXX
        POSITION_INDEPENDENT_CODE ON CALOTYPE_FUNCTION "${ARG_FUNCTION_NAME}")
    target_sources(${TARGET} PUBLIC
        FILE_SET HEADERS BASE_DIRS "${ARG_OUTPUT_DIR}" FILES "${HEADER}")
    target_link_libraries(${TARGET} PUBLIC ${linkables} "${ARG_USE_RUNTIME}")
    # One that does not exist is an error here, where it is named, rather than a library to be found.
    add_dependencies(${TARGET} "${ARG_USE_RUNTIME}")
endmacro()
