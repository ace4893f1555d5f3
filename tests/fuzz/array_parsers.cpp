// Arrays and annotations: npy, npz, IDX, MAT, pickles, tar, LMDB, Caffe's records, boxes.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "dataflow/mat_writer.h"
#include "dataflow/packed_bytes.h"
#include "dataflow/tar_writer.h"
#include "dataflow/test_databases.h"
#include "fuzz/parsers.h"
#include "sources/format/box_annotations.h"
#include "sources/format/caffe_datum.h"
#include "sources/format/idx.h"
#include "sources/format/lmdb.h"
#include "sources/format/lmdb_pages.h"
#include "sources/format/mat_file.h"
#include "sources/format/npy.h"
#include "sources/format/pickle.h"
#include "sources/format/tar_gz.h"
#include "system/file_io.h"

namespace tpack::fuzz {
namespace {

/// Reads each byte, so that a sanitizer sees whether it is there.
void touch(Input bytes) {
  volatile uint8_t sum = 0;
  for (const uint8_t byte : bytes) sum = static_cast<uint8_t>(sum ^ byte);
}

void parse_npy(Input input) {
  const NpyArray array({input, nullptr}, "a.npy");
  const Tensor sample(array.spec());
  const int64_t last = array.samples() - 1;
  for (int64_t i = 0; i <= std::min<int64_t>(last, 4); ++i) array.get(i, sample);
  array.get(last, sample);
  array.first_doubles();
}

void parse_idx(Input input) {
  const size_t rank = 1 + take_choice(input, 3);
  const Tensor array = read_idx(file_with(input), rank);
  touch({array.data<uint8_t>(), array.bytes()});
}

void walk(const MatArray& array) {
  static_cast<void>(array.str());
  for (int64_t i = 0; i < array.numbers; ++i) static_cast<void>(array.at(i));
  for (const std::string& field : array.fields) static_cast<void>(array.field(field));
  for (const MatArray& item : array.items) walk(item);
}

void parse_mat(Input input) {
  if (!is_mat_file(input)) return;
  for (const MatArray& array : read_mat_file(input).arrays) walk(array);
}

void walk(const StoredValue& value) {
  static_cast<void>(value.str());
  static_cast<void>(value.number());
  if (const auto text = value.text()) touch({reinterpret_cast<const uint8_t*>(text->data()), text->size()});
  if (const StoredList* list = value.list()) std::ranges::for_each(list->items, [](auto& v) { walk(v); });
  if (const StoredDict* dict = value.dict()) {
    for (const auto& [key, entry] : dict->entries) {
      walk(key);
      walk(entry);
    }
    static_cast<void>(dict->find("data"));
  }
  if (const StoredArray* array = value.array()) {
    touch(array->data);
    std::ranges::for_each(array->objects, [](auto& v) { walk(v); });
  }
  if (const StoredReference* reference = value.reference()) walk(reference->id);
  if (const StoredObject* object = value.object()) {
    std::ranges::for_each(object->arguments, [](auto& v) { walk(v); });
    walk(object->state);
  }
}

void parse_pickle(Input input) {
  const Pickle pickle = read_pickle(input);
  if (pickle.size > input.size()) broken_promise("a pickle that is longer than its file");
  walk(pickle.value);
}

void parse_tar_gz(Input input) {
  constexpr size_t kMostBytes = 1'000'000;
  const auto is_wanted = [](std::string_view name) { return !name.ends_with('x'); };
  for (const auto& [name, content] : read_tar_gz(file_with(input), is_wanted, kMostBytes)) touch(content);
}

void parse_lmdb(Input input) {
  check_lmdb_pages(input, "data.mdb");
  const LmdbReader reader(file_with(input));
  for (int64_t i = 0; i < reader.size(); ++i) {
    touch({reinterpret_cast<const uint8_t*>(reader.key(i).data()), reader.key(i).size()});
    touch(reader.value(i));
  }
}

void parse_datum(Input input) {
  const CaffeDatum datum = read_caffe_datum(input);
  touch(datum.bytes);
  touch({reinterpret_cast<const uint8_t*>(datum.floats.data()), datum.floats.size_bytes()});
}

const SourceOfFile kNpz({"Npz: {file: FILE}", "Npz: {file: FILE, arrays: {x: a}}"});
const SourceOfFile kCaffeLmdb({"CaffeLMDB: {path: FILE}", "CaffeLMDB: {path: FILE, color: gray}"});

void parse_voc(Input input) {
  const bool difficult = take_choice(input, 2) == 1;
  ClassNumbers classes;
  read_voc_boxes(text_of(input), "a.xml", {.difficult = difficult, .without_area = difficult}, classes);
}

std::vector<Bytes> npy_seeds() {
  return {npy_file("<f4", "(2,)", Bytes(8, 1)),    npy_file("|u1", "(2, 3)", Bytes(6, 2), true),
          npy_file(">i8", "(1, 2)", Bytes(16, 0)), npy_file("<f8", "(2, 1, 1)", Bytes(16, 64)),
          npy_file("|b1", "(3,)", Bytes(3, 1)),    npy_file("<f2", "(1, 4)", Bytes(8, 60))};
}

std::vector<Bytes> npz_seeds() {
  const Bytes a = npy_file("<f4", "(2,)", Bytes(8, 1));
  const Bytes b = npy_file("|u1", "(2, 4)", Bytes(8, 2), true);
  return with_choices(kNpz.choices(),
                      {zip_file({{"a.npy", a}, {"b.npy", b, true}}), zip_file({{"a.npy", a, true}}), a});
}

std::vector<Bytes> idx_seeds() {
  const Bytes labels = {0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9};
  const Bytes images = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4};
  return with_choices(3, {labels, images, gzip_file(std::string(labels.begin(), labels.end())),
                          gzip_file(std::string(images.begin(), images.end()))});
}

std::vector<Bytes> mat_seeds() {
  std::vector<Bytes> seeds;
  for (const bool is_big : {false, true}) {
    const MatWriter writer(is_big);
    const std::string numbers = writer.numbers("numbers", {2, 2}, {1, 2, 3, 4.5});
    const std::string mask = writer.numbers("mask", {1, 3}, {0, 1, 1}, true);
    const std::string cell = writer.cell("cell", {writer.numbers("", {1, 1}, {1}), mask});
    const std::string parts = writer.structure("s", {"a", "b"}, {numbers, cell});
    seeds.push_back(mat_file({numbers, mask, cell, parts}, false, is_big));
    seeds.push_back(mat_file({numbers, parts}, true, is_big));
  }
  return seeds;
}

std::vector<Bytes> pickle_seeds() {
  using namespace std::string_literals;
  const std::string type = "cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffK\x00tb"s;
  return texts(
      {"\x80\x02}q\x01(U\x04"
       "datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01"
       "b\x87R(K\x01K\x02\x85"s +
           type + "\x89U\x02\x01\x02tbU\x01lK\x03u."s,
       "cnumpy.core.numeric\n_frombuffer\n(C\x02"
       "ab"s +
           type +
           "K\x02\x85U\x01"
           "CtR."s,
       "cnumpy.core.multiarray\nscalar\n"s + type +
           "C\x01"
           "a\x86R."s,
       "\x80\x05\x95\x1a\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01x\x94]\x94(K\x01G?"
       "\xe0\x00\x00\x00\x00\x00\x00"
       "eh\x01\x43\x01zu."s,
       "(dp0\nS'k\\x00'\np1\n(lp2\nI1\naL5L\naF0.5\naVu\\u20ac\naNasg1\nP7\ns."s,
       "c_codecs\nencode\nX\x02\x00\x00\x00\xc3\xbfU\x06latin1\x86R."s,
       "ccollections\nOrderedDict\n)R(U\x01"
       "ac__builtin__\nset\n(]K\x01"
       "atRU\x01"
       "b(cos\nsystem\nNoQu}b."s});
}

std::vector<Bytes> tar_seeds() {
  const std::string tar = tar_archive({{"d/a", "1"}, {"x", "2"}, {"b", std::string(600, 'b')}});
  return {bytes_of(tar), gzip_file(tar), zstandard_file(tar)};
}

}  // namespace

