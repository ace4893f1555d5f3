// Work and memory of sources grow with the size of their files, not with its square.
#include <algorithm>
#include <ctime>
#include <functional>
#include <set>

#include "core/registry.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/mat_writer.h"
#include "dataflow/photo_files.h"
#include "dataflow/test_databases.h"
#include "dataflow/test_images.h"
#include "records/test_records.h"
#include "support/allocation_counter.h"
#include "support/own_process.h"

namespace tpack {
namespace {

/// Writes files with `n` entries of one kind into the folder, and returns a flow of them.
struct GrowingFile {
  std::string source;
  std::string kind;  // of the entries
  std::function<std::string(const TempFolder& folder, int n)> write;
  int least = 500;  // entries of the smallest file
};

std::string repeated(int n, const std::function<std::string(int)>& text) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text(i);
  return all;
}
std::string number(int i) { return std::to_string(i); }

/// A table with one column of numbers.
void write_numbers(const TempFolder& folder, int n) {
  folder.write_text("a.csv", "x\n" + repeated(n, [](int i) { return number(i % 100) + ".5\n"; }));
}

/// A picture for each of `n` names.
void write_pictures(const TempFolder& folder, int n, const std::function<std::string(int)>& name,
                    const Bytes& png = encode_png(photo(4, 4))) {
  for (int i = 0; i < n; ++i) folder.write(name(i), png);
}

std::string write_coco(const TempFolder& folder, int annotations, int categories) {
  folder.write("img/0.png", encode_png(photo(30, 30)));
  folder.write_text(
      "c.json",
      R"({"images": [{"id": 0, "file_name": "0.png"}], "annotations": [{"id": 0, "image_id": 0, "category_id": 1, "bbox": [1, 2, 5, 6]})" +
          repeated(annotations,
                   [](int i) {
                     return R"(, {"id": )" + number(i + 1) +
                            R"(, "image_id": 0, "category_id": 1, "bbox": [1, 2, 5, 6], "iscrowd": 1})";
                   }) +
          R"(], "categories": [{"id": 0, "name": "none"})" +
          repeated(categories,
                   [](int i) {
                     return R"(, {"id": )" + number(i + 1) + R"(, "name": "c)" + number(i) + R"("})";
                   }) +
          "]}");
  return "[ImageBoxes: {images: img, annotations: c.json}]";
}

std::string zipped_arrays(const TempFolder& folder, int n) {
  std::vector<ZippedFile> files;
  for (int i = 0; i < n; ++i) files.push_back({"a" + number(i) + ".npy", npy_file("|u1", "(2,)", {1, 2})});
  folder.write("a.npz", zip_file(files));
  return "[Npz: {file: a.npz}]";
}

/// A hundred objects in each file, each of a class of its own.
std::string voc_of_classes(const TempFolder& folder, int n) {
  const Bytes png = encode_png(photo(9, 9));
  const auto object = [](int i) {
    return "<object><name>c" + number(i) +
           "</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox></object>";
  };
  for (int first = 0; first < n; first += 100) {
    folder.write("img/" + number(first) + ".png", png);
    folder.write_text("voc/" + number(first) + ".xml", "<annotation>" + repeated(100, [&](int i) {
                                                         return object(first + i);
                                                       }) + "</annotation>");
  }
  return "[ImageBoxes: {images: img, annotations: voc}]";
}

const std::vector<GrowingFile>& growing_files() {
  static const std::vector<GrowingFile> kAll = {
      {"CSV", "rows",
       [](const TempFolder& folder, int n) {
         folder.write_text("a.csv", "x,c\n" + repeated(n, [](int i) {
                                      return number(i % 100) + ".5,k" + number(i % 7) + "\n";
                                    }));
         return "[CSV: {file: a.csv, columns: {x: auto}}]";
       }},
      {"CSV", "columns",
       [](const TempFolder& folder, int n) {
         const auto cell = [](int i) { return "," + number(i); };
         folder.write_text("a.csv", "y" + repeated(n, [](int i) { return ",c" + number(i); }) + "\n1" +
                                        repeated(n, cell) + "\n2" +
                                        repeated(n, [](int i) { return "," + number(i + 1); }) + "\n3" +
                                        repeated(n, cell) + "\n");
         return "[CSV: {file: a.csv, columns: {x: auto}, labels: {y: y}}]";
       }},
      {"CSV", "columns of a pattern",
       [](const TempFolder& folder, int n) {
         folder.write_text("a.csv", "y" + repeated(n, [](int i) { return ",c" + number(i); }) + "\n1" +
                                        repeated(n, [](int i) { return "," + number(i); }) + "\n");
         return "[CSV: {file: a.csv, columns: {x: \"c.*\"}}]";
       }},
      {"CSV", "classes",
       [](const TempFolder& folder, int n) {
         folder.write_text("a.csv",
                           "x,y\n" + repeated(n, [](int i) { return "1,class" + number(i) + "\n"; }));
         return "[CSV: {file: a.csv, columns: {x: [x]}, labels: {y: y}}]";
       }},
      {"Streamed", "rows",
       [](const TempFolder& folder, int n) {
         write_numbers(folder, n);
         return "[Streamed: {source: {CSV: {file: a.csv, columns: {x: [x]}}}}]";
       }},
      {"SVMLight", "rows",
       [](const TempFolder& folder, int n) {
         folder.write_text("a.txt", repeated(n, [](int i) { return "1 1:" + number(i) + " 3:2\n"; }));
         return "[SVMLight: {file: a.txt}]";
       }},
      {"SVMLight", "columns",
       [](const TempFolder& folder, int n) {
         folder.write_text("a.txt",
                           "1" + repeated(n, [](int i) { return " " + number(i + 1) + ":2"; }) + "\n0 1:3\n");
         return "[SVMLight: {file: a.txt}]";
       }},
      {"Npz", "arrays", zipped_arrays},
      {"CaffeLMDB", "records",
       [](const TempFolder& folder, int n) {
         std::map<std::string, Bytes> records;
         for (int i = 0; i < n; ++i) records["k" + number(i)] = pixel_datum(1, 1, 1, {7}, i % 3);
         write_lmdb(folder.path("db"), records);
         return "[CaffeLMDB: {path: db}]";
       }},
      {"LMDBData", "records",
       [](const TempFolder& folder, int n) {
         std::map<std::string, Bytes> records;
         for (int i = 0; i < n; ++i) records["k" + number(i)] = {0x92, 1, 2};  // [1, 2] of MessagePack
         write_lmdb(folder.path("db"), records);
         return "[LMDBData: {path: db, components: {x: 0}}]";
       }},
      {"TFRecord", "records",
       [](const TempFolder& folder, int n) {
         folder.write_text("a.tfrecord", repeated(n, [](int i) { return tf_record_of({{"x", i}}); }));
         return "[TFRecord: {files: a.tfrecord, components: {x: x}}]";
       }},
      {"TFRecord", "features",
       [](const TempFolder& folder, int n) {
         std::map<std::string, int64_t> features;
         for (int i = 0; i < n; ++i) features["x" + number(i)] = i;
         folder.write_text("a.tfrecord", tf_record_of(features));
         return "[TFRecord: {files: a.tfrecord, components: {x: x0}}]";
       }},
      {"WebDataset", "samples",
       [](const TempFolder& folder, int n) {
         folder.write_text("a.tar", repeated(n, [](int i) { return tar_file(number(i) + ".x", "1"); }));
         return "[WebDataset: {files: a.tar, components: {x: x}}]";
       }},
      {"WebDataset", "files of a sample",
       [](const TempFolder& folder, int n) {
         folder.write_text("a.tar", repeated(n, [](int i) { return tar_file("0.x" + number(i), "1"); }));
         return "[WebDataset: {files: a.tar, components: {x: x0}}]";
       }},
      {"WebDataset", "files",
       [](const TempFolder& folder, int n) {
         for (int i = 0; i < n; ++i) folder.write_text("a" + number(i) + ".tar", tar_file("0.x", "1"));
         return "[WebDataset: {files: 'a*.tar', components: {x: x}}]";
       },
       50},
      {"ImageFolder", "images",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n, [](int i) {
           return "d/" + std::string(i % 2 == 0 ? "a/" : "b/") + number(i) + ".png";
         });
         return "[ImageFolder: {dir: d}]";
       }},
      {"ImageFolder", "classes",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n, [](int i) { return "d/class" + number(i) + "/0.png"; });
         return "[ImageFolder: {dir: d}]";
       }},
      {"ImageFromFile", "files",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n, [](int i) { return number(i) + ".png"; });
         return "[ImageFromFile: ['*.png']]";
       }},
      {"ILSVRC12", "images",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n,
                        [](int i) { return "train/n0" + number(i % 2) + "/" + number(i) + ".JPEG"; });
         return "[ILSVRC12: {dir: .}]";
       },
       100},
      {"ILSVRC12", "images of a list",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n, [](int i) { return "val/" + number(i) + ".JPEG"; });
         folder.write_text("synsets.txt", repeated(n, [](int i) { return "n" + number(i) + "\n"; }));
         folder.write_text("val.txt",
                           repeated(n, [](int i) { return number(i) + ".JPEG " + number(i) + "\n"; }));
         return "[ILSVRC12: {split: val, dir: .}]";
       },
       100},
      {"ILSVRC12", "images of an archive",
       [](const TempFolder& folder, int n) {
         const Bytes png = encode_png(photo(4, 4));
         const std::string image(png.begin(), png.end());
         const auto images = [&](int first) {
           return repeated(n / 2, [&](int i) { return tar_file(number(first + i) + ".JPEG", image); });
         };
         folder.write_text("ILSVRC2012_img_train.tar",
                           tar_file("n0.tar", images(0)) + tar_file("n1.tar", images(n)));
         return "[ILSVRC12: {dir: .}]";
       }},
      {"ILSVRC12", "boxes",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n, [](int i) { return "train/n0/" + number(i) + ".JPEG"; });
         for (int i = 0; i < n; ++i)
           folder.write_text("bbox/n0/" + number(i) + ".xml", box_xml(4, 4, {"1 1 2 2"}));
         return "[ILSVRC12: {dir: ., include_bb: true}]";
       },
       100},
      {"TinyImageNet", "images of a list",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n, [](int i) { return "val/images/" + number(i) + ".JPEG"; });
         folder.write_text("val/val_annotations.txt",
                           repeated(n, [](int i) { return number(i) + ".JPEG\tn" + number(i) + "\n"; }));
         folder.write_text("words.txt", repeated(n, [](int i) { return "n" + number(i) + "\tword\n"; }));
         return "[TinyImageNet: {split: val, dir: .}]";
       },
       100},
      {"Places365Standard", "classes",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n, [](int i) { return "train/class" + number(i) + "/0.jpg"; });
         return "[Places365Standard: {dir: .}]";
       },
       100},
      {"ImageList", "rows",
       [](const TempFolder& folder, int n) {
         folder.write("0.png", encode_png(photo(4, 4)));
         folder.write_text("l.txt", repeated(n, [](int i) { return "0.png " + number(i % 5) + "\n"; }));
         return "[ImageList: {file: l.txt}]";
       }},
      {"ImageList", "classes",
       [](const TempFolder& folder, int n) {
         folder.write("0.png", encode_png(photo(4, 4)));
         folder.write_text(
             "l.csv", "path,kind\n" + repeated(n, [](int i) { return "0.png,class" + number(i) + "\n"; }));
         return "[ImageList: {file: l.csv, path: path, labels: {label: kind}}]";
       }},
      {"ImagePairs", "images",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n, [](int i) { return "img/" + number(i) + ".png"; });
         write_pictures(
             folder, n, [](int i) { return "mask/" + number(i) + ".png"; },
             encode_png(cv::Mat::zeros(4, 4, CV_8UC1)));
         return "[ImagePairs: {images: img, masks: mask, classes: [a, b]}]";
       },
       200},
      {"VOCSegmentation", "images",
       [](const TempFolder& folder, int n) {
         const std::string devkit = "VOCdevkit/VOC2012/";
         write_pictures(folder, n, [&](int i) { return devkit + "JPEGImages/" + number(i) + ".jpg"; });
         write_pictures(
             folder, n, [&](int i) { return devkit + "SegmentationClass/" + number(i) + ".png"; },
             encode_png(cv::Mat::zeros(4, 4, CV_8UC1)));
         folder.write_text(devkit + "ImageSets/Segmentation/train.txt",
                           repeated(n, [](int i) { return number(i) + "\n"; }));
         return "[VOCSegmentation: {dir: .}]";
       },
       100},
      {"VOCDetection", "images",
       [](const TempFolder& folder, int n) {
         const std::string devkit = "VOCdevkit/VOC2012/";
         write_pictures(folder, n, [&](int i) { return devkit + "JPEGImages/" + number(i) + ".jpg"; });
         folder.write_text(devkit + "Annotations/0.xml", "<annotation></annotation>");
         folder.write_text(devkit + "ImageSets/Main/train.txt",
                           repeated(n, [](int i) { return number(i) + "\n"; }));
         return "[VOCDetection: {dir: .}]";
       },
       100},
      {"COCO", "images",
       [](const TempFolder& folder, int n) {
         write_pictures(folder, n, [&](int i) { return "train2017/" + number(i) + ".jpg"; });
         folder.write_text("annotations/instances_train2017.json",
                           R"({"annotations": [], "categories": [{"id": 0, "name": "a"}], "images": [)" +
                               repeated(n,
                                        [](int i) {
                                          return std::string(i == 0 ? "" : ", ") + R"({"id": )" + number(i) +
                                                 R"(, "file_name": ")" + number(i) + R"(.jpg"})";
                                        }) +
                               "]}");
         return "[COCO: {dir: .}]";
       },
       100},
      {"BSDS500", "images",
       [](const TempFolder& folder, int n) {
         const MatWriter mat;
         const Bytes drawn = mat_file({mat.cell(
             "groundTruth",
             {mat.structure("", {"Boundaries"}, {mat.numbers("", {4, 4}, Numbers(16, 1), true)})})});
         write_pictures(folder, n, [](int i) { return "train/" + number(i) + ".jpg"; });
         for (int i = 0; i < n; ++i) folder.write("train/" + number(i) + ".mat", drawn);
         return "[BSDS500: {dir: .}]";
       },
       100},
      {"ImageBoxes", "annotations", [](const TempFolder& folder, int n) { return write_coco(folder, n, 1); }},
      {"ImageBoxes", "categories", [](const TempFolder& folder, int n) { return write_coco(folder, 1, n); }},
      {"ImageBoxes", "classes of VOC", voc_of_classes},
      {"Windows", "rows",
       [](const TempFolder& folder, int n) {
         write_numbers(folder, n);
         return "[Windows: {source: {CSV: {file: a.csv, columns: {x: [x], y: x}}}, length: 3, targets: [y]}]";
       }},
      {"SplitData", "rows",
       [](const TempFolder& folder, int n) {
         write_numbers(folder, n);
         return "[SplitData: {source: {CSV: {file: a.csv, columns: {x: [x]}}}, part: train, shares: "
                "{validation: 0.5}}]";
       }},
  };
  return kAll;
}

