// Deduces the spec of an image encoder, or of an encoder of given tokens, from its tensors.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "core/architecture/spec_from_tensors/family_deduction.h"

namespace attnscope {

/// Deduction for one checkpoint; deduce() may be called once.
class ViTDeduction final : FamilyDeduction {
 public:
  explicit ViTDeduction(const DeductionInput& input);

  /// Spec, assumptions and position grid. Throws Error if a stated or overridden value contradicts
  /// the tensors' shapes.
  [[nodiscard]] Architecture deduce();

 private:
  /// Shape of a role's tensor as it is used: without leading 1s, then trailing 1s, beyond `rank`
  /// axes (trailing 1s occur in convolutions that are linear layers), transposed if stored so.
  [[nodiscard]] Shape shape_of(const std::string& role, std::size_t rank) const;
  [[nodiscard]] const std::string& tensor_of(const std::string& role) const;
  void read_own_metadata();

  // Comparison of the tensors with what was stated, in this order:
  void deduce_blocks();
  void deduce_heads();
  /// Sets the number of agents of each layer with tables of Agent attention.
  void deduce_agents();
  /// Number of heads of published ViTs (H, g, G, so400m), which have 16 heads not 64 channels wide;
  /// 0 for other widths.
  [[nodiscard]] std::int64_t usual_heads(std::int64_t inner) const;
  void deduce_prefix_tokens();
  /// Reads the convolutions before the patches. Their strides are in no tensor and must be
  /// specified.
  void deduce_stem();
  void deduce_patches();
  void deduce_linear_patches(std::int64_t inputs, const std::string& tensor);
  void deduce_positions();
  /// Takes the positions of a sequence of given embeddings.
  void take_sequence_positions(std::int64_t count, const std::string& tensor);
  /// Takes the image size that the positions were learned on, unless another is specified.
  void take_position_grid(std::int64_t count, const std::string& tensor);
  /// Finds the grid of the stored positions: that of the specified image, or a square.
  void find_position_grid(std::int64_t count, const std::string& tensor);
  /// Pixels of an image that has `cells` patches along an axis.
  [[nodiscard]] std::int64_t pixels_of(std::int64_t cells, std::int64_t patch) const;
  /// Finds the stride and padding of patches that overlap or have gaps, such that `accept`(rows,
  /// columns) takes the grid of the image that the model was trained on. Returns false if there are
  /// none.
  template <class Accept>
  bool solve_stride(const Accept& accept);
  /// Side of the windows that a layer's relative position tables belong to; 0: the whole grid.
  [[nodiscard]] std::int64_t window_of_tables(std::int64_t layer) const;
  void deduce_windows();
  void deduce_tail();
  /// Takes the grid of patches from a table of relative positions, which belongs to a single grid.
  void take_relative_grid();
  void deduce_head();
  /// Replaces default colour statistics whose length is not the number of channels.
  void deduce_colours();
  void list_assumptions();

  ModelSpec as_stored_;
  std::set<std::string, std::less<>> stated_in_file_;
};

}  // namespace attnscope
