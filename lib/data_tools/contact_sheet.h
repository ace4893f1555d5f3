#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/data_flow.h"
#include "dataflow/datapoint.h"
#include "draw/png.h"

namespace tpack {

struct ContactSheetOptions {
  int count = 64;  // samples shown
  int columns = 8;
  /// Side of a tile; small images are enlarged by whole factors, large ones reduced. 0: as large as the first
  /// image, but 96 to 192.
  int tile_pixels = 0;
  uint64_t seed = 0;
  int64_t pass = 0;
};

/// Writes a PNG with the first samples of a pass in a grid: the first image component, with the colors of its
/// mask, its boxes and points over it, and with the class name (or the number) of the first label below it.
/// The legend of the classes of masks and boxes is at the end. Batches are unpacked. Errors: ConfigError if
/// the flow has no image; DataError and ResourceError from reading and writing.
void write_contact_sheet(const DataFlow& flow, const std::string& path,
                         const ContactSheetOptions& options = {});

/// An image [H, W, C] with its caption and, if not empty, its annotation (see Annotation).
struct CaptionedImage {
  Tensor image;
  std::string caption;
  Tensor mask = {};
  Tensor boxes = {};
  Tensor points = {};
};
/// The form of single samples. Errors: ConfigError if they have no image.
std::vector<CaptionedImage> captioned_images(const Spec& spec, std::span<Datapoint> samples);

/// The names of classes in the colors that they have in pictures.
using Legend = std::vector<std::pair<RgbColor, std::string>>;
/// The legend of masks: class 0 has no color.
Legend legend_of_masks(const std::vector<std::string>& classes);
/// The legend of the mask, or else of the boxes, in contact sheets.
Legend legend_of(const Spec& spec);

/// Writes a PNG with all of them in such a grid. Errors: ResourceError.
void write_image_sheet(const std::vector<CaptionedImage>& images, const std::string& path, int columns = 8,
                       const Legend& legend = {});

}  // namespace tpack
