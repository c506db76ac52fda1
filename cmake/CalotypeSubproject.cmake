# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the package offers, for a project that has this one in a folder of its own
# (add_subdirectory, FetchContent): the functions, and the libraries that the package looks up.

# find_package(Calotype) of that project finds what is built here.
set(Calotype_DIR "${PROJECT_BINARY_DIR}" CACHE PATH "The package Calotype" FORCE)

set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(Threads REQUIRED)
find_package(PNG QUIET)
find_package(JPEG QUIET)
foreach(helper ${calotype_helpers})
    cmake_path(GET helper FILENAME name)
    include("${PROJECT_BINARY_DIR}/${name}")
endforeach()
