// What the tensors of an image encoder, or of an encoder of tokens, say of it.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// One deduction: made for one checkpoint, asked once.
class ViTDeduction final : FamilyDeduction {
 public:
  explicit ViTDeduction(const DeductionInput& input);

  /// As deduce_architecture.
  [[nodiscard]] Architecture deduce();

 private:
  /// The shape of a role's tensor as it is used: without a leading 1 beyond `rank` axes, without
  /// the trailing 1s of convolutions that are linear layers, transposed if stored so.
  [[nodiscard]] Shape shape_of(const std::string& role, std::size_t rank) const;
  [[nodiscard]] const std::string& tensor_of(const std::string& role) const;
  void read_own_metadata();

  // Facts of the tensors against what was stated, in this order.
  void deduce_blocks();
  void deduce_heads();
  /// Of published ViTs (H, g, G, so400m) that have 16 heads, but not of 64 channels.
  [[nodiscard]] std::int64_t usual_heads(std::int64_t inner) const;
  void deduce_prefix_tokens();
  /// Its strides are in no tensor: they must be said.
  void deduce_stem();
  void deduce_patches();
  void deduce_linear_patches(std::int64_t inputs, const std::string& tensor);
  void deduce_positions();
  /// Of given embeddings: of the first, the second, …
  void take_sequence_positions(std::int64_t count, const std::string& tensor);
  /// The image is what the positions were learnt on, unless another is asked for.
  void take_position_grid(std::int64_t count, const std::string& tensor);
  /// The grid that the stored positions cover: the stated image's, or a square.
  void find_position_grid(std::int64_t count, const std::string& tensor);
  /// Of the image that gives so many patches along an axis.
  [[nodiscard]] std::int64_t pixels_of(std::int64_t cells, std::int64_t patch) const;
  /// Patches that overlap, or have gaps between them: the stride and the padding that give as many
  /// positions on the image the model was trained on as `accept`(rows, columns) takes. False if
  /// there are none.
  template <class Accept>
  bool solve_stride(const Accept& accept);
  /// Side of the windows that a layer's tables of offsets are of; 0: they are of the whole grid.
  [[nodiscard]] std::int64_t window_of_tables(std::int64_t layer) const;
  void deduce_windows();
  void deduce_tail();
  /// A table of relative positions is of one grid of patches, which is the model's.
  void take_relative_grid();
  void deduce_head();
  /// One channel has no ImageNet statistics, and three no single number unless someone said so.
  void deduce_colours();
  void list_assumptions();

  ModelSpec as_stored_;
  std::set<std::string, std::less<>> stated_in_file_;
};

}  // namespace attnscope
