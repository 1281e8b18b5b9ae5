#include "core/model/preprocessing/preprocessing.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <regex>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/model/parts/position_grid.h"
#include "core/model/preprocessing/image_resize.h"
#include "core/model/preprocessing/picture_tiles.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

/// The reference of Pillow and PyTorch, made by tests/data/models/make_images.py.
const Checkpoint& preprocessing_reference() {
  static const Checkpoint checkpoint =
      open_checkpoint(source_folder() + "/tests/data/models/resize.npz");
  return checkpoint;
}

Image stored_image(const std::string& name) {
  const StoredTensor& stored = preprocessing_reference().at(name);
  const std::vector<std::int64_t> values = stored.view().to_int64();
  Image image{stored.shape[1], stored.shape[0], stored.shape.size() == 3 ? stored.shape[2] : 1, {}};
  image.pixels.assign(values.begin(), values.end());
  return image;
}

Tensor tensor_of(const std::string& name) {
  return preprocessing_reference().at(name).view().to_float();
}

Input picture_of(Image image) {
  Input input;
  input.content = std::move(image);
  input.label = "picture.png";
  return input;
}

TEST(ImageResize, GivesPillowsBytes) {
  const Image picture = stored_image("picture");
  const std::map<std::string, ResizeFilter> filters = {{"bilinear", ResizeFilter::bilinear},
                                                       {"bicubic", ResizeFilter::bicubic},
                                                       {"lanczos", ResizeFilter::lanczos}};
  const std::regex pattern("(bilinear|bicubic|lanczos)_([0-9]+)x([0-9]+)");
  int compared = 0;
  for (const StoredTensor& stored : preprocessing_reference().tensors()) {
    std::smatch match;
    if (!std::regex_match(stored.name, match, pattern)) continue;
    const Image resized =
        resize(picture, std::stoi(match[2]), std::stoi(match[3]), filters.at(match[1]));
    EXPECT_EQ(resized.pixels, stored_image(stored.name).pixels) << stored.name;
    ++compared;
  }
  EXPECT_EQ(compared, 12);
}

/// The part [left, left + width) × [top, top + height) of `image`, turned by 90° if `tall`.
Image tile_source(bool tall, std::int64_t width, std::int64_t height) {
  const Image picture = crop(stored_image("picture"), 0, 0, width, height);
  if (!tall) return picture;
  Image turned{picture.height, picture.width, 3, {}};
  for (std::int64_t row = 0; row < turned.height; ++row) {
    for (std::int64_t column = 0; column < turned.width; ++column) {
      const auto from = picture.pixels.begin() + (column * picture.width + row) * 3;
      turned.pixels.insert(turned.pixels.end(), from, from + 3);
    }
  }
  return turned;
}

TEST(PictureTiles, AreThoseOfUpstream) {
  int cut = 0;
  for (const auto& [name, picture] :
       {std::pair("wide", tile_source(false, 53, 37)), std::pair("tall", tile_source(true, 53, 37)),
        std::pair("square", tile_source(false, 30, 30))}) {
    for (const std::int64_t longest : {16, 40, 64}) {
      InputSpec spec;
      spec.image_height = spec.image_width = 16;
      spec.resize_filter = ResizeFilter::lanczos;
      spec.longest_edge = longest;
      spec.tiles = true;
      const std::string key = "tiles_" + std::string(name) + "_" + std::to_string(longest);
      const StoredTensor& stored = preprocessing_reference().at(key);
      const std::vector<std::int64_t> expected = stored.view().to_int64();
      PictureTiles tiles = cut_into_tiles(picture, spec);
      ASSERT_EQ(std::ssize(tiles.tiles) + 1, stored.shape[0]) << key;
      EXPECT_EQ(std::ssize(tiles.tiles), tiles.down * tiles.across);
      cut += tiles.tiles.empty() ? 0 : 1;
      tiles.tiles.push_back(tiles.whole);
      auto from = expected.begin();
      for (const Image& tile : tiles.tiles) {
        EXPECT_TRUE(std::equal(tile.pixels.begin(), tile.pixels.end(), from)) << key;
        from += std::ssize(tile.pixels);
      }
    }
  }
  EXPECT_EQ(cut, 6);
}

