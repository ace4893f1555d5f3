#!/usr/bin/env python3
"""Checks that every library that cmake/dependencies.cmake declares is linked by a module and included by its sources."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# declared name -> (what a CMakeLists links, a header that shows its use)
USES = {
    "Threads": (r"Threads::Threads", r"<(thread|pthread\.h|mutex)>"),
    "OpenMP": (r"OpenMP::OpenMP_CXX", r"<omp\.h>"),
    "spdlog": (r"spdlog::spdlog", r"<spdlog/"),
    "yaml-cpp": (r"yaml-cpp", r"<yaml-cpp/"),
    "CLI11": (r"CLI11::CLI11", r"<CLI/"),
    "nlohmann_json": (r"nlohmann_json::nlohmann_json", r"<nlohmann/"),
    "JPEG": (r"JPEG::JPEG", r"<jpeglib\.h>"),
    "PNG": (r"PNG::PNG", r"<png\.h>"),
    "DEFLATE": (r"PkgConfig::DEFLATE", r"<libdeflate\.h>"),
    "HDF5": (r"HDF5|hdf5", r"<(hdf5|H5)"),
    "HWLOC": (r"PkgConfig::HWLOC", r"<hwloc\.h>"),
    "HWY": (r"PkgConfig::HWY", r"<hwy/"),
    "XXHASH": (r"PkgConfig::XXHASH", r"<xxhash\.h>"),
    "MPI": (r"MPI::MPI_C", r"<mpi\.h>"),
    "GTest": (r"GTest::", r"<g(test|mock)/"),
    "dnnl": (r"\bdnnl\b", r"<oneapi/dnnl"),
    "opencv": (r"\bopencv\b", r"<opencv2/"),
}


def declared():
    text = (ROOT / "cmake" / "dependencies.cmake").read_text()
    names = re.findall(r"find_package\((\S+)", text)
    names += re.findall(r"pkg_check_modules\((\S+)", text)
    names += re.findall(r"^\s*tpack_library\((\w+) ", text, re.M)
    return [n for n in names if n not in ("PkgConfig", "NAME")]


def text_of(patterns):
    files = [p for top in ("lib", "app", "tests", "bench", "cmake") for pat in patterns for p in (ROOT / top).rglob(pat)]
    return "\n".join(p.read_text() for p in files if p.name != "dependencies.cmake")


cmake = text_of(["CMakeLists.txt", "*.cmake"])
code = text_of(["*.h", "*.cpp"])
found = []
for name in declared():
    if name not in USES:
        found.append(f"{name}: declared, but unknown to scripts/check_dependencies.py")
        continue
    link, header = USES[name]
    if not re.search(link, cmake):
        found.append(f"{name}: declared, but nothing links it")
    if not re.search(header, code):
        found.append(f"{name}: declared, but no source includes it")
print("\n".join(found) if found else "dependencies: ok")
sys.exit(1 if found else 0)
