#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tpack {

/// Checks the pages of an LMDB file that lead to its records: that they are valid, and point into the file.
/// liblmdb follows them unchecked, so a damaged page would end the program. Errors that liblmdb reports (a
/// file that is not a database, another version) are left to it. Reads the pages with keys, not those with
/// large values. Errors: DataError with `path`. Source of the format: mdb.c of LMDB 0.9, 64-bit
/// little-endian.
void check_lmdb_pages(std::span<const uint8_t> file, const std::string& path);

}  // namespace tpack
