# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One test of the package: install if need be, then configure, build, install and run a project.

include("${CMAKE_CURRENT_LIST_DIR}/../harness/project.cmake")

# build_and_install(SOURCE PREFIX_PATH [FLAG...]): into ${WORK}/app.
function(build_and_install)
    build_project(${ARGV} "-DCMAKE_INSTALL_PREFIX=${WORK}/app")
    run("${CMAKE_COMMAND}" --install "${WORK}/build")
endfunction()

# The same program, on an OpenCL device if there is one (OpenCL's libraries are not made for
# sanitizers), and on the processor because that is asked for.
function(run_with_and_without_device)
    if(NOT SANITIZER)
        run("${WORK}/app/bin/brighten_main")
        expect_output("brighten works")
    endif()
    run("${CMAKE_COMMAND}" -E env CT_DISABLE_FEATURES=opencl "${WORK}/app/bin/brighten_main")
    expect_output("on the processor")
    expect_output("brighten works")
    run("${WORK}/build/shared_main")
    expect_output("one runtime")
    file(GLOB libraries "${WORK}/app/lib*/libbrighten.a" "${WORK}/app/lib*/libbrighten_any.a"
         "${WORK}/app/include/brighten.h" "${WORK}/app/include/brighten_any.h")
    list(LENGTH libraries count)
    if(NOT count EQUAL 4)
        message(FATAL_ERROR "two libraries and their headers must be installed: ${libraries}")
    endif()
    run("${WORK}/build/prefixed_main")
    expect_output("right 1, threads 2 and 3, fails 1, errors 0 and 1")
endfunction()

# One mistake in linkable_errors/, and the whole of what is said of it.
function(expect_error CASE TEXT)
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}/linkable_errors" -B "${WORK}/${CASE}"
                            "-DCASE=${CASE}" "-DPACKAGE=${BUILD}" -G "${GENERATOR}"
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    string(FIND "${output}" "(message): ${TEXT} Call Stack" at)
    if(result EQUAL 0 OR at EQUAL -1)
        message(FATAL_ERROR "expected for ${CASE}: ${TEXT}\nbut it is (${result}):\n${output}")
    endif()
endfunction()

# run_toned(EXPECTED [VAR=VALUE]): the program of linkables/, on a device or not.
function(run_toned EXPECTED)
    run("${CMAKE_COMMAND}" -E env ${ARGN} "${WORK}/build/toned_main")
    expect_output("${EXPECTED}")
endfunction()

# Callbacks that are defined nowhere.
function(link_undefined)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/build" --target required_main
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX MATCHALL "undefined (reference|symbol)[^\n]*" undefined "${output}")
    if(result EQUAL 0 OR NOT undefined MATCHES "no_such_setup" OR undefined MATCHES "tone|_user")
        message(FATAL_ERROR "no_such_setup must be missed (${result}):\n${output}")
    endif()
    run("${CMAKE_COMMAND}" -E env CT_DISABLE_FEATURES=opencl "${WORK}/build/optional_main")
    expect_output("on the processor: 0 wrong without callbacks, status 0")
    if(NOT SANITIZER)
        run("${WORK}/build/optional_main")
        expect_output("(on a device|on the processor): 0 wrong without callbacks, status 0")
    endif()
endfunction()

function(build_linkables)
    run("${CMAKE_COMMAND}" "${WORK}/build" ${ARGN})
    run("${CMAKE_COMMAND}" --build "${WORK}/build")
    set(output "${output}" PARENT_SCOPE)
endfunction()

# Another linkable from the build file alone, and changes of what linkables are made from.
function(change_linkables)
    build_linkables(-Dtone=thrice)
    if(output MATCHES "toned_generator.cpp")
        message(FATAL_ERROR "the generator is compiled again for another linkable:\n${output}")
    endif()
    run_toned("on the processor: tone of 1 is 3, 0 wrong, 0 set-ups" CT_DISABLE_FEATURES=opencl)
    file(WRITE "${WORK}/source/thrice.cl" "int tone(int x) { return 3 * x + 0; }\n")
    build_linkables()
    expect_output("Generating toned for")
    # A header that a source includes.
    file(STRINGS "${WORK}/build/CMakeCache.txt" nvcc REGEX "^Calotype_NVCC:.*=/.+")
    if(nvcc)
        file(WRITE "${WORK}/source/include/factor.h" "#define FACTOR 6\n")
        build_linkables()
        expect_output("Compiling linkable cuda_tone.ptx")
        expect_output("Generating toned_ptx for")
    endif()
    file(STRINGS "${WORK}/build/CMakeCache.txt" clang REGEX "^Calotype_CLANG:.*=.+")
    if(clang)
        build_linkables(-Dtone=scaled)
        file(WRITE "${WORK}/source/include/factor.h" "#define FACTOR 5\n")
        build_linkables()
        run_toned("on the processor: tone of 1 is 5, 0 wrong, 0 set-ups")
        file(WRITE "${WORK}/source/include/factor.h" "#define FACTOR 7\n")
        build_linkables()
        run_toned("on the processor: tone of 1 is 7, 0 wrong, 0 set-ups")
    endif()
