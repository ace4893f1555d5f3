#include "cpu/batch_pieces.h"

#include <algorithm>

#include "core/error.h"
#include "cpu/piece_kernel.h"

namespace tpack::cpu {
namespace {

/// The format of a whole batch, given the format `part` of some of its images.
Format of_whole(const Format& part, const TensorSpec& spec, bool per_image) {
  return per_image ? make_format(spec, part.layout) : part;
}

/// Where image `begin` starts in an operand, in bytes.
uint64_t offset_of(const Format& part, int64_t images, int64_t begin, bool per_image) {
  return per_image ? part.bytes() / static_cast<uint64_t>(images) * static_cast<uint64_t>(begin) : 0;
}

}  // namespace

PreparedKernel cut_batch(const KernelRequest& request, int64_t images, const PerImage& per_image,
                         const std::function<PreparedKernel(int64_t images)>& prepare) {
  const int64_t count = std::min<int64_t>(request.pieces, images);
  if (count == 1) return prepare(images);
  PreparedKernel whole;
  std::vector<Piece> pieces;
  std::vector<Format> out;  // of a piece
  for (int64_t number = 0; number < count; ++number) {
    const int64_t begin = images * number / count;
    const int64_t size = images * (number + 1) / count - begin;
    PreparedKernel part = prepare(size);
    Piece piece;
    for (size_t i = 0; i < part.in.size(); ++i) {
      piece.in.push_back(offset_of(part.in[i], size, begin, per_image.in[i]));
      const Format format = of_whole(part.in[i], request.node.inputs[i].spec(), per_image.in[i]);
      if (number == 0) whole.in.push_back(format);
      TPACK_ASSERT(format == whole.in[i],
                   request.node.path + ": the pieces of a batch need different formats");
    }
    for (size_t i = 0; i < part.out.size(); ++i) {
      piece.out.push_back(offset_of(part.out[i], size, begin, per_image.out[i]));
      const Format format = of_whole(part.out[i], request.node.outputs[i], per_image.out[i]);
      if (number == 0) whole.out.push_back(format);
      TPACK_ASSERT(format == whole.out[i],
                   request.node.path + ": the pieces of a batch produce different formats");
    }
    piece.kernel = std::move(part.kernel);
    piece.scratch_bytes = part.scratch_bytes;
    pieces.push_back(std::move(piece));
  }
  std::vector<PieceSum> sums;
  for (size_t i = 0; i < whole.out.size(); ++i) {
    if (!per_image.out[i]) sums.push_back({i, whole.out[i].bytes()});
  }
  auto kernel = std::make_unique<PieceKernel>(std::move(pieces), sums);
  whole.scratch_bytes = kernel->scratch_bytes();
  whole.kernel = std::move(kernel);
  return whole;
}

}  // namespace tpack::cpu
