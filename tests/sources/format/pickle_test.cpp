#include "sources/format/pickle.h"

#include <cstdio>
#include <random>

#include "dataflow/flow_helpers.h"
#include "support/python.h"

namespace tpack {
namespace {

using namespace std::string_literals;

StoredBytes bytes_in(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string hex(StoredBytes bytes) {
  std::string out;
  for (const uint8_t byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return out;
}

std::string render(const StoredValue& value);

std::string render_all(const std::vector<StoredValue>& values, const std::string& end) {
  std::string out;
  for (const StoredValue& value : values) out += render(value) + end;
  return out;
}

/// As in write_pickles.py.
struct Render {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    std::array<char, 40> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "f%.17g", value);
    return buffer.data();
  }
  std::string operator()(std::string_view text) const { return "t" + hex(bytes_in(text)); }
  std::string operator()(StoredBytes bytes) const { return "b" + hex(bytes); }
  std::string operator()(const StoredList* list) const { return "[" + render_all(list->items, ";") + "]"; }
  std::string operator()(const StoredDict* dict) const {
    std::string out;
    for (const auto& [key, value] : dict->entries) out += render(key) + ":" + render(value) + ";";
    return "{" + out + "}";
  }
  std::string operator()(const StoredArray* array) const {
    std::string sides;
    for (const int64_t side : array->shape) sides += (sides.empty() ? "" : ", ") + std::to_string(side);
    const std::string data = array->dtype == "|O" ? render_all(array->objects, "") : hex(array->data);
    return "array(" + array->dtype + " [" + sides + "] " + (array->is_fortran ? "F " : "C ") + data + ")";
  }
  std::string operator()(const StoredObject* object) const { return "object(" + object->name + ")"; }
  std::string operator()(const StoredReference* reference) const {
    return "reference(" + render(reference->id) + ")";
  }
};

std::string render(const StoredValue& value) { return std::visit(Render{}, value.data()); }

/// The value of a pickle, as text.
std::string content(std::string_view pickle) { return render(read_pickle(bytes_in(pickle)).value); }
std::string rejected(std::string_view pickle) {
  return error_of([pickle] { read_pickle(bytes_in(pickle)); });
}

std::string file_content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Pickle, has_the_values_that_python_stored) {
  const TempFolder folder;
  const PythonResult written = run_python("python/write_pickles.py", folder.path());
  if (!written.missing.empty()) GTEST_SKIP() << written.missing;
  ASSERT_EQ(written.exit_code, 0) << written.output;
  for (const std::string name : {"plain", "texts", "lists", "dicts", "arrays", "scalars", "objects"}) {
    for (int protocol = 0; protocol <= 5; ++protocol) {
      const std::string pickle = file_content(folder.path(name + "." + std::to_string(protocol)));
      std::string expected = file_content(folder.path(name + ".txt"));
      const std::string was = "object(builtins.";  // their names before protocol 3
      const std::string is = "object(__builtin__.";
      for (size_t at = 0; protocol < 3 && (at = expected.find(was, at)) != std::string::npos; ++at)
        expected.replace(at, was.size(), is);
      const size_t range = expected.find("builtin__.range");
      if (range != std::string::npos) expected.replace(range, 15, "builtin__.xrange");
      EXPECT_EQ(content(pickle), expected) << name << " " << protocol;
    }
  }
}

/// Written by Python 2: cPickle.dumps({'data': numpy.array([[1, 2]], 'uint8'), 'labels': [3]}, 2).
TEST(Pickle, reads_what_python2_stored) {
  const std::string pickle =
      "\x80\x02}q\x01(U\x04"
      "dataq\x02"
      "cnumpy.core.multiarray\n_reconstruct\nq\x03"
      "cnumpy\nndarray\nq\x04K\x00\x85U\x01"
      "b\x87Rq\x05(K\x01K\x01K\x02\x86"
      "cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01\x87Rq\x07(K\x03U\x01|"
      "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
      "\x89U\x02\x01\x02tbU\x06labelsq\x08]q\x09K\x03"
      "au."s;
  const Pickle read = read_pickle(bytes_in(pickle));
  const StoredDict* const dict = read.value.dict();
  ASSERT_NE(dict, nullptr);
  EXPECT_EQ(read.value.str(), "a dict of data, labels");
  const StoredValue* const data = dict->find("data");
  ASSERT_NE(data, nullptr);
  ASSERT_NE(data->array(), nullptr);
  EXPECT_EQ(data->str(), "an array |u1 [1, 2]");
  // a window of the pickle
  EXPECT_EQ(data->array()->data.data(), bytes_in(pickle).data() + pickle.find("\x01\x02tbU"));
  EXPECT_EQ(render(*dict->find("labels")), "[3;]");
  EXPECT_EQ(dict->find("label"), nullptr);
  EXPECT_EQ(read.size, pickle.size());
}

TEST(Pickle, reads_the_instructions_of_old_protocols) {
  EXPECT_EQ(content("(lp0\nI1\naL-5L\naI01\naF0.5\naNa."), "[1;-5;True;f0.5;None;]");
  EXPECT_EQ(content("S'a\\x80\\n\\'\\101'\n."), "b61800a2741");
  EXPECT_EQ(content("V\\u20ac\xe9\\ud83d\\ude00\\ud83d\n."), "te282acc3a9f09f9880efbfbd");
  EXPECT_EQ(content("(dp0\nS'k'\nI2\ns."), "{b6b:2;}");
  EXPECT_EQ(content("(S'k'\nI2\nd0(I1\nI2\nt."), "[1;2;]");
  EXPECT_EQ(content("(I1\n(I2\n1I3\nl."), "[1;3;]");
  EXPECT_EQ(content("I1\n2\x86."), "[1;1;]");
  EXPECT_EQ(content("(I1\nimodule\nKlass\n."), "object(module.Klass)");
  EXPECT_EQ(content("(cmodule\nKlass\nI1\no."), "object(module.Klass)");
  EXPECT_EQ(content("\x82\x07."), "object(copyreg extension 7)");
  EXPECT_EQ(content("ccopy_reg\n_reconstructor\n(cmodule\nKlass\nc__builtin__\nobject\nNtR."),
            "object(module.Klass)");
}

TEST(Pickle, keeps_persistent_ids_and_arguments) {
  EXPECT_EQ(content("P17\n."), "reference(t3137)");
  const Pickle read = read_pickle(bytes_in("ctorch._utils\n_rebuild_tensor\n(U\x07storageQK\x05tR}b."));
  const StoredObject* const object = read.value.object();
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->name, "torch._utils._rebuild_tensor");
  ASSERT_EQ(object->arguments.size(), 2U);
  EXPECT_EQ(render(object->arguments[0]), "reference(b73746f72616765)");
  EXPECT_EQ(object->arguments[1].integer(), 5);
  EXPECT_EQ(render(object->state), "{}");
}

