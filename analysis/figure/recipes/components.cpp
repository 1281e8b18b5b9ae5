// Figure of the leading components of maps: the keys that each reads and the queries that use it,
// as pictures on the patch grid or as strips over the tokens.
#include "analysis/components/components.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/subject_spectra.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "core/error.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

enum class Side { keys, queries };
constexpr EnumName<Side> side_names[] = {{Side::keys, "keys"}, {Side::queries, "queries"}};

constexpr std::size_t kMostTokensNamed = 48;

struct SubjectComponents {
  std::string label;  ///< short label
  const Subject* subject = nullptr;
  MapComponents found;
  const TokenLayout* layouts[2] = {};  ///< layouts of columns and rows; null for channels
  Extent extents[2] = {};              ///< meaning of columns and rows

  [[nodiscard]] const std::vector<double>& vector(std::size_t k, Side side) const {
    const Component& component = found.components[k];
    return side == Side::keys ? component.keys : component.queries;
  }
  /// The layout of a side; an empty one for channels.
  [[nodiscard]] const TokenLayout& layout(Side side) const {
    static const TokenLayout nowhere;
    const TokenLayout* const own = layouts[side == Side::keys ? 0 : 1];
    return own != nullptr ? *own : nowhere;
  }
  [[nodiscard]] Extent extent(Side side) const { return extents[side == Side::keys ? 0 : 1]; }
  /// True if all tokens after the prefix are on the grid.
  [[nodiscard]] bool on_grid(Side side) const {
    return layout(side).is_grid_of(std::ssize(vector(0, side)));
  }
};

std::vector<Side> sides_of(const Settings& read) {
  if (read.is("show", "both")) return {Side::keys, Side::queries};
  return {read.choice("show", side_names)};
}

/// Description of a side of the components; for maps "keys" and "queries".
std::string side_in_words(const SubjectComponents& shown, Side side) {
  return std::string(name_of(extent_names, shown.extent(side)));
}

/// Layout of the tokens that rows or columns represent; null for channels.
const TokenLayout* layout_of(const Trace& trace, std::int64_t layer, Extent extent) {
  switch (extent) {
    case Extent::keys:
      return &key_layout(trace, layer);
    case Extent::channels:
      return nullptr;
    default:
      return &query_layout(trace, layer);
  }
}

SubjectComponents components_of(const FigureRequest& request, std::size_t index,
                                const Settings& read, const MatrixChoice& analysed,
                                const std::string& label) {
  const Subject& subject = request.subjects[index];
  const Trace& trace = *subject.trace;
  const auto layer = *read.index("layer", std::ssize(trace.layers));
  const Extent columns = columns_of(analysed.of), rows = rows_of(analysed.of);
  const std::int64_t head = is_of_layer(analysed.of) ? kAllHeads : read.whole("head");
  SubjectComponents shown{seen_label(label, shows_identity(trace, analysed)),
                          &subject,
                          map_components(subject, {layer, head}, analysed, read.whole("count")),
                          {layout_of(trace, layer, columns), layout_of(trace, layer, rows)},
                          {columns, rows}};
  if (!shown.found.components.empty()) return shown;
  throw Error(ErrorKind::usage, analysed.is_plain_map() ? "the map has no components"
                                                        : "the matrix has no components")
      .about(subject.label + ", " + layer_name(request, layer) +
             (head == kAllHeads ? "" : ", head " + std::to_string(head)))
      .found(std::string(describe(shown.found.state)));
}

std::string component_title(const SubjectComponents& shown, std::size_t k) {
  const double share = shown.found.share(k);
  std::string title = "k = " + std::to_string(k + 1);
  if (!std::isnan(share)) title += "\n" + rounded_text(100 * share, 2) + " %";
  return title;
}

HeatMap picture_of(const SubjectComponents& shown, std::size_t k, Side side) {
  const TokenLayout& layout = shown.layout(side);
  const std::vector<double>& vector = shown.vector(k, side);
  HeatMap heat;
  heat.rows = layout.rows;
  heat.columns = layout.columns;
  for (std::size_t i = static_cast<std::size_t>(layout.prefix); i < vector.size(); ++i) {
    heat.values.push_back(static_cast<float>(vector[i]));
  }
  return heat;
}

