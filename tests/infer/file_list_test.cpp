#include "infer/file_list.h"

#include <array>
#include <cstdio>

#include <gmock/gmock-more-matchers.h>

#include "core/error.h"
#include "infer/infer_runs.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> all_of(std::vector<std::string> words) {
  FileList list(std::move(words));
  std::vector<std::string> all;
  while (const auto path = list.next([] {})) all.push_back(path->path);
  return all;
}

TEST(FileList, expands_words_in_their_order) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "images/b");
  write_content(folder / "images/b/2.png", "");
  write_content(folder / "images/1.jpg", "");
  write_content(folder / "images/no.txt", "");
  write_content(folder / "list.txt", "\xEF\xBB\xBFx.png \n\n y.png");
  EXPECT_THAT(
      all_of({"a.png", folder / "images", "@" + (folder / "list.txt"), "z.csv"}),
      ElementsAre("a.png", folder / "images/1.jpg", folder / "images/b/2.png", "x.png", "y.png", "z.csv"));
  FileList list({"a.png", "@" + (folder / "list.txt")});
  EXPECT_THAT(list.known(), ElementsAre("a.png", "x.png", "y.png"));
  EXPECT_EQ(list.next([] {})->path, "a.png") << "known takes none";
  EXPECT_THAT(all_of({}), IsEmpty());
  EXPECT_THROW(all_of({"@" + (folder / "none.txt")}), DataError);
}

TEST(FileList, knows_paths_between_nul_characters) {
  const TemporaryFolder folder;
  write_content(folder / "list", std::string("a b \0c\nd\0", 9));
  EXPECT_THAT(all_of({"@" + (folder / "list")}), ElementsAre("a b ", "c\nd"));
}

/// What a shell prints that runs `script` with the program as $1 and the folder as $2.
std::string printed(const std::string& script, const std::string& folder) {
  write_content(folder + "/script.sh", script);
  const std::string command =
      "bash '" + folder + "/script.sh' '" + testing_cli::program() + "' '" + folder + "' 2>&1";
  std::string text;
  FILE* shell = popen(command.c_str(), "r");
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), shell) != nullptr) text += part.data();
  pclose(shell);
  return text;
}

class StandardInput : public InferRuns {
 protected:
  void SetUp() override {
    write_content(folder_ / "t.csv", "id,u,y\n7,1,no\n9,2,yes\n11,3,yes\n");
    train("{CSV: {file: t.csv, columns: {x: [u]}, labels: {y: y}}}",
          "model: {layers: [{FullyConnected: {name: s, units: 2, input: x}}], cost: [{SoftmaxCrossEntropy: "
          "{logits: s, "
          "labels: y}}]}\npredict: {data: train, outputs: {p: {Softmax: s}}}\n");
  }
};

TEST_F(StandardInput, is_answered_before_it_ends) {
  const std::string text = printed(
      "coproc tpack { \"$1\" infer \"$2/run/checkpoints/model-2.h5\" - --format csv; }\n"
      "echo \"$2/t.csv\" >&${tpack[1]}\n"
      "for line in 1 2 3 4; do read -r -t 100 answer <&${tpack[0]} && echo \"answer: $answer\"; done\n"
      "echo \"$2/t.csv\" >&${tpack[1]}\n"
      "read -r -t 100 answer <&${tpack[0]} && echo \"again: $answer\"\n",
      folder_.str());
  EXPECT_THAT(text, HasSubstr("answer: file,label,score,error\n"));
  EXPECT_THAT(text, HasSubstr("answer: " + (folder_ / "t.csv") + ":4,"));
  EXPECT_THAT(text, HasSubstr("again: " + (folder_ / "t.csv") + ":2,"));
}

TEST_F(StandardInput, is_a_list_of_lines_or_of_texts_that_end_with_nul) {
  const std::string infer = "\"$1\" infer \"$2/run/checkpoints/model-2.h5\" - --format csv | wc -l\n";
  EXPECT_THAT(printed("printf '%s\\n\\n%s' \"$2/t.csv\" \"$2/t.csv\" | " + infer, folder_.str()),
              EndsWith("7\n"));
  EXPECT_THAT(printed("printf '%s\\0%s\\0' \"$2/t.csv\" \"$2/t.csv\" | " + infer, folder_.str()),
              EndsWith("7\n"));
  EXPECT_THAT(printed("true | " + infer, folder_.str()), HasSubstr("no input files")) << "an empty list";
}