/// The stream has a dict as a key of itself, and then takes it for a list, so the error describes it.
TEST(Pickle, a_dict_that_is_a_key_of_itself_can_be_described) {
  EXPECT_EQ(rejected("(dp0\ng0\nI1\nsI1\na."),
            "invalid pickle at byte 15: values appended to a dict of a dict");
}

TEST(Pickle, stops_at_its_end) {
  const Pickle read = read_pickle(bytes_in("K\x01.K\x02."));
  EXPECT_EQ(read.value.integer(), 1);
  EXPECT_EQ(read.size, 3U);
}

TEST(Pickle, runs_nothing) {
  const TempFolder folder;
  const std::string path = folder.path("made");
  EXPECT_EQ(content("cos\nsystem\n(S'touch " + path + "'\ntR."), "object(os.system)");
  EXPECT_EQ(content("c__builtin__\neval\n(S'1'\ntR."), "object(__builtin__.eval)");
  EXPECT_EQ(content("(S'touch " + path + "'\nios\nsystem\n."), "object(os.system)");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Pickle, names_what_is_wrong) {
  const std::vector<std::pair<std::string, std::string>> errors = {
      {"", "byte 0: it ends early: 1 bytes are expected, 0 are left"},
      {"\x80\x06N."s, "byte 0: protocol 6; at most 5 is known"},
      {"N\xff."s, "byte 1: unknown instruction 255"},
      {"B\xff\xff\xff\xff"s, "byte 0: it ends early: 4294967295 bytes are expected, 0 are left"},
      {"\x8e\xff\xff\xff\xff\xff\xff\xff\xff"s, "18446744073709551615 bytes are expected"},
      {"\x8b\xff\xff\xff\x7f"s, "2147483647 bytes are expected"},
      {"\x95\xff\x00\x00\x00\x00\x00\x00\x00N."s, "a frame that is longer than the rest"},
      {"."s, "byte 0: it takes a value that is not there"},
      {"(."s, "a value that is not there"},
      {"Nt."s, "a mark that is not there"},
      {"h\x05."s, "no memo of number 5"},
      {"Nr\xff\xff\xff\xff."s, "a memo of number 4294967295"},
      {"NNa."s, "values appended to None"},
      {"K\x01K\x01K\x01s."s, "keys set in the integer 1"},
      {"(NNNd."s, "a key without a value"},
      {"K\x01)R."s, "a call of the integer 1"},
      {"cos\nsystem\nNR."s, "a call with None in place of arguments"},
      {"K\x01Nb."s, "a state of the integer 1"},
      {"NN\x93."s, "a class without a name"},
      {"I1x\n."s, "an invalid integer"},
      {"Fx\n."s, "an invalid float"},
      {"S'a\n."s, "a string without quotes"},
      {"S'\\x8'\n."s, "an invalid escape"},
      {"V\\u12\n."s, "an invalid escape"},
      {"I1"s, "it ends in a line of text"},
      {"\x97."s, "bytes outside of the file (pickle.dumps with buffer_callback)"},
      {"]q\x00h\x00"
       "a."s,
       "nested deeper than 100 levels, or a list that contains itself"},
  };
  for (const auto& [pickle, error] : errors)
    EXPECT_TRUE(says(rejected(pickle), {"invalid pickle at byte ", error})) << hex(bytes_in(pickle));
}

