#!/usr/bin/env python3
"""Checks that every library that cmake/dependencies.cmake declares is linked by a module and included by its sources."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# declared name -> (the target that a CMakeLists links, the header that a source includes)
USES = {
    "Threads": ("Threads::Threads", r"<(thread|pthread\.h|mutex)>"),
    "spdlog": ("spdlog::spdlog", r"<spdlog/"),
    "yaml-cpp": ("yaml-cpp", r"<yaml-cpp/"),
    "CLI11": ("CLI11::CLI11", r"<CLI/"),
    "nlohmann_json": ("nlohmann_json::nlohmann_json", r"<nlohmann/"),
    "pugixml": ("pugixml::pugixml", r"<pugixml\.hpp>"),
    "JPEG": ("JPEG::JPEG", r"<jpeglib\.h>"),
    "PNG": ("PNG::PNG", r"<png\.h>"),
    "DEFLATE": ("PkgConfig::DEFLATE", r"<libdeflate\.h>"),
    "ZLIB": ("ZLIB::ZLIB", r"<zlib\.h>"),
    "ZSTD": ("PkgConfig::ZSTD", r"<zstd\.h>"),
    "RE2": ("PkgConfig::RE2", r"<re2/"),
    "UTF8PROC": ("PkgConfig::UTF8PROC", r"<utf8proc\.h>"),
    "LMDB": ("PkgConfig::LMDB", r"<lmdb\.h>"),
    "ISAL": ("PkgConfig::ISAL", r"<isa-l/"),
    "msgpack": ("msgpack", r"<msgpack\.hpp>"),
    "Protobuf": ("protobuf::libprotobuf-lite", r"\".*\.pb\.h\""),
    "Eigen3": ("Eigen3::Eigen", r"<Eigen/"),
    "spectra": ("spectra", r"<Spectra/"),
    "HDF5": ("hdf5::hdf5", r"<hdf5\.h>"),
    "HWLOC": ("PkgConfig::HWLOC", r"<hwloc\.h>"),
    "HWY": ("PkgConfig::HWY", r"<hwy/"),
    "XXHASH": ("PkgConfig::XXHASH", r"<xxhash\.h>"),
    "MPI": ("MPI::MPI_C", r"<mpi\.h>"),
    "GTest": ("GTest::gmock", r"<gmock/"),
    "xbyak": ("xbyak", r"<xbyak/"),
    "dnnl": ("dnnl", r"<oneapi/dnnl"),
    "curses": ("curses", r"<curses\.h>"),
    "gif": ("gif", r"<gif_lib\.h>"),
    "tiff": ("tiff", r"<tiffio\.h>"),
    "webp": ("webp", r"<webp/decode\.h>"),
    "zmq": ("zmq", r"<zmq\.h>"),
    "opencv": ("opencv", r"<opencv2/"),
}
FOR_TESTS = {"GTest"}


def declared():
    text = (ROOT / "cmake" / "dependencies.cmake").read_text()
    names = re.findall(r"find_package\(([\w-]+)", text)
    names += re.findall(r"pkg_check_modules\(([\w-]+)", text)
    names += re.findall(r"^\s*tpack_library\((\w+) ", text, re.M)
    return [n for n in names if n not in ("PkgConfig", "NAME")]


def text_of(folders, patterns):
    files = [p for top in folders for pattern in patterns for p in (ROOT / top).rglob(pattern)]
    return "\n".join(p.read_text() for p in files if p.name != "dependencies.cmake")


def linked_targets(folders):
    """The words of the CMake files, those that find packages and comments left out; hdf5.cpp is another word than hdf5::hdf5."""
    text = re.sub(r"#.*|\b(find_package|pkg_check_modules)\([^)]*\)", "", text_of(folders, ["CMakeLists.txt", "*.cmake"]))
    return set(re.split(r"[\s()\"]+", text))


product, tests = ("lib", "app"), ("tests",)
links = {False: linked_targets((*product, "cmake")), True: linked_targets(tests)}
code = {False: text_of(product, ["*.h", "*.cpp"]), True: text_of(tests, ["*.h", "*.cpp"])}
found = []
for name in declared():
    if name not in USES:
        found.append(f"{name}: declared, but unknown to scripts/check_dependencies.py")
        continue
    link, header = USES[name]
    only_tests = name in FOR_TESTS
    if link not in links[only_tests]:
        found.append(f"{name}: declared, but nothing links {link}")
    if not re.search(r"^\s*#include " + header, code[only_tests], re.M):
        found.append(f"{name}: declared, but no source includes it")
print("\n".join(found) if found else "dependencies: ok")
sys.exit(1 if found else 0)
