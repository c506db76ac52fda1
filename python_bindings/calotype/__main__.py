# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m calotype --install-dir: what CMAKE_PREFIX_PATH must have."""

import argparse

from ._package import install_dir


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m calotype")
    text = "print the folder for CMAKE_PREFIX_PATH"
    parser.add_argument("--install-dir", action="store_true", required=True, help=text)
    parser.parse_args()
    print(install_dir())


if __name__ == "__main__":
    main()
