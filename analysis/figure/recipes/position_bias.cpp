// Figure of DAFT's position biases exp(w) − 1: of every layer and head, of one query over the
// image, or their measures, like DAFT, Fig. 1, 3, 8 to 10.
#include "analysis/position_bias/position_bias.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/table.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

enum class Show { maps, query, numbers };
constexpr EnumName<Show> show_names[] = {
    {Show::maps, "maps"}, {Show::query, "query"}, {Show::numbers, "numbers"}};

constexpr std::int64_t kMostHeads = 16;  // the number in DAFT, Fig. 8

/// Number of layers in a row if there is one head: the width of a paper's column allows three.
constexpr std::int64_t kLayersAcross = 3;

std::string known(double value, int digits) {
  return std::isnan(value) ? "–" : fixed_text(value, digits);
}

std::int64_t query_of(const Settings& read, const PositionBias& bias) {
  const TokenLayout& layout = bias.layout;
  if (const auto query = read.index("query", bias.queries)) return *query;
  if (read.is("query", "class")) {
    if (layout.prefix > 0) return 0;
    throw Error(ErrorKind::usage, "the model has no class token")
        .about("query")
        .remedy("choose a token by its index: --set query=0");
  }
  if (!layout.has_grid()) return bias.queries / 2;
  return layout.prefix + layout.rows / 2 * layout.columns + layout.columns / 2;
}

HeatMap bias_picture(const MatrixD& values) {
  HeatMap map;
  map.rows = values.rows();
  map.columns = values.cols();
  const Matrix narrowed = values.cast<float>();
  map.values.assign(narrowed.data(), narrowed.data() + narrowed.size());
  return map;
}

/// exp(w) − 1 of one query over its keys: a grid, or a line.
HeatMap folded(const PositionBias& bias, std::int64_t query) {
  const std::vector<double> row = query_bias(bias, query);
  const TokenLayout& layout = bias.layout;
  const auto first = static_cast<std::size_t>(layout.prefix);
  HeatMap map;
  map.rows = layout.has_grid() ? layout.rows : 1;
  map.columns = layout.has_grid() ? layout.columns : static_cast<std::int64_t>(row.size() - first);
  for (std::size_t key = first; key < row.size(); ++key) {
    map.values.push_back(static_cast<float>(std::expm1(row[key])));
  }
  map.values.resize(static_cast<std::size_t>(map.rows * map.columns), std::nanf(""));
  return map;
}

/// The selected biases of one subject.
std::vector<PositionBias> chosen_biases(const Settings& read, const Subject& subject,
                                        std::int64_t most_heads) {
  const auto layers = static_cast<std::int64_t>(subject.trace->layers.size());
  std::vector<PositionBias> biases =
      position_biases(*subject.trace, read.indices("layers", layers));
  std::int64_t most = 1;
  for (const PositionBias& bias : biases) most = std::max(most, bias.heads);
  if (read.is("heads", "auto")) {
    std::erase_if(biases, [&](const PositionBias& bias) { return bias.head >= most_heads; });
  } else if (!read.is("heads", "all")) {
    const std::vector<std::int64_t> heads = read.indices("heads", most);
    std::erase_if(biases, [&](const PositionBias& bias) {
      return std::find(heads.begin(), heads.end(), bias.head) == heads.end();
    });
  }
  return biases;
}

class BiasAtlas {
 public:
  BiasAtlas(const FigureRequest& request, const Progress& progress)
      : request_(request), read_(request), progress_(progress), labels_(short_labels(request)) {}

