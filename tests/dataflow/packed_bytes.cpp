#include "dataflow/packed_bytes.h"

#include <zstd.h>

#include <libdeflate.h>

namespace tpack {

std::vector<uint8_t> gzip_file(std::string_view content) {
  libdeflate_compressor* const tool = libdeflate_alloc_compressor(6);
  std::vector<uint8_t> out(libdeflate_gzip_compress_bound(tool, content.size()));
  out.resize(libdeflate_gzip_compress(tool, content.data(), content.size(), out.data(), out.size()));
  libdeflate_free_compressor(tool);
  return out;
}

std::vector<uint8_t> zstandard_file(std::string_view content) {
  ZSTD_CCtx* const tool = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(tool, ZSTD_c_checksumFlag, 1);
  std::vector<uint8_t> out(ZSTD_compressBound(content.size()));
  out.resize(ZSTD_compress2(tool, out.data(), out.size(), content.data(), content.size()));
  ZSTD_freeCCtx(tool);
  return out;
}

}  // namespace tpack