TEST(Preprocessing, FillsUpASquareWithTheMeanColour) {
  // LLaVA's expand2square: Image.new with int(255 · mean), pasted at (longer − shorter) // 2.
  const Image picture{1, 4, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  const Image square = padded_to_square(picture, {122, 116, 104});
  EXPECT_EQ(square.width, 4);
  const auto pixel = [&](std::int64_t row, std::int64_t column) {
    const auto first = square.pixels.begin() + (row * 4 + column) * 3;
    return std::vector<int>(first, first + 3);
  };
  EXPECT_EQ(pixel(0, 0), (std::vector<int>{122, 116, 104}));
  EXPECT_EQ(pixel(3, 1), (std::vector<int>{10, 11, 12}));
  EXPECT_EQ(pixel(3, 2), (std::vector<int>{122, 116, 104}));
  ModelSpec spec;
  spec.input.image_height = spec.input.image_width = 4;
  spec.input.patch_height = spec.input.patch_width = 2;
  spec.input.mean = {0.48145466, 0.4578275, 0.40821073};
  spec.input.resize_mode = ResizeMode::padded;
  EXPECT_EQ(prepare_input(picture_of(picture), spec).image->pixels, square.pixels);
}

TEST(ImageResize, GreyIsPillowsLuma) {
  EXPECT_EQ(with_channels(stored_image("picture"), 1).pixels, stored_image("grey").pixels);
  const Image grey = stored_image("grey");
  EXPECT_EQ(with_channels(with_channels(grey, 3), 1).pixels, grey.pixels);
  EXPECT_THROW((void)with_channels(grey, 4), Error);
}

TEST(PositionGrid, GivesPyTorchsBicubicInterpolation) {
  const Tensor positions = tensor_of("positions");
  for (const auto& [rows, columns] : {std::pair(7, 9), std::pair(3, 2), std::pair(4, 13)}) {
    const Tensor expected =
        tensor_of("positions_" + std::to_string(rows) + "x" + std::to_string(columns));
    const Tensor found =
        resample_positions(positions, {4, 6}, {rows, columns}, PositionResize::bicubic);
    ASSERT_EQ(found.shape(), expected.shape());
    // The sums have 16 products of numbers up to 4, in float32 on both sides.
    EXPECT_LT((found.matrix() - expected.matrix()).cwiseAbs().maxCoeff(), 16 * 4 * 6e-8F);
  }
  EXPECT_TRUE(std::ranges::equal(
      resample_positions(positions, {4, 6}, {4, 6}, PositionResize::bicubic).values(),
      positions.values()));
}

TEST(PositionGrid, FollowsEachFamilysWay) {
  const Checkpoint expected =
      open_checkpoint(source_folder() + "/tests/data/models/families/positions.npz");
  const Tensor positions = expected.at("positions").view().to_float();
  const std::pair<const char*, PositionResize> ways[] = {
      {"bicubic_", PositionResize::bicubic},
      {"bicubic_antialiased_", PositionResize::bicubic_antialiased},
      {"bicubic_offset_", PositionResize::bicubic_offset},
      {"bilinear_corners_", PositionResize::bilinear_corners}};
  for (const auto& [name, way] : ways) {
    for (const auto& [rows, columns] : {std::pair(7, 9), std::pair(3, 2), std::pair(4, 13)}) {
      const Tensor preprocessing_reference =
          expected.at(name + std::to_string(rows) + "x" + std::to_string(columns))
              .view()
              .to_float();
      const Tensor found = resample_positions(positions, {4, 6}, {rows, columns}, way);
      ASSERT_EQ(found.shape(), preprocessing_reference.shape());
      // The sums have up to 24 products of numbers up to 3, and coordinates are rounded to float32.
      EXPECT_LT((found.matrix() - preprocessing_reference.matrix()).cwiseAbs().maxCoeff(), 1e-5F)
          << name << rows << "×" << columns;
    }
  }
}

// Sizes by smart_resize of transformers' image_processing_qwen2_vl.py.
TEST(SizeInSteps, IsThatOfUpstream) {
  const auto size_of = [](std::int64_t width, std::int64_t height, std::int64_t step,
                          std::int64_t least, std::int64_t most) {
    InputSpec spec;
    spec.size_step = step;
    spec.least_pixels = least;
    spec.most_pixels = most;
    const ImageSize size = size_in_steps(width, height, spec);
    return std::pair(size.width, size.height);
  };
  constexpr std::int64_t usual = 1003520, large = 12845056;
  EXPECT_EQ(size_of(440, 308, 28, 3136, large), std::pair(448L, 308L));
  EXPECT_EQ(size_of(70, 42, 28, 3136, large), std::pair(56L, 56L));  // halves to even
  EXPECT_EQ(size_of(30, 20, 28, 3136, usual), std::pair(84L, 56L));
  EXPECT_EQ(size_of(6000, 4000, 28, 3136, usual), std::pair(1204L, 812L));
  EXPECT_EQ(size_of(1920, 1080, 32, 65536, 16777216), std::pair(1920L, 1088L));
  EXPECT_EQ(size_of(100, 100, 32, 65536, 16777216), std::pair(256L, 256L));
  EXPECT_EQ(size_of(2000, 14, 28, 3136, usual), std::pair(672L, 28L));
  EXPECT_THROW((void)size_of(2010, 10, 28, 3136, usual), Error);
}

TEST(Patches, OverlapAndArePaddedWithZeros) {
  ModelSpec spec;
  spec.input.channels = 2;
  spec.input.image_height = 5;
  spec.input.image_width = 7;
  spec.input.patch_height = spec.input.patch_width = 3;
  spec.input.patch_stride = 2;
  spec.input.patch_padding = 1;
  const Tensor image = hashed_input("image", {2, 5, 7});
  const Tensor patches = to_patches(image, spec);
  ASSERT_EQ(patches.shape(), (Shape{3 * 4, 2 * 3 * 3}));
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t column = 0; column < 4; ++column) {
      for (std::int64_t channel = 0; channel < 2; ++channel) {
        for (std::int64_t k = 0; k < 9; ++k) {
          const std::int64_t y = row * 2 - 1 + k / 3, x = column * 2 - 1 + k % 3;
          const bool inside = y >= 0 && y < 5 && x >= 0 && x < 7;
          const float expected = inside ? image.data()[(channel * 5 + y) * 7 + x] : 0;
          EXPECT_EQ(patches.matrix()(row * 4 + column, channel * 9 + k), expected);
        }
      }
    }
  }
}

