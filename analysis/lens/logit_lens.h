// The logit lens: what the model would answer if it stopped after each layer (nostalgebraist 2020).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// One class or token.
struct LensAnswer {
  std::int64_t index = 0;
  std::string label;  ///< what it says; may be empty
  double logit = 0, probability = 0;
};

/// What one place says after one layer.
struct LensCell {
  std::vector<LensAnswer> likeliest;  ///< the first is the likeliest; empty if not finite
  LensAnswer final_answer;            ///< what the model says there in the end, at this depth
  LensAnswer target;                  ///< of the class asked for; index -1 where none was
  double entropy = 0;                 ///< of the probabilities, in bits
  double divergence = 0;              ///< KL(p_last ‖ p_l) in bits: 0 after the last layer
};

/// Rows are depths: before the first layer (where it was recorded), then after each layer. Columns:
/// of a language model each token's place, of a model of classes one.
struct LogitLens {
  bool of_tokens = false;
  std::vector<std::int64_t> depths;          ///< layer; -1: before the first
  std::vector<std::string> places;           ///< the tokens' texts; of classes empty
  std::vector<std::vector<LensCell>> cells;  ///< [depths][places]
};

/// Adds to `request` what the lens needs of a run: tokens.
void request_for_lens(TraceRequest& request);

/// head(norm(x_l)) with the norm and the head that read the last layer's tokens. `most` answers a
/// cell; `target`: a class whose probability is followed, -1 for none. Needs the model and its
/// input's trace with tokens. Throws Error(usage) for what they lack, a model without a head, and
/// layers of another width than the last (pyramids); Cancelled.
[[nodiscard]] LogitLens logit_lens(const Subject& subject, std::size_t most = 5,
                                   std::int64_t target = -1, const Progress& progress = {});

}  // namespace attnscope
