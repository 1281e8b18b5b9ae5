// Figure of the final features of a labelled data set in the plane, coloured by class, like Adder,
// Fig. 1.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/features/features.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Marker of a class. With the seven colours it distinguishes ten classes.
MarkerShape class_marker(std::size_t index) {
  constexpr std::array<MarkerShape, 5> shapes = {MarkerShape::circle, MarkerShape::square,
                                                 MarkerShape::triangle, MarkerShape::diamond,
                                                 MarkerShape::cross};
  return shapes[index % shapes.size()];
}

std::string class_name(const std::vector<std::string>& names, int index) {
  const auto place = static_cast<std::size_t>(index);
  return place < names.size() && !names[place].empty() ? names[place]
                                                       : "class " + std::to_string(index);
}

std::string component_label(const char* which, double share) {
  return std::string(which) + " component (" + rounded_text(100 * share, 2) + " %)";
}

/// Sets a range slightly larger than that of the points, so that no marker is clipped.
void set_range(Axis& axis, const std::vector<double>& places) {
  const auto [least, greatest] = std::minmax_element(places.begin(), places.end());
  if (least == places.end() || !(*least < *greatest)) return;
  const double room = 0.04 * (*greatest - *least);
  axis.minimum = *least - room;
  axis.maximum = *greatest + room;
}

Panel scatter_panel(const LabelledFeatures& features, const PrincipalPlane& plane) {
  std::map<int, Line> by_class;
  for (std::size_t i = 0; i < features.classes.size(); ++i) {
    Line& line = by_class[features.classes[i]];
    line.x.push_back(plane.x[i]);
    line.y.push_back(plane.y[i]);
  }
  Panel panel;
  for (auto& [index, line] : by_class) {
    line.label = class_name(features.class_names, index);
    line.keys = {{"class", line.label}};
    line.colour = with_alpha(subject_colour(static_cast<std::size_t>(index)), 200);
    line.style = LineStyle::none;
    line.marker = class_marker(static_cast<std::size_t>(index));
    panel.marks.emplace_back(std::move(line));
  }
  set_range(panel.x, plane.x);
  set_range(panel.y, plane.y);
  panel.x.label = component_label("first", plane.share[0]);
  panel.y.label = component_label("second", plane.share[1]);
  return panel;
}

std::int64_t scatter_columns(const Settings& read, std::size_t panels, double width_mm) {
  if (!read.is("columns", "auto")) return read.whole("columns");
  constexpr double comfortable_mm = 38;
  const auto fitting = static_cast<std::int64_t>(width_mm / comfortable_mm);
  return std::clamp(fitting, std::int64_t{1}, static_cast<std::int64_t>(panels));
}

Figure make_feature_scatter(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const std::string& place = read.text("dataset");
  const std::int64_t count = read.whole("count");
  const LegendPosition legend = legend_of(read);
  const std::shared_ptr<const DataSet> data_set = open_data_set(place);

  Figure figure;
  const std::vector<std::string> labels = short_labels(request);
  const std::int64_t columns = scatter_columns(read, request.subjects.size(), request.width_mm);
  const double panel_mm = request.width_mm / static_cast<double>(columns);
  std::string words;
  std::int64_t shown = 0;
  int title_lines = 1;
  for (std::size_t i = 0; i < request.subjects.size(); ++i) {
    const Subject& subject = request.subjects[i];
    const auto part = [&](double at) {
      return (static_cast<double>(i) + at) / static_cast<double>(request.subjects.size());
    };
    const LabelledFeatures features = features_of(*subject.model, subject.mechanism, *data_set,
                                                  {count}, progress.part(part(0), part(1)));
    const PrincipalPlane plane = principal_plane(features.features);
    Panel panel = scatter_panel(features, plane);
    panel.row = static_cast<std::int64_t>(i) / columns;
    panel.column = static_cast<std::int64_t>(i) % columns;
    if (request.subjects.size() > 1) {
      panel.title = fitted(labels[i], 0.8 * panel_mm, figure.font_size_pt);
      title_lines = std::max(title_lines, panel.title.find('\n') == std::string::npos ? 1 : 2);
    }
    panel.legend = legend;
    figure.panels.push_back(std::move(panel));
    const auto run = static_cast<std::int64_t>(features.classes.size()) + features.not_finite;
    shown = std::max(shown, run);
    figure.numbers["share_of_variance/" + subject.label] = {plane.share[0], plane.share[1]};
    figure.numbers["correct/" + subject.label] = {static_cast<double>(features.correct)};
    figure.numbers["items/" + subject.label] = {static_cast<double>(run)};
    words += (words.empty() ? "" : "; ") + subject.label + " (" + to_string(subject.mechanism) +
             ", " +
             rounded_text(100.0 * static_cast<double>(features.correct) /
                              static_cast<double>(std::max<std::int64_t>(run, 1)),
                          3) +
             " % classified correctly";
    if (features.not_finite > 0) {
      words += ", " + std::to_string(features.not_finite) + " left out: NaN or Inf";
    }
    words += ")";
  }
  figure.shared_legend = legend == LegendPosition::below;
  const auto rows = (static_cast<std::int64_t>(request.subjects.size()) + columns - 1) / columns;
  figure.height_mm = static_cast<double>(rows) * (0.88 * panel_mm + 1 + 3 * title_lines) +
                     legend_mm(figure, request.width_mm);
  figure.caption =
      "Final features of " + std::to_string(shown) + " items of " +
      std::filesystem::path(place).filename().string() +
      (shown < data_set->size() ? " (of " + std::to_string(data_set->size()) + ", spread evenly)"
                                : std::string()) +
      " in the plane of their first two principal components, coloured by class: " + words +
      ". Percentages at the axes: shares of the variance. " + made_with();
  return figure;
}

}  // namespace

FigureRecipe feature_scatter_recipe() {
  return {.name = "feature-scatter",
          .title = "Final features by class",
          .source = "Adder, Fig. 1",
          .question = FigureQuestion::answer,
          .settings = {setting::file(
                           "dataset",
                           "the labelled data set: IDX images, an HDF5 or NPZ file, or a folder of "
                           "class folders"),
                       setting::whole("count", 500, {0, 1e9},
                                      "how many of its items, spread evenly over it; 0: all"),
                       setting::whole("columns", 1, {1, 12},
                                      "panels side by side; auto: as many as have room")
                           .or_word({"auto"})
                           .by_default("auto"),
                       legend_setting()},
          .needs = {.subject = SubjectNeed::model,
                    .readout = true,
                    .missing = "needs a model with a head that reads features",
                    .setting = "dataset",
                    .unset = "needs a labelled data set"},
          .make = make_feature_scatter};
}

}  // namespace attnscope
