// The three small models of tests/data/inside/make_inside.py, run on their inputs, and what PyTorch
// says of them.
#pragma once

#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/model/subject.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {

/// Of "vit", "bert" or "gpt2".
class InsideModel {
 public:
  explicit InsideModel(const std::string& name);

  /// With a trace that holds maps, vectors and tokens.
  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] MatrixD expected(const std::string& array) const;
  [[nodiscard]] double expected_number(const std::string& array) const;

 private:
  TemporaryFolder folder_;
  Subject subject_;
  Checkpoint expected_;
};

/// Throws away nothing: the greatest difference, infinite where extents differ.
[[nodiscard]] double greatest_difference(const MatrixD& a, const MatrixD& b);

}  // namespace attnscope
