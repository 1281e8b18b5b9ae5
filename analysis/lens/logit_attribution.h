// Direct logit attribution: which heads write a class or token into the answer (Elhage et al.
// 2021).
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
  std::int64_t place = 0;      ///< the token that is read; of means over tokens -1
  double logit = 0;            ///< what the model gives it: the sum of all that follows
  MatrixD heads;               ///< [L, H]; NaN where a layer has fewer heads
  std::vector<double> biases;  ///< [L]: of W_O
  std::vector<double> rest;    ///< [L]: of what else the layer adds, its MLP
  double embedding = 0;        ///< of what the first layer is given
  double constant = 0;         ///< biases of norm and head
};

/// The residual stream is a sum, x = x_0 + Σ_l (Σ_h A^h v^h W_O^h + b_O + MLP_l); with the last
/// norm's statistics held fast the logit of `target` is a sum too. `target` -1: the likeliest;
/// `place` -1: where the model reads (the last token of a text). Needs the model and a trace with
/// maps, vectors and tokens (request_for_mixing). Throws Error(usage) for models whose stream is no
/// sum (post-LN), whose read-out is not linear, and as mixing_of.
[[nodiscard]] LogitAttribution logit_attribution(const Subject& subject, std::int64_t target = -1,
                                                 std::int64_t place = -1);

}  // namespace attnscope
