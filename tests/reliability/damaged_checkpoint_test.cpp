// The checkpoint of a real run, truncated and with flipped bits: always rejected, with its path.
#include <cstdint>

#include "comparison.h"
#include "training.h"

namespace tpack::reliability {
namespace {

class DamagedCheckpoint : public Training {
 protected:
  DamagedCheckpoint() {
    train_well("run", {"--set", "max_epoch=1"});
    whole_ = content_of(checkpoint(25, "run"));
  }

  /// The error of loading a file with this content, which must start with its path; "" if it loads.
  std::string complaint(const std::string& content) const {
    write_content(damaged(), content);
    try {
      load_checkpoint(damaged());
    } catch (const CheckpointError& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find(damaged() + ": "), 0U) << text;
      return text.substr(damaged().size() + 2);
    }
    return "";
  }
  std::string with_flipped_bit(size_t bit) const {
    std::string content = whole_;
    content[bit / 8] = static_cast<char>(content[bit / 8] ^ (1 << (bit % 8)));
    return content;
  }
  std::string damaged() const { return folder_ / "damaged.h5"; }

  std::string whole_;
};

TEST_F(DamagedCheckpoint, is_detected_when_truncated_at_two_hundred_places) {
  for (size_t i = 0; i < 200; ++i) {
    const size_t length = whole_.size() * i / 200;
    EXPECT_EQ(complaint(whole_.substr(0, length)).find("is truncated: it has " + std::to_string(length)), 0U)
        << length;
  }
  EXPECT_NE(complaint(whole_.substr(0, whole_.size() - 1)), "");
}

TEST_F(DamagedCheckpoint, is_detected_with_any_of_two_thousand_flipped_bits) {
  constexpr size_t kFlips = 2000;
  const size_t bits = whole_.size() * 8;
  ASSERT_GT(bits, kFlips);
  for (size_t i = 0; i < kFlips; ++i) {
    const size_t bit = bits * i / kFlips + i % 8;  // spread over the whole file, and over the bits of a byte
    EXPECT_NE(complaint(with_flipped_bit(bit)), "") << "bit " << bit;
  }
  EXPECT_EQ(complaint(whole_), "");
}

TEST_F(DamagedCheckpoint, ends_every_command_with_exit_4_and_its_path) {
  write_content(damaged(), with_flipped_bit(whole_.size() * 4));
  const std::vector<std::vector<std::string>> commands = {
      {"ckpt", "verify", damaged()},
      {"ckpt", "inspect", damaged()},
      {"ckpt", "diff", checkpoint(25, "run"), damaged()},
      {"infer", damaged(), "image.png"},
      {"eval", damaged()},
      {"train", config_, "--log-dir", run_folder("resumed"), "--resume", damaged()},
      {"train", config_, "--log-dir", run_folder("begun"), "--set", "init={from: " + damaged() + "}"}};
  for (const auto& words : commands) {
    SCOPED_TRACE(words[0] + " " + words[1]);
    const Outcome outcome = testing_cli::tpack(words);
    EXPECT_EQ(outcome.code, 4) << outcome.err;
    EXPECT_EQ(testing_cli::last_line(outcome.err),
              "error: " + damaged() +
                  ": is damaged: its content does not match its digest (if it was edited on purpose: "
                  "tpack ckpt sign)");
  }
}

}  // namespace
}  // namespace tpack::reliability