Keys side_keys(const SubjectComponents& shown, Side side) {
  return {{"model", shown.subject->label},
          {"of", std::string(name_of(extent_names, shown.extent(side)))},
          {"layer", std::to_string(shown.found.layer)},
          {"head", shown.found.head == kAllHeads ? "" : std::to_string(shown.found.head)}};
}

/// Adds a row of pictures, one per component.
void add_pictures(Figure& figure, const SubjectComponents& shown, Side side, std::int64_t row,
                  bool several) {
  for (std::size_t k = 0; k < shown.found.components.size(); ++k) {
    Panel panel = map_panel(row, static_cast<std::int64_t>(k));
    panel.keys = side_keys(shown, side);
    panel.keys.emplace_back("component", std::to_string(k + 1));
    if (side == Side::keys || row == 0) panel.title = component_title(shown, k);
    if (k == 0) panel.y.label = (several ? shown.label + ", " : "") + side_in_words(shown, side);
    panel.marks.emplace_back(picture_of(shown, k, side));
    figure.panels.push_back(std::move(panel));
  }
}

/// Adds a panel of strips over the tokens, one strip per component.
void add_strips(Figure& figure, const SubjectComponents& shown, Side side, std::int64_t row,
                bool several, double width_mm) {
  const TokenLayout& layout = shown.layout(side);
  HeatMap heat;
  heat.rows = std::ssize(shown.found.components);
  heat.columns = std::ssize(shown.vector(0, side));
  Panel panel;
  panel.row = row;
  panel.reversed_y = true;
  panel.keys = side_keys(shown, side);
  panel.title = (several ? shown.label + ", " : "") + side_in_words(shown, side);
  panel.y.key = "component";
  panel.y.label = "k";
  panel.y.minimum = panel.x.minimum = -0.5;
  panel.y.maximum = static_cast<double>(heat.rows) - 0.5;
  panel.x.maximum = static_cast<double>(heat.columns) - 0.5;
  for (std::size_t k = 0; k < shown.found.components.size(); ++k) {
    panel.y.ticks.push_back({static_cast<double>(k), std::to_string(k + 1)});
    for (const double value : shown.vector(k, side)) {
      heat.values.push_back(static_cast<float>(value));
    }
  }
  const auto tokens = static_cast<std::size_t>(heat.columns);
  const char* const what = shown.extent(side) == Extent::channels ? "channel" : "token";
  panel.x.key = what;
  if (layout.texts.size() == tokens && tokens <= kMostTokensNamed) {
    constexpr double around_mm = 25;  // widths of the axis and the bar
    const double room_mm = (width_mm - around_mm) / static_cast<double>(tokens);
    for (std::size_t token = 0; token < tokens; ++token) {
      const std::string text = layout.name(static_cast<std::int64_t>(token));
      panel.x.ticks.push_back({static_cast<double>(token), text});
      panel.x.turned_ticks |= text_mm(text, figure.font_size_pt) > room_mm;
    }
  } else {
    panel.x.label = what;
    if (shown.extent(side) == Extent::channels) panel.x.ticks = layer_ticks(heat.columns);
  }
  panel.marks.emplace_back(std::move(heat));
  figure.panels.push_back(std::move(panel));
}

std::string caption_of(const FigureRequest& request, const Settings& read,
                       const MatrixChoice& analysed, bool without_prefix, bool grid) {
  const std::int64_t layer = read.whole("layer");
  const bool of_map = analysed.is_plain_map();
  const Extent columns = columns_of(analysed.of), rows = rows_of(analysed.of);
  const bool keys_and_queries = columns == Extent::keys && rows == Extent::queries;
  std::string text =
      "Leading components σ_k u_k v_kᵀ of the " +
      (of_map ? "attention map of " : in_words(analysed) + ", of ") + layer_name(request, layer) +
      (is_of_layer(analysed.of) ? "" : ", head " + std::to_string(read.whole("head")));
  text += keys_and_queries
              ? ": v_k, the keys that a component reads, and u_k, the queries that use it"
              : ": v_k over its " + std::string(name_of(extent_names, columns)) +
                    ", u_k over its " + std::string(name_of(extent_names, rows));
  text += ", signs such that Σ v_k ≥ 0";
  if (grid) text += "; above them σ_k / Σσ";
  text += ": " + subjects_in_words(request) + ". ";
  if (without_prefix) text += "Tokens apart from the grid (class, distillation) are not drawn. ";
  return text;
}