TEST(Pickle, of_an_array_that_does_not_fit_is_an_error) {
  const auto array = [](const std::string& state) {
    return "cnumpy._core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n" + state + "tb.";
  };
  const auto type = [](const std::string& code) { return "cnumpy\ndtype\n(S'" + code + "'\nI0\nI1\ntR"; };
  EXPECT_EQ(content(array("(I3\nt" + type("u1") + "I00\nS'abc'\n")), "array(|u1 [3] C 616263)");
  EXPECT_TRUE(says(rejected(array("(I4\nt" + type("u1") + "I00\nS'abc'\n")), {"|u1", "[4]", "3 bytes"}));
  EXPECT_TRUE(says(rejected(array("(I-1\nt" + type("u1") + "I00\nS'abc'\n")), {"negative"}));
  const std::string huge = "(I4294967296\nI4294967296\nI4294967296\nt";
  EXPECT_TRUE(says(rejected(array(huge + type("f8") + "I00\nS''\n")), {"<f8", "with 0 bytes"}));
  EXPECT_TRUE(says(rejected(array("(I3\nt" + type("q1") + "I00\nS'abc'\n")), {"type '<q1'"}));
  EXPECT_TRUE(says(rejected(array("(I3\ntS'u1'\nI00\nS'abc'\n")), {"an array of the type 2 bytes"}));
  EXPECT_TRUE(says(rejected(array("(I3\nt" + type("O8") + "I00\n(lN")), {"invalid state"}));
  EXPECT_TRUE(says(rejected(array("(I3\nt" + type("O8") + "I00\n(l")), {"|O", "0 elements"}));
}

TEST(Pickle, that_would_grow_is_an_error) {
  // Each list has the last one twice: 2^60 lists.
  std::string bomb = "]";
  for (int i = 0; i < 60; ++i) bomb += "2\x86";
  EXPECT_TRUE(says(rejected(bomb + "."), {"too many values"}));
  EXPECT_TRUE(
      says(rejected(std::string(1000, ']') + std::string(999, 'a') + "."), {"nested deeper than 100"}));
  // A name of 100 kB that each use copies.
  std::string names = "X\xa0\x86\x01\x00"s + std::string(100'000, 'n') + "q\x00"s;
  for (int i = 0; i < 1000; ++i) names += "h\x00h\x00\x93"s;
  EXPECT_TRUE(says(rejected(names + "."), {"too much memory"}));
  std::string encodings = "c_codecs\nencode\nq\x01X\xa0\x86\x01\x00"s + std::string(100'000, 'n') + "q\x00"s;
  for (int i = 0; i < 1000; ++i) encodings += "h\x01h\x00U\x06latin1\x86R"s;
  EXPECT_TRUE(says(rejected(encodings + "."), {"too much memory"}));
}

std::vector<std::string> examples() {
  return {
      "\x80\x02}q\x01(U\x01"
      "dcnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01"
      "b\x87R(K\x01K\x02\x85"
      "cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
      "\x89U\x02\x01\x02tbU\x01lK\x03u."s,
      "\x80\x05\x95\x1a\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01x\x94]\x94(K\x01G?"
      "\xe0\x00\x00\x00\x00\x00\x00"
      "eh\x01\x43\x01zu."s,
      "(dp0\nS'k'\np1\n(lp2\nI1\naL5L\naF0.5\naVu\\u20ac\naNasg1\nP7\ns."};
}

TEST(Pickle, that_ends_anywhere_is_an_error) {
  for (const std::string& pickle : examples()) {
    read_pickle(bytes_in(pickle));
    for (size_t size = 0; size < pickle.size(); ++size)
      EXPECT_TRUE(says(rejected(pickle.substr(0, size)), {"invalid pickle at byte "})) << size;
  }
}

TEST(Pickle, that_is_damaged_is_read_or_an_error) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string pickle = examples()[random() % examples().size()];
    for (size_t changes = 1 + random() % 3; changes > 0; --changes)
      pickle[random() % pickle.size()] = static_cast<char>(random());
    try {
      render(read_pickle(bytes_in(pickle)).value);
    } catch (const DataError&) {
    }
  }
}

}  // namespace
}  // namespace tpack
