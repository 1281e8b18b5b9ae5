#include "app/panels/training/training_figure.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/figure/series_style.h"

namespace attnscope {

namespace {

constexpr std::size_t kSmoothed = 20;  // steps
constexpr int kLayerAlpha = 90;

struct ViewTables {
  const char* axis;
  const char *steps, *values;  ///< tables of every step; null: none
  const char *marked_steps, *marked;
  double factor;
};

const ViewTables& tables_of(TrainingView view) {
  static constexpr ViewTables list[] = {
      {"loss (nats)", "steps/step", "steps/loss", "tests/step", "tests/loss", 1},
      {"accuracy (%)", "steps/step", "steps/accuracy", "tests/step", "tests/accuracy", 100},
      {"equivalent rank of A", nullptr, nullptr, "probes/step", "probes/mean_rank", 1},
      {"entropy of a query (nats)", nullptr, nullptr, "probes/step", "probes/entropy", 1}};
  return list[static_cast<std::size_t>(view)];
}

const LogTable* table(const TrainingLog& log, const char* name) {
  return name == nullptr ? nullptr : log.find(name);
}

Line line_of(const TrainingCurve& curve) {
  Line line;
  line.colour = subject_colour(curve.place);
  line.keys = {{"training", curve.name}};
  return line;
}

/// Adds the mean over the last kSmoothed steps at each step.
void add_smoothed(Panel& panel, const TrainingCurve& curve, const ViewTables& tables) {
  const LogTable* const steps = table(*curve.log, tables.steps);
  const LogTable* const values = table(*curve.log, tables.values);
  if (!steps || !values) return;
  Line line = line_of(curve);
  line.label = curve.name;
  double sum = 0;
  for (std::size_t i = 0; i < values->numbers.size() && i < steps->numbers.size(); ++i) {
    sum += values->numbers[i];
    if (i >= kSmoothed) sum -= values->numbers[i - kSmoothed];
    line.x.push_back(steps->numbers[i]);
    line.y.push_back(tables.factor * sum / static_cast<double>(std::min(i + 1, kSmoothed)));
  }
  panel.marks.emplace_back(std::move(line));
}

/// Curve of one layer, or (`layer` −1) of the mean over the layers with a finite value.
Line layer_line(const TrainingCurve& curve, const ViewTables& tables, std::int64_t layer) {
  const LogTable* const steps = table(*curve.log, tables.marked_steps);
  const LogTable* const values = table(*curve.log, tables.marked);
  Line line = line_of(curve);
  if (!steps || !values) return line;
  for (std::int64_t row = 0; row < std::min(steps->rows(), values->rows()); ++row) {
    double sum = 0, count = 0;
    for (std::int64_t column = 0; column < values->width; ++column) {
      const double value = values->numbers[static_cast<std::size_t>(row * values->width + column)];
      if ((layer >= 0 && column != layer) || !std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
    if (count == 0) continue;
    line.x.push_back(steps->numbers[static_cast<std::size_t>(row)]);
    line.y.push_back(tables.factor * sum / count);
  }
  return line;
}

void add_layers(Panel& panel, const TrainingCurve& curve, const ViewTables& tables) {
  const LogTable* const values = table(*curve.log, tables.marked);
  if (!values || values->width < 2) return;
  for (std::int64_t layer = 0; layer < values->width; ++layer) {
    Line line = layer_line(curve, tables, layer);
    line.name = curve.name + ", layer " + std::to_string(layer);
    line.colour = with_alpha(line.colour, kLayerAlpha);
    line.width_pt = 0.5;
    panel.marks.emplace_back(std::move(line));
  }
}

}  // namespace

// The rows of the panel name the networks next to the colours of their curves, so the figure has no
// legend of its own.
Figure training_figure(const std::vector<TrainingCurve>& curves, TrainingView view) {
  const ViewTables& tables = tables_of(view);
  Figure figure;
  figure.name = "training";
  Panel panel;
  panel.x.label = "step";
  panel.x.key = "step";
  panel.y.label = tables.axis;
  for (const TrainingCurve& curve : curves) {
    if (!curve.log) continue;
    add_smoothed(panel, curve, tables);
    add_layers(panel, curve, tables);
    Line marked = layer_line(curve, tables, -1);
    if (marked.x.empty()) continue;
    marked.marker = subject_marker(curve.place);
    if (tables.values != nullptr) {
      marked.style = LineStyle::none;
      marked.name = curve.name + ", tests";
    } else {
      marked.label = curve.name;
    }
    panel.marks.emplace_back(std::move(marked));
  }
  if (view == TrainingView::accuracy) {
    panel.y.minimum = 0;
    panel.y.maximum = 100;
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace attnscope
