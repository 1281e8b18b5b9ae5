// Direct logit attribution: contribution of each head to the logit of a class or token (Elhage et
// al. 2021).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/subject.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct LogitAttribution {
  std::int64_t target = 0;  ///< class or token
  std::string label;
  std::int64_t place = 0;      ///< token position that is read; −1 for a mean over tokens
  double logit = 0;            ///< logit of the target: the sum of all members below
  MatrixD heads;               ///< [L, H]: per head; NaN if a layer has fewer heads
  std::vector<double> biases;  ///< [L]: bias of W_O
  std::vector<double> rest;    ///< [L]: everything else that the layer adds, such as its MLP
  double embedding = 0;        ///< input of the first layer
  double constant = 0;         ///< biases of the final norms and of the head
};

/// Decomposes the logit of `target`. The residual stream is the sum x = x_0 + Σ_l (Σ_h A^h v^h
/// W_O^h + b_O + MLP_l); with frozen statistics of the last norm the logit is a sum too. `target`
/// −1 selects the likeliest, `place` −1 the position that the model reads (the last token of a
/// text). Needs the model and a trace with maps, vectors and tokens (request_for_mixing). Throws
/// Error(usage) if the stream is not a sum (post-LN) or the read-out is not linear, and like
/// mixing_of.
[[nodiscard]] LogitAttribution logit_attribution(const Subject& subject, std::int64_t target = -1,
                                                 std::int64_t place = -1);

}  // namespace attnscope
