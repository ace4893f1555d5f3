#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "agents/agent.h"

namespace tpack {

/// Predicts for many threads with one predictor: a separate thread collects waiting requests and predicts
/// them together. Threads: any. The destructor ends the thread; there must be no requests then. Source:
/// tensorpack predict/concurrency.py, MultiThreadAsyncPredictor.
class AsyncPredictor {
 public:
  /// `predictor` must outlive it; it gets `batch` observations at a time, where unused ones have no meaning.
  AsyncPredictor(BatchPredictor& predictor, int64_t batch, const TensorSpec& observation);
  ~AsyncPredictor();
  AsyncPredictor(const AsyncPredictor&) = delete;
  AsyncPredictor& operator=(const AsyncPredictor&) = delete;

  /// Waits for the outputs for one observation, each [1, ...]. Errors: what the predictor throws; Stopped
  /// after `stop`.
  std::vector<Tensor> ask(const Tensor& observation);
  /// Current and later requests get Stopped.
  void stop();

 private:
  struct Question {
    const Tensor* observation;
    std::vector<Tensor> answer = {};
    std::exception_ptr error = nullptr;
    bool is_answered = false;
  };
  void work();
  void answer(const std::vector<Question*>& questions);

  BatchPredictor& predictor_;
  const size_t batch_;
  const Tensor observations_;  // [batch, ...], only used by the thread
  std::mutex mutex_;           // what follows
  std::condition_variable asked_;
  std::condition_variable answered_;
  std::vector<Question*> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tpack
