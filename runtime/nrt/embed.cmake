# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DFORMS=KIND:SM:FILE;... -DTABLE=NAME -DOUTPUT=FILE -P embed.cmake: a table as that of
# src/codegen/device_runtime_images.h, with the files' bytes.
set(arrays "")
set(rows "")
set(i 0)
foreach(form ${FORMS})
    string(REGEX MATCH "^([^:]*):([^:]*):(.*)$" form "${form}")
    set(kind "${CMAKE_MATCH_1}")
    set(sm "${CMAKE_MATCH_2}")
    set(file "${CMAKE_MATCH_3}")
    cmake_path(GET file FILENAME name)
    file(READ "${file}" hex HEX)
    file(SIZE "${file}" size)
    string(REGEX REPLACE "(................................................................)"
           "\\1\"\n\"" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" hex "${hex}")
    string(APPEND arrays "const char bytes_${i}[] =\n\"${hex}\";\n")
    string(APPEND rows "    {${kind}, ${sm}, bytes_${i}, ${size}, \"${name}\"},\n")
    math(EXPR i "${i} + 1")
endforeach()
file(WRITE "${OUTPUT}"
"// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Made by runtime/nrt/embed.cmake.
#include \"codegen/device_runtime_images.h\"

namespace calotype::internal {

namespace {
${arrays}}  // namespace

extern const DeviceRuntimeImage ${TABLE}[];
const DeviceRuntimeImage ${TABLE}[] = {
${rows}    {},
};

}  // namespace calotype::internal
")