  Figure make() {
    const bool of_query = read_.choice("show", show_names) == Show::query;
    const std::int64_t room = maps_across(request_.width_mm);
    std::vector<std::vector<PositionBias>> biases;
    for (const Subject& subject : request_.subjects) {
      progress_.step(
          static_cast<double>(biases.size()) / static_cast<double>(request_.subjects.size()),
          "position biases");
      biases.push_back(chosen_biases(read_, subject, std::min(kMostHeads, room)));
      // If rows of heads are shown, rows of layers may be equally long.
      if (biases.back().front().heads > 1) layers_across_ = std::max(kLayersAcross, room);
    }
    for (std::size_t i = 0; i < biases.size(); ++i) add(biases[i], labels_[i], of_query);
    const HeatScale scale = heat_scale(read_, std::move(values_), "exp(w) − 1", -1);
    figure_.colour_scales.push_back(scale.scale);
    finish_map_grid(figure_, grid_, request_.width_mm);
    figure_.caption = of_query ? "Position biases exp(w) − 1 of one query (" + query_name_ +
                                     ", framed) on the grid of patches, "
                               : "Position biases exp(w) − 1 (" + what_ + "), ";
    figure_.caption += chosen("layer", layers_written(request_, "layers")) + heads_ + ": " +
                       subjects_in_words(request_) + ". " + clipping_in_words(scale) + made_with();
    return std::move(figure_);
  }

 private:
  void add(const std::vector<PositionBias>& biases, const std::string& label, bool of_query) {
    const bool one_head = std::all_of(biases.begin(), biases.end(),
                                      [](const PositionBias& bias) { return bias.heads == 1; });
    const bool several = request_.subjects.size() > 1;
    const std::int64_t heads = biases.front().heads;
    if (!one_head && std::ssize(biases) > 0) {
      std::int64_t shown = 0;
      for (const PositionBias& bias : biases) shown = std::max(shown, bias.head + 1);
      if (read_.is("heads", "auto") && shown < heads) {
        heads_ = ", the first " + std::to_string(shown) + " of " + std::to_string(heads) + " heads";
      }
    }
    what_ = biases.front().windowed ? "windows around a query; rows of panels are layers, columns "
                                      "heads"
                                    : "rows are queries, columns keys";
    std::int64_t row = row_, column = 0, layer = biases.front().layer;
    for (const PositionBias& bias : biases) {
      const bool wraps = one_head && column == layers_across_;
      if (wraps || (!one_head && bias.layer != layer)) {
        ++row;
        column = 0;
      }
      layer = bias.layer;
      Panel panel = map_panel(row, column);
      const std::string name = layer_name(request_, layer);
      panel.keys = {{"model", label},
                    {"layer", std::to_string(layer + request_.first_layer)},
                    {"head", std::to_string(bias.head)}};
      if (one_head) {
        panel.title = name;
      } else {
        if (row == row_) panel.title = (column == 0 ? "head " : "") + std::to_string(bias.head);
        if (column == 0) panel.y.label = name;
      }
      if (several && column == 0 && (one_head || row == row_)) {
        panel.y.label = one_head ? label : label + ", " + name;
      }
      add_marks(panel, bias, of_query);
      figure_.panels.push_back(std::move(panel));
      grid_.columns = std::max(grid_.columns, ++column);
    }
    row_ = row + 1;
    grid_.rows = row_;
  }

  void add_marks(Panel& panel, const PositionBias& bias, bool of_query) {
    std::int64_t query = 0;
    if (of_query) query = query_of(read_, bias);
    HeatMap map = of_query ? folded(bias, query) : bias_picture(shown_bias(bias));
    grid_.aspect = std::max(0.1, static_cast<double>(map.rows) / static_cast<double>(map.columns));
    values_.insert(values_.end(), map.values.begin(), map.values.end());
    const std::int64_t columns = map.columns, patch = query - bias.layout.prefix;
    panel.marks.emplace_back(std::move(map));
    if (!of_query) return;
    query_name_ = bias.layout.name(query);
    if (patch < 0) return;
    const std::int64_t row = patch / columns, column = patch % columns;
    const auto x = static_cast<double>(column), y = static_cast<double>(row);
    Line frame;
    frame.x = {x - 0.5, x + 0.5, x + 0.5, x - 0.5, x - 0.5};
    frame.y = {y - 0.5, y - 0.5, y + 0.5, y + 0.5, y - 0.5};
    frame.colour = {0, 0, 0, 255};
    frame.width_pt = 0.7;
    panel.marks.emplace_back(std::move(frame));
  }

