# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# add_calotype_python_generators(TARGET SOURCES <source>... GENERATORS <name>...
#     [LINK_LIBRARIES <target>...]
#     [MODULE_NAME <name>]         default TARGET
#     [OUTPUT_DIR <dir>])          default the current binary folder
#
# A Python module with generators written in C++, to be used in a program: `from NAME import GENERATOR`,
# then GENERATOR.call(inputs...) gives Funcs. Of a single generator `call` itself is in the module, too.
# It is two files in OUTPUT_DIR, NAME.py and the shared library TARGET, _NAME.so, which are to stay
# together. Their user needs the package calotype of the same version.
function(add_calotype_python_generators TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG
        "" "MODULE_NAME;OUTPUT_DIR" "SOURCES;GENERATORS;LINK_LIBRARIES")
    if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES OR NOT ARG_GENERATORS)
        message(FATAL_ERROR "add_calotype_python_generators(${TARGET}): needs SOURCES and GENERATORS; "
            "unknown: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT TARGET Calotype::Calotype)
        message(FATAL_ERROR "add_calotype_python_generators(${TARGET}) needs the component compiler: "
            "find_package(Calotype COMPONENTS compiler)")
    endif()
    add_library(${TARGET} MODULE ${ARG_SOURCES})
    target_link_libraries(${TARGET} PRIVATE Calotype::Calotype ${ARG_LINK_LIBRARIES})
    _calotype_python_module(${TARGET} "Generators written in C++."
"import calotype as _ct
_ct.load_plugin(_library)
for _name in __all__:
    globals()[_name] = _ct.find_generator(_name)
if len(__all__) == 1:
    call = globals()[__all__[0]].call
    compile_to_callable = globals()[__all__[0]].compile_to_callable
"
        MODULE_NAME "${ARG_MODULE_NAME}" OUTPUT_DIR "${ARG_OUTPUT_DIR}" NAMES ${ARG_GENERATORS})
endfunction()
