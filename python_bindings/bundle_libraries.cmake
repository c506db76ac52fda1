# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# At install time: copies what `module` needs to read and write images into `folder`, where it finds it.
file(GET_RUNTIME_DEPENDENCIES MODULES "${module}"
     RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing)
list(FILTER found INCLUDE REGEX "/lib(png|jpeg)[^/]*\\.so")
foreach(library ${found})
    get_filename_component(name "${library}" NAME)
    get_filename_component(real "${library}" REALPATH)
    file(INSTALL "${real}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${folder}" RENAME "${name}")
endforeach()
