#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/rng.h"
#include "core/text.h"
#include "support/paths.h"
#include "tensor/tensor.h"

/// Reads the golden files (golden.py describes them): draws of inputs, summaries of results.
namespace tpack::golden {

using Json = nlohmann::ordered_json;

inline Json read(const std::string& name) {
  std::ifstream file(source_folder() + "/tests/golden/" + name);
  return Json::parse(file);
}

/// Elements 0 .. count - 1 of a key, in [0, 1), as in philox.py.
inline std::vector<double> uniform(const std::string& key, size_t count) {
  const uint64_t hash = stable_hash(key);
  std::vector<double> all(count);
  for (size_t i = 0; i < count; i += 4) {
    const auto block = static_cast<uint32_t>(i / 4);
    const auto bits =
        philox({block, 0, 0, 0}, {static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32U)});
    for (size_t k = i; k < std::min(i + 4, count); ++k) all[k] = (bits[k - i] >> 8U) * 0x1p-24;
  }
  return all;
}

/// The tensor that a draw describes, under its key; floats have `float_type` (their values are exact in
/// float32).
inline Tensor draw(const std::string& key, const Json& spec, DType float_type) {
  const Shape shape(spec.at("shape").get<std::vector<int64_t>>());
  std::vector<double> values = uniform(key, static_cast<size_t>(shape.elements()));
  if (spec.contains("below")) {
    for (double& value : values) value = std::floor(value * spec.at("below").get<double>());
    return Tensor::of(shape, values).cast(spec.at("dtype") == "uint8" ? DType::kUInt8 : DType::kInt32);
  }
  const double around = spec.at("around");
  const double within = spec.at("within");
  for (double& value : values) value = static_cast<float>(around + within * (2 * value - 1));
  return Tensor::of(shape, values).cast(float_type);
}

/// [norm, projections ...] of a result, as in the golden file.
inline std::vector<double> summary_of(const std::string& key, const Tensor& tensor, size_t projections) {
  const Tensor doubles = tensor.cast(DType::kFloat64);
  const std::span<const double> values = doubles.span<double>();
  std::vector<double> all = {
      std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0))};
  for (size_t k = 0; k < projections; ++k) {
    const std::vector<double> along = uniform(key + "/projection" + std::to_string(k), values.size());
    all.push_back(std::inner_product(values.begin(), values.end(), along.begin(), 0.0, std::plus<>(),
                                     [](double value, double u) { return value * (2 * u - 1); }));
  }
  return all;
}

/// Whether a result has the golden norm and projections, all within `tolerance` of the norm.
inline testing::AssertionResult agrees(const std::string& key, const Tensor& tensor, const Json& golden,
                                       double tolerance) {
  const auto expected = golden.get<std::vector<double>>();
  const std::vector<double> ours = summary_of(key, tensor, expected.size() - 1);
  double error = 0;
  bool numbers = true;
  for (size_t k = 0; k < expected.size(); ++k) {
    error = std::max(error, std::abs(ours[k] - expected[k]));
    numbers = numbers && std::isfinite(ours[k]);
  }
  if (numbers && error <= tolerance * expected[0]) return testing::AssertionSuccess();
  return testing::AssertionFailure() << key << ": " << Json(ours) << ", golden " << golden << ", off by "
                                     << shortest(error / expected[0]) << " of the norm";
}

}  // namespace tpack::golden
