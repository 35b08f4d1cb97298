"""Prints the exports and requirements of a built addon as JSON: the oldest system that it runs on,
the symbols that the loader calls, and the Node-API functions that the loader has to resolve (there
must be none: the addon resolves them at run time, so that other hosts can load it).
"""

import json
import re
import sys

import lief


def elf_floor(binary):
    names = [
        version.name
        for needed in binary.symbols_version_requirement
        for version in needed.get_auxiliary_symbols()
    ]
    versions = [tuple(map(int, re.findall(r"\d+", name))) for name in names if name.startswith("GLIBC_")]
    if versions:
        return "glibc " + ".".join(map(str, max(versions)))
    return "musl" if any("libc" in library for library in binary.libraries) else "static"


def floor(binary):
    if isinstance(binary, lief.ELF.Binary):
        return elf_floor(binary)
    if isinstance(binary, lief.MachO.Binary):
        oldest = binary.build_version.minos if binary.has_build_version else binary.version_min.version
        return "macOS " + ".".join(map(str, oldest[:2]))
    header = binary.optional_header
    return f"Windows {header.major_subsystem_version}.{header.minor_subsystem_version}"


def names(symbols):
    return {str(symbol.name).lstrip("_") if symbol.name else "" for symbol in symbols}


binary = lief.parse(sys.argv[1])
if isinstance(binary, lief.MachO.FatBinary):
    binary = binary.at(0)
exported = names(binary.exported_functions)
imported = names(binary.imported_functions)
if isinstance(binary, lief.ELF.Binary):
    imported |= names(symbol for symbol in binary.dynamic_symbols if symbol.imported)
print(
    json.dumps(
        {
            "floor": floor(binary),
            "entryPoints": sorted(name for name in exported if re.match("napi_|hashline_", name)),
            "undefined": sorted(name for name in imported if name.startswith("napi_")),
        }
    )
)
