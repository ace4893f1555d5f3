#include "agents/async_predictor.h"

#include <algorithm>

#include "core/stop.h"

namespace tpack {

AsyncPredictor::AsyncPredictor(BatchPredictor& predictor, int64_t batch, const TensorSpec& observation)
    : predictor_(predictor),
      batch_(static_cast<size_t>(batch)),
      observations_(Tensor::zeros({observation.dtype, observation.shape.prepend(batch)})),
      thread_([this] { work(); }) {}

AsyncPredictor::~AsyncPredictor() {
  stop();
  thread_.join();
}

void AsyncPredictor::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  asked_.notify_all();
  answered_.notify_all();
}

std::vector<Tensor> AsyncPredictor::ask(const Tensor& observation) {
  Question question{&observation};
  std::unique_lock lock(mutex_);
  if (stopping_) throw Stopped{};
  waiting_.push_back(&question);
  asked_.notify_one();
  // Waits for a question in progress, because the thread writes into it.
  answered_.wait(lock,
                 [&] { return question.is_answered || (stopping_ && std::erase(waiting_, &question) > 0); });
  if (!question.is_answered) throw Stopped{};
  if (question.error) std::rethrow_exception(question.error);
  return std::move(question.answer);
}

void AsyncPredictor::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    asked_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(batch_, waiting_.size()));
    const std::vector<Question*> taken(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    lock.unlock();
    answer(taken);
    lock.lock();
    for (Question* question : taken) question->is_answered = true;
    answered_.notify_all();
  }
}

void AsyncPredictor::answer(const std::vector<Question*>& questions) {
  try {
    for (size_t i = 0; i < questions.size(); ++i)
      observations_.row(static_cast<int64_t>(i)).copy_from(*questions[i]->observation);
    const std::vector<Tensor> outputs = predictor_.run(observations_);
    for (size_t i = 0; i < questions.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      for (const Tensor& output : outputs) questions[i]->answer.push_back(output.rows(row, row + 1));
    }
  } catch (...) {
    for (Question* question : questions) question->error = std::current_exception();
  }
}

}  // namespace tpack
