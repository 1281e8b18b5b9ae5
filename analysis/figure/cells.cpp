#include "analysis/figure/cells.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/colour_map.h"

namespace attnscope {

namespace {

std::uint32_t packed(unsigned red, unsigned green, unsigned blue) {
  return red << 16 | green << 8 | blue;
}

std::uint32_t packed(const Colour& colour) { return packed(colour.red, colour.green, colour.blue); }

std::uint32_t mix(std::uint32_t under, std::uint32_t over, double share) {
  const auto channel = [&](int shift) {
    const double u = under >> shift & 255;
    const double o = over >> shift & 255;
    return static_cast<unsigned>(std::lround((1 - share) * u + share * o));
  };
  return packed(channel(16), channel(8), channel(0));
}

}  // namespace

Cells cells_of(const HeatMap& map, const ColourScale& scale) {
  const ScaleColours colours(scale);
  Cells cells{map.rows, map.columns, {}};
  cells.colours.reserve(map.values.size());
  for (const float value : map.values) {
    const std::optional<double> fraction = fraction_of(scale, static_cast<double>(value));
    if (!fraction) {
      cells.colours.push_back(packed(map.missing.value_or(no_value_colour)));
    } else {
      const auto step = static_cast<std::size_t>(std::lround(255 * colours.position(*fraction)));
      cells.colours.push_back(packed(colours.map().colours[step]));
    }
  }
  return cells;
}

Cells cells_of(const Image& image) {
  Cells cells{image.height, image.width, {}};
  const auto count = static_cast<std::size_t>(image.width * image.height);
  const auto channels = static_cast<std::size_t>(image.channels);
  cells.colours.reserve(count);
  for (std::size_t pixel = 0; pixel < count; ++pixel) {
    const std::uint8_t* p = image.pixels.data() + pixel * channels;
    cells.colours.push_back(channels >= 3 ? packed(p[0], p[1], p[2]) : packed(p[0], p[0], p[0]));
  }
  return cells;
}

Cells mixed(const Image& image, const HeatMap& map, const ColourScale& scale) {
  const Cells picture = cells_of(image);
  Cells heat = cells_of(map, scale);
  if (picture.colours.empty()) return heat;
  // The picture's pixels are repeated a whole number of times, until all heat map cells fit.
  const auto repeats = [](std::int64_t pixels, std::int64_t wanted) {
    return std::max<std::int64_t>(1, (wanted + pixels - 1) / pixels);
  };
  Cells cells;
  cells.rows = picture.rows * repeats(picture.rows, heat.rows);
  cells.columns = picture.columns * repeats(picture.columns, heat.columns);
  cells.colours.reserve(static_cast<std::size_t>(cells.rows * cells.columns));
  const double share = std::clamp(map.opacity, 0.0, 1.0);
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    for (std::int64_t column = 0; column < cells.columns; ++column) {
      // Both are sampled at the centre of the cell.
      const auto under =
          picture.at(row * picture.rows / cells.rows, column * picture.columns / cells.columns);
      const auto over = heat.at((2 * row + 1) * heat.rows / (2 * cells.rows),
                                (2 * column + 1) * heat.columns / (2 * cells.columns));
      cells.colours.push_back(mix(under, over, share));
    }
  }
  return cells;
}

std::vector<CellDrawing> cell_drawings(const Panel& panel, const std::vector<ColourScale>& scales) {
  std::vector<CellDrawing> drawings;
  for (std::size_t index = 0; index < panel.marks.size(); ++index) {
    const auto* picture = std::get_if<Picture>(&panel.marks[index]);
    const auto* map = std::get_if<HeatMap>(&panel.marks[index]);
    const auto* over =
        index + 1 < panel.marks.size() ? std::get_if<HeatMap>(&panel.marks[index + 1]) : nullptr;
    if (picture != nullptr && over != nullptr && over->opacity < 1) {
      drawings.push_back({index, 2, mixed(picture->image, *over, scales.at(over->colour_scale))});
      ++index;
    } else if (picture != nullptr) {
      drawings.push_back({index, 1, cells_of(picture->image)});
    } else if (map != nullptr) {
      drawings.push_back({index, 1, cells_of(*map, scales.at(map->colour_scale))});
    }
  }
  return drawings;
}

std::int64_t run_count(const Cells& cells) {
  std::int64_t count = 0;
  for_each_run(cells,
               [&count](std::int64_t, std::int64_t, std::int64_t, std::uint32_t) { ++count; });
  return count;
}

}  // namespace attnscope
