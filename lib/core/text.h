#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// Number of insertions, deletions, substitutions and swaps of neighbors that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate that the user probably meant: the same name (letter case, '_' and '-' do not count), the
/// same words ("val_acc" is "validation_accuracy"), one slip; then more shared first and last words, fewer
/// slips.
std::optional<std::string> nearest(std::string_view written, std::span<const std::string> candidates);

/// "; did you mean 'x'?" or "" if nothing is near.
std::string did_you_mean(std::string_view written, std::span<const std::string> candidates);

/// Lines of at most `width` characters, broken at spaces; a longer word has a line of its own.
std::vector<std::string> wrapped(const std::string& text, size_t width);
std::string join(std::span<const std::string> parts, std::string_view separator);
/// "a, b and 3 more": the first ten of them.
std::string join_first(std::span<const std::string> parts);
std::vector<std::string> split(std::string_view text, char separator);
/// Characters of UTF-8 text.
size_t character_count(std::string_view text);
std::string_view trim(std::string_view text);
bool starts_with_digit(std::string_view text);

/// "MapData" -> "map_data", "ReLU" -> "relu", "Conv2D" -> "conv2d", "BatchNorm" -> "batch_norm".
std::string snake_case(std::string_view name);

/// "a layer", "an optimizer".
std::string with_article(std::string_view noun);

/// A field of a CSV file, in quotes if RFC 4180 requires them.
std::string csv_field(const std::string& text);
/// The shortest text that reads back as the same number; "nan", "inf" or "-inf".
std::string csv_field(double number);

/// Shortest decimal text that reads back as the same number.
std::string shortest(double value);
std::string shortest(float value);
/// The shortest text that reads back as the same float, for users.
inline std::string short_text(double value) { return shortest(static_cast<float>(value)); }

/// "1.5 MB" (powers of 1000).
std::string human_bytes(uint64_t bytes);
/// "1 h 02 min 03 s", "12.3 s", "4.5 ms".
std::string human_duration(double seconds);
/// "12,345,678".
std::string with_thousands(int64_t value);

}  // namespace tpack