Bytes lmdb_with(const std::map<std::string, Bytes>& records) {
  std::string folder = std::filesystem::temp_directory_path() / "tpack_fuzz_XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) broken_promise("no temporary folder");
  write_lmdb(folder, records);
  const auto content = read_whole_file(folder + "/data.mdb");
  std::filesystem::remove_all(folder);
  return bytes_of(content.value());
}

namespace {

std::vector<Bytes> lmdb_seeds() {
  std::map<std::string, Bytes> many;
  for (int i = 0; i < 100; ++i) many["key " + std::to_string(1000 + i)] = Bytes(60, static_cast<uint8_t>(i));
  return {lmdb_with({{"a", {1}}, {"b", {2, 3}}}), lmdb_with({{"a", Bytes(5000, 1)}, {"b", {}}}),
          lmdb_with(many)};
}

std::vector<Bytes> datum_seeds() {
  return {pixel_datum(3, 1, 2, Bytes(6, 7), 1), encoded_datum(Bytes(20, 1), 2),
          DatumWriter().number(1, 1).number(2, 1).number(3, 2).floats(6, {1, 2}).number(5, 3).record()};
}

std::vector<Bytes> caffe_seeds() {
  const Bytes pixels =
      lmdb_with({{"0", pixel_datum(3, 1, 2, Bytes(6, 7), 1)}, {"1", pixel_datum(3, 1, 2, Bytes(6), 2)}});
  return with_choices(kCaffeLmdb.choices(), {pixels, lmdb_with({{"0", datum_seeds()[2]}})});
}

constexpr const char* kCoco =
    R"({"images": [{"id": 5, "file_name": "a.png", "width": 9, "height": 8}], "categories": [{"id": 1, "name": "b"}],
 "annotations": [{"image_id": 5, "category_id": 1, "bbox": [1, 2.5, 3e0, 4], "iscrowd": 0, "segmentation": [[1, 2]]}]})";
