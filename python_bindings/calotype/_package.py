# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the files for programs in C and C++ are."""



def install_dir() -> str:
    """The folder with include, lib and the CMake package, for CMAKE_PREFIX_PATH."""
    import importlib.util
    from pathlib import Path

    spec = importlib.util.find_spec(__package__ + "._core")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("only calotype-runtime is installed here, which has no such files")
    package = Path(spec.origin).parent
    build = package.parents[1]
    return str(build if (build / "CalotypeConfig.cmake").is_file() else package)
