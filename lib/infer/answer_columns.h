#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infer/answers.h"
#include "infer/wanted_columns.h"

namespace tpack {

/// The columns of `--columns`, each as NAME or HEADER=NAME.
///
///   id                      a column of the input
///   delayed                 what is predicted, if the training data have the true values in that column
///   file, index             which sample it is
///   score, probability.yes  a name of Answers, if the input has no column of that name
///   p=prediction            a name of Answers in any case, if it is one
class AnswerColumns {
 public:
  /// Keeps a reference to `answers`. Errors: those of Answers::find.
  AnswerColumns(const std::vector<std::string>& words, const Answers& answers);

  std::vector<std::string> header() const;
  /// Columns that the input must have, and those that win over a name of Answers if it has them.
  WantedColumns wanted() const;
  /// Empty texts for a sample with an error.
  std::vector<std::string> fields(const Prediction& p);

  /// Whether one of the columns is the true values.
  static bool ask_for_truth(const std::vector<std::string>& words);

 private:
  struct Column {
    std::string header;
    std::string name;
    std::optional<Answers::Text> answer = {};
    bool may_be_input = true;  // a column of the input wins
    bool has_warned = false;
  };
  static void warn_once(Column& column);
  void add(const std::string& word);

  const Answers& answers_;
  std::vector<Column> columns_;
};

}  // namespace tpack
