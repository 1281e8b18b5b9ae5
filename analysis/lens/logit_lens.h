// Logit lens: the model's answer if it stopped after each layer (nostalgebraist 2020).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// Logit and probability of one class or token.
struct LensAnswer {
  std::int64_t index = 0;
  std::string label;  ///< name of the class or token; may be empty
  double logit = 0, probability = 0;
};

/// Answers at one position after one layer.
struct LensCell {
  std::vector<LensAnswer> likeliest;  ///< in descending order; empty if not finite
  LensAnswer final_answer;  ///< the model's final answer, with its probability at this depth
  LensAnswer target;        ///< the requested class; index −1 if none
  double entropy = 0;       ///< entropy of the probabilities in bits
  double divergence = 0;    ///< KL(p_last ‖ p_l) in bits: 0 after the last layer
};

/// Rows are depths: before the first layer (if it was recorded), then after each layer. Columns are
/// the token positions of a language model, or a single one for a classifier.
struct LogitLens {
  bool of_tokens = false;
  std::vector<std::int64_t> depths;          ///< layer; −1 before the first layer
  std::vector<std::string> places;           ///< texts of the tokens; empty for a classifier
  std::vector<std::vector<LensCell>> cells;  ///< [depths][places]
};

/// Adds to `request` the tensors that the lens needs: tokens.
void request_for_lens(TraceRequest& request);

/// Computes head(norm(x_l)) with the norm and head of the last layer. `most`: number of answers per
/// cell; `target`: class whose probability is followed, −1 for none. Needs the model and its
/// input's trace with tokens. Throws Error(usage) if they are missing, or for a model without a
/// head, with several stages (pyramids) or read at an end token; Cancelled.
[[nodiscard]] LogitLens logit_lens(const Subject& subject, std::size_t most = 5,
                                   std::int64_t target = -1, const Progress& progress = {});

}  // namespace attnscope
