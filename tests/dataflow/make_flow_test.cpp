#include "core/text.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/map/tensor_map.h"
#include "dataflow/test_images.h"
#include "support/captured_log.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

std::string mistake(const ConfigNode& node, const FlowScope& scope = {}) {
  return error_of([&] { make_flow(node, scope); });
}

TEST(MakeFlow, a_flow_starts_with_a_source) {
  EXPECT_EQ(
      mistake(list({item("BatchData", {{"batch_size", 2}})})),
      "a flow must start with a source, but BatchData is a stage; put a source before it, such as Mnist: "
      "{split: train}");
  EXPECT_EQ(mistake(list({item("Counting", 2), item("Counting", 2)})),
            "source Counting must be the first item of a flow; use JoinData to join flows");
  EXPECT_EQ(mistake(list({})), "a flow needs at least a source, as in [Mnist: {split: train}]");
}

TEST(MakeFlow, reports_all_mistakes_of_a_list) {
  EXPECT_EQ(mistake(list(
                {item("Countin", 2), item("BatchData", {{"batchsize", 2}}), item("Picky", {{"fail", "x"}})})),
            "unknown source, map or stage 'Countin'; did you mean 'Counting'?\n"
            "unknown key 'batchsize' in stage BatchData; did you mean 'batch_size'?\n"
            "stage BatchData: 'batch_size' is missing (samples per batch)\n"
            "'fail' of map Picky: expected an integer, found the string 'x'");
}

TEST(MakeFlow, names_of_flows_are_followed) {
  const FlowScope scope = {{"base", list({item("Counting", 3)})},
                           {"loop", list({item("JoinData", list({"loop"}))})}};
  EXPECT_EQ(make_flow("base", scope).size(), 3);
  EXPECT_EQ(make_flow(list({item("JoinData", list({"base"}))}), scope).size(), 3);
  EXPECT_EQ(mistake("bass", scope), "unknown flow 'bass'; did you mean 'base'?");
  EXPECT_EQ(mistake("loop", scope), "the flow 'loop' contains itself: loop -> loop");
}

TEST(MakeFlow, what_names_another_flow_says_more_than_that_one) {
  const ConfigNode picky = list({item("Counting", 6), item("Picky", {{"fail", 2}})});
  const FlowScope scope = {{"raw", ConfigNode::map({{"flow", picky}, {"workers", 2}, {"prefetch", 5}})}};
  const DataFlow flow =
      make_flow(ConfigNode::map({{"flow", "raw"}, {"workers", 3}, {"on_error", "skip"}}), scope);
  EXPECT_EQ(flow.settings().workers.count, 3);
  EXPECT_EQ(flow.settings().prefetch, 5);
  EXPECT_EQ(flow.settings().on_error, OnError::kSkip);
  EXPECT_EQ(first_component(flow), (std::vector<int64_t>{0, 1, 3, 4, 5}));
}

TEST(MakeFlow, batches_need_known_shapes) {
  const TempFolder folder;
  EXPECT_EQ(mistake(list({item("ImageFolder", folder.path()), item("BatchData", {{"batch_size", 2}})})),
            "batch_data_0: component 'image' is uint8 [?, ?, 3]; samples of one batch need equal shapes; put "
            "AugmentImageComponent with a Resize or a crop before it");
}

TEST(MakeFlow, the_long_form_checks_its_keys) {
  EXPECT_EQ(mistake(ConfigNode::map({{"flow", list({item("Counting", 3)})}, {"worker", 2}})),
            "unknown key 'worker' in the flow; did you mean 'workers'?");
  EXPECT_EQ(mistake(3), "the flow: expected a map of parameters {key: value}, found the number 3");
  EXPECT_EQ(mistake(ConfigNode::map({{"workers", 2}})),
            "the flow: 'flow' is missing (list of components, from source to batch)");
}

/// Settings, spec and two passes of a flow, as text; or the error if there is none.
std::string content_of_flow(const std::string& items_yaml) {
  const DataFlow flow = make_flow(parse_yaml(items_yaml, "flow.yaml"));
  std::string text = std::to_string(flow.settings().workers.count) + " workers, " +
                     std::to_string(flow.settings().prefetch) + " ahead: " + flow.spec().str();
  const auto read = [&](int64_t pass) {
    const auto cursor = flow.open({.seed = 1, .pass = pass});
    Datapoint d;
    for (int n = 0; n < 30 && cursor->next(d); ++n) {
      for (size_t i = 0; i < d.size(); ++i) {
        const Tensor& value = d.to_tensor(i);
        const std::string_view bytes(reinterpret_cast<const char*>(value.raw()), value.bytes());
        text += "\n" + value.spec().str() + " " + std::to_string(stable_hash(bytes));
      }
    }
  };
  text += error_of([&] { read(0); });
  text += error_of([&] { read(1); });
  return text;
}