/// Rows get the answers that a file with them gets, in batches of any size, and one by one as they come.
TEST_F(StandardInput, is_a_table_whose_lines_are_rows) {
  const std::string infer = "\"$1\" infer \"$2/run/checkpoints/model-2.h5\" - --format csv --columns id,p";
  const std::string of_file = this->infer({folder_ / "t.csv", "--format", "csv", "--columns", "id,p"}).out;
  for (const char* batch : {"", " --batch 1", " --batch 2"}) {
    EXPECT_EQ(printed("cat \"$2/t.csv\" | " + infer + batch + "\n", folder_.str()), of_file) << batch;
  }
  EXPECT_EQ(
      printed("while read -r line; do echo \"$line\"; sleep 0.05; done < \"$2/t.csv\" | " + infer + "\n",
              folder_.str()),
      of_file);
  EXPECT_THAT(printed("printf 'u\\n' | " + infer + "\n", folder_.str()), HasSubstr("id,p")) << "no row";
}

TEST_F(StandardInput, tells_the_line_of_a_row_that_is_bad) {
  const std::string infer = "\"$1\" infer \"$2/run/checkpoints/model-2.h5\" - --format csv --skip-bad\n";
  const std::string text = printed("printf 'u\\n1\\nx\\n3\\n' | " + infer, folder_.str());
  EXPECT_THAT(text, testing::ContainsRegex("\nstdin:3,.*stdin:3"));
  EXPECT_THAT(text, HasSubstr("\nstdin:4,"));
  EXPECT_THAT(text, testing::Not(HasSubstr("/proc/")));
  const std::string quote = printed("printf 'u\\n1\\n\"2\\n3\\n' | " + infer, folder_.str());
  EXPECT_THAT(quote, testing::ContainsRegex("\nstdin:2,(no|yes),")) << "a bad line spoils no other";
  EXPECT_THAT(quote, testing::ContainsRegex("\nstdin:4,(no|yes),"));
  EXPECT_THAT(printed("printf 'none.csv\\n' | " + infer, folder_.str()), HasSubstr("but no rows"));
  EXPECT_THAT(printed("printf 'none.csv\\n%s\\n' \"$2/t.csv\" | " + infer, folder_.str()),
              HasSubstr("check the paths before it"));
  const std::string other = printed("printf 'w\\n1\\n' | " + infer, folder_.str());
  EXPECT_THAT(other, HasSubstr("stdin"));
  EXPECT_THAT(other, testing::Not(HasSubstr("/proc/")));
}

using InferColumns = StandardInput;

TEST_F(InferColumns, are_those_that_were_asked_for) {
  const auto columns = [&](const std::string& names) {
    return infer({folder_ / "t.csv", "--format", "csv", "--columns", names});
  };
  EXPECT_THAT(columns("id,y").out, testing::MatchesRegex("id,y\n7,(no|yes)\n9,(no|yes)\n11,(no|yes)\n"));
  EXPECT_THAT(columns("y,u,file").out, testing::MatchesRegex("y,u,file\n(no|yes),1,.*t.csv:2\n(.|\n)*"));
  EXPECT_THAT(columns("id,p").out, testing::MatchesRegex("id,p\n7,0[.][0-9]+ 0[.][0-9]+\n(.|\n)*"));
  const testing_cli::Outcome unknown = columns("idd,later");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown column 'idd'; did you mean 'id'?"));
  EXPECT_THAT(unknown.err,
              HasSubstr("the outputs of the model are prediction, score, probability.no, probability.yes"));
  EXPECT_EQ(infer({folder_ / "t.csv", "--columns", "id,y"}).out, columns("id,y").out) << "columns are of CSV";
  EXPECT_EQ(infer({folder_ / "t.csv", "--columns", "id,y", "--format", "jsonl"}).code, 2);
}

}  // namespace
}  // namespace tpack
