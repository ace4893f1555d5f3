#include "dataflow/mat_writer.h"

#include <algorithm>
#include <bit>

#include <libdeflate.h>

namespace tpack {
namespace {

constexpr uint32_t kMatrixElement = 14;

std::string packed_by_zlib(const std::string& bytes) {
  libdeflate_compressor* const tool = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_zlib_compress_bound(tool, bytes.size()), '\0');
  out.resize(libdeflate_zlib_compress(tool, bytes.data(), bytes.size(), out.data(), out.size()));
  libdeflate_free_compressor(tool);
  return out;
}

std::string number(uint64_t value, size_t bytes, bool is_big) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  if (is_big) std::ranges::reverse(out);
  return out;
}

}  // namespace

std::vector<uint8_t> mat_file(const std::vector<std::string>& variables, bool is_packed, bool is_big_endian) {
  std::string out = "MATLAB 5.0 MAT-file, of a test";
  out.resize(124, ' ');
  out += is_big_endian ? std::string("\x01\0MI", 4) : std::string("\0\x01IM", 4);
  constexpr uint32_t kPacked = 15;
  for (const std::string& variable : variables) {
    if (!is_packed) {
      out += variable;
      continue;
    }
    const std::string data = packed_by_zlib(variable);
    out += number(kPacked, 4, is_big_endian) + number(data.size(), 4, is_big_endian) + data;
  }
  return {out.begin(), out.end()};
}

std::string MatWriter::numbers(const std::string& name, const std::vector<int32_t>& shape,
                               const std::vector<double>& values, bool is_logical) const {
  constexpr uint32_t kDouble = 9;
  constexpr uint32_t kBytes = 2;
  std::string data;
  for (const double value : values)
    data += is_logical ? word(static_cast<uint64_t>(value), 1) : word(std::bit_cast<uint64_t>(value), 8);
  return is_logical ? matrix(9 | 0x200, shape, name, element(kBytes, data))
                    : matrix(6, shape, name, element(kDouble, data));
}

std::string MatWriter::bytes(const std::string& name, const std::vector<int32_t>& shape,
                             const std::vector<uint8_t>& values) const {
  return matrix(9, shape, name, element(2, {values.begin(), values.end()}));
}

std::string MatWriter::text(const std::string& name, const std::string& characters) const {
  std::string units;  // UTF-16, as MATLAB writes them
  for (const char c : characters) units += word(static_cast<uint8_t>(c), 2);
  return matrix(4, {1, static_cast<int32_t>(characters.size())}, name, element(4, units));
}

std::string MatWriter::cell(const std::string& name, const std::vector<std::string>& items) const {
  std::string content;
  for (const std::string& item : items) content += item;
  return matrix(1, {1, static_cast<int32_t>(items.size())}, name, content);
}

std::string MatWriter::structure(const std::string& name, const std::vector<std::string>& fields,
                                 const std::vector<std::string>& items) const {
  constexpr size_t kNameBytes = 16;
  std::string names;
  for (std::string field : fields) {
    field.resize(kNameBytes, '\0');
    names += field;
  }
  std::string content = element(5, word(kNameBytes, 4)) + element(1, names);
  for (const std::string& item : items) content += item;
  return matrix(2, {static_cast<int32_t>(items.size() / fields.size()), 1}, name, content);
}

std::string MatWriter::word(uint64_t value, size_t bytes) const { return number(value, bytes, is_big_); }

std::string MatWriter::element(uint32_t type, const std::string& data) const {
  std::string out = data;
  if (data.size() <= 4 && !data.empty()) {
    out.resize(4, '\0');
    return word(data.size() << 16U | type, 4) + out;
  }
  out.resize((data.size() + 7) / 8 * 8, '\0');
  return word(type, 4) + word(data.size(), 4) + out;
}

std::string MatWriter::matrix(uint32_t flags, const std::vector<int32_t>& shape, const std::string& name,
                              const std::string& content) const {
  std::string sides;
  for (const int32_t side : shape) sides += word(static_cast<uint32_t>(side), 4);
  const std::string data =
      element(6, word(flags, 4) + word(0, 4)) + element(5, sides) + element(1, name) + content;
  return word(kMatrixElement, 4) + word(data.size(), 4) + data;
}

}  // namespace tpack
