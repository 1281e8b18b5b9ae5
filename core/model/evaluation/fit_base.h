// The two sides of a fit: the arrays of a reference, and the model with default options, which can
// be run with changed options.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/architecture/architecture.h"
#include "core/input/input.h"
#include "core/progress.h"
#include "core/tokenizer/vocabulary.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The contents of a reference file (self_test.h) in memory.
struct ReferenceArrays {
  std::vector<Input> inputs;
  std::vector<std::vector<Tensor>> all_maps;    ///< [input][layer], [H, N, M]
  std::vector<std::vector<Tensor>> all_tokens;  ///< [input][layer], [N, D]; may be empty
  std::vector<Tensor> logits;                   ///< logits of each input; may be empty

  [[nodiscard]] const Tensor& maps(std::size_t input, std::int64_t layer) const;
  /// Null if the reference has no tokens for that layer.
  [[nodiscard]] const Tensor* tokens(std::size_t input, std::int64_t layer) const;
  [[nodiscard]] bool has_tokens() const { return !all_tokens.empty(); }
  [[nodiscard]] std::vector<Tensor> first_maps() const;
  /// Options that follow from the zeros and shapes of the first maps: the number of heads, causal
  /// masking and a window.
  [[nodiscard]] std::map<std::string, std::string> options() const;
};

/// Throws Error(usage) for a reference without maps.
[[nodiscard]] ReferenceArrays read_reference(const std::filesystem::path& file);

struct FitBase {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::filesystem::path file;
  Architecture architecture;
  std::map<std::string, std::string> given;  ///< overrides of the reference, or the user's values
  std::set<std::string> asked;               ///< members that are required to open the model
  bool biased_norms = true, heads_apart = false;
  std::shared_ptr<const Vocabulary> vocabulary;

  /// Traces of the first `layers` layers with `changes` made to the options. Runs all layers if the
  /// model cannot be truncated. Throws Error if no such model exists.
  [[nodiscard]] std::vector<Trace> run(const std::map<std::string, std::string>& changes,
                                       const std::vector<Input>& inputs, std::int64_t layers,
                                       bool vectors, const Progress& progress) const;
};

/// Opens `file` with the user's options `said`, then those from the reference, `seen`. Options that
/// are still missing get their first possible value. Throws the errors of recognise_architecture if
/// that does not suffice.
[[nodiscard]] FitBase open_for_fit(const std::filesystem::path& file, const ModelOptions& said,
                                   const std::map<std::string, std::string>& seen);

}  // namespace attnscope
