// Figures as arrays: their shapes, which readers of NPZ and HDF5 take for rows and columns.
#include "analysis/figure/array_export.h"

#include <gtest/gtest.h>
#include <map>

namespace attnscope {
namespace {

/// Keeps what a figure writes.
class KeptArrays : public ArrayFile {
 public:
  struct Kept {
    Shape shape;
    std::vector<double> values;
  };
  std::map<std::string, Kept> arrays;
  std::map<std::string, std::vector<std::string>> axes;  ///< axes of each plotted group

  void array(const std::string& path, const Shape& shape, std::span<const double> values) override {
    arrays[path] = {shape, {values.begin(), values.end()}};
  }
  void array(const std::string& path, const Shape& shape, std::span<const float> values) override {
    arrays[path] = {shape, {values.begin(), values.end()}};
  }
  void array(const std::string& path, const Shape& shape,
             std::span<const std::uint8_t> values) override {
    arrays[path] = {shape, {values.begin(), values.end()}};
  }
  void array(const std::string& path, const Shape& shape,
             const std::vector<std::string>&) override {
    arrays[path] = {shape, {}};
  }
  void text(const std::string&, const std::string&, const std::string&) override {}
  void number(const std::string&, const std::string&, std::int64_t) override {}
  void plot(const std::string& group, const std::string&, const std::vector<std::string>&,
            const std::vector<std::string>& of, const std::vector<std::string>&) override {
    axes[group] = of;
  }
};

TEST(ArrayExport, KeepsRowsAndColumnsOfAHeatMap) {
  HeatMap map;
  map.rows = 2;
  map.columns = 3;
  map.values = {1, 2, 3, 4, 5, 6};
  Figure figure;
  figure.colour_scales.emplace_back();
  figure.panels.emplace_back().marks.emplace_back(map);
  KeptArrays file;
  write_arrays(figure, file);
  const KeptArrays::Kept& values = file.arrays.at("panel_00/mark_00/values");
  EXPECT_EQ(values.shape, (Shape{2, 3}));
  EXPECT_EQ(values.values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.arrays.at("panel_00/mark_00/y").shape, (Shape{2}));
  EXPECT_EQ(file.arrays.at("panel_00/mark_00/x").shape, (Shape{3}));
  EXPECT_EQ(file.axes.at("panel_00/mark_00"), (std::vector<std::string>{"y", "x"}));
}

}  // namespace
}  // namespace attnscope