  const FigureRequest& request_;
  Settings read_;
  const Progress& progress_;
  std::vector<std::string> labels_;
  Figure figure_;
  MapGrid grid_;
  std::vector<float> values_;
  std::int64_t row_ = 0, layers_across_ = kLayersAcross;
  std::string what_, query_name_, heads_;
};

Figure make_table(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  Figure figure;
  Table table;
  table.header = {"Model",          "Layer",
                  "Entropy (nats)", "of at most",
                  "Symmetry error", "Distance (tokens)",
                  "even",           "Largest exp(w) − 1"};
  for (std::size_t i = 0; i < request.subjects.size(); ++i) {
    const Subject& subject = request.subjects[i];
    std::vector<BiasNumbers> numbers;
    const std::vector<PositionBias> biases = chosen_biases(read, subject, kMostHeads);
    for (const PositionBias& bias : biases) {
      const auto done = static_cast<double>(i) +
                        static_cast<double>(numbers.size()) / static_cast<double>(biases.size());
      progress.step(done / static_cast<double>(request.subjects.size()), "position biases");
      numbers.push_back(bias_numbers(bias));
      const BiasNumbers& one = numbers.back();
      figure.numbers[subject.label + "/" + layer_name(request, one.layer) + "/head " +
                     std::to_string(one.head)] = {
          one.entropy_nats,         one.largest_entropy_nats, one.symmetry_error,
          one.mean_distance_tokens, one.even_distance_tokens, one.largest};
    }
    bool first = true;
    for (const BiasNumbers& mean : layer_means(numbers)) {
      table.rows.push_back(
          {first ? subject.label : "", std::to_string(mean.layer + request.first_layer),
           fixed_text(mean.entropy_nats, 3), fixed_text(mean.largest_entropy_nats, 3),
           known(mean.symmetry_error, 3), known(mean.mean_distance_tokens, 2),
           known(mean.even_distance_tokens, 2), fixed_text(mean.largest, 2)});
      first = false;
    }
  }
  make_table_figure(figure, std::move(table), request.width_mm);
  figure.caption =
      "Position biases, mean over the heads of each layer: entropy of softmax(w) (DAFT, Eq. 10) "
      "and the most it could be; symmetry error ‖B − Bᵀ‖/‖B‖ of B = exp(w) − 1; mean distance "
      "looked at where all keys are equal, and the same without biases: " +
      subjects_in_words(request) + ". " + made_with();
  return figure;
}

Figure make_position_bias(const FigureRequest& request, const Progress& progress) {
  if (Settings(request).choice("show", show_names) == Show::numbers) {
    return make_table(request, progress);
  }
  return BiasAtlas(request, progress).make();
}

}  // namespace

FigureRecipe position_bias_recipe() {
  return {
      .name = "position-bias",
      .title = "Position biases",
      .source = "DAFT, Fig. 1, 3, 8 to 10",
      .question = FigureQuestion::maps,
      .has_panel = true,
      .settings =
          {setting::choice("show", names_of(show_names), "maps",
                           "maps, one query's biases on the grid of patches, or numbers"),
           indices_setting("layers", "layers"),
           indices_setting("heads",
                           "heads of the biases; auto: the first, as many as fit, at most 16")
               .or_word({"auto"})
               .by_default("auto"),
           setting::whole(
               "query", 0, {.minimum = 0},
               "query of show=query: a token's index, the middle of the grid, or the class token")
               .or_word({"middle", "class"})
               .by_default("middle"),
           colour_map_setting("diverging"), norm_setting(), range_setting()},
      .needs = {.subject = SubjectNeed::run,
                .mechanism = "daft",
                .any_input_serves = true,
                .missing = "needs a model with DAFT attention"},
      .make = make_position_bias};
}

}  // namespace attnscope
