#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>
#include <utility>

#include "core/text.h"

namespace tpack {
namespace {

using Words = std::vector<std::string>;

/// Words of other libraries, and their names in tpack. Both sides of a comparison are translated, so names of
/// tpack may also be on the left.
constexpr std::array<std::pair<std::string_view, std::string_view>, 32> kSameMeaning = {
    {{"acc", "accuracy"},
     {"act", "activation"},
     {"avg", "average"},
     {"bn", "batch_norm"},
     {"bs", "batch_size"},
     {"channels", "filters"},
     {"ce", "cross_entropy"},
     {"clipping", "clip"},
     {"dense", "fully_connected"},
     {"dir", "folder"},
     {"directory", "folder"},
     {"epochs", "max_epoch"},
     {"err", "error"},
     {"fc", "fully_connected"},
     {"features", "units"},
     {"img", "image"},
     {"init", "initializer"},
     {"linear", "fully_connected"},
     {"loss", "cost"},
     {"lr", "learning_rate"},
     {"neurons", "units"},
     {"normalization", "norm"},
     {"opt", "optimizer"},
     {"pool", "pooling"},
     {"prob", "probability"},
     {"probs", "probability"},
     {"std", "standard_deviation"},
     {"stddev", "standard_deviation"},
     {"val", "validation"},
     {"valid", "validation"},
     {"wd", "weight_decay"},
     {"xent", "cross_entropy"}}};

std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '_' || c == '-') continue;
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// "val_Acc" and "ValAcc" -> {"validation", "accuracy"}.
Words words_of(std::string_view name) {
  std::string text = snake_case(name);
  for (const char separator : {'.', '/', '-', ' '}) std::replace(text.begin(), text.end(), separator, '_');
  Words words;
  for (const std::string& word : split(text, '_')) {
    const auto* const same = std::find_if(kSameMeaning.begin(), kSameMeaning.end(),
                                          [&](const auto& pair) { return pair.first == word; });
    const Words meant = split(same != kSameMeaning.end() ? same->second : word, '_');
    for (const std::string& part : meant) {
      if (!part.empty()) words.push_back(part);
    }
  }
  return words;
}

/// Letters of the words that both names begin with and those that both end with.
size_t shared_letters(const Words& a, const Words& b) {
  const size_t most = std::min(a.size(), b.size());
  size_t front = 0;
  size_t back = 0;
  size_t letters = 0;
  while (front < most && a[front] == b[front]) letters += a[front++].size();
  while (front + back < most && a[a.size() - 1 - back] == b[b.size() - 1 - back]) {
    letters += b[b.size() - 1 - back++].size();
  }
  return letters;
}

/// A name in the forms to compare.
struct Name {
  explicit Name(std::string_view text) : plain(folded(text)), words(words_of(text)) {
    meaning = join(words, "");
    is_component = !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) != 0;
  }
  size_t shorter_size() const { return std::min(plain.size(), meaning.size()); }

  std::string plain;
  Words words;
  std::string meaning = {};
  bool is_component = false;  // written LikeThis
};

/// Distance of a candidate from the written name; smaller is better.
struct Score {
  int slips_class = 0;         // 0: the same name, 1: the same words, 2: one slip, 3: more
  int64_t shared = 0;          // letters
  int64_t words_too_many = 0;  // or missing
  int distance = 0;

  bool operator<(const Score& other) const { return key() < other.key(); }

 private:
  std::tuple<int, int64_t, int64_t, int> key() const {
    return {slips_class, -shared, words_too_many, distance};
  }
};

/// At most one slip in three letters; otherwise it is another word.
bool few_slips(int distance, const std::string& wanted, const std::string& name) {
  return distance <= static_cast<int>(std::max<size_t>(1, wanted.size() / 3)) &&
         distance < static_cast<int>(std::max(name.size(), wanted.size()));
}

/// "rate" for "learning_rate", and "kernel" for "kernel_size". "Flip" for "HorizontalFlip", but not
/// "accuracy" for "validation_accuracy", which is another statistic.
bool is_part(const Name& wanted, const Name& name) {
  constexpr size_t kMin = 3;
  const std::string& a = wanted.plain;
  const std::string& b = name.plain;
  if (a.size() >= kMin && (b.starts_with(a) || b.ends_with(a))) return true;
  return b.size() >= kMin && (a.starts_with(b) || (name.is_component && a.ends_with(b)));
}

std::optional<Score> score(const Name& wanted, const Name& name) {
  const int plain = edit_distance(wanted.plain, name.plain);
  const int meant = edit_distance(wanted.meaning, name.meaning);
  const size_t shared = shared_letters(wanted.words, name.words);
  const size_t longest = std::max(wanted.shorter_size(), name.shorter_size());
  const bool mostly_shared = shared > 0 && 3 * shared >= 2 * longest;
  if (!few_slips(plain, wanted.plain, name.plain) && !few_slips(meant, wanted.meaning, name.meaning) &&
      !is_part(wanted, name) && !mostly_shared) {
    return std::nullopt;
  }
  Score score;
  score.slips_class = plain == 0 ? 0 : meant == 0 ? 1 : plain == 1 ? 2 : 3;
  score.shared = static_cast<int64_t>(shared);
  score.words_too_many =
      std::abs(static_cast<int64_t>(wanted.words.size()) - static_cast<int64_t>(name.words.size()));
  score.distance = std::min(plain, meant);
  return score;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> before(width);
  std::vector<int> last(width);
  std::vector<int> row(width);
  for (size_t j = 0; j < width; ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j < width; ++j) {
      const int substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[width - 1];
}

std::optional<std::string> nearest(std::string_view written, std::span<const std::string> candidates) {
  const Name wanted(written);
  std::optional<Score> best;
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    const auto rated = score(wanted, Name(candidate));
    if (!rated || (best && !(*rated < *best))) continue;
    best = rated;
    found = candidate;
  }
  return found;
}

std::string did_you_mean(std::string_view written, std::span<const std::string> candidates) {
  const auto found = nearest(written, candidates);
  return found ? "; did you mean '" + *found + "'?" : "";
}

}  // namespace tpack
