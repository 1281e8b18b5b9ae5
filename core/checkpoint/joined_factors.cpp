// Elements whose factors a file stores in a tensor of their own: gpt-oss's MXFP4 and DeepSeek-V3's
// F8_E4M3.
#include <algorithm>
#include <set>
#include <utility>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::string_view kBlocks = "_blocks", kScales = "_scales", kInverseScales = "_scale_inv";
constexpr std::int64_t kBytesOfBlock = 16;  ///< bytes of the 32 elements of a block of MXFP4
constexpr std::int64_t kTile = 128;         ///< side of a tile with one factor, in DeepSeek-V3

/// Name of the tensor with the factors of `elements`; empty if it stores plain elements.
std::string name_of_factors(const StoredTensor& elements) {
  if (elements.blocks == &kFloat8) return elements.name + std::string(kInverseScales);
  const bool pairs = elements.dtype == DType::u8 && elements.name.ends_with(kBlocks) &&
                     elements.shape.size() >= 3 && elements.shape.back() == kBytesOfBlock;
  if (!pairs) return {};
  return elements.name.substr(0, elements.name.size() - kBlocks.size()) + std::string(kScales);
}

void check_factors(const StoredTensor& factors, const Shape& expected, bool has_type) {
  if (factors.shape == expected && has_type) return;
  throw Error(ErrorKind::damaged, "the factors of quantised elements do not fit them")
      .about(factors.name)
      .expected(to_string(expected))
      .found(to_string(factors.shape) + " " + std::string(factors.type_name()));
}

/// Joins `elements`, in place, with a factor for each block of 32.
void join_pairs(StoredTensor& elements, const StoredTensor& factors) {
  Shape shape(elements.shape.begin(), elements.shape.end() - 1);
  check_factors(factors, shape, factors.dtype == DType::u8);
  shape.back() *= 2 * kBytesOfBlock;
  elements.view = [bytes = elements.view, powers = factors.view, shape] {
    TensorView view = bytes(), scales = powers();
    scales.dtype = view.dtype = DType::quantised;
    scales.blocks = &kPowers;
    view.blocks = &kMxfp4;
    view.shape = shape;
    view.strides = TensorView::contiguous_strides(shape);
    view.factors = std::make_shared<const StoredFactors>(
        StoredFactors{std::move(scales), 1, 2 * kBytesOfBlock});
    return view;
  };
  elements.dtype = DType::quantised;
  elements.blocks = &kMxfp4;
  elements.shape = std::move(shape);
}

/// Joins a matrix, in place, with a factor for each tile.
void join_tiles(StoredTensor& elements, const StoredTensor& factors) {
  Shape tiles = elements.shape;
  for (std::int64_t& extent : tiles) extent = (extent + kTile - 1) / kTile;
  check_factors(factors, tiles, is_floating(factors.dtype) && tiles.size() == 2);
  elements.blocks = &kTiledFloat8;
  elements.view = [bytes = elements.view, scales = factors.view] {
    TensorView view = bytes();
    view.blocks = &kTiledFloat8;
    view.factors = std::make_shared<const StoredFactors>(StoredFactors{scales(), kTile, kTile});
    return view;
  };
}

}  // namespace

void Checkpoint::join_factors() {
  std::set<std::string> joined;
  for (StoredTensor& elements : tensors_) {
    const std::string name = name_of_factors(elements);
    const auto found = name.empty() ? index_.end() : index_.find(name);
    if (found == index_.end()) continue;
    const StoredTensor& factors = tensors_[found->second];
    if (elements.blocks == &kFloat8) {
      join_tiles(elements, factors);
    } else {
      join_pairs(elements, factors);
    }
    elements.bytes += factors.bytes;
    joined.insert(factors.name);
  }
  if (joined.empty()) return;
  std::erase_if(tensors_, [&](const StoredTensor& one) { return joined.contains(one.name); });
  make_index();
}

}  // namespace attnscope
