#include <cstring>
#include <string>
#include <vector>
#include <webp/decode.h>
#include <webp/demux.h>

#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "image/format/image_formats.h"
#include "image/format/riff.h"
#include "image/format/stored_pixels.h"
#include "image/frames.h"
#include "image/pixel_memory.h"
#include "system/shared_library.h"

namespace tpack {
namespace {

constexpr size_t kRiffHead = 12;  // "RIFF", the length of what follows, "WEBP"

struct WebpLibrary {
  SharedLibrary library{"libwebp.so.7", "libwebp7"};
  decltype(&WebPGetFeaturesInternal) get_features = nullptr;
  decltype(&WebPInitDecoderConfigInternal) init_config = nullptr;
  decltype(&WebPDecode) decode = nullptr;

  WebpLibrary() {
    library.find("WebPGetFeaturesInternal", get_features);
    library.find("WebPInitDecoderConfigInternal", init_config);
    library.find("WebPDecode", decode);
  }
};

const WebpLibrary& webp_library() {
  static const WebpLibrary kLibrary;
  return kLibrary;
}

struct WebpDemuxLibrary {
  SharedLibrary library{"libwebpdemux.so.2", "libwebpdemux2"};
  decltype(&WebPAnimDecoderNewInternal) open = nullptr;
  decltype(&WebPAnimDecoderGetInfo) get_info = nullptr;
  decltype(&WebPAnimDecoderGetNext) next = nullptr;
  decltype(&WebPAnimDecoderDelete) close = nullptr;

  WebpDemuxLibrary() {
    library.find("WebPAnimDecoderNewInternal", open);
    library.find("WebPAnimDecoderGetInfo", get_info);
    library.find("WebPAnimDecoderGetNext", next);
    library.find("WebPAnimDecoderDelete", close);
  }
};

const WebpDemuxLibrary& webp_demux_library() {
  static const WebpDemuxLibrary kLibrary;
  return kLibrary;
}

void check_webp(VP8StatusCode status) {
  if (status == VP8_STATUS_OK) return;
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw ResourceError("no memory to read a WebP");
  const bool ends = status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED;
  throw DataError(ends ? "damaged WebP: the file ends early" : "damaged WebP: the data are not valid");
}

WebPBitstreamFeatures features_of(EncodedBytes bytes) {
  WebPBitstreamFeatures features{};
  check_webp(webp_library().get_features(bytes.data(), bytes.size(), &features, WEBP_DECODER_ABI_VERSION));
  return features;
}

/// The library does not always notice that the last bytes are missing, or that a chunk has a wrong length.
WebPBitstreamFeatures features_of_file(EncodedBytes bytes) {
  EncodedBytes rest = bytes;
  const auto file = next_riff_chunk(rest);
  if (!file || file->content.size() < 4) throw DataError("damaged WebP: the file ends early");
  EncodedBytes chunks = file->content.subspan(4);
  while (next_riff_chunk(chunks)) {
  }
  if (!chunks.empty()) throw DataError("damaged WebP: the lengths of its chunks do not fit");
  return features_of(bytes);
}

void decode_into(EncodedBytes bytes, cv::Mat out) {
  WebPDecoderConfig config;
  if (webp_library().init_config(&config, WEBP_DECODER_ABI_VERSION) == 0)
    throw ResourceError("the library libwebp.so.7 is not the version that tpack was built for");
  config.output.colorspace = out.channels() == kAlphaChannels ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = out.data;
  config.output.u.RGBA.stride = static_cast<int>(out.step[0]);
  config.output.u.RGBA.size = out.step[0] * static_cast<size_t>(out.rows);
  check_webp(webp_library().decode(bytes.data(), bytes.size(), &config));
}

/// A frame of an animation: its position, and the chunk with its pixels.
struct WebpFrame {
  Region place;
  EncodedBytes pixels;
};

int number24(EncodedBytes bytes, size_t at) { return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16; }

/// Source: https://developers.google.com/speed/webp/docs/riff_container
WebpFrame first_frame(EncodedBytes bytes) {
  EncodedBytes list = bytes.subspan(kRiffHead);
  while (const auto chunk = next_riff_chunk(list)) {
    constexpr size_t kFrameHead = 16;
    if (!chunk->is("ANMF") || chunk->content.size() < kFrameHead) continue;
    const EncodedBytes head = chunk->content;
    WebpFrame frame{
        {2 * number24(head, 0), 2 * number24(head, 3), 1 + number24(head, 6), 1 + number24(head, 9)}, {}};
    EncodedBytes parts = head.subspan(kFrameHead);
    while (const auto part = next_riff_chunk(parts))
      if (part->is("VP8 ") || part->is("VP8L")) frame.pixels = part->whole;
    if (!frame.pixels.empty()) return frame;
  }
  throw DataError("damaged WebP: an animation without frames");
}

void decode_first_frame(EncodedBytes bytes, cv::Mat& canvas) {
  const WebpFrame frame = first_frame(bytes);
  const Region& place = frame.place;
  const WebPBitstreamFeatures features = features_of(frame.pixels);
  if (features.width != place.width || features.height != place.height ||
      place.x + place.width > canvas.cols || place.y + place.height > canvas.rows)
    throw DataError("damaged WebP: a frame that does not fit");
  canvas.setTo(0);
  decode_into(frame.pixels, canvas(cv::Rect(place.x, place.y, place.width, place.height)));
}

/// The canvas with each frame over the one before.
class WebpAnimation {
 public:
  explicit WebpAnimation(EncodedBytes bytes) {
    const WebPData data{bytes.data(), bytes.size()};
    decoder_ = webp_demux_library().open(&data, nullptr, WEBP_DEMUX_ABI_VERSION);
    if (decoder_ == nullptr) throw DataError("damaged WebP: the frames are not valid");
    webp_demux_library().get_info(decoder_, &info_);
  }
  ~WebpAnimation() { webp_demux_library().close(decoder_); }
  WebpAnimation(const WebpAnimation&) = delete;
  WebpAnimation& operator=(const WebpAnimation&) = delete;

