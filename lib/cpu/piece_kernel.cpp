#include "cpu/piece_kernel.h"

#include <algorithm>

#include "cpu/parallel.h"
#include "cpu/sweep/simd.h"

namespace tpack::cpu {

PieceKernel::PieceKernel(std::vector<Piece> pieces, const std::vector<PieceSum>& sums)
    : pieces_(std::move(pieces)) {
  for (const Piece& piece : pieces_) {
    piece_scratch_ = std::max(piece_scratch_, aligned(piece.scratch_bytes));
    pointers_.push_back(
        {std::vector<std::byte*>(piece.in.size()), std::vector<std::byte*>(piece.out.size())});
  }
  scratch_bytes_ = piece_scratch_ * pieces_.size();
  for (const PieceSum& sum : sums) {
    sums_.push_back({sum.output, sum.bytes / sizeof(float), scratch_bytes_, aligned(sum.bytes)});
    scratch_bytes_ += aligned(sum.bytes) * (pieces_.size() - 1);
  }
}

void PieceKernel::run(const KernelArgs& args) {
  if (pieces_.size() == 1) return run_piece(args, 0);
  team_of(args)->run(static_cast<int>(pieces_.size()),
                     [&](int piece) { run_piece(args, static_cast<size_t>(piece)); });
  for (const Sum& sum : sums_) add(args, sum);
}

void PieceKernel::run_piece(const KernelArgs& args, size_t number) {
  const Piece& piece = pieces_[number];
  Pointers& at = pointers_[number];
  for (size_t i = 0; i < piece.in.size(); ++i) at.in[i] = args.in[i] + piece.in[i];
  for (size_t i = 0; i < piece.out.size(); ++i) at.out[i] = args.out[i] + piece.out[i];
  for (const Sum& sum : sums_) {
    if (number > 0) at.out[sum.output] = sum_of(args, sum, number);
  }
  piece.kernel->run({at.in, at.out, args.scratch + number * piece_scratch_, args.info, nullptr});
}

void PieceKernel::add(const KernelArgs& args, const Sum& sum) const {
  auto* total = reinterpret_cast<float*>(args.out[sum.output]);
  const auto cut = static_cast<int>(pieces_.size());
  parallel_for(team_of(args), cut, static_cast<int64_t>(sum.elements), kGrain,
               [&](int64_t begin, int64_t end, int /*piece*/) {
                 for (size_t piece = 1; piece < pieces_.size(); ++piece) {
                   const auto* part = reinterpret_cast<const float*>(sum_of(args, sum, piece));
                   simd::add_to(part + begin, total + begin, static_cast<size_t>(end - begin));
                 }
               });
}

}  // namespace tpack::cpu
