#include "dataflow/test_databases.h"

#include <cstring>
#include <filesystem>
#include <lmdb.h>
#include <stdexcept>

#include <libdeflate.h>

namespace tpack {
namespace {

using Bytes = std::vector<uint8_t>;

void append_number(Bytes& to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<uint8_t>(value >> static_cast<unsigned>(8 * i)));
}

void append_all(Bytes& to, const Bytes& from) { to.insert(to.end(), from.begin(), from.end()); }

void must(int result) {
  if (result != MDB_SUCCESS) throw std::runtime_error(mdb_strerror(result));
}

}  // namespace

void DatumWriter::varint(uint64_t value) {
  for (; value >= 128; value >>= 7U) record_.push_back(static_cast<uint8_t>(value | 128U));
  record_.push_back(static_cast<uint8_t>(value));
}

DatumWriter& DatumWriter::number(int field, uint64_t value) {
  varint(static_cast<uint64_t>(field) << 3U);
  varint(value);
  return *this;
}

DatumWriter& DatumWriter::bytes(int field, const Bytes& value) {
  varint(static_cast<uint64_t>(field) << 3U | 2U);
  varint(value.size());
  append_all(record_, value);
  return *this;
}

DatumWriter& DatumWriter::floats(int field, const std::vector<float>& values) {
  for (const float value : values) {
    varint(static_cast<uint64_t>(field) << 3U | 5U);
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    append_number(record_, bits, 4);
  }
  return *this;
}

Bytes pixel_datum(int channels, int height, int width, const Bytes& pixels, int label) {
  const auto size = [](int value) { return static_cast<uint64_t>(value); };
  return DatumWriter()
      .number(1, size(channels))
      .number(2, size(height))
      .number(3, size(width))
      .bytes(4, pixels)
      .number(5, size(label))
      .record();
}

Bytes encoded_datum(const Bytes& file, int label) {
  return DatumWriter().bytes(4, file).number(5, static_cast<uint64_t>(label)).number(7, 1).record();
}

void write_lmdb(const std::string& folder, const std::map<std::string, Bytes>& records) {
  std::filesystem::create_directories(folder);
  MDB_env* env = nullptr;
  must(mdb_env_create(&env));
  must(mdb_env_set_mapsize(env, 64U << 20U));
  must(mdb_env_open(env, folder.c_str(), MDB_NOSYNC | MDB_NOLOCK, 0664));
  MDB_txn* transaction = nullptr;
  MDB_dbi database = 0;
  must(mdb_txn_begin(env, nullptr, 0, &transaction));
  must(mdb_dbi_open(transaction, nullptr, 0, &database));
  for (auto [key, value] : records) {
    MDB_val k{key.size(), const_cast<char*>(key.data())};
    MDB_val v{value.size(), value.data()};
    must(mdb_put(transaction, database, &k, &v, 0));
  }
  must(mdb_txn_commit(transaction));
  mdb_env_close(env);
}

Bytes npy_file(const std::string& descr, const std::string& shape, const Bytes& elements, bool fortran) {
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                     ", 'shape': " + shape + ", }";
  dict.resize((10 + dict.size() + 64) / 64 * 64 - 10, ' ');
  dict.back() = '\n';
  Bytes file = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  append_number(file, dict.size(), 2);
  file.insert(file.end(), dict.begin(), dict.end());
  append_all(file, elements);
  return file;
}

Bytes zip_file(const std::vector<ZippedFile>& files) {
  Bytes archive;
  Bytes directory;
  for (const ZippedFile& file : files) {
    Bytes packed = file.content;
    if (file.deflate) {
      libdeflate_compressor* const tool = libdeflate_alloc_compressor(6);
      packed.resize(libdeflate_deflate_compress_bound(tool, file.content.size()));
      packed.resize(libdeflate_deflate_compress(tool, file.content.data(), file.content.size(), packed.data(),
                                                packed.size()));
      libdeflate_free_compressor(tool);
    }
    const size_t header = archive.size();
    Bytes common;  // of both headers: from the version to the length of the extra field
    append_number(common, 20, 2);
    append_number(common, 0, 2);
    append_number(common, file.deflate ? 8 : 0, 2);
    append_number(common, 0, 4);
    append_number(common, libdeflate_crc32(0, file.content.data(), file.content.size()), 4);
    append_number(common, packed.size(), 4);
    append_number(common, file.content.size(), 4);
    append_number(common, file.name.size(), 2);
    append_number(common, 0, 2);
    append_number(archive, 0x04034b50, 4);
    append_all(archive, common);
    archive.insert(archive.end(), file.name.begin(), file.name.end());
    append_all(archive, packed);
    append_number(directory, 0x02014b50, 4);
    append_number(directory, 20, 2);
    append_all(directory, common);
    append_number(directory, 0, 8);  // no comment, disk 0, no attributes
    append_number(directory, 0, 2);
    append_number(directory, header, 4);
    directory.insert(directory.end(), file.name.begin(), file.name.end());
  }
  const size_t at = archive.size();
  append_all(archive, directory);
  append_number(archive, 0x06054b50, 4);
  append_number(archive, 0, 4);
  append_number(archive, files.size(), 2);
  append_number(archive, files.size(), 2);
  append_number(archive, directory.size(), 4);
  append_number(archive, at, 4);
  append_number(archive, 0, 2);
  return archive;
}

}  // namespace tpack