/// What it costs to open a flow and to read all of its samples.
struct Cost {
  double cpu_s = 0;
  double allocations = 0;
  double live_bytes = 0;  // of the open flow
};

Cost cost_of(const GrowingFile& file, int n) {
  const TempFolder folder;
  const std::string yaml = file.write(folder, n);
  const auto cpu_s = [] {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  };
  Cost best;
  for (int i = 0; i < 3; ++i) {
    reset_allocations();
    const double begin = cpu_s();
    const DataFlow flow = folder.flow(yaml);
    flow.prepare();
    const auto cursor = flow.open({});
    for (Datapoint d; cursor->next(d);) continue;
    const double used = cpu_s() - begin;
    const Allocations made = allocations();
    if (i == 0 || used < best.cpu_s) best.cpu_s = used;
    best.allocations = static_cast<double>(made.count);
    best.live_bytes = static_cast<double>(made.live_bytes);
  }
  return best;
}

TEST(Growth, knows_every_source_that_reads_files) {
  std::set<std::string> known = {"HDF5",  // its entries are those of libhdf5
                                 "Mnist",
                                 "FashionMnist",
                                 "Cifar10",
                                 "Cifar100",
                                 "SVHNDigit",
                                 "Caltech101Silhouettes",  // arrays of one kind
                                 "FakeData",
                                 "RenderedDigits",
                                 "RenderedShapes",
                                 "DataFromList",
                                 "JoinData",
                                 "ConcatData",
                                 "RandomMixData",  // no files
                                 "RandomChooseData",
                                 "PipeData",
                                 "RemoteData",
                                 "AsyncRollouts",
                                 "ExpReplay",
                                 "Rollouts"};
  for (const GrowingFile& file : growing_files()) known.insert(file.source);
  for (const ComponentInfo* entry : ComponentTable::of(Source::kKind).list()) {
    if (entry->file.find("tests/") != std::string::npos) continue;
    EXPECT_TRUE(known.contains(entry->name)) << entry->name << ": add its file to growing_files()";
  }
}

