# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# _calotype_python_module(TARGET DESCRIPTION CODE NAMES <name>... [MODULE_NAME <name>] [OUTPUT_DIR <dir>])
#
# Puts the library TARGET, as _NAME.so, and NAME.py into OUTPUT_DIR: by default the module has TARGET's name
# and the folder is the current binary folder. CODE runs in the module, where _library is the path of the
# shared library and __all__ has the names.
function(_calotype_python_module TARGET DESCRIPTION CODE)
    cmake_parse_arguments(PARSE_ARGV 3 ARG "" "MODULE_NAME;OUTPUT_DIR" "NAMES")
    if(NOT ARG_MODULE_NAME)
        set(ARG_MODULE_NAME "${TARGET}")
    endif()
    if(NOT ARG_OUTPUT_DIR)
        set(ARG_OUTPUT_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    endif()
    set_target_properties(${TARGET} PROPERTIES
        PREFIX "" OUTPUT_NAME "_${ARG_MODULE_NAME}" LIBRARY_OUTPUT_DIRECTORY "${ARG_OUTPUT_DIR}")
    list(JOIN ARG_NAMES "\", \"" names)
    file(CONFIGURE OUTPUT "${ARG_OUTPUT_DIR}/${ARG_MODULE_NAME}.py" @ONLY CONTENT
"\"\"\"@DESCRIPTION@\"\"\"
import os as _os
_library = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), \"_@ARG_MODULE_NAME@@CMAKE_SHARED_MODULE_SUFFIX@\")
__all__ = [\"@names@\"]
@CODE@")
endfunction()