Figure make_components(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const MatrixChoice analysed =
      analysed_by(read).seen(read.choice("identity", identity_view_names));
  const std::vector<std::string> labels = short_labels(request);
  const std::vector<Side> sides = sides_of(read);
  const bool several = request.subjects.size() > 1;
  Figure figure;
  std::vector<SubjectComponents> all;
  bool grid = true, prefix = false;
  for (std::size_t index = 0; index < request.subjects.size(); ++index) {
    progress.step(static_cast<double>(index) / static_cast<double>(request.subjects.size()),
                  "components");
    all.push_back(components_of(request, index, read, analysed, labels[index]));
    for (const Side side : sides) {
      grid = grid && all.back().on_grid(side);
      prefix = prefix || all.back().layout(side).prefix > 0;
    }
  }
  MapGrid places{.rows = 0};
  std::vector<float> values;
  for (const SubjectComponents& shown : all) {
    const std::string name = shown.subject->label;
    for (std::size_t k = 0; k < shown.found.components.size(); ++k) {
      figure.numbers["singular_value/" + name].push_back(shown.found.components[k].value);
      figure.numbers["share/" + name].push_back(shown.found.share(k));
      figure.numbers["share_of_squares/" + name].push_back(shown.found.share_of_squares(k));
    }
    for (const Side side : sides) {
      if (grid) {
        add_pictures(figure, shown, side, places.rows, several);
        const TokenLayout& layout = shown.layout(side);
        places.aspect = static_cast<double>(layout.rows) / static_cast<double>(layout.columns);
      } else {
        add_strips(figure, shown, side, places.rows, several, request.width_mm);
      }
      ++places.rows;
      places.columns = std::max(places.columns, grid ? std::ssize(shown.found.components) : 1);
    }
  }
  for (const Panel& panel : figure.panels) {
    const auto& heat = std::get<HeatMap>(panel.marks.front());
    values.insert(values.end(), heat.values.begin(), heat.values.end());
  }
  const HeatScale scale = heat_scale(read, std::move(values), "entry of v, u");
  figure.colour_scales.push_back(scale.scale);
  if (grid) {
    finish_map_grid(figure, places, request.width_mm);
  } else {
    constexpr double strip_mm = 3.2, around_mm = 14;
    figure.height_mm = static_cast<double>(places.rows) *
                       (strip_mm * static_cast<double>(read.whole("count")) + around_mm);
  }
  figure.caption = caption_of(request, read, analysed, grid && prefix, grid) +
                   clipping_in_words(scale) + made_with();
  return figure;
}

}  // namespace

FigureRecipe components_recipe() {
  return {.name = "components",
          .title = "Components of attention maps",
          .question = FigureQuestion::maps,
          .has_panel = true,
          .settings = {setting::whole("layer", 0, {.minimum = 0}, "the layer"),
                       setting::whole("head", 0, {.minimum = 0}, "the head"),
                       setting::whole("count", 4, {1, 64}, "how many components"),
                       setting::choice("show", {"both", "keys", "queries"}, "both",
                                       "v_k, the keys that a component reads (of values, outputs "
                                       "and tokens: its channels); u_k, the queries that use it "
                                       "(their rows)"),
                       single_identity_setting(), of_setting(), centred_setting(), added_setting(),
                       colour_map_setting("diverging"), norm_setting(), range_setting()},
          .needs = {.vectors = true},
          .make = make_components};
}

}  // namespace attnscope
