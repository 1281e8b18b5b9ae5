// The two sides of a fit: the arrays of a reference, and the model as it opens before anything is
// known, run with changed choices.
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

/// A reference (self_test.h) in memory.
struct ReferenceArrays {
  std::vector<Input> inputs;
  std::vector<std::vector<Tensor>> all_maps;    ///< [input][layer], [H, N, M]
  std::vector<std::vector<Tensor>> all_tokens;  ///< [input][layer], [N, D]; empty: none
  std::vector<Tensor> logits;                   ///< of each input; empty: none

  [[nodiscard]] const Tensor& maps(std::size_t input, std::int64_t layer) const;
  /// Null where there are none.
  [[nodiscard]] const Tensor* tokens(std::size_t input, std::int64_t layer) const;
  [[nodiscard]] bool has_tokens() const { return !all_tokens.empty(); }
  [[nodiscard]] std::vector<Tensor> first_maps() const;
  /// Options that zeros and shapes of the first maps tell: heads, whether later tokens are hidden,
  /// and a window.
  [[nodiscard]] std::map<std::string, std::string> options() const;
};

/// Throws Error(usage) for a reference without maps.
[[nodiscard]] ReferenceArrays read_reference(const std::filesystem::path& file);

struct FitBase {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::filesystem::path file;
  Architecture architecture;
  std::map<std::string, std::string> given;  ///< overrides that it was opened with
  std::set<std::string> asked;               ///< members that it does not open without
  bool biased_norms = true, heads_apart = false;
  std::shared_ptr<const Vocabulary> vocabulary;

  /// Traces of the first `layers` layers, all of them where the model cannot be cut, with `changes`
  /// made to its options. Throws Error where there can be no such model.
  [[nodiscard]] std::vector<Trace> run(const std::map<std::string, std::string>& changes,
                                       const std::vector<Input>& inputs, std::int64_t layers,
                                       bool vectors, const Progress& progress) const;
};

/// Opens `file` with what the user says, then what the reference says by itself; what is still
/// asked for gets the first value that can be. Throws Error as recognise_architecture where that is
/// not enough.
[[nodiscard]] FitBase open_for_fit(const std::filesystem::path& file, const ModelOptions& said,
                                   const std::map<std::string, std::string>& seen);

}  // namespace attnscope
