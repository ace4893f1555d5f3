#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/registry.h"
#include "input/input_source.h"

namespace tpack {

struct PoisonedInputParams {
  std::vector<int64_t> rounds;
  int64_t replica = 0;
  double value = NAN;
  int64_t input = 0;
};

/// Feed, but in some rounds of the first pass (from 1) the first number of a replica's batch is NaN, or
/// `value`: of its first input, or of the one with the index `input`. For one source file of a test program.
class PoisonedInput final : public InputSource {
 public:
  using Params = PoisonedInputParams;
  static Schema<Params> schema() {
    return Schema<Params>("Feed with bad numbers.")
        .field("rounds", &Params::rounds, "batches of the replica")
        .field("replica", &Params::replica, "which one")
        .field("value", &Params::value, "instead of NaN")
        .field("input", &Params::input, "which input");
  }
  explicit PoisonedInput(Params p) : p_(std::move(p)) {}
  std::unique_ptr<InputReader> open(const InputSetup& setup) const override {
    return std::make_unique<Reader>(Registry<InputSource>::make("Feed")->open(setup),
                                    setup.replica == p_.replica ? p_.rounds : std::vector<int64_t>(),
                                    setup.replicas, p_);
  }

 private:
  Params p_;

  class Reader final : public InputReader {
   public:
    Reader(std::unique_ptr<InputReader> inner, std::vector<int64_t> rounds, int64_t replicas,
           const PoisonedInputParams& p)
        : inner_(std::move(inner)),
          rounds_(std::move(rounds)),
          replicas_(replicas),
          value_(static_cast<float>(p.value)),
          input_(static_cast<size_t>(p.input)) {}
    bool next(const std::stop_token& stop) override {
      if (!inner_->next(stop)) return false;
      tensors_.clear();
      for (const Tensor& tensor : inner_->tensors()) tensors_.push_back(tensor.clone());
      const int64_t round = position().pass == 0 ? position().index / replicas_ : 0;
      if (std::find(rounds_.begin(), rounds_.end(), round) != rounds_.end())
        tensors_[input_].data<float>()[0] = value_;
      return true;
    }
    std::span<const Tensor> tensors() const override { return tensors_; }
    DataPosition position() const override { return inner_->position(); }
    double waited_s() const override { return inner_->waited_s(); }

   private:
    std::unique_ptr<InputReader> inner_;
    std::vector<int64_t> rounds_;
    int64_t replicas_;
    float value_;
    size_t input_;
    std::vector<Tensor> tensors_;
  };
};

TPACK_REGISTER(InputSource, PoisonedInput, "Poisoned");

}  // namespace tpack
