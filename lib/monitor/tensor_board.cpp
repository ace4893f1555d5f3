#include <memory>

#include "core/clock.h"
#include "core/error.h"
#include "core/registry.h"
#include "draw/png.h"
#include "monitor/event_file.h"
#include "monitor/monitor.h"
#include "system/log.h"

namespace tpack {
namespace {

// Fields of tensorflow/core/framework/summary.proto and tensor.proto.
constexpr int kSummaryValue = 1;
constexpr int kTag = 1;
constexpr int kSimpleValue = 2;
constexpr int kImage = 4;
constexpr int kHistogram = 5;
constexpr int kTensor = 8;
constexpr int kMetadata = 9;
constexpr int kPluginData = 1;
constexpr int kPluginName = 1;
constexpr int kTensorType = 1;
constexpr int kTensorText = 8;
constexpr int64_t kStringType = 7;

ProtoMessage image_message(const PngImage& image) {
  return ProtoMessage()
      .integer(1, image.height)
      .integer(2, image.width)
      .integer(3, image.channels)
      .bytes(4, image.png);
}

ProtoMessage histogram_message(const Histogram& histogram) {
  int64_t values = 0;
  for (const int64_t count : histogram.counts) values += count;
  ProtoMessage message;
  message.real64(1, histogram.min)
      .real64(2, histogram.max)
      .real64(3, static_cast<double>(values))
      .real64(4, histogram.sum)
      .real64(5, histogram.sum_of_squares);
  for (const double limit : histogram.limits) message.real64(6, limit);
  for (const int64_t count : histogram.counts) message.real64(7, static_cast<double>(count));
  return message;
}

struct TensorBoardParams {
  double flush_s = 5;
};

/// Source: tensorpack callbacks/monitor.py, TFEventWriter; the format is that of TensorFlow's summary.proto
/// and event.proto.
class TensorBoard final : public Monitor {
 public:
  using Params = TensorBoardParams;
  static Schema<Params> schema() {
    return Schema<Params>("Writes scalars, images, histograms and texts to an event file for TensorBoard.")
        .example("TensorBoard: {flush_s: 60}")
        .field("flush_s", &Params::flush_s, at_least(0),
               "seconds between writes within an epoch; it always writes at the end of an epoch");
  }
  explicit TensorBoard(Params p) : p_(p) {}

  void open(const RunRecord& run) override {
    folder_ = run.folder;
    if (folder_.empty()) {
      log::warning("TensorBoard writes nothing: the run has no log folder");
      return;
    }
    file_ = std::make_unique<EventFile>(folder_);
    if (run.resumed) file_->add_restart(run.global_step + 1);
  }
  void put_scalar(const std::string& name, double value, const StepStamp& at) override {
    add(ProtoMessage().bytes(kTag, name).real32(kSimpleValue, static_cast<float>(value)), at);
  }
  void put_image(const std::string& name, const Tensor& image, const StepStamp& at) override {
    if (folder_.empty()) return;
    const std::vector<PngImage> images = encode_png(image);
    for (size_t i = 0; i < images.size(); ++i) {
      const std::string tag = images.size() == 1 ? name : name + "/" + std::to_string(i);
      add(ProtoMessage().bytes(kTag, tag).message(kImage, image_message(images[i])), at);
    }
  }
  void put_histogram(const std::string& name, const Histogram& histogram, const StepStamp& at) override {
    if (histogram.counts.empty()) return;  // readers need at least one bin
    add(ProtoMessage().bytes(kTag, name).message(kHistogram, histogram_message(histogram)), at);
  }
  void put_text(const std::string& name, const std::string& text, const StepStamp& at) override {
    const ProtoMessage plugin = ProtoMessage().bytes(kPluginName, "text");
    const ProtoMessage tensor = ProtoMessage().integer(kTensorType, kStringType).bytes(kTensorText, text);
    add(ProtoMessage()
            .bytes(kTag, name)
            .message(kTensor, tensor)
            .message(kMetadata, ProtoMessage().message(kPluginData, plugin)),
        at);
  }
  void end_step(const StepStamp& /*at*/) override {
    if (since_flush_.seconds() >= p_.flush_s) flush();
  }
  void end_epoch(const StepStamp& /*at*/) override { flush(); }
  void close() override {
    flush();
    file_.reset();
  }

 private:
  void add(const ProtoMessage& value, const StepStamp& at) {
    if (folder_.empty() || (file_ == nullptr && since_failure_.seconds() < kRetryS)) return;
    try {
      if (file_ == nullptr) file_ = std::make_unique<EventFile>(folder_);  // the previous file failed
    } catch (const ResourceError&) {
      since_failure_.reset();
      throw;
    }
    file_->add_summary(ProtoMessage().message(kSummaryValue, value), at.global_step);
  }
  void flush() {
    since_flush_.reset();
    if (file_ == nullptr) return;
    try {
      file_->flush();
    } catch (const ResourceError&) {
      file_.reset();  // its end may be torn
      since_failure_.reset();
      throw;
    }
  }

  Params p_;
  std::string folder_;  // empty: no log folder
  std::unique_ptr<EventFile> file_;
  Stopwatch since_flush_;
  /// After a failure, such as a full disk, nothing is written for some time, because each try makes a file.
  static constexpr double kRetryS = 60;
  Stopwatch since_failure_;
};

TPACK_REGISTER(Monitor, TensorBoard, "TensorBoard", "TFEventWriter");

}  // namespace
}  // namespace tpack
