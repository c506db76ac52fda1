# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# 64-bit ARM, by the cross compiler of Debian and Ubuntu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
