// What a step learns from: images cropped as the recipe says.
#include "core/training/data/training_data.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

/// Big-endian, as IDX files have it.
std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

/// One image of 8×8 pixels, a plane: 10 · column + 20 · row.
std::filesystem::path write_plane(const TemporaryFolder& folder) {
  std::string images = big_endian(0x803) + big_endian(1) + big_endian(8) + big_endian(8);
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) images += static_cast<char>(10 * column + 20 * row);
  }
  (void)folder.write("plane-labels-idx1-ubyte", big_endian(0x801) + big_endian(1) + '\0');
  return folder.write("plane-images-idx3-ubyte", images);
}

TEST(TrainingImagesTest, ACropOfAPlaneIsAPlaneOfLessSlope) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.dataset = write_plane(folder).string();
  settings.batch = 1;
  const auto example = [&](double crop, std::int64_t step) {
    settings.crop = crop;
    const auto data = open_training_data(settings);
    ModelSpec spec;
    spec.input.patch_height = spec.input.patch_width = 4;
    return data->examples(data->complete(spec), step, 0, 1).images.front();
  };
  const Tensor whole = example(1, 0);
  const ConstMatrixMap plane = whole.slice(0);
  const float slope = plane(4, 5) - plane(4, 4);
  std::set<float> slopes;
  for (std::int64_t step = 0; step < 20; ++step) {
    const Tensor image = example(0.25, step);
    const ConstMatrixMap part = image.slice(0);
    const float right = part(4, 5) - part(4, 4), down = part(5, 4) - part(4, 4);
    // A quarter of the area is half of the side.
    EXPECT_GE(right, 0.5F * slope * 0.999F);
    EXPECT_LE(right, slope * 1.001F);
    EXPECT_NEAR(down, 2 * right, 1e-4);
    EXPECT_NEAR(part(3, 5) - part(3, 4), right, 1e-4);
    EXPECT_GE(part(0, 0), plane(0, 0) - 1e-4);
    EXPECT_LE(part(7, 7), plane(7, 7) + 1e-4);
    slopes.insert(right);
    const Tensor again = example(0.25, step);
    EXPECT_EQ(image.slice(0), again.slice(0));
  }
  EXPECT_GT(slopes.size(), 15U);
}

}  // namespace
}  // namespace attnscope
