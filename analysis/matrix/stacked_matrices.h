// Spectra over a data set: the analysed matrices of all inputs, one above the other.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"

namespace attnscope {

/// Matrices X = [X_1; X_2; …] whose rows are those of every input, by their Gram matrix XᵀX = Σ
/// X_iᵀX_i in double: memory does not grow with the number of inputs. A singular value below 1e-8
/// σ_1 is rounding. Keys and values that query heads share (grouped queries) count once: their
/// `head` is the index of the key head.
class StackedMatrices {
 public:
  /// Throws Error(usage) unless the columns of the matrix are channels, which all inputs share. The
  /// mean row of a centred matrix is that of all inputs.
  explicit StackedMatrices(const MatrixChoice& analysed);

  /// Adds the rows of one run for `layers` (all if empty). Throws Error(usage) like
  /// analysed_matrix.
  void add(const Subject& subject, const std::vector<std::int64_t>& layers);

  /// Spectra in order of layer and head; `tokens` is the number of rows, if it exceeds the columns.
  [[nodiscard]] std::vector<MapSpectrum> spectra(const RankThreshold& threshold) const;

 private:
  struct Sum {
    Eigen::RowVectorXd origin;  ///< subtracted from each row before it is squared; 0 if not centred
    MatrixD gram;               ///< Σ of outer products of rows minus `origin`
    Eigen::RowVectorXd total;   ///< sum of rows minus `origin`
    std::int64_t rows = 0, zero_rows = 0, not_finite = 0;
    bool identity = false;
  };
  void add_rows(const MatrixD& rows, Sum& sum) const;

  MatrixChoice analysed_;
  std::map<std::pair<std::int64_t, std::int64_t>, Sum> sums_;  // by layer and head
};

}  // namespace attnscope
