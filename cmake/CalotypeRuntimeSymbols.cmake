# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run as a script: writes to OUTPUT a C++ file with the address of every C function and variable that
# the static library ARCHIVE defines (found with NM), for pipelines compiled in process.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND "${NM}" -g --defined-only -f posix "${ARCHIVE}"
                OUTPUT_VARIABLE listing RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "cannot list the symbols of ${ARCHIVE}")
endif()
string(REGEX MATCHALL "(^|\n)calotype_[A-Za-z0-9_]+ [TWDBRV]" rows "${listing}")
set(declarations "")
set(entries "")
list(SORT rows)
list(REMOVE_DUPLICATES rows)
foreach(row ${rows})
    string(REGEX MATCH "calotype_[A-Za-z0-9_]+" name "${row}")
    string(APPEND declarations "extern \"C\" char ${name}[];\n")
    string(APPEND entries "        {\"${name}\", ${name}},\n")
endforeach()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
"// Generated from the symbols of the runtime library.
#include <map>
#include <string>

@declarations@
namespace calotype::internal {

std::map<std::string, const void *> runtime_symbols() {
    return {
@entries@    };
}

}  // namespace calotype::internal
" @ONLY)