  int64_t frames() const { return info_.frame_count; }
  ImageSize canvas() const {
    return {static_cast<int>(info_.canvas_width), static_cast<int>(info_.canvas_height)};
  }
  /// Red, green, blue and alpha, until the next call.
  cv::Mat next() {
    uint8_t* pixels = nullptr;
    int until_ms = 0;
    if (webp_demux_library().next(decoder_, &pixels, &until_ms) == 0)
      throw DataError("damaged WebP: a frame is not valid");
    return {canvas().height, canvas().width, CV_8UC4, pixels};
  }

 private:
  WebPAnimDecoder* decoder_ = nullptr;
  WebPAnimInfo info_{};
};

}  // namespace

bool is_webp(EncodedBytes bytes) {
  return bytes.size() >= kRiffHead && std::memcmp(bytes.data(), "RIFF", 4) == 0 &&
         std::memcmp(bytes.data() + 8, "WEBP", 4) == 0;
}

ImageSize read_webp_header(EncodedBytes bytes) {
  const WebPBitstreamFeatures features = features_of_file(bytes);
  return {features.width, features.height};
}

bool has_webp_alpha(EncodedBytes bytes) { return features_of(bytes).has_alpha != 0; }

std::vector<cv::Mat> decode_webp_frames(EncodedBytes bytes, const DecodeRequest& request, int channels) {
  std::vector<cv::Mat> frames;
  const WebPBitstreamFeatures features = features_of_file(bytes);
  if (features.has_animation == 0) {
    cv::Mat only;
    decode_webp(bytes, request, channels, only);
    return {static_cast<size_t>(request.frames), only};
  }
  WebpAnimation animation(bytes);
  if (!(animation.canvas() == ImageSize{features.width, features.height}) || animation.frames() == 0)
    throw DataError("damaged WebP: an animation without frames");
  const Region& r = request.region;
  cv::Mat canvas;
  int64_t at = -1;
  for (int i = 0; i < request.frames; ++i) {
    const int64_t wanted = frame_at(i, request.frames, animation.frames());
    for (; at < wanted; ++at) canvas = animation.next();
    const cv::Mat part = canvas(cv::Rect(r.x, r.y, r.width, r.height));
    cv::Mat own = pooled_mat();
    if (features.has_alpha != 0)
      part.copyTo(own);
    else
      cv::cvtColor(part, own, cv::COLOR_RGBA2RGB);
    give_pixels(own, request, channels, frames.emplace_back());
  }
  return frames;
}

Box decode_webp(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  const WebPBitstreamFeatures features = features_of_file(bytes);
  const bool with_alpha = features.has_alpha != 0 && wants_alpha(request, channels);
  cv::Mat canvas = pooled_mat(features.height, features.width, with_alpha ? CV_8UC4 : CV_8UC3);
  if (features.has_animation != 0)
    decode_first_frame(bytes, canvas);
  else
    decode_into(bytes, canvas);
  const Region& region = request.region;
  return give_pixels(canvas(cv::Rect(region.x, region.y, region.width, region.height)), request, channels,
                     out);
}

}  // namespace tpack