constexpr const char* kVoc =
    "<annotation><filename>a.jpg</filename><size><width>9</width><height>8</height><depth>3</depth></"
    "size><object>"
    "<name>dog</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3.5</xmax><ymax>4</"
    "ymax></bndbox>"
    "</object></annotation>";

}  // namespace

std::vector<Parser> array_parsers() {
  constexpr const char* kPages = "-max_len=65536";
  return {
      {"npy", parse_npy, npy_seeds},
      {"npz", kNpz, npz_seeds},
      {"idx", parse_idx, idx_seeds},
      {"mat", parse_mat, mat_seeds},
      {"pickle", parse_pickle, pickle_seeds},
      {"tar_gz", parse_tar_gz, tar_seeds},
      {"lmdb", parse_lmdb, lmdb_seeds, kPages},
      {"caffe_lmdb", kCaffeLmdb, caffe_seeds, kPages},
      {"datum", parse_datum, datum_seeds},
      {"coco", [](Input input) { read_coco_boxes(text_of(input), "a.json"); }, [] { return texts({kCoco}); }},
      {"voc", parse_voc, [] { return with_choices(2, texts({kVoc})); }},
      {"yolo", [](Input input) { read_yolo_boxes(text_of(input), "a.txt", 3); },
       [] { return texts({"0 0.5 0.5 0.25 1e-1\n2 .1 .2 .3 .4\n"}); }},
  };
}

}  // namespace tpack::fuzz
