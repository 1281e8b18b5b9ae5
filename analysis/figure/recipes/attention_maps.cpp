// Figure of attention maps on one colour scale, like Adder, Fig. 3 and appendix, Fig. 2.
#include <algorithm>
#include <array>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/spectrum/spectrum.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Dimension shown across the columns.
enum class Across { automatic, layers, subjects };
constexpr EnumName<Across> across_names[] = {
    {Across::automatic, "auto"}, {Across::layers, "layers"}, {Across::subjects, "subjects"}};

/// One map of the figure.
struct ShownMaps {
  std::size_t subject = 0;
  IdentityView view = IdentityView::as_is;
  std::int64_t layer = 0, head = 0;
};

std::vector<std::int64_t> chosen_layers(const Settings& read, std::int64_t count) {
  return read.is("layers", "auto") ? first_middle_last(count) : read.indices("layers", count);
}

std::int64_t block_side(const ConstMatrixMap& map) {
  return (std::max(map.rows(), map.cols()) + most_figure_cells - 1) / most_figure_cells;
}

HeatMap map_picture(const ConstMatrixMap& map) {
  const std::int64_t side = block_side(map);
  HeatMap heat;
  heat.rows = (map.rows() + side - 1) / side;
  heat.columns = (map.cols() + side - 1) / side;
  if (side == 1) {
    heat.values.assign(map.data(), map.data() + map.size());
    return heat;
  }
  heat.values.reserve(static_cast<std::size_t>(heat.rows * heat.columns));
  for (std::int64_t row = 0; row < map.rows(); row += side) {
    for (std::int64_t column = 0; column < map.cols(); column += side) {
      heat.values.push_back(map.block(row, column, std::min(side, map.rows() - row),
                                      std::min(side, map.cols() - column))
                                .mean());
    }
  }
  return heat;
}

/// Collects the shown attention weights; with I in the maps, the diagonal is excluded.
void collect_values(const HeatMap& map, bool identity, std::vector<float>& values) {
  for (std::int64_t row = 0; row < map.rows; ++row) {
    for (std::int64_t column = 0; column < map.columns; ++column) {
      if (identity && row == column) continue;
      values.push_back(map.values[static_cast<std::size_t>(row * map.columns + column)]);
    }
  }
}

class Grid {
 public:
  Grid(const FigureRequest& request, const Progress& progress)
      : request_(request), read_(request), progress_(progress), labels_(short_labels(request)) {}

  Figure make() {
    const SharedExtents shared = shared_extents(request_);
    const std::vector<std::int64_t> layers = chosen_layers(read_, shared.layers);
    const std::vector<std::int64_t> heads = read_.indices("heads", shared.heads);
    const std::vector<IdentityView> views = identity_views(read_);
    show_ranks_ = read_.flag("ranks");
    options_.threshold = threshold_of(read_);
    const Across across = read_.choice("columns", across_names);
    const std::size_t seen = request_.subjects.size() * views.size();
    subjects_across_ = across == Across::subjects ||
                       (across == Across::automatic && layers.size() == 1 && seen > 1);
    several_heads_ = heads.size() > 1;
    several_layers_ = layers.size() > 1;
    several_seen_ = seen > 1;
    total_ = seen * layers.size() * heads.size();

    std::int64_t line = 0;  // row of the figure: one (subject, view, head), or one (layer, head)
    if (subjects_across_) {
      for (const std::int64_t layer : layers) {
        for (const std::int64_t head : heads) {
          std::int64_t column = 0;
          for (std::size_t subject = 0; subject < request_.subjects.size(); ++subject) {
            for (const IdentityView view : views) add({subject, view, layer, head}, line, column++);
          }
          ++line;
        }
      }
      columns_ = static_cast<std::int64_t>(seen);
    } else {
      for (std::size_t subject = 0; subject < request_.subjects.size(); ++subject) {
        for (const IdentityView view : views) {
          for (const std::int64_t head : heads) {
            std::int64_t column = 0;
            for (const std::int64_t layer : layers) {
              add({subject, view, layer, head}, line, column++);
            }
            ++line;
          }
        }
      }
      columns_ = static_cast<std::int64_t>(layers.size());
    }
    return finish(line);
  }