/// Both splits of a data set of that many images, in their own folder.
void write_mnist(const TempFolder& folder, const std::string& name, uint8_t count) {
  for (const std::string split : {"train", "t10k"}) {
    std::vector<uint8_t> labels(count, split == "train" ? 1 : 2);
    labels[0] = 0;
    folder.write(name + "/" + split + "-images-idx3-ubyte", mnist_images(count));
    folder.write(name + "/" + split + "-labels-idx1-ubyte", mnist_labels(labels));
  }
}

TEST(Sources, have_no_field_without_effect) {
  const TempFolder folder;
  for (int i = 0; i < 9; ++i)
    folder.write(std::string(i % 2 == 0 ? "a/" : "b/") + std::to_string(i) + ".png",
                 encode_png(photo(4 + i, 5)));
  folder.write("other/c/0.png", encode_png(photo(7, 5)));
  for (const std::string dataset : {"mnist", "fashion-mnist"}) {
    write_mnist(folder, "first/" + dataset, 5);
    write_mnist(folder, "second/" + dataset, 6);
  }
  const live::Component in_files = {.base = "{dir: " + folder.path("first") + "}",
                                    .values = {{"dir", folder.path("second")}}};
  const live::Components components = {
      {"FakeData",
       {.base = "{shapes: [[2], [3]], size: 4}",
        .values = {{"shapes", "[[2]]"}, {"dtype", "[int32]"}, {"names", "[x]"}, {"domain", "[2, 3]"}}}},
      {"JoinData", {.base = "{flows: [[Counting: 3]]}", .values = {{"flows", "[[Counting: 4]]"}}}},
      {"RenderedDigits", {.base = "{size: 4}", .values = {{"resolution", "20"}, {"difficulty", "0.5"}}}},
      {"ImageFolder", {.base = "{dir: " + folder.path() + "}", .values = {{"dir", folder.path("other")}}}},
      {"Mnist", in_files},
      {"FashionMnist", in_files},
      {"Late",
       {.left_out = {{"size", "a source of these tests"}, {"side", "the same"}, {"absent", "the same"}}}},
      {"CountingInOrder", {.left_out = {{"shuffle", "a source of these tests"}}}}};
  const auto content = [](const std::string& item) { return content_of_flow("[" + item + "]"); };
  EXPECT_THAT(live::dead_fields(Registry<Source>::table(), components, content), testing::IsEmpty());
}

TEST(TensorMaps, have_no_field_without_effect) {
  const auto content = [](const std::string& item) {
    return content_of_flow(
        "[{FakeData: {shapes: [[]], names: [x], size: 5, domain: [0, 3], dtype: [int32]}}, "
        "{MapData: {component: x, map: " +
        item + "}}]");
  };
  EXPECT_THAT(
      live::dead_fields(Registry<TensorMap>::table(), {{"OneHot", {.base = "{classes: 4}"}}}, content),
      testing::IsEmpty());
}

TEST(Stages, have_no_field_without_effect) {
  const live::Components components = {
      {"BatchData", {.base = "{batch_size: 3}"}},
      {"FixedSizeData", {.base = "{size: 3}"}},
      {"LocallyShuffleData", {.base = "{buffer_size: 4}"}},
      {"MultiThreadMapData",
       {.base = "{component: x, map: {Scale: {scale: 2}}}",
        .values = {{"component", "y"}, {"map", "{Scale: {scale: 3}}"}, {"num_thread", "3"}}}},
      {"PrefetchData", {.values = {{"num_proc", "3"}}}}};
  const auto content = [](const std::string& item) {
    return content_of_flow("[{FakeData: {shapes: [[], []], names: [x, y], size: 10}}, " + item + "]");
  };
  EXPECT_THAT(live::dead_fields(Registry<Stage>::table(), components, content), testing::IsEmpty());
}

TEST(Maps, have_no_field_without_effect) {
  const std::string own = "a map of these tests";
  const live::Components components = {
      {"MapData",
       {.base = "{component: label, map: {Scale: {scale: 2}}}",
        .values = {{"component", "image"}, {"map", "{Scale: {scale: 3}}"}}}},
      {"SelectComponent", {.base = "{components: [label]}", .values = {{"components", "[image]"}}}},
      {"AugmentImageComponent",
       {.base = "{augmentors: [{CenterCrop: 24}]}",
        .values = {{"augmentors", "[{CenterCrop: 20}]"}, {"component", "label"}}}},
      {"PrintData", {.values = {{"name", "here"}}}},
      {"Picky", {.left_out = {{"drop_every", own}, {"fail", own}, {"fail_all", own}}}}};
  const auto content = [](const std::string& item) {
    const CapturedLog log;
    const std::string flow = content_of_flow("[{RenderedDigits: {size: 3}}, " + item + "]");
    return flow + log.text();
  };
  EXPECT_THAT(live::dead_fields(Registry<Map>::table(), components, content), testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
