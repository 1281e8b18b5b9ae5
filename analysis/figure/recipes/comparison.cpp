// Figure of the maps of the reference and of other subjects, with their differences.
#include "analysis/comparison/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/figure/caption.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/compared_subjects.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/spectrum/map_batch.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

enum class Difference { is_signed, absolute, relative };
constexpr EnumName<Difference> difference_names[] = {{Difference::is_signed, "signed"},
                                                     {Difference::absolute, "absolute"},
                                                     {Difference::relative, "relative"}};

double difference_of(double own, double reference, Difference kind) {
  const double difference = own - reference;
  if (kind == Difference::absolute) return std::abs(difference);
  if (kind == Difference::is_signed) return difference;
  const double both = std::abs(own) + std::abs(reference);
  return both == 0 ? 0 : difference / both;
}

HeatMap heat_map_of(const MatrixD& values, std::size_t scale) {
  HeatMap heat;
  heat.rows = values.rows();
  heat.columns = values.cols();
  heat.colour_scale = scale;
  heat.values.reserve(static_cast<std::size_t>(values.size()));
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    heat.values.push_back(static_cast<float>(values.data()[i]));
  }
  return heat;
}

/// A range symmetric about 0, up to the value that one cell in 200 exceeds; from 0 for absolute
/// differences.
ColourScale difference_scale(Difference kind, std::vector<float> values,
                             const std::string& colour_map) {
  ColourScale scale;
  scale.label = kind == Difference::is_signed  ? "difference"
                : kind == Difference::absolute ? "absolute difference"
                                               : "relative difference";
  scale.colour_map = kind == Difference::absolute ? colour_map : "diverging";
  if (kind == Difference::relative) {
    scale.minimum = -1;
    return scale;
  }
  for (float& value : values) value = std::abs(value);
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  double peak = 0;
  if (!values.empty()) {
    const auto nth = values.begin() +
                     static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * 0.995);
    std::nth_element(values.begin(), nth, values.end());
    peak = static_cast<double>(*nth);
    if (peak == 0) peak = static_cast<double>(*std::max_element(values.begin(), values.end()));
  }
  if (peak == 0) peak = 1;
  scale.maximum = peak;
  scale.minimum = kind == Difference::absolute ? 0 : -peak;
  return scale;
}

class ComparisonFigure {
 public:
  ComparisonFigure(const FigureRequest& request, const Progress& progress)
      : request_(request), read_(request), labels_(short_labels(request)) {
    compared_ = compared_subjects(request, progress);
  }

  Figure make() {
    kind_ = read_.choice("difference", difference_names);
    show_numbers_ = read_.flag("numbers");
    std::int64_t layers = std::numeric_limits<std::int64_t>::max(), heads = layers;
    for (const ComparedSubject& other : compared_.others) {
      const Trace& trace = *request_.subjects[other.subject].trace;
      layers = std::min(layers, std::ssize(trace.layers));
      heads = std::min(heads, trace.heads());
    }
    const std::vector<std::int64_t> chosen_layers = read_.is("layers", "auto")
                                                        ? std::vector<std::int64_t>{layers / 2}
                                                        : read_.indices("layers", layers);
    const std::vector<std::int64_t> chosen_heads = read_.indices("heads", heads);
    layers_text_ = read_.is("layers", "auto")
                       ? std::to_string(chosen_layers.front() + request_.first_layer)
                       : layers_written(request_, "layers");
    several_ = chosen_layers.size() * chosen_heads.size() > 1;
    for (const std::int64_t layer : chosen_layers) {
      for (const std::int64_t head : chosen_heads) add_place(layer, head);
    }
    return finish();
  }