 private:
  void add(const ShownMaps& shown, std::int64_t row, std::int64_t column) {
    progress_.step(static_cast<double>(figure_.panels.size()) / static_cast<double>(total_),
                   "attention maps");
    const Subject& subject = request_.subjects[shown.subject];
    // Layers of a pyramid may have fewer heads: the cell stays empty.
    if (shown.head >= subject.trace->heads(shown.layer)) return;
    const std::string label = seen_label(subject.label, shows_identity(*subject.trace, shown.view));
    const Matrix own = maps_seen(*subject.trace, shown.layer, shown.view).head(shown.head);
    const ConstMatrixMap map(own.data(), own.rows(), own.cols());
    HeatMap heat = map_picture(map);
    const bool square = map.rows() == map.cols();
    collect_values(heat, has_identity(*subject.trace, shown.layer, shown.view), values_);
    blocks_ = std::max(blocks_, block_side(map));
    rectangular_ = rectangular_ || !square;

    Panel panel = map_panel(row, column);
    panel.square_cells = square;
    if (row == 0) panel.title = column_title(shown);
    if (column == 0) panel.y.label = row_title(shown);
    if (show_ranks_) {
      const MapSpectrum spectrum = spectrum_of(map, options_);
      const bool ready = spectrum.state == SpectrumState::ready;
      panel.x.label = ready ? "r = " + std::to_string(spectrum.equivalent_rank)
                            : std::string(describe(spectrum.state));
      if (ready) {
        figure_.numbers["equivalent_rank/" + label + "/" + layer_name(request_, shown.layer) +
                        "/head " + std::to_string(shown.head)] = {
            static_cast<double>(spectrum.equivalent_rank)};
      }
    }
    panel.keys = {{"model", label},
                  {"layer", std::to_string(shown.layer + request_.first_layer)},
                  {"head", std::to_string(shown.head)}};
    panel.marks.emplace_back(std::move(heat));
    figure_.panels.push_back(std::move(panel));
  }

  [[nodiscard]] std::string title_of(const ShownMaps& shown) const {
    return seen_label(labels_[shown.subject],
                      shows_identity(*request_.subjects[shown.subject].trace, shown.view));
  }

  [[nodiscard]] std::string layer_title(const ShownMaps& shown) const {
    return layer_name(request_, shown.layer);
  }

  [[nodiscard]] std::string column_title(const ShownMaps& shown) const {
    if (!subjects_across_) return layer_title(shown);
    return title_of(shown);
  }

  [[nodiscard]] std::string row_title(const ShownMaps& shown) const {
    const std::string head = several_heads_ ? "head " + std::to_string(shown.head) : "";
    std::string title;
    if (subjects_across_) {
      if (several_layers_) title = layer_title(shown);
    } else if (several_seen_) {
      title = title_of(shown);
    }
    if (!head.empty()) title += (title.empty() ? "" : ", ") + head;
    return title;
  }

  Figure finish(std::int64_t rows) {
    const HeatScale scale = heat_scale(read_, std::move(values_), "attention weight");
    figure_.colour_scales.push_back(scale.scale);
    const double frame_mm =
        finish_map_grid(figure_, {.rows = rows, .columns = columns_}, request_.width_mm);
    for (Panel& panel : figure_.panels) {
      constexpr double apart_mm = 1;  // minimum distance between two labels
      const bool tight = text_mm(panel.x.label, figure_.font_size_pt) + apart_mm > frame_mm;
      if (tight && panel.x.label.starts_with("r = ")) panel.x.label.replace(1, 3, "=");
    }
    figure_.caption =
        "Attention maps (rows are queries, columns keys) of " +
        std::string(several_layers_ ? "several layers" : layer_in_words()) + ", " +
        chosen("head", read_.written("heads")) + ": " + subjects_in_words(request_) + ". " +
        (show_ranks_ ? "r: equivalent rank at " + to_string(options_.threshold) + ". " : "") +
        (rectangular_ ? "Maps of fewer keys than queries are stretched to squares. " : "") +
        (blocks_ > 1 ? "Cells of large maps are means of up to " + std::to_string(blocks_) + " × " +
                           std::to_string(blocks_) + " weights. "
                     : "") +
        clipping_in_words(scale) + made_with();
    return std::move(figure_);
  }

  [[nodiscard]] std::string layer_in_words() const {
    if (read_.is("layers", "auto")) return layer_name(request_, 0);
    return chosen("layer", layers_written(request_, "layers"));
  }

  const FigureRequest& request_;
  Settings read_;
  const Progress& progress_;
  std::vector<std::string> labels_;
  SpectrumOptions options_;
  Figure figure_;
  std::vector<float> values_;
  std::size_t total_ = 0;
  std::int64_t columns_ = 0, blocks_ = 1;
  bool rectangular_ = false;
  bool show_ranks_ = true, subjects_across_ = false;
  bool several_heads_ = false, several_layers_ = false, several_seen_ = false;
};

Figure make_attention_maps(const FigureRequest& request, const Progress& progress) {
  return Grid(request, progress).make();
}

}  // namespace

FigureRecipe attention_maps_recipe() {
  return {.name = "attention-maps",
          .title = "Attention maps",
          .source = "Adder, Fig. 3 and appendix Fig. 2",
          .question = FigureQuestion::maps,
          .has_panel = true,
          .settings = {indices_setting("layers", "layers; auto: the first, middle and last")
                           .or_word({"auto"})
                           .by_default("auto"),
                       setting::indices("heads", "0", "heads").or_word({"all"}),
                       identity_setting("as-is"),
                       setting::choice("columns", names_of(across_names), "auto",
                                       "what stands side by side"),
                       setting::flag("ranks", true, "the equivalent rank under each map"),
                       threshold_setting(), share_setting(), colour_map_setting(), norm_setting(),
                       range_setting()},
          .needs = {.tokens = false},
          .make = make_attention_maps};
}

}  // namespace attnscope
