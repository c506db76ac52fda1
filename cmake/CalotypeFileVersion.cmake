# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes a header that differs where FILE does: cmake -DFILE=... -DOUTPUT=... -P CalotypeFileVersion.cmake
file(SHA256 "${FILE}" hash)
file(WRITE "${OUTPUT}" "// ${hash}\n")