 private:
  /// Adds two rows: the maps, and below each map its difference from the reference.
  void add_place(std::int64_t layer, std::int64_t head) {
    const Trace& reference = *request_.subjects[compared_.reference].trace;
    // With matched heads every subject has its own counterpart; the row shows that of the first.
    const LayerPair& first =
        compared_.others.front().comparison.alignment.at(static_cast<std::size_t>(layer));
    const std::int64_t beside = first.reference_heads.empty()
                                    ? -1
                                    : first.reference_heads.at(static_cast<std::size_t>(head));
    Panel shown = map_panel(row_, 0);
    if (row_ == 0) shown.title = labels_[compared_.reference];
    if (first.reference_layer >= 0 && beside >= 0) {
      const MatrixD map = map_seen(reference, {first.reference_layer, beside}, view());
      collect(map, has_identity(reference, first.reference_layer, view()));
      shown.marks.emplace_back(heat_map_of(map, 0));
      shown.keys = keys_of(compared_.reference, first.reference_layer, beside);
      if (several_) {
        shown.y.label = layer_name(request_, layer) + ", head " + std::to_string(head);
      }
      figure_.panels.push_back(std::move(shown));
    }
    std::int64_t column = 1;
    for (const ComparedSubject& other : compared_.others) add_other(other, layer, head, column++);
    row_ += 2;
  }

  [[nodiscard]] IdentityView view() const { return compared_.options.analysed.identity; }

  [[nodiscard]] Keys keys_of(std::size_t subject, std::int64_t layer, std::int64_t head) const {
    return {{"model", request_.subjects[subject].label},
            {"layer", std::to_string(layer + request_.first_layer)},
            {"head", std::to_string(head)}};
  }

  void add_other(const ComparedSubject& other, std::int64_t layer, std::int64_t head,
                 std::int64_t column) {
    const Trace& reference = *request_.subjects[compared_.reference].trace;
    const Trace& trace = *request_.subjects[other.subject].trace;
    const auto numbers = std::find_if(
        other.comparison.maps.begin(), other.comparison.maps.end(),
        [&](const ComparedMap& map) { return map.layer == layer && map.head == head; });
    if (numbers == other.comparison.maps.end()) {
      throw Error(ErrorKind::usage, "this map was not recorded")
          .about(other.label)
          .found("layer " + std::to_string(layer) + ", head " + std::to_string(head));
    }
    const MatrixD map = map_seen(trace, {layer, head}, view());
    collect(map, has_identity(trace, layer, view()));
    Panel shown = map_panel(row_, column);
    if (row_ == 0) shown.title = labels_[other.subject];
    shown.keys = keys_of(other.subject, layer, head);
    shown.marks.emplace_back(heat_map_of(map, 0));
    figure_.panels.push_back(std::move(shown));

    Panel below = map_panel(row_ + 1, column);
    below.keys = keys_of(other.subject, layer, head);
    if (numbers->state != MapPairState::compared) {
      below.x.minimum = 0;
      below.x.maximum = 1;
      below.y.minimum = 0;
      below.y.maximum = 1;
      below.marks.emplace_back(
          TextMark{0.5, 0.5, fitted(std::string(describe(numbers->state)), 20, 7)});
      figure_.panels.push_back(std::move(below));
      return;
    }
    MatrixD difference =
        map_seen(reference, {numbers->reference_layer, numbers->reference_head}, view());
    for (Eigen::Index i = 0; i < difference.size(); ++i) {
      difference.data()[i] = difference_of(map.data()[i], difference.data()[i], kind_);
      differences_.push_back(static_cast<float>(difference.data()[i]));
    }
    below.marks.emplace_back(heat_map_of(difference, 1));
    const double bits = numbers->values[ComparisonQuantity::divergence];
    if (show_numbers_) below.x.label = "JS " + rounded_text(bits, 3) + " bit";
    if (column == 1)
      below.y.label = kind_ == Difference::is_signed  ? "minus " + labels_[compared_.reference]
                      : kind_ == Difference::absolute ? "absolute difference"
                                                      : "relative difference";
    const std::string place =
        other.label + "/" + layer_name(request_, layer) + "/head " + std::to_string(head);
    for (const ComparisonQuantityEntry& entry : comparison_quantities()) {
      const double value = numbers->values[entry.quantity];
      if (!std::isnan(value)) figure_.numbers[std::string(entry.name) + "/" + place] = {value};
    }
    figure_.panels.push_back(std::move(below));
  }

  void collect(const MatrixD& map, bool identity) {
    for (Eigen::Index row = 0; row < map.rows(); ++row) {
      for (Eigen::Index column = 0; column < map.cols(); ++column) {
        if (!identity || row != column) weights_.push_back(static_cast<float>(map(row, column)));
      }
    }
  }

