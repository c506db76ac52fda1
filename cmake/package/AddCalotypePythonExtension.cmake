# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_calotype_python_extension(TARGET LIBRARIES <library>...
#     [MODULE_NAME <name>]         default TARGET
#     [OUTPUT_DIR <dir>])          default the current binary folder
#
# A Python module with the functions of libraries made by add_calotype_library: `from NAME import
# FUNCTION`. It is two files in OUTPUT_DIR, NAME.py and the shared library TARGET, _NAME.so, which are to
# stay together. Their user needs the package calotype, but no compiler.
function(add_calotype_python_extension TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MODULE_NAME;OUTPUT_DIR" "LIBRARIES")
    if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_LIBRARIES)
        message(FATAL_ERROR "add_calotype_python_extension(${TARGET}): needs LIBRARIES; unknown: "
            "${ARG_UNPARSED_ARGUMENTS}")
    endif()
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.cpp" CONTENT "\n")
    add_library(${TARGET} MODULE "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.cpp")
    set(functions "")
    foreach(library ${ARG_LIBRARIES})
        get_target_property(function "${library}" CALOTYPE_FUNCTION)
        if(NOT function)
            message(FATAL_ERROR "add_calotype_python_extension(${TARGET}): ${library} is no target of "
                "add_calotype_library")
        endif()
        list(APPEND functions "${function}")
        # Nothing in the module calls them: they are asked for by name.
        foreach(suffix argv metadata)
            target_link_options(${TARGET} PRIVATE "LINKER:--undefined=${function}_${suffix}")
        endforeach()
        target_link_libraries(${TARGET} PRIVATE "${library}")
    endforeach()
    foreach(symbol set_error_handler set_custom_print get_stats cuda_device_interface
            cuda_acquire_context cuda_release_context)
        target_link_options(${TARGET} PRIVATE "LINKER:--undefined=calotype_${symbol}")
    endforeach()
    _calotype_python_module(${TARGET} "Compiled pipelines."
"from calotype.runtime import load as _load
for _name in __all__:
    globals()[_name] = _load(_library, _name)
"
        MODULE_NAME "${ARG_MODULE_NAME}" OUTPUT_DIR "${ARG_OUTPUT_DIR}" NAMES ${functions})
endfunction()
