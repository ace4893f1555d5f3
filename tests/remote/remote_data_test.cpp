#include <chrono>
#include <map>
#include <thread>

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "remote/flow_server.h"
#include "support/live_fields.h"
#include "support/own_process.h"
#include "support/python.h"

namespace tpack {
namespace {

using testing::HasSubstr;

const live::Fields kRemoteFields("source", "RemoteData",
                                 {.left_out = {{"connect", "needs a server"},
                                               {"format", "needs a server"},
                                               {"bind", "needs a server"},
                                               {"server_key", "needs a server"},
                                               {"share", "needs a server"},
                                               {"reconnect_s", "needs a server"},
                                               {"memory_mb", "needs a server"},
                                               {"resume", "needs a server"},
                                               {"components", "needs a server"},
                                               {"size", "needs a server"}}});

/// A server in a thread.
class RunningServer {
 public:
  RunningServer(const DataFlow& flow, const ServerSettings& settings)
      : server_(flow, settings), thread_([this](const std::stop_token& stop) { server_.run(stop); }) {}
  const std::string& address() const { return server_.addresses()[0]; }
  int64_t sent() const { return server_.samples_sent(); }

 private:
  FlowServer server_;
  std::jthread thread_;
};

class RemoteDataTest : public testing::Test {
 protected:
  std::string address(const std::string& name = "a") const { return "ipc://" + folder_.path(name); }
  DataFlow client(const std::string& settings, const std::string& more = "") const {
    return folder_.flow("[{RemoteData: {connect: [" + address() + "]" + settings + "}}" + more + "]");
  }
  static DataFlow digits(const std::string& more = "") {
    return yaml_flow("[{RenderedDigits: {size: 50}}" + more + "]");
  }
  static DataFlow counting(int64_t size, const std::string& more = "") {
    return yaml_flow("[{Counting: {size: " + std::to_string(size) + ", shuffle: true}}" + more + "]");
  }
  std::unique_ptr<RunningServer> serve(const DataFlow& flow, const std::string& name = "a",
                                       ServerSettings settings = {}) const {
    settings.addresses = {address(name)};
    return std::make_unique<RunningServer>(flow, settings);
  }
  TempFolder folder_;
};

/// The first components of the samples of a pass.
Numbers numbers_of(const DataFlow& flow, const Pass& pass = {}) {
  Numbers all;
  const auto cursor = flow.open(pass);
  for (Datapoint d; cursor->next(d);) all.push_back(d.to_tensor(0).at(0));
  return all;
}

/// True if both flows have the same bytes in these passes.
bool same_samples(const DataFlow& a, const DataFlow& b, const Pass& pass) {
  const auto left = a.open(pass);
  const auto right = b.open(pass);
  Datapoint x;
  Datapoint y;
  while (left->next(x)) {
    if (!right->next(y) || x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i)
      if (!bit_equal(x.to_tensor(i), y.to_tensor(i))) return false;
  }
  return !right->next(y);
}

TEST_F(RemoteDataTest, gives_the_passes_of_the_served_flow) {
  const DataFlow served = digits();
  const auto server = serve(served);
  const DataFlow remote = client("");
  remote.prepare();
  EXPECT_EQ(remote.spec().str(), served.spec().str());
  EXPECT_EQ(remote.spec()[1].classes, served.spec()[1].classes);
  EXPECT_TRUE(remote.spec()[0].is_image);
  EXPECT_EQ(remote.size(), 50);
  EXPECT_EQ(remote.seek(), Seek::kExact);
  for (const int64_t pass : {0, 1, 7})
    EXPECT_TRUE(same_samples(served, remote, {.seed = 5, .pass = pass})) << pass;
  for (const int64_t position : {1, 17, 49, 50})
    EXPECT_TRUE(same_samples(served, remote, {.seed = 5, .position = position})) << position;
  EXPECT_TRUE(same_samples(served, remote, {.seed = 5, .shard = 1, .shard_count = 3}));
}

TEST_F(RemoteDataTest, batches_travel_as_one_and_are_samples_here) {
  const DataFlow samples = digits();
  const auto server = serve(digits(", {BatchData: {batch_size: 8, remainder: true}}"));
  const DataFlow remote = client("");
  for (const int64_t position : {0, 3, 8, 47, 49})
    EXPECT_TRUE(same_samples(samples, remote, {.position = position})) << position;
  EXPECT_EQ(remote.size(), 50);
  const DataFlow rebatched = client("", ", {BatchData: 10}");
  auto stream = rebatched.stream({.seed = 2, .passes = 2});
  auto local = digits(", {BatchData: 10}").stream({.seed = 2, .passes = 2});
  int batches = 0;
  while (auto batch = stream->next()) {
    const auto expected = local->next();
    ASSERT_TRUE(expected && bit_equal(batch->tensor(0), expected->tensor(0)));
    ++batches;
  }
  EXPECT_EQ(batches, 10);
}

TEST_F(RemoteDataTest, encoded_images_stay_encoded) {
  const std::string pgm = "P5 4 2 255\n" + std::string(8, '\x40');
  folder_.write_text("photos/a/1.pgm", pgm);
  folder_.write_text("photos/b/2.pgm", pgm);
  const DataFlow served = folder_.flow("[{ImageFolder: photos}]");
  const auto server = serve(served);
  const DataFlow remote = client("");
  const auto cursor = remote.open({});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  ASSERT_TRUE(d.is_image(0) && d.image(0).encoded());
  EXPECT_EQ(d.image(0).encoded_bytes().size(), pgm.size());
  EXPECT_TRUE(same_samples(served, remote, {}));
}

TEST_F(RemoteDataTest, several_servers_take_turns) {
  const DataFlow whole = counting(23, ", {BatchData: {batch_size: 2, remainder: true}}");
  const auto first = serve(whole, "a", {.part = 0, .parts = 2});
  const auto second = serve(whole, "b", {.part = 1, .parts = 2});
  const DataFlow remote = folder_.flow("[{RemoteData: [" + address("a") + ", " + address("b") + "]}]");
  const Numbers expected = numbers_of(counting(23));
  const Numbers all = numbers_of(remote);
  EXPECT_EQ(all, expected) << "parts of one flow, in its order";
  for (const int64_t position : {1, 2, 5, 9, 20, 22, 23})
    EXPECT_EQ(numbers_of(remote, {.position = position}), Numbers(all.begin() + position, all.end()))
        << position;
}

TEST_F(RemoteDataTest, clients_of_a_group_get_each_sample_once) {
  const auto server = serve(counting(2000));
  std::vector<Numbers> found(2);
  {
    std::vector<std::jthread> readers;
    for (size_t i = 0; i < found.size(); ++i)
      readers.emplace_back([&, i] {
        const DataFlow remote = client(", share: all, memory_mb: 1");
        for (const int64_t pass : {0, 1})
          for (const double k : numbers_of(remote, {.pass = pass})) found[i].push_back(k);
      });
  }
  std::map<double, int> count;
  for (const Numbers& one : found)
    for (const double k : one) ++count[k];
  EXPECT_EQ(count.size(), 2000U);
  for (const auto& [k, times] : count) EXPECT_EQ(times, 2) << k;
  const DataFlow third = client(", share: all");
  third.prepare();
  EXPECT_EQ(third.seek(), Seek::kNone) << "a resumed run would get other samples";
  EXPECT_TRUE(numbers_of(third, {.pass = 1}).empty()) << "this pass was given out";
  EXPECT_EQ(numbers_of(client(", share: others"), {.pass = 1}).size(), 2000U);
}

TEST_F(RemoteDataTest, goes_on_when_the_server_is_started_again) {
  const DataFlow served = counting(3000);
  auto server = serve(served);
  const DataFlow remote = client(", memory_mb: 1");
  const auto cursor = remote.open({.seed = 1});
  Numbers found;
  Datapoint d;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(cursor->next(d));
    found.push_back(d.tensor(0).at(0));
  }
  server.reset();
  server = serve(served);
  while (cursor->next(d)) found.push_back(d.tensor(0).at(0));
  EXPECT_EQ(found, numbers_of(served, {.seed = 1}));
}

TEST_F(RemoteDataTest, a_server_with_other_data_is_an_error) {
  auto server = serve(counting(20));
  const DataFlow remote = client("");
  EXPECT_EQ(numbers_of(remote).size(), 20U);
  server.reset();
  server = serve(counting(19));
  EXPECT_THAT(error_of([&] { numbers_of(remote, {.pass = 1}); }),
              AllOf(HasSubstr(address()), HasSubstr("serves other data than before: 19 samples of k int"),
                    HasSubstr("they were 20 samples")));
  server.reset();
  const auto photos = [&](const std::string& dir, const std::string& last) {
    for (const std::string& name : {std::string("a"), last})
      folder_.write(dir + "/" + name + "/1.png", encode_png(photo(4, 4)));
    return folder_.flow("[ImageFolder: {dir: " + dir + ", shuffle: false}, SelectComponent: [label]]");
  };
  server = serve(photos("x", "b"));
  const DataFlow labels = client("");
  EXPECT_EQ(numbers_of(labels), (Numbers{0, 1}));
  server.reset();
  server = serve(photos("y", "c"));
  EXPECT_THAT(error_of([&] { numbers_of(labels, {.pass = 1}); }), HasSubstr("(classes a, c)"));
}

TEST_F(RemoteDataTest, says_why_it_cannot_read) {
  const auto error = [&](const std::string& settings) {
    return error_of([&] { client(settings).prepare(); });
  };
  EXPECT_THAT(error(", reconnect_s: 0"),
              AllOf(HasSubstr(address()), HasSubstr("no server answers within 2 s")));
  auto server = serve(counting(100'000));
  const DataFlow remote = client(", reconnect_s: 0, memory_mb: 1");
  const auto cursor = remote.open({});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  server.reset();
  EXPECT_THAT(error_of([&] {
                while (cursor->next(d)) continue;
              }),
              AllOf(HasSubstr(address()), HasSubstr("the server was stopped")));
}

TEST_F(RemoteDataTest, an_error_of_the_served_flow_reaches_the_client) {
  const DataFlow served =
      yaml_flow("[{PipeData: [sh, -c, 'echo \"{\\\"k\\\": 1}\"; echo the reason >&2; exit 4']}]");
  const auto server = serve(served);
  EXPECT_THAT(error_of([&] { numbers_of(client("")); }),
              AllOf(HasSubstr(address()), HasSubstr("exit code 4"), HasSubstr("the reason")));
}

TEST_F(RemoteDataTest, a_key_is_needed) {
  const CurveKeys keys = CurveKeys::make();
  const auto server = serve(counting(20), "a", {.secret_key = keys.secret_key});
  EXPECT_EQ(numbers_of(client(", server_key: '" + keys.public_key + "'")).size(), 20U);
  const CurveKeys others = CurveKeys::make();
  EXPECT_THAT(
      error_of([&] { client(", reconnect_s: 3, server_key: '" + others.public_key + "'").prepare(); }),
      HasSubstr(address()));
  EXPECT_THAT(error_of([&] { client(", reconnect_s: 3").prepare(); }), HasSubstr(address()));
  EXPECT_EQ(server->sent(), 20);
}

/// Sends what no client sends.
class Stranger {
 public:
  explicit Stranger(const std::string& address) : socket_(std::make_shared<MessageContext>(), ZMQ_DEALER) {
    socket_.connect(address);
  }
  void send(MessageFrames frames) { socket_.send(std::move(frames)); }
  /// The first answer to a request.
  std::string answer_to(const std::string& text) {
    MessageFrames frames;
    frames.emplace_back(text);
    send(std::move(frames));
    constexpr long kMostMs = 60'000;
    zmq_pollitem_t wait{socket_.get(), 0, ZMQ_POLLIN, 0};
    MessageLibrary::get().poll(&wait, 1, kMostMs);
    const auto answer = socket_.receive();
    return answer ? std::string(answer->front().text()) : std::string();
  }

 private:
  MessageSocket socket_;
};

TEST_F(RemoteDataTest, a_server_sends_as_much_as_the_client_has_room_for) {
  const auto server = serve(yaml_flow("[{FakeData: {size: 100, shapes: [[131072]]}}]"));  // 0.5 MB each
  const DataFlow remote = client(", memory_mb: 2");
  const auto cursor = remote.open({});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  // 2 MB wait, and one more may exceed the limit.
  for (int i = 0; i < 100'000; ++i, std::this_thread::yield()) ASSERT_LE(server->sent(), 8);
  int read = 1;
  while (cursor->next(d)) ASSERT_LE(server->sent(), ++read + 8);
  EXPECT_EQ(read, 100);
}

/// A server that declares one number for each sample, and sends something else.
TEST_F(RemoteDataTest, a_client_checks_what_a_server_sends) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {R"({"x": {"dtype": "float32", "shape": [2]}})", "the server declared"},
      {R"({"x": {"dtype": "int32", "shape": []}})", "the server declared"},
      {R"({"y": 1.5})", "has no component 'x'"},
      {"nonsense", "expected a line of JSON"}};
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string name = "false" + std::to_string(i);
    MessageSocket socket(std::make_shared<MessageContext>(), ZMQ_ROUTER);
    socket.bind(address(name));
    const std::jthread server([&, &line = lines[i].first](const std::stop_token& stop) {
      const auto answer = [&](const std::string& peer, RemoteAnswer content, bool has_values) {
        MessageFrames frames;
        frames.emplace_back(peer);
        frames.emplace_back(content.str());
        if (has_values) {
          frames.emplace_back(line);
          if (line.find("shape") != std::string::npos)
            frames.emplace_back(std::string(line.find("[2]") == std::string::npos ? 4 : 8, 'x'));
        }
        socket.send(std::move(frames));
      };
      while (!stop.stop_requested()) {
        zmq_pollitem_t wait{socket.get(), 0, ZMQ_POLLIN, 0};
        MessageLibrary::get().poll(&wait, 1, 20);
        const auto asked = socket.receive();
        if (!asked || asked->size() != 2) continue;
        const RemoteRequest request = RemoteRequest::parse((*asked)[1].text());
        if (request.kind != RemoteRequest::Kind::kHello) continue;
        const std::string peer((*asked)[0].text());
        answer(peer, {.kind = RemoteAnswer::Kind::kSpec, .spec = {.samples = {{"x", {DType::kFloat32, {}}}}}},
               false);
        if (request.hello.reads)
          answer(peer, {.kind = RemoteAnswer::Kind::kItem, .attempt = request.hello.attempt, .samples = 1},
                 true);
      }
    });
    const DataFlow remote = folder_.flow("[{RemoteData: [" + address(name) + "]}]");
    EXPECT_THAT(error_of([&] { numbers_of(remote); }),
                AllOf(HasSubstr(address(name)), HasSubstr(lines[i].second)));
  }
}

TEST_F(RemoteDataTest, a_place_that_no_pass_has_is_refused) {
  const auto answer = [&](const std::string& name, int64_t index) {
    return Stranger(address(name))
        .answer_to(RemoteRequest{.kind = RemoteRequest::Kind::kHello, .hello = {.index = index}}.str());
  };
  constexpr int64_t kHuge = int64_t{1} << 39U;
  const auto finite = serve(counting(20, ", {BatchData: 5}"));
  EXPECT_THAT(answer("a", 21),
              AllOf(HasSubstr("refused"), HasSubstr("sample 21"), HasSubstr("has 20 samples")));
  EXPECT_THAT(answer("a", 20), HasSubstr("spec")) << "the end of a pass";
  const auto endless = serve(yaml_flow("[{CountingInOrder: 20}, Filter: k >= 0, RepeatedData]"), "b");
  EXPECT_THAT(answer("b", kHuge),
              AllOf(HasSubstr("refused"), HasSubstr("never ends"), HasSubstr("at most 10,000,000"),
                    HasSubstr("RepeatedData at the client")));
  EXPECT_THAT(answer("b", 1000), HasSubstr("spec"));
  const auto by_index = serve(yaml_flow("[{Counting: 20}, RepeatedData]"), "c");
  EXPECT_THAT(answer("c", kHuge), HasSubstr("spec")) << "it can begin anywhere";
}

TEST_F(RemoteDataTest, a_server_survives_what_strangers_send) {
  const auto server = serve(counting(20));
  Stranger stranger(address());
  const auto refusal = [&](const std::string& text) { return stranger.answer_to(text); };
  EXPECT_THAT(refusal("hello"), HasSubstr("refused"));
  EXPECT_THAT(refusal(""), HasSubstr("refused"));
  EXPECT_THAT(refusal(R"({"type":"hello","protocol":99})"), HasSubstr("version 99"));
  EXPECT_THAT(refusal(R"({"type":"hello","protocol":1,"seed":-1})"), HasSubstr("refused"));
  EXPECT_THAT(refusal(R"({"type":"steal","protocol":1})"), HasSubstr("unknown type"));
  const std::string good = RemoteRequest{.kind = RemoteRequest::Kind::kHello}.str();
  for (size_t size = 0; size < good.size(); ++size)
    ASSERT_THAT(refusal(good.substr(0, size)), HasSubstr("refused")) << size;
  MessageFrames many;
  for (int i = 0; i < 100; ++i) many.emplace_back(good);
  stranger.send(std::move(many));
  MessageFrames large;
  large.emplace_back(std::string(1 << 20, 'x'));
  stranger.send(std::move(large));
  EXPECT_EQ(numbers_of(client("")).size(), 20U);
}

TEST_F(RemoteDataTest, a_client_may_stop_early) {
  const auto server = serve(counting(100'000));
  for (int i = 0; i < 3; ++i) {
    const DataFlow remote = client(", memory_mb: 1");
    const auto cursor = remote.open({});
    Datapoint d;
    ASSERT_TRUE(cursor->next(d));
  }
  EXPECT_LT(server->sent(), 100'000) << "no more than the clients have memory for";
  auto stream = client("", ", {BatchData: 4}").stream({});
  EXPECT_TRUE(stream->next());
}

TEST_F(RemoteDataTest, clients_leave_no_socket_and_no_thread) {
  const auto server = serve(counting(20));
  const auto use = [&](int n) {
    const DataFlow remote = client(n % 3 == 2 ? ", reconnect_s: 3" : "");
    if (n % 3 == 0) return remote.prepare();  // not read
    if (n % 3 == 1) {
      EXPECT_EQ(numbers_of(remote).size(), 20U);
    }
    Datapoint d;
    EXPECT_TRUE(remote.open({.pass = n})->next(d));
  };
  for (int n = 0; n < 5; ++n) use(n);
  const size_t threads_before = threads();
  const size_t files_before = open_files();
  for (int n = 0; n < 50; ++n) use(n);
  EXPECT_LE(threads_left(threads_before), threads_before);
  EXPECT_LE(files_left(files_before), files_before);
}

TEST_F(RemoteDataTest, a_group_goes_on_inexactly_if_asked) {
  const auto server = serve(counting(20));
  const DataFlow remote = client(", share: all, resume: inexact");
  remote.prepare();
  EXPECT_EQ(remote.seek(), Seek::kExact);
  EXPECT_EQ(numbers_of(remote, {.position = 5}).size(), 20U) << "whatever the server has not given out";
}

TEST_F(RemoteDataTest, chooses_components_of_what_tensorpack_sends) {
  MessageSocket sender(std::make_shared<MessageContext>(), ZMQ_PUSH);
  sender.connect(address());
  for (int k = 1; k <= 5; ++k) {  // pickles of [k, k + 10, k + 20]
    const auto byte = [](int value) { return std::string(1, static_cast<char>(value)); };
    MessageFrames frames;
    frames.emplace_back("\x80\x02](K" + byte(k) + "K" + byte(k + 10) + "K" + byte(k + 20) + "e.");
    ASSERT_TRUE(sender.send(std::move(frames)));
  }
  const std::string feed = "RemoteData: {format: tensorpack, bind: '" + address() + "', size: 3, ";
  const DataFlow remote = folder_.flow("[{" + feed + "components: {label: 2, more: 0}, resume: inexact}}]");
  remote.prepare();
  EXPECT_EQ(remote.spec().str(), "label int32 [], more int32 []");
  EXPECT_EQ(remote.seek(), Seek::kExact);
  EXPECT_EQ(numbers_of(remote, {.position = 1}), (Numbers{21, 22})) << "other samples than the second";
}

TEST_F(RemoteDataTest, components_are_for_tensorpack) {
  EXPECT_THAT(error_of([&] { client(", components: {x: 0}"); }),
              AllOf(HasSubstr("components"), HasSubstr("format: tensorpack")));
}

TEST_F(RemoteDataTest, reads_what_tensorpack_sends) {
  if (!std::filesystem::exists(test_python()))
    GTEST_SKIP() << "no Python: set TPACK_PYTHON to one that has the packages of the tests";
  const DataFlow remote =
      folder_.flow("[{RemoteData: {format: tensorpack, bind: '" + address() + "', size: 6}}]");
  PythonResult result;
  std::jthread sender([&] { result = run_python("python/send_dataflow.py", address()); });
  const std::string error = error_of([&] { remote.prepare(); });
  if (error != "no error") {
    sender.join();
    if (!result.missing.empty()) GTEST_SKIP() << result.missing;
    FAIL() << error;
  }
  EXPECT_EQ(remote.spec().str(), "image uint8 [4, 4, 3], label int32 []");
  EXPECT_EQ(remote.seek(), Seek::kNone);
  for (int64_t pass = 0; pass < 2; ++pass) {
    const auto cursor = remote.open({.pass = pass});
    Datapoint d;
    for (int64_t i = 0; i < 6; ++i) {
      ASSERT_TRUE(cursor->next(d));
      EXPECT_EQ(d.to_tensor(0).at(0), static_cast<double>(i + 6 * pass) + 100) << "the order of the sender";
      EXPECT_EQ(d.to_tensor(1).at(0), static_cast<double>(i + 6 * pass));
    }
    EXPECT_FALSE(cursor->next(d));
  }
}

}  // namespace
}  // namespace tpack
