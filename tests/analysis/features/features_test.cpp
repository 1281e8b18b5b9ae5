#include "analysis/features/features.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

#include "analysis/figure/recipe.h"
#include "core/error.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

const std::filesystem::path samples = source_folder() + "/sample_data";
const std::filesystem::path small_set = source_folder() + "/tests/data/input/grey_set.npz";

std::shared_ptr<const Model> sample_model(const char* name) {
  return load_model(samples / "models" / name);
}

TEST(Features, EqualTheReadoutOfEachRun) {
  const auto model = sample_model("fashion-adder.h5");
  const auto data_set = open_data_set(small_set);
  const LabelledFeatures found = features_of(*model, model->spec().mechanism, *data_set, {}, {});
  ASSERT_EQ(found.features.extent(0), data_set->size());
  ASSERT_EQ(found.features.extent(1), model->spec().width);
  TraceRequest request;
  request.implied_maps = false;
  for (std::int64_t item = 0; item < data_set->size(); ++item) {
    const Input input = data_set->item(item);
    EXPECT_EQ(found.classes[static_cast<std::size_t>(item)], input.class_index);
    const Trace trace = model->run(input, model->spec().mechanism, request, {});
    const float* const row = found.features.data() + item * found.features.extent(1);
    EXPECT_TRUE(std::equal(trace.features.values().begin(), trace.features.values().end(), row));
  }
  EXPECT_LE(found.correct, data_set->size());
}

TEST(FeatureScatter, ShowsEveryItemOnceInTheColourOfItsClass) {
  FigureRequest request;
  for (const char* name : {"fashion-softmax.h5", "fashion-adder.h5"}) {
    const auto model = sample_model(name);
    request.subjects.push_back({model->name(), model, model->spec().mechanism, nullptr, nullptr});
  }
  request.settings["dataset"] = small_set.string();
  const Figure figure = make_figure("feature-scatter", request);
  ASSERT_EQ(figure.panels.size(), 2U);
  const auto data_set = open_data_set(small_set);
  std::set<int> classes;
  for (std::int64_t i = 0; i < data_set->size(); ++i) classes.insert(data_set->item(i).class_index);
  for (const Panel& panel : figure.panels) {
    EXPECT_EQ(panel.marks.size(), classes.size());
    std::size_t points = 0;
    std::set<std::pair<int, int>> looks;
    for (const Mark& mark : panel.marks) {
      const Line& line = std::get<Line>(mark);
      points += line.x.size();
      EXPECT_EQ(line.style, LineStyle::none);
      EXPECT_NE(line.marker, MarkerShape::none);
      looks.insert({line.colour.red << 16 | line.colour.green << 8 | line.colour.blue,
                    static_cast<int>(line.marker)});
    }
    EXPECT_EQ(points, static_cast<std::size_t>(data_set->size()));
    EXPECT_EQ(looks.size(), classes.size());
  }
}

TEST(FeatureScatter, NamesMissingRequirements) {
  const auto model = sample_model("fashion-softmax.h5");
  FigureRequest request;
  request.subjects.push_back({model->name(), model, model->spec().mechanism, nullptr, nullptr});
  const auto refusal = [&] {
    return error_of([&] { (void)make_figure("feature-scatter", request); });
  };
  EXPECT_NE(refusal().find("labelled data set"), std::string::npos);
  request.settings["dataset"] = small_set.string();
  request.subjects.front().model = nullptr;
  EXPECT_NE(refusal().find("trace"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