TEST(Preprocessing, ResizesTheShorterSideAndCropsTheMiddleAsTheTrainersDid) {
  ModelSpec spec;
  spec.input.image_height = spec.input.image_width = 28;
  spec.input.patch_height = spec.input.patch_width = 7;
  spec.input.crop_fraction = 0.875;
  spec.input.resize_filter = ResizeFilter::bicubic;
  const PreparedInput prepared = prepare_input(picture_of(stored_image("picture")), spec);
  ASSERT_TRUE(prepared.image);
  EXPECT_EQ(prepared.image->pixels, stored_image("evaluated").pixels);
}

TEST(Preprocessing, AnImageOfTheModelsExtentsPassesUnchanged) {
  ModelSpec spec;
  spec.input.channels = 1;
  spec.input.image_height = 37;
  spec.input.image_width = 53;
  spec.input.patch_height = 37;
  spec.input.patch_width = 53;
  spec.input.mean = {0.25};
  spec.input.std = {0.5};
  const Image grey = stored_image("grey");
  const PreparedInput prepared = prepare_input(picture_of(grey), spec);
  EXPECT_EQ(prepared.image->pixels, grey.pixels);
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) {
    ASSERT_EQ(prepared.values.data()[i],
              (static_cast<float>(grey.pixels[i]) / 255.0F - 0.25F) / 0.5F);
  }
}

TEST(Preprocessing, ANormalisedArrayShowsThePictureItCameFrom) {
  ModelSpec spec;
  spec.input.image_height = 37;
  spec.input.image_width = 53;
  spec.input.patch_height = 37;
  spec.input.patch_width = 53;
  const Image picture = stored_image("picture");
  const PreparedInput once = prepare_input(picture_of(picture), spec);
  Input array;
  array.content = once.values;
  const PreparedInput again = prepare_input(array, spec);
  EXPECT_EQ(again.image->pixels, picture.pixels);
  EXPECT_TRUE(std::ranges::equal(again.values.values(), once.values.values()));
}

TEST(Preprocessing, ReportsInvalidImages) {
  ModelSpec spec;
  const auto error = [&](decltype(Input::content) content) -> std::string {
    Input input;
    input.content = std::move(content);
    input.label = "x";
    try {
      (void)prepare_input(input, spec);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error(Tensor({3, 224, 225})),
            "x: the array does not fit the model (expected [3, 224, 224], normalised, found "
            "[3, 224, 225])");
  EXPECT_EQ(error(Image{}), "x: the image is empty");
  EXPECT_NE(error(Image{1 << 20, 1, 1, std::vector<std::uint8_t>(1 << 20)}), "no error");
  spec.input.patch_height = spec.input.patch_width = 0;
  EXPECT_NE(error(stored_image("grey")).find("encoder of tokens"), std::string::npos);
  EXPECT_NE(error(Tensor({5, 191})).find("[N, 192]"), std::string::npos);
}

TEST(Preprocessing, PatchesAreChannelRowColumn) {
  ModelSpec spec;
  spec.input.channels = 2;
  spec.input.image_height = 4;
  spec.input.image_width = 6;
  spec.input.patch_height = 2;
  spec.input.patch_width = 3;
  Tensor image({2, 4, 6});
  float next = 0;
  for (float& value : image.values()) value = next++;
  const Tensor patches = to_patches(image, spec);
  EXPECT_EQ(patches.shape(), (Shape{4, 12}));
  const std::vector<float> last(patches.values().end() - 12, patches.values().end());
  EXPECT_EQ(last, (std::vector<float>{15, 16, 17, 21, 22, 23, 39, 40, 41, 45, 46, 47}));
}

}  // namespace
}  // namespace attnscope