/// Four times as many entries need at most 4.5 times as many requests for memory, and as much memory.
TEST(Growth, memory_is_linear) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer has an allocator of its own";
  for (const GrowingFile& file : growing_files()) {
    const Cost one = cost_of(file, file.least);
    const Cost four = cost_of(file, 4 * file.least);
    EXPECT_LE(four.allocations, 4.5 * one.allocations + 1000) << file.source << ": " << file.kind;
    EXPECT_LE(four.live_bytes, 4.5 * one.live_bytes + 1e5) << file.source << ": " << file.kind;
  }
}

/// A flow that is read to its end, in part, or not at all leaves no file open, and no memory.
TEST(Growth, closed_flows_leave_nothing) {
  for (const GrowingFile& file : growing_files()) {
    const TempFolder folder;
    const std::string yaml = file.write(folder, file.least / 10 + 2);
    const auto use = [&](int64_t samples) {
      const DataFlow flow = folder.flow(yaml);
      flow.prepare();
      const auto cursor = flow.open({});
      Datapoint d;
      while (samples-- > 0 && cursor->next(d)) continue;
    };
    use(kEndless);
    const size_t files = open_files();
    reset_allocations();
    for (const int64_t samples : {kEndless, int64_t{1}, int64_t{0}}) use(samples);
    const auto once = static_cast<double>(allocations().live_bytes);
    for (int i = 0; i < 20; ++i) use(i % 2 == 0 ? kEndless : 1);
    EXPECT_EQ(open_files(), files) << file.source << ": " << file.kind;
    if (!allocations_are_counted()) continue;
    EXPECT_LE(static_cast<double>(allocations().live_bytes), once + 1e5) << file.source << ": " << file.kind;
  }
}

/// Eight times as many entries need at most 20 times as many seconds of the processor: 8 if it is linear, 64
/// if it is quadratic.
TEST(GrowthOfTime, is_linear) {
  for (const GrowingFile& file : growing_files()) {
    const int n = 2 * file.least;
    const Cost one = cost_of(file, n);
    const Cost eight = cost_of(file, 8 * n);
    EXPECT_LE(eight.cpu_s, 20 * std::max(one.cpu_s, 1e-3))
        << file.source << ": " << file.kind << ", " << one.cpu_s << " s";
  }
}

}  // namespace
}  // namespace tpack