  /// Breaks and shortens texts to fit, and sets the height.
  void place() {
    constexpr double gap_mm = 1.8;
    const double size_pt = figure_.font_size_pt, line_mm = size_pt * 25.4 / 72 * 1.4;
    const auto lines_in = [&](std::int64_t column) {
      std::size_t most = 0;
      for (const Panel& panel : figure_.panels) {
        if (panel.column == column) most = std::max(most, lines_of(panel.y.label));
      }
      return most;
    };
    const auto frame_width = [&] {
      return frame_beside(request_.width_mm, bars_room_mm(figure_), lines_in(0) + lines_in(1),
                          std::ssize(compared_.others) + 1, size_pt);
    };
    const double first_mm = frame_width();
    std::size_t above = 1;
    for (Panel& panel : figure_.panels) {
      panel.title = fitted(panel.title, first_mm, size_pt);
      panel.y.label = row_label(panel.y.label, first_mm + gap_mm, size_pt);
      above = std::max(above, lines_of(panel.title));
    }
    for (ColourScale& scale : figure_.colour_scales) {
      scale.label = fitted(scale.label, first_mm, size_pt);
    }
    const double frame_mm = frame_width();
    for (Panel& panel : figure_.panels) {
      std::string& text = panel.x.label;
      const std::size_t unit = text.find(" bit");
      if (text_mm(text, size_pt) + 1 > frame_mm && unit != std::string::npos) text.erase(unit);
      if (text_mm(text, size_pt) + 1 > frame_mm && unit != std::string::npos) text.erase(0, 3);
    }
    const auto rows = static_cast<double>(row_);
    figure_.height_mm = static_cast<double>(above) * line_mm + 1.2 + rows * (frame_mm + gap_mm) +
                        (show_numbers_ ? rows / 2 * 1.1 * line_mm : 0);
  }

  Figure finish() {
    const HeatScale scale = heat_scale(read_, std::move(weights_), "attention weight");
    figure_.colour_scales.push_back(scale.scale);
    figure_.colour_scales.push_back(
        difference_scale(kind_, std::move(differences_), scale.scale.colour_map));
    place();
    figure_.caption = "Attention maps (rows are queries, columns keys) of " +
                      chosen("layer", layers_text_) + ", " +
                      chosen("head", read_.written("heads")) + ", and under them the " +
                      std::string(figure_.colour_scales[1].label) +
                      " from the reference: " + comparison_in_words(request_, compared_) +
                      ". JS: Jensen–Shannon divergence of the rows in bits, mean over queries. " +
                      clipping_in_words(scale) + made_with();
    std::replace(figure_.caption.begin(), figure_.caption.end(), '\n', ' ');
    return std::move(figure_);
  }

  const FigureRequest& request_;
  Settings read_;
  std::vector<std::string> labels_;
  ComparedSubjects compared_;
  Figure figure_;
  std::vector<float> weights_, differences_;
  std::string layers_text_;
  std::int64_t row_ = 0;
  Difference kind_ = Difference::is_signed;
  bool show_numbers_ = true, several_ = false;
};

Figure make_comparison(const FigureRequest& request, const Progress& progress) {
  return ComparisonFigure(request, progress).make();
}

}  // namespace

FigureRecipe comparison_recipe() {
  return {
      .name = "comparison",
      .title = "Maps next to a reference, and their differences",
      .source = "Lin 1991, Section IV",
      .question = FigureQuestion::models,
      .settings = {reference_setting(),
                   indices_setting("layers", "layers; auto: the middle one of the compared")
                       .or_word({"auto"})
                       .by_default("auto"),
                   setting::indices("heads", "0", "heads").or_word({"all"}),
                   setting::choice("difference", names_of(difference_names), "signed",
                                   "w - r (signed), |w - r| (absolute) or (w - r) / (|w| + |r|) "
                                   "(relative), r the reference's weight"),
                   align_setting(), match_heads_setting(), single_identity_setting(),
                   setting::flag("numbers", true, "the divergence under each difference"),
                   threshold_setting(), share_setting(), colour_map_setting(), norm_setting(),
                   range_setting()},
      .needs = comparison_needs,
      .make = make_comparison};
}

}  // namespace attnscope
