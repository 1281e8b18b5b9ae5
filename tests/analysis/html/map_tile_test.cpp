#include "analysis/html/map_tile.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>
#include <zlib.h>

namespace attnscope {
namespace {

/// The codes of a tile, read as the page reads them.
std::vector<std::uint32_t> codes_of(const MapTile& tile, const TileCoding& coding,
                                    std::size_t count) {
  const std::size_t bytes = count * static_cast<std::size_t>(coding.bits) / 8;
  std::vector<unsigned char> inflated(bytes + 1);
  auto size = static_cast<uLongf>(inflated.size());
  EXPECT_EQ(uncompress(inflated.data(), &size, reinterpret_cast<const Bytef*>(tile.packed.data()),
                       static_cast<uLong>(tile.packed.size())),
            Z_OK);
  EXPECT_EQ(size, bytes);
  std::vector<std::uint32_t> codes(count);
  for (std::size_t i = 0; i < count; ++i) {
    codes[i] =
        coding.bits == 8 ? inflated[i] : (std::uint32_t{inflated[i]} << 8U) + inflated[count + i];
  }
  return codes;
}

double decoded(const MapTile& tile, const TileCoding& coding, std::uint32_t code) {
  const double top = coding.bits == 8 ? 254 : 65534;
  return tile.minimum + (tile.maximum - tile.minimum) * std::pow(code / top, coding.power);
}

Matrix exponential_map(Eigen::Index rows, Eigen::Index columns) {
  std::mt19937 random(7);
  std::exponential_distribution<float> weights;
  Matrix map(rows, columns);
  for (Eigen::Index i = 0; i < map.size(); ++i) map.data()[i] = weights(random);
  for (Eigen::Index row = 0; row < rows; ++row) map.row(row) /= map.row(row).sum();
  return map;
}

TEST(MapTile, EntriesDifferByLessThanAStepAfterPacking) {
  const Matrix map = exponential_map(40, 31);
  for (const TileCoding coding : {TileCoding{16, 1}, TileCoding{8, 2}, TileCoding{8, 1}}) {
    const MapTile tile = tile_of(map, coding);
    EXPECT_EQ(tile.minimum, map.minCoeff());
    EXPECT_EQ(tile.maximum, map.maxCoeff());
    const auto codes = codes_of(tile, coding, static_cast<std::size_t>(map.size()));
    double largest = 0;
    for (Eigen::Index i = 0; i < map.size(); ++i) {
      const double value = decoded(tile, coding, codes[static_cast<std::size_t>(i)]);
      largest = std::max(largest, std::abs(value - double{map.data()[i]}));
    }
    EXPECT_NEAR(tile.largest_error, largest, 1e-15);
    const double steps = coding.bits == 16 ? 65534 : 254;
    EXPECT_LE(largest, 0.5001 * coding.power * (tile.maximum - tile.minimum) / steps);
  }
}

TEST(MapTile, SmallEntriesKeepMoreDigitsWithPowerTwo) {
  Matrix map = exponential_map(20, 20);
  map(3, 3) = 1;  // an attention sink
  const auto error_of = [&map](const TileCoding& coding) {
    const MapTile tile = tile_of(map, coding);
    const auto codes = codes_of(tile, coding, 400);
    double sum = 0;
    for (Eigen::Index i = 0; i < 400; ++i) {
      sum += std::abs(decoded(tile, coding, codes[static_cast<std::size_t>(i)]) -
                      double{map.data()[i]});
    }
    return sum;
  };
  EXPECT_LT(error_of({8, 2}), error_of({8, 1}) / 2);
}

TEST(MapTile, EntriesThatAreNotFiniteHaveTheLastCode) {
  Matrix map(1, 4);
  map << 0.25F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
      0.75F;
  for (const TileCoding coding : {TileCoding{16, 1}, TileCoding{8, 2}}) {
    const MapTile tile = tile_of(map, coding);
    const auto last = static_cast<std::uint32_t>((1 << coding.bits) - 1);
    EXPECT_EQ(codes_of(tile, coding, 4), (std::vector<std::uint32_t>{0, last, last, last - 1}));
    EXPECT_EQ(tile.minimum, 0.25);
    EXPECT_EQ(tile.maximum, 0.75);
  }
}

TEST(MapTile, ConstantMapsHaveOneCode) {
  const MapTile tile = tile_of(Matrix::Constant(3, 3, 0.5F), {16, 1});
  EXPECT_EQ(codes_of(tile, {16, 1}, 9), std::vector<std::uint32_t>(9, 0));
  EXPECT_EQ(tile.minimum, 0.5);
  EXPECT_EQ(tile.largest_error, 0);
}

TEST(MapTile, LargePagesHaveCoarserTiles) {
  EXPECT_EQ(TileCoding::for_cells(std::int64_t{2} * 36 * 197 * 197).bits, 16);
  EXPECT_EQ(TileCoding::for_cells(std::int64_t{2} * 144 * 197 * 197).bits, 8);
}

}  // namespace
}  // namespace attnscope
