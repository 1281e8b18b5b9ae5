"""Builds the wheel of the package attnscope, for pip (PEP 517; pyproject.toml names this file).

`pip install .` compiles the libraries and the module in build/wheel-TAG. With
`--config-settings build=FOLDER` a folder that CMake has configured with ATTNSCOPE_PYTHON=ON is built
and packed instead: its module must be for the interpreter that runs pip.
"""

import base64
import hashlib
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

SOURCES = pathlib.Path(__file__).resolve().parent.parent
INTERPRETER = f"cp{sys.version_info.major}{sys.version_info.minor}"
TAG = f"{INTERPRETER}-{INTERPRETER}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def cmake(*arguments):
    """Runs CMake in the sources' folder and shows what it prints only if it fails."""
    done = subprocess.run(["cmake", *map(str, arguments)], cwd=SOURCES, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}\ncmake {arguments[0]} failed: the libraries that are required "
                         "are listed in scripts/packages")


def built_module(folder):
    """Builds the module in the given folder, or in one for this interpreter, and returns the folder."""
    if folder is None:
        folder = SOURCES / "build" / f"wheel-{INTERPRETER}"
        cmake("--preset", "release", "-B", folder, "-DATTNSCOPE_PROGRAM=OFF", "-DATTNSCOPE_PYTHON=ON",
              f"-DPython_EXECUTABLE={sys.executable}")
    cmake("--build", folder, "--target", "attnscope_python")
    return folder


def digest(data):
    """The checksum of a file as RECORD has it."""
    code = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"sha256={code}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into `wheel_directory` and returns its name."""
    build = built_module((config_settings or {}).get("build"))
    with tempfile.TemporaryDirectory() as prefix:
        cmake("--install", build, "--component", "python", "--prefix", prefix, "--strip")
        (information,) = pathlib.Path(prefix).glob("**/attnscope-*.dist-info")
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        if not (information.parent / "attnscope" / f"_attnscope{suffix}").exists():
            raise SystemExit(f"{build} has no module for {sys.executable}: "
                             f"configure it with -DPython_EXECUTABLE={sys.executable}")
        (information / "WHEEL").write_text(
            f"Wheel-Version: 1.0\nGenerator: attnscope\nRoot-Is-Purelib: false\nTag: {TAG}\n")
        name = f"{information.stem}-{TAG}.whl"
        record = f"{information.name}/RECORD"
        lines = []
        with zipfile.ZipFile(f"{wheel_directory}/{name}", "w", zipfile.ZIP_DEFLATED) as wheel:
            for file in sorted(information.parent.rglob("*")):
                if file.is_file():
                    member = file.relative_to(information.parent).as_posix()
                    wheel.write(file, member)
                    lines.append(f"{member},{digest(file.read_bytes())},{file.stat().st_size}\n")
            wheel.writestr(record, "".join(lines) + f"{record},,\n")
    return name
