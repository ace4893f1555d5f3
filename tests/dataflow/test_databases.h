#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tpack {

/// The fields of a record of Caffe, by their numbers in caffe.proto, in the wire format of protobuf.
class DatumWriter {
 public:
  DatumWriter& number(int field, uint64_t value);  // varint
  DatumWriter& bytes(int field, const std::vector<uint8_t>& value);
  DatumWriter& floats(int field, const std::vector<float>& values);  // one element after the other
  const std::vector<uint8_t>& record() const { return record_; }

 private:
  void varint(uint64_t value);
  std::vector<uint8_t> record_;
};

/// A record with the array [channels, height, width] of `pixels`.
std::vector<uint8_t> pixel_datum(int channels, int height, int width, const std::vector<uint8_t>& pixels,
                                 int label);
/// A record with an image file.
std::vector<uint8_t> encoded_datum(const std::vector<uint8_t>& file, int label);

/// Makes a database in the folder, which is created.
void write_lmdb(const std::string& folder, const std::map<std::string, std::vector<uint8_t>>& records);

/// An .npy file of format version 1.
std::vector<uint8_t> npy_file(const std::string& descr, const std::string& shape,
                              const std::vector<uint8_t>& elements, bool fortran = false);

struct ZippedFile {
  std::string name;
  std::vector<uint8_t> content;
  bool deflate = false;
};
std::vector<uint8_t> zip_file(const std::vector<ZippedFile>& files);

}  // namespace tpack
