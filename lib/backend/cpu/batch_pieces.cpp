#include "backend/cpu/batch_pieces.h"

#include <algorithm>

#include "backend/cpu/parallel.h"
#include "backend/cpu/simd.h"
#include "core/error.h"

namespace tpack::cpu {
namespace {

/// One piece: a kernel, and where its operands begin in those of the whole batch.
struct Piece {
  std::unique_ptr<CpuKernel> kernel;
  std::vector<uint64_t> in;
  std::vector<uint64_t> out;
  std::vector<std::byte*> in_pointers;
  std::vector<std::byte*> out_pointers;
};

class BatchPieces final : public CpuKernel {
 public:
  struct Sum {
    size_t output = 0;
    size_t elements = 0;
    uint64_t scratch = 0;  // where the sums of the pieces after the first lie, one after the other
    uint64_t bytes = 0;    // from one to the next
  };

  /// `scratch` of each piece begins at a multiple of `piece_scratch`.
  BatchPieces(std::vector<Piece> pieces, uint64_t piece_scratch, std::vector<Sum> sums)
      : pieces_(std::move(pieces)), piece_scratch_(piece_scratch), sums_(std::move(sums)) {
    for (Piece& piece : pieces_) {
      piece.in_pointers.resize(piece.in.size());
      piece.out_pointers.resize(piece.out.size());
    }
  }

  void run(const KernelArgs& args) override {
    args.team->run(static_cast<int>(pieces_.size()),
                   [&](int piece) { run_piece(args, static_cast<size_t>(piece)); });
    for (const Sum& sum : sums_) add(args, sum);
  }

 private:
  void run_piece(const KernelArgs& args, size_t number) {
    Piece& piece = pieces_[number];
    for (size_t i = 0; i < piece.in.size(); ++i) piece.in_pointers[i] = args.in[i] + piece.in[i];
    for (size_t i = 0; i < piece.out.size(); ++i) piece.out_pointers[i] = args.out[i] + piece.out[i];
    for (const Sum& sum : sums_) {
      if (number > 0) piece.out_pointers[sum.output] = sum_of(args, sum, number);
    }
    piece.kernel->run(
        {piece.in_pointers, piece.out_pointers, args.scratch + number * piece_scratch_, args.info, nullptr});
  }

  static std::byte* sum_of(const KernelArgs& args, const Sum& sum, size_t piece) {
    return args.scratch + sum.scratch + (piece - 1) * sum.bytes;
  }

  void add(const KernelArgs& args, const Sum& sum) const {
    auto* total = reinterpret_cast<float*>(args.out[sum.output]);
    const auto cut = static_cast<int>(pieces_.size());
    parallel_for(args.team, cut, static_cast<int64_t>(sum.elements), kGrain,
                 [&](int64_t begin, int64_t end, int) {
                   for (size_t piece = 1; piece < pieces_.size(); ++piece) {
                     const auto* part = reinterpret_cast<const float*>(sum_of(args, sum, piece));
                     simd::add_to(part + begin, total + begin, static_cast<size_t>(end - begin));
                   }
                 });
  }

  std::vector<Piece> pieces_;
  uint64_t piece_scratch_;
  std::vector<Sum> sums_;
};

/// The format of a whole batch where `part` is that of some images.
Format of_whole(const Format& part, const TensorSpec& spec, bool per_image) {
  return per_image ? make_format(spec, part.layout) : part;
}

/// Where image `begin` lies in an operand, in bytes.
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
  uint64_t piece_scratch = 0;
  for (int64_t number = 0; number < count; ++number) {
    const int64_t begin = images * number / count;
    const int64_t size = images * (number + 1) / count - begin;
    PreparedKernel part = prepare(size);
    Piece piece;
    for (size_t i = 0; i < part.in.size(); ++i) {
      piece.in.push_back(offset_of(part.in[i], size, begin, per_image.in[i]));
      const Format format = of_whole(part.in[i], request.node.inputs[i].spec(), per_image.in[i]);
      if (number == 0) whole.in.push_back(format);
      TPACK_ASSERT(format.md == whole.in[i].md,
                   request.node.path + ": the pieces of a batch want different formats");
    }
    for (size_t i = 0; i < part.out.size(); ++i) {
      piece.out.push_back(offset_of(part.out[i], size, begin, per_image.out[i]));
      const Format format = of_whole(part.out[i], request.node.outputs[i], per_image.out[i]);
      if (number == 0) whole.out.push_back(format);
      TPACK_ASSERT(format.md == whole.out[i].md,
                   request.node.path + ": the pieces of a batch give different formats");
    }
    piece.kernel = std::move(part.kernel);
    piece_scratch = std::max(piece_scratch, aligned(part.scratch_bytes));
    pieces.push_back(std::move(piece));
  }
  whole.scratch_bytes = piece_scratch * static_cast<uint64_t>(count);
  std::vector<BatchPieces::Sum> sums;
  for (size_t i = 0; i < whole.out.size(); ++i) {
    if (per_image.out[i]) continue;
    const uint64_t bytes = aligned(whole.out[i].bytes());
    sums.push_back({i, whole.out[i].bytes() / sizeof(float), whole.scratch_bytes, bytes});
    whole.scratch_bytes += bytes * static_cast<uint64_t>(count - 1);
  }
  whole.kernel = std::make_unique<BatchPieces>(std::move(pieces), piece_scratch, std::move(sums));
  return whole;
}

}  // namespace tpack::cpu
