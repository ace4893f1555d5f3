#include "agents/async_predictor.h"

#include <atomic>

#include <gtest/gtest.h>

#include "agents/scripted_predictor.h"
#include "core/stop.h"

namespace tpack {
namespace {

constexpr int64_t kAskers = 6;

Tensor question_of(int64_t value) { return Tensor::of<float>({2}, {static_cast<float>(value), 1}); }

/// Twice the first number.
ScriptedPredictor doubling() {
  return ScriptedPredictor([](const Tensor& observations) {
    const Tensor y(DType::kFloat32, {observations.shape()[0], 1});
    for (int64_t i = 0; i < observations.shape()[0]; ++i)
      y.span<float>()[static_cast<size_t>(i)] = 2 * observations.row(i).span<float>()[0];
    return std::vector{y};
  });
}

TEST(AsyncPredictor, answers_everybody_what_they_asked) {
  ScriptedPredictor predictor = doubling();
  AsyncPredictor async(predictor, 4, {DType::kFloat32, {2}});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> askers;
  for (int64_t asker = 0; asker < kAskers; ++asker) {
    askers.emplace_back([&, asker] {
      for (int64_t i = 0; i < 200; ++i) {
        const int64_t value = 1000 * asker + i;
        const std::vector<Tensor> answer = async.ask(question_of(value));
        const bool is_right = answer.size() == 1 && answer[0].shape() == Shape({1, 1}) &&
                              answer[0].at(0) == static_cast<double>(2 * value);
        wrong += is_right ? 0 : 1;
      }
    });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(predictor.calls, 200 * kAskers);
}

TEST(AsyncPredictor, asks_at_once_what_waits) {
  std::mutex gate;
  gate.lock();
  std::atomic<int> largest = 0;
  ScriptedPredictor predictor([&](const Tensor& observations) {
    const std::lock_guard lock(gate);
    int asked = 0;
    for (int64_t i = 0; i < observations.shape()[0]; ++i) asked += observations.row(i).at(1) == 1 ? 1 : 0;
    largest = std::max<int>(largest, asked);
    std::ranges::fill(observations.span<float>(), 0.0F);
    return std::vector{Tensor::zeros({DType::kFloat32, {observations.shape()[0], 1}})};
  });
  AsyncPredictor async(predictor, kAskers, {DType::kFloat32, {2}});
  std::atomic<int> begun = 0;
  std::vector<std::thread> askers;
  for (int64_t asker = 0; asker < kAskers; ++asker)
    askers.emplace_back([&] {
      ++begun;
      for (int i = 0; i < 50; ++i) async.ask(question_of(1));
    });
  while (begun < kAskers) std::this_thread::yield();
  gate.unlock();
  for (std::thread& asker : askers) asker.join();
  EXPECT_GT(largest, 1);
  EXPECT_LT(predictor.calls, 50 * kAskers);
}

TEST(AsyncPredictor, passes_errors_on_and_goes_on) {
  int calls = 0;
  ScriptedPredictor predictor([&](const Tensor& observations) -> std::vector<Tensor> {
    if (++calls == 1) throw DataError("a test");
    return {Tensor::zeros({DType::kFloat32, {observations.shape()[0], 1}})};
  });
  AsyncPredictor async(predictor, 2, {DType::kFloat32, {2}});
  EXPECT_THROW(async.ask(question_of(1)), DataError);
  EXPECT_EQ(async.ask(question_of(1)).size(), 1);
}

TEST(AsyncPredictor, ends_those_who_ask) {
  ScriptedPredictor predictor = doubling();
  AsyncPredictor async(predictor, 2, {DType::kFloat32, {2}});
  std::thread asker([&] { EXPECT_THROW(while (true) async.ask(question_of(1)), Stopped); });
  async.stop();
  asker.join();
  EXPECT_THROW(async.ask(question_of(1)), Stopped);
}

}  // namespace
}  // namespace tpack
