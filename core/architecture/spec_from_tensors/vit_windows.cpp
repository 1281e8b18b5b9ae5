// Windows of an image encoder's layers, deduced from their tables of relative positions.
#include <string>

#include "core/architecture/spec_from_tensors/vit_deduction.h"

namespace attnscope {

std::int64_t ViTDeduction::window_of_tables(std::int64_t layer) const {
  const std::string prefix = "layer." + std::to_string(layer) + ".relative_";
  std::int64_t sides[2] = {};
  const char* const axes[] = {"rows", "columns"};
  for (int axis = 0; axis < 2; ++axis) {
    const std::string role = prefix + axes[axis];
    const Shape shape = shape_of(role, 2);
    if (shape.empty() || shape[0] % 2 == 0 || shape[1] != spec_.layer.attention.head_width) {
      throw Error(ErrorKind::damaged, "the table of relative positions does not fit the heads")
          .in_file(checkpoint_.path())
          .about(shape.empty() ? role : tensor_of(role))
          .expected("[2·side − 1, " + std::to_string(spec_.layer.attention.head_width) + "]")
          .found(shape.empty() ? "none" : to_string(shape));
    }
    sides[axis] = (shape[0] + 1) / 2;
  }
  const bool whole = sides[0] == result_.position_rows && sides[1] == result_.position_columns;
  if (whole) return 0;
  if (sides[0] == sides[1]) return sides[0];
  throw Error(ErrorKind::unsupported,
              "the tables of relative positions do not belong to a square window")
      .in_file(checkpoint_.path())
      .about(tensor_of(prefix + axes[0]))
      .expected("those of the grid, " + std::to_string(result_.position_rows) + " × " +
                std::to_string(result_.position_columns) + " patches, or as many for columns")
      .found(std::to_string(sides[0]) + " × " + std::to_string(sides[1]));
}

void ViTDeduction::deduce_windows() {
  std::int64_t window = 0;
  LayerDifference whole;
  whole.members["scores.window"] = "0";
  for (std::int64_t layer = 0; layer < layers_; ++layer) {
    const std::int64_t side = window_of_tables(layer);
    if (side == 0) {
      whole.layers.push_back(layer);
    } else if (window == 0 || window == side) {
      window = side;
    } else {
      throw Error(ErrorKind::unsupported, "layers have windows of different sizes")
          .in_file(checkpoint_.path())
          .about(tensor_of("layer." + std::to_string(layer) + ".relative_rows"))
          .expected(std::to_string(2 * window - 1) + " rows")
          .found(std::to_string(2 * side - 1));
    }
  }
  const std::string tables = "the tables of relative positions";
  fact("layer.scores.window", spec_.layer.scores.window, window, tables);
  std::vector<LayerDifference> differences;
  if (window > 0 && !whole.layers.empty()) differences.push_back(std::move(whole));
  fact("differences", spec_.differences, std::move(differences), tables);
}

void ViTDeduction::deduce_tail() {
  if (spec_.tail.kind == Tail::none) return;
  fact("tail.blocks", spec_.tail.blocks, tail_blocks_, "the blocks");
  const std::string role = "layer." + std::to_string(spec_.body_layers()) + ".mlp1.weight";
  if (!has(role)) return;
  const std::int64_t width = shape_of(role, 2)[0];
  if (width != spec_.layer.mlp.width || stated("tail.mlp_width")) {
    fact("tail.mlp_width", spec_.tail.mlp_width, width, tensor_of(role));
  }
}

}  // namespace attnscope
