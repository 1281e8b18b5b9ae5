// The three small models of tests/data/inside/make_inside.py, run on their inputs, with the results
// of PyTorch.
#pragma once

#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/model/subject.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {

/// The model "vit", "bert" or "gpt2".
class InsideModel {
 public:
  explicit InsideModel(const std::string& name);

  /// The subject, whose trace has maps, vectors and tokens.
  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] MatrixD expected(const std::string& array) const;
  [[nodiscard]] double expected_number(const std::string& array) const;

 private:
  TemporaryFolder folder_;
  Subject subject_;
  Checkpoint expected_;
};

/// The largest absolute difference; infinite if the shapes differ.
[[nodiscard]] double greatest_difference(const MatrixD& a, const MatrixD& b);

}  // namespace attnscope