endfunction()

# run_wrong(TEXT ARGUMENT...): run_both says the whole text and answers 1.
function(run_wrong TEXT)
    execute_process(COMMAND "${WORK}/build/run_both" --name=soften ${ARGN} WORKING_DIRECTORY "${WORK}"
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
    if(NOT result EQUAL 1 OR NOT output STREQUAL "error: ${TEXT}\n")
        message(FATAL_ERROR "expected for ${ARGN}: ${TEXT}\nbut it is (${result}):\n${output}")
    endif()
endfunction()

# A program of pipelines that are linked into it: what it does, and what it says of wrong arguments.
function(run_main_of_pipelines)
    set(run "${WORK}/build/run_both" --name=soften)
    set(folder "${WORK}")
    run(${run} --describe)
    expect_output("Filter name: \"soften\"\n  Input \"image\" is of type Buffer<uint8> with 2 dimensions\n\
  Input \"shift\" is of type uint8\n")
    # The image is two columns wider than what it suffices for.
    run(${run} image=random:1:[66,32] shift=2 unused=default soft=soft.pgm --verbose --success)
    expect_output("output \"soft\": uint8 \\[1, 65\\) x \\[0, 32\\)")
    expect_output("Success!")
    run(${run} image=soft.pgm shift=1 unused=0 soft=softer.npy --verbose)
    expect_output("output \"soft\": uint8 \\[1, 63\\) x \\[0, 32\\)")
    run(${run} --default_input_buffers=constant:7:auto --default_input_scalars
        --output_extents=[20,10] soft=small.pgm --verbose)
    expect_output("input \"image\": uint8 \\[-1, 21\\) x \\[0, 10\\)")
    run(${run} image=zero:[9,9] shift=1 unused=0 soft=tiny.pgm --verbose)
    expect_output("output \"soft\": uint8 \\[1, 8\\) x \\[0, 9\\)")
    # The estimate suffices for 64 columns.
    run(${run} image=zero:estimate shift=1 unused=0 --output_extents=[80,8] soft=wide.pgm --verbose)
    expect_output("input \"image\": uint8 \\[-1, 81\\) x \\[0, 32\\)")
    run(${run} --estimate_all --benchmarks=all --benchmark_min_time=0.01 --track_memory)
    expect_output("Best output throughput is [^\n]* mpix/sec.\nMaximum memory: ")
    run(${run} --estimate_all --benchmarks=all --benchmark_min_time=0.01 --parsable_output)
    expect_output("soften  THROUGHPUT_MPIX_PER_SEC  [0-9]")
    run("${WORK}/build/run_both" --name=soften_again --describe)
    expect_output("Filter name: \"soften_again\"")

    run_wrong("there is no flag --faster; --help says which there are" --faster)
    run_wrong("\"image\" is neither a flag nor like argument=value" image)
    run_wrong("there is no argument \"width\" (3), must be one of image, shift, unused, soft" width=3)
    run_wrong("input \"shift\" is given twice: 1, 2" shift=1 shift=2)
    run_wrong("input \"shift\" is \"256\", must be an integer from 0 to 255"
        image=zero:[9,9] shift=256 unused=0 soft=s.pgm)
    run_wrong("input \"unused\" is \"much\", must be a number"
        image=zero:[9,9] shift=1 unused=much soft=s.pgm)
    run_wrong("input \"image\" of type uint8 is not given" shift=1 unused=0 soft=s.pgm)
    run_wrong("output \"soft\" is not given, must be the name of an image file to write"
        image=zero:[9,9] shift=1 unused=0)
    run_wrong("input \"image\" is zero:[9] of 1 dimensions, must have 2"
        image=zero:[9] shift=1 unused=0 soft=s.pgm)
    run_wrong("input \"image\" is \"random:[9,9]\", must be like random:1:[640,480]"
        image=random:[9,9] shift=1 unused=0 soft=s.pgm)
    run_wrong("an extent of the size of input \"image\" is \"-9\", must be an integer from 0 to 2147483647"
        image=zero:[9,-9] shift=1 unused=0 soft=s.pgm)
    run_wrong("--output_extents is [9] of 1 dimensions, must have 2 for output \"soft\""
        image=zero:[9,9] shift=1 unused=0 soft=s.pgm --output_extents=[9])
    if(NOT SANITIZER)
        run_wrong("input \"image\" of uint8 [0, 2147483647) x [0, 2147483647) does not fit into memory"
            image=zero:[2147483647,2147483647] shift=1 unused=0 soft=s.pgm)
    endif()
    run_wrong("none.pgm: cannot be opened" image=none.pgm shift=1 unused=0 soft=s.pgm)
    run_wrong("--name is \"harden\", must be one of soften, soften_again" --name=harden --describe)
    run_wrong("--benchmark_min_time is \"long\", must be a number" --benchmark_min_time=long)
endfunction()

file(REMOVE_RECURSE "${WORK}")
if(KIND STREQUAL "installed")
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first")
    # The package may be moved.
    file(RENAME "${WORK}/first" "${WORK}/prefix")
    build_and_install("${SOURCE}/downstream" "${WORK}/prefix")
    run_with_and_without_device()
elseif(KIND STREQUAL "build_tree")
    build_and_install("${SOURCE}/downstream" "${BUILD}")
    run_with_and_without_device()
elseif(KIND MATCHES "^linkables_(installed|build_tree)$")
    set(package "${BUILD}")
    if(CMAKE_MATCH_1 STREQUAL "installed")
        set(package "${WORK}/../installed/prefix")
    endif()
    file(COPY "${SOURCE}/linkables/" DESTINATION "${WORK}/source")
    # The toolkit's linker is not made for sanitizers.
    set(flags "")
    if(SANITIZER)
        set(flags -DCalotype_NVCC=)
    endif()
    build_project("${WORK}/source" "${package}" ${flags})
    run_toned("on the processor: tone of 1 is 2, 0 wrong, 0 set-ups, 0 tear-downs"
              CT_DISABLE_FEATURES=opencl)
    if(NOT SANITIZER)
        # Where there is a device, one module is set up and torn down once.
        run_toned("(on a device: tone of 1 is 2, 0 wrong, 1 set-ups, 1 tear-downs|on the processor)")
    endif()
    link_undefined()
    if(KIND STREQUAL "linkables_build_tree")
        change_linkables()
    endif()
elseif(KIND MATCHES "^halide_(installed|build_tree)$")
    set(package "${BUILD}/CalotypeHalide")
    if(CMAKE_MATCH_1 STREQUAL "installed")
        cmake_path(GET WORK PARENT_PATH work_of_all)
        file(GLOB package "${work_of_all}/installed/prefix/lib*/cmake/CalotypeHalide")
    endif()
    # Through a link, as from a folder that a project names.
    file(MAKE_DIRECTORY "${WORK}")
    file(CREATE_LINK "${package}" "${WORK}/Halide" SYMBOLIC)
    set(flags "-DHalide_DIR=${WORK}/Halide" "-DHalideHelpers_DIR=${WORK}/Halide")
    build_project("${SOURCE}/halide" "" ${flags} "-DHalide_CACHE_DIR=${WORK}/cache")
    expect_output("the compiler is in /")
    expect_output("Generating soften_by_itself for host-no_runtime")
    foreach(made cache/* build/soften_pystub.py build/_soften_pystub.so build/soften_module.py
            build/_soften_module.so)
        file(GLOB found "${WORK}/${made}")
        if(NOT found)
            message(FATAL_ERROR "there is no ${made}")
        endif()
    endforeach()
    set(folder "${WORK}")
    run("${WORK}/build/soften_main")
    expect_output("soften works")
    run("${WORK}/build/in_process")
    expect_output("in process works")
    run_main_of_pipelines()
    execute_process(COMMAND "${CMAKE_COMMAND}" "${WORK}/build" -DWRONG=HLPIPE
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
    if(result EQUAL 0 OR NOT output MATCHES "soften_wrong\\): the output HLPIPE cannot be written")
        message(FATAL_ERROR "HLPIPE must be refused (${result}):\n${output}")
    endif()
elseif(KIND STREQUAL "subproject")
    # Without its compiler, which would be built once more.
    set(folder "${WORK}")
    file(MAKE_DIRECTORY "${WORK}")
    cmake_path(SET calotype NORMALIZE "${SOURCE}/../..")
    configure_project("${SOURCE}/subproject" "" "-DCALOTYPE_SOURCE=${calotype}")
    run("${CMAKE_COMMAND}" --build "${WORK}/build" --target buffers)
    run("${WORK}/build/buffers")
    expect_output("element is 3")
    run("${CMAKE_COMMAND}" --build "${WORK}/build" --target help)
    foreach(target brighten.update brighten_more.update soften.update)
        expect_output("${target}")
    endforeach()
elseif(KIND MATCHES "^cross_(.*)$")
    set(arch ${CMAKE_MATCH_1})
    set(tools "-DCMAKE_TOOLCHAIN_FILE=${SOURCE}/cross/${arch}.cmake" -G "${GENERATOR}"
        -DCMAKE_BUILD_TYPE=Release)
    cmake_path(SET calotype NORMALIZE "${SOURCE}/../..")
    run("${CMAKE_COMMAND}" -S "${calotype}" -B "${WORK}/runtime" ${tools}
        -DCALOTYPE_BUILD_COMPILER=OFF "-DCMAKE_INSTALL_PREFIX=${WORK}/prefix")
    run("${CMAKE_COMMAND}" --build "${WORK}/runtime" --target install)
    run("${CMAKE_COMMAND}" -S "${SOURCE}/cross" -B "${WORK}/build" ${tools}
        "-DCMAKE_PREFIX_PATH=${WORK}/prefix"
        "-Ddownstream-calotype_generators_DIR=${WORK}/../installed/build/cmake")
    run("${CMAKE_COMMAND}" --build "${WORK}/build")
    expect_output("Generating brighten for ${arch}-64-linux")
    run("${EMULATOR}" "${WORK}/build/brighten_main")
    expect_output("brighten works")
elseif(KIND STREQUAL "linkable_errors")
    set(me "add_calotype_linkable(rng)")
    expect_error(nothing "${me}: SOURCE and FILE are both missing, and there is no callback")
    expect_error(unknown "${me}: unknown: SOUP;b")
    expect_error(kind "${me}: no such KIND: pdx; there are \
ptx;cubin;fatbin;object;archive;ltoir;bitcode;host_bitcode;cu;opencl_c")
    expect_error(kinds "${me}: KIND names 2 kinds, must be one where there is no SOURCE")
    expect_error(lto "${me}: LTO is maybe, must be allow, require or never")
    expect_error(arch "${me}: ARCHS has sm_90, must be like 80 or 90a")
    expect_error(file "${me}: no such file: ${WORK}/file/none.ptx")
    expect_error(sources "${me}: SOURCE names 2 files, must be one but for KIND archive")
    expect_error(nvcc "${me}: nothing here compiles CUDA C++ to cubin: there is no nvcc; \
Calotype_NVCC may name one")
    expect_error(clang "${me}: nothing here compiles to bitcode: there is no clang++ of version 14 \
to 19; Calotype_CLANG may name one")
    expect_error(flags "${me}: OPTIONS cannot be given with KIND cu, which is not compiled here; the \
source may have what it needs in itself")
    set(me "add_calotype_library(blur)")
    expect_error(item "${me}: LINKABLES has rng, must be like PARAMETER=TARGET,TARGET")
    expect_error(no_target "${me}: LINKABLES rng=other: other is no target of \
add_calotype_linkable")
    expect_error(other_target "${me}: LINKABLES rng=rng,no_linkable: no_linkable is no target of \
add_calotype_linkable")
    expect_error(names [[the "\" @one@TAB the "\" @one@TAB off]])
elseif(KIND STREQUAL "runtime_only")
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix"
        --component calotype_runtime)
    file(GLOB_RECURSE found "${WORK}/prefix/*LLVM*" "${WORK}/prefix/*libCalotype*")
    if(found)
        message(FATAL_ERROR "the runtime brings parts of the compiler: ${found}")
    endif()
    build_and_install("${SOURCE}/runtime_only" "${WORK}/prefix"
        "-DGENERATED=${WORK}/../installed/build")
    run("${WORK}/app/bin/brighten_main")
    expect_output("brighten works")
endif()
