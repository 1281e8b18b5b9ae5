// Figure of one token's attention over the image: rows are models, columns layers, like Adder,
// appendix Fig. 3.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/heads/head_table.h"
#include "analysis/mixing/mixing.h"
#include "analysis/rollout/rollout.h"
#include "core/error.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// Reduction of the heads to one row: fusion, or a single head.
struct HeadSetting {
  RolloutFusion fusion = RolloutFusion::mean;
  std::optional<std::int64_t> head;
};

/// Sinks of each head, by layer and head.
using SinksOfHeads = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Sink>>;

SinksOfHeads sinks_of(const Subject& subject, const std::vector<std::int64_t>& layers,
                      const Progress& progress) {
  SinksOfHeads sinks;
  HeadOptions options;
  options.layers = layers;
  for (HeadRow& row : head_table(*subject.trace, options, progress).rows) {
    sinks[{row.layer, row.head}] = std::move(row.sinks);
  }
  return sinks;
}

/// The subject with another text about the same picture. Throws Error(usage) unless the model reads
/// a picture and a text.
Subject with_other_text(const Subject& subject, const std::string& text, const Progress& progress) {
  const Text* const own = subject.input ? std::get_if<Text>(&subject.input->content) : nullptr;
  if (!own || own->pictures.empty() || !subject.model) {
    throw Error(ErrorKind::usage, "only texts about pictures have a neutral text to compare with")
        .about(subject.label)
        .expected("a model of a picture and a text, and --prompt")
        .remedy("leave the setting neutral empty");
  }
  auto input = std::make_shared<Input>(*subject.input);
  Text other{text, {}};
  other.pictures = own->pictures;
  input->content = std::move(other);
  TraceRequest request;
  request.parameters = subject.parameters;
  Subject neutral = subject;
  neutral.trace = std::make_shared<const Trace>(
      subject.model->run(*input, subject.mechanism, request, progress));
  neutral.input = std::move(input);
  return neutral;
}

HeadSetting head_choice(const Settings& read, std::int64_t heads) {
  if (const auto head = read.index("heads", heads)) return {RolloutFusion::mean, head};
  return {read.choice("heads", rollout_fusion_names), {}};
}

std::int64_t query_token(const Settings& read, const Subject& subject) {
  const TokenLayout& layout = subject.trace->layout;
  if (const auto query = read.index("query", subject.trace->tokens())) return *query;
  if (layout.is_text()) return subject.trace->tokens() - 1;
  if (layout.prefix > 0) return 0;
  if (read.is("query", "auto")) return layout.rows / 2 * layout.columns + layout.columns / 2;
  throw Error(ErrorKind::usage, "the model has no class token whose row could be shown")
      .about(subject.label)
      .remedy("choose a token by its index: --set query=0");
}

std::string query_in_words(const Settings& read, const Subject& subject) {
  if (const auto query = read.index("query", subject.trace->tokens())) {
    return "token " + std::to_string(*query);
  }
  const TokenLayout& layout = subject.trace->layout;
  if (layout.is_text()) return "the last token, " + layout.name(subject.trace->tokens() - 1);
  return layout.prefix > 0 ? "the class token" : "the patch in the middle";
}

void require_image(const Subject& subject) {
  const Trace& trace = *subject.trace;
  if (trace.layout.cells().count() == 0) {
    throw Error(ErrorKind::usage, "the tokens do not form a grid over an image")
        .about(subject.label);
  }
}

/// Keys of a layer that are cells of a picture; throws if there is no grid that fits the maps.
TokenCells picture_cells(const Subject& subject, std::int64_t layer, std::int64_t picture) {
  const Trace& trace = *subject.trace;
  const TokenLayout& layout = key_layout(trace, layer);
  TokenCells cells = layout.cells_of(trace.keys(layer), picture);
  if (cells.count() == 0) {
    throw Error(ErrorKind::damaged, "the grid of tokens does not match the shape of the maps")
        .about(subject.label + ", layer " + std::to_string(layer))
        .expected(std::to_string(trace.keys(layer)) + " keys")
        .found(std::to_string(layout.prefix) + " + " + std::to_string(layout.rows) + " × " +
               std::to_string(layout.columns));
  }
  return cells;
}

/// The layer's query at the same position as `query` of the first layer.
std::int64_t query_of_layer(const Trace& trace, std::int64_t query, std::int64_t layer) {
  return same_place(trace.layout, query, query_layout(trace, layer), trace.queries(layer));
}

/// The pictures of a subject's input, or its grid, that are shown, from 0.
std::vector<std::int64_t> pictures_shown(const Settings& read, const Subject& subject) {
  const std::int64_t count = subject.trace->layout.cell_grids();
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  if (read.is("picture", "all")) return all;
  const std::int64_t chosen = read.whole("picture");
  if (chosen <= count) return {chosen - 1};
  throw Error(ErrorKind::usage, "the input has no such picture")
      .about("picture")
      .expected((count > 1 ? "1 to " + std::to_string(count) : "1") + ", or all")
      .found(std::to_string(chosen));
}

/// Attention to the cells of each picture.
using OverPictures = std::vector<std::vector<double>>;

/// The attention of a row to each cell of the pictures in a layer.
OverPictures over_cells(const std::vector<double>& row, const Subject& subject,
                        std::int64_t layer) {
  OverPictures pictures;
  for (std::int64_t picture = 0; picture < subject.trace->layout.cell_grids(); ++picture) {
    pictures.push_back(picture_cells(subject, layer, picture).spread([&](std::int64_t token) {
      return row[static_cast<std::size_t>(token)];
    }));
  }
  return pictures;
}

/// Attention to a picture's cells, relative to uniform attention to those of all pictures: the mean
/// over all is 1.
HeatMap over_grid(const OverPictures& attention, std::int64_t picture, const TokenCells& grid) {
  HeatMap map;
  map.rows = grid.rows;
  map.columns = grid.columns;
  double sum = 0, count = 0;
  for (const std::vector<double>& one : attention) {
    sum = std::accumulate(one.begin(), one.end(), sum);
    count += static_cast<double>(one.size());
  }
  const double even = sum / count;
  for (const double value : attention[static_cast<std::size_t>(picture)]) {
    // If no attention is on the grid, cells have no value, which avoids a division by zero.
    map.values.push_back(even > 0 ? static_cast<float>(value / even) : std::nanf(""));
  }
  return map;
}

/// A head's row; without its sinks the other weights are divided by their sum.
std::vector<double> row_of_head(const ImpliedMaps& maps, const MapIndex& place, std::int64_t query,
                                const SinksOfHeads* sinks) {
  std::vector<double> row(static_cast<std::size_t>(maps.extent(2)));
  for (std::size_t key = 0; key < row.size(); ++key) {
    row[key] = static_cast<double>(maps.at(place.head, query, static_cast<std::int64_t>(key)));
  }
  if (sinks == nullptr) return row;
  const auto own = sinks->find({place.layer, place.head});
  if (own == sinks->end() || own->second.empty()) return row;
  for (const Sink& sink : own->second) row[static_cast<std::size_t>(sink.key)] = 0;
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& weight : row) weight = sum > 0 ? weight / sum : weight;
  return row;
}

std::vector<double> row_of(const ImpliedMaps& maps, std::int64_t layer, std::int64_t query,
                           const HeadSetting& heads, const SinksOfHeads* sinks) {
  const std::int64_t first = heads.head.value_or(0);
  std::vector<double> row = row_of_head(maps, {layer, first}, query, sinks);
  for (std::int64_t head = 1; !heads.head && head < maps.extent(0); ++head) {
    const std::vector<double> other = row_of_head(maps, {layer, head}, query, sinks);
    for (std::size_t key = 0; key < row.size(); ++key) {
      double& fused = row[key];
      const double value = other[key];
      switch (heads.fusion) {
        case RolloutFusion::mean:
          fused += value;
          break;
        case RolloutFusion::maximum:
          fused = std::max(fused, value);
          break;
        case RolloutFusion::minimum:
          fused = std::min(fused, value);
          break;
      }
    }
  }
  return row;  // sums instead of means, because over_grid divides by the sum
}

/// The rows of one subject's query over the pictures' cells.
class RowsOverPictures {
 public:
  /// Without sinks, heads' sinks in `layers` are left out.
  RowsOverPictures(Subject subject, std::int64_t query, bool with_sinks,
                   const std::vector<std::int64_t>& layers, const Progress& progress)
      : subject_(std::move(subject)), query_(query) {
    if (!with_sinks) sinks_ = sinks_of(subject_, layers, progress);
  }

  [[nodiscard]] OverPictures over(std::int64_t layer, const HeadSetting& heads) const {
    // I is excluded: the query's own cell would dominate the others.
    const ImpliedMaps maps = maps_seen(*subject_.trace, layer, IdentityView::without);
    if (heads.head && *heads.head >= maps.extent(0)) {
      throw Error(ErrorKind::usage, "the layer has no such head")
          .about(subject_.label + ", layer " + std::to_string(layer))
          .expected("an index from 0 to " + std::to_string(maps.extent(0) - 1))
          .found(std::to_string(*heads.head));
    }
    return over_cells(row_of(maps, layer, query_of_layer(*subject_.trace, query_, layer), heads,
                             sinks_ ? &*sinks_ : nullptr),
                      subject_, layer);
  }

 private:
  Subject subject_;
  std::int64_t query_;
  std::optional<SinksOfHeads> sinks_;
};

/// Divides the weights of cells by those of the same cells in `other`; NaN where these are 0.
void divide(OverPictures& pictures, const OverPictures& other) {
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    std::ranges::transform(pictures[i], other[i], pictures[i].begin(), [](double value, double by) {
      return by > 0 ? value / by : std::nan("");
    });
  }
}

Figure make_attention_overlay(const FigureRequest& request, const Progress& progress) {
  for (const Subject& subject : request.subjects) require_image(subject);
  const Settings read(request);
  const SharedExtents shared = shared_extents(request);
  const HeadSetting heads = head_choice(read, shared.heads);
  const bool with_image = read.flag("image");
  const std::string& rolled = read.text("rollout");
  const bool mixes = rolled != "auto" && rolled != "yes" && rolled != "no";
  const bool with_rollout =
      rolled == "yes" || mixes ||
      (read.is("rollout", "auto") &&
       std::all_of(request.subjects.begin(), request.subjects.end(),
                   [](const Subject& subject) { return has_rollout(*subject.trace); }));
  const double opacity = read.number("opacity");
  const bool with_sinks = read.flag("sinks");
  const std::string& neutral_text = read.text("neutral");
  const std::string unit =
      neutral_text.empty() ? "attention (1 = even)" : "attention / neutral (1 = mean)";
  const std::vector<std::int64_t> layers = read.is("layers", "auto")
                                               ? first_middle_last(shared.layers)
                                               : read.indices("layers", shared.layers);

  Figure figure;
  const std::vector<std::string> labels = short_labels(request);
  // Values of each colour scale: of each row, or of all together, in which a flat model is dark
  // next to a sharp one.
  const bool own_scales = read.is("scale", "each");
  std::vector<std::vector<float>> values(own_scales ? request.subjects.size() : 1);
  std::int64_t rows = 0, columns = 0;
  double aspects = 0;  // sum over the rows
  bool any_tiles = false, any_several = false;
  const auto count = static_cast<double>(request.subjects.size());
  for (std::size_t index = 0; index < request.subjects.size(); ++index) {
    const Subject& subject = request.subjects[index];
    const std::int64_t query = query_token(read, subject);
    const RowsOverPictures own(subject, query, with_sinks, layers, progress.silent());
    std::optional<RowsOverPictures> neutral;
    if (!neutral_text.empty()) {
      Subject other = with_other_text(subject, neutral_text, progress.silent());
      const std::int64_t last = other.trace->tokens() - 1;
      neutral.emplace(std::move(other), last, with_sinks, layers, progress.silent());
    }
    struct Shown {
      std::string title;
      OverPictures attention;
      std::int64_t layer = 0;
    };
    std::vector<Shown> shown;
    for (const std::int64_t layer : layers) {
      OverPictures attention = own.over(layer, heads);
      if (neutral) divide(attention, neutral->over(layer, heads));
      shown.push_back({layer_name(request, layer), std::move(attention), layer});
    }
    if (with_rollout) {
      const Progress part =
          progress.part(static_cast<double>(index) / count, static_cast<double>(index + 1) / count);
      const Tensor reach =
          mixes ? mixing_rollout(subject, value_of(mixing_names, rolled, "rollout"), 0, part)
                : attention_rollout(*subject.trace, RolloutOptions{.fusion = heads.fusion}, part);
      const auto found = reach.matrix().row(query);
      shown.push_back({mixes ? rolled : "rollout",
                       over_cells({found.data(), found.data() + found.size()}, subject, 0), 0});
    }
    const bool several = subject.trace->layout.cell_grids() > 1;
    for (const std::int64_t picture : pictures_shown(read, subject)) {
      const Image* const image = subject.trace->image(picture);
      std::string name = request.subjects.size() > 1 ? labels[index] : "";
      // A longer label would not fit beside the low panels of a column of a paper.
      if (several) name += (name.empty() ? "" : ", ") + std::to_string(picture + 1);
      const TokenCells shape = subject.trace->layout.cells(picture);
      aspects += static_cast<double>(shape.rows) / static_cast<double>(shape.columns);
      any_tiles = any_tiles || !shape.tiles.empty();
      any_several = any_several || several;
      std::int64_t column = 0;
      const auto add = [&](const std::string& title, const Shown* map_shown) {
        Panel panel = map_panel(rows, column);
        if (image) panel.marks.emplace_back(Picture{*image});
        panel.keys = {{"model", subject.label}, {"shown", title}};
        if (several) panel.keys.emplace_back("picture", std::to_string(picture + 1));
        if (rows == 0) panel.title = title;
        if (column == 0) panel.y.label = name;
        if (map_shown != nullptr) {
          HeatMap map = over_grid(map_shown->attention, picture,
                                  picture_cells(subject, map_shown->layer, picture));
          map.opacity = image ? opacity : 1;
          map.colour_scale = own_scales ? index : 0;
          std::vector<float>& scaled = values[map.colour_scale];
          scaled.insert(scaled.end(), map.values.begin(), map.values.end());
          panel.marks.emplace_back(std::move(map));
        }
        figure.panels.push_back(std::move(panel));
        ++column;
      };
      if (with_image && image) add("image", nullptr);
      for (const Shown& one : shown) add(one.title, &one);
      columns = std::max(columns, column);
      ++rows;
    }
  }
  if (columns == 0) {
    throw Error(ErrorKind::usage, "no layer and no rollout is selected")
        .remedy("choose layers, or rollout=yes");
  }
  std::string own_ranges, clipping;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // The bars of single rows have no room for more words.
    const HeatScale scale = heat_scale(read, std::move(values[i]),
                                       values.size() > 1 && neutral_text.empty() ? "× even" : unit);
    figure.colour_scales.push_back(scale.scale);
    const std::string model = values.size() > 1 ? labels[i] + ": " : "";
    if (scale.clipped) clipping += model + clipping_in_words(scale);
    own_ranges += (i > 0 ? "; " : "") + model + rounded_text(scale.scale.minimum, 3) + " to " +
                  rounded_text(scale.scale.maximum, 3);
  }

  const double aspect = aspects / static_cast<double>(rows);
  finish_map_grid(figure, {.rows = rows, .columns = columns, .aspect = aspect}, request.width_mm);
  figure.caption =
      "Attention of " + query_in_words(read, request.subjects.front()) +
      " to the image's patches, " +
      (heads.head ? "head " + std::to_string(*heads.head) : read.written("heads") + " over heads") +
      (neutral_text.empty()
           ? ", relative to even attention: "
           : ", divided by that of the last token of “" + neutral_text +
                 "” about the same picture (Zhang et al. 2025), relative to the mean: ") +
      subjects_in_words(request) + ". " +
      (with_sinks ? ""
                  : "Without each head's sinks, keys with more than 0.3 of the attention of their "
                    "queries; the other weights of a row are divided by their sum. ") +
      (mixes ? "Rollout through all layers of " +
                   std::string(formula_of(value_of(mixing_names, rolled, "rollout"))) + ". "
       : with_rollout ? "Rollout: Abnar & Zuidema (2020), through all layers. "
                      : "") +
      (any_several ? "Even attention, or the mean, is that over the patches of all pictures. "
                   : "") +
      (any_tiles ? "Pictures are read in tiles and whole: the attention to a token of the whole is "
                   "spread evenly over its place. "
                 : "") +
      (opacity < 1 ? "The colours are mixed with the image. " : "") +
      (values.size() > 1 ? "Each row has the colours of the bar next to it: " + own_ranges + ". "
                         : "") +
      clipping + made_with();
  return figure;
}

}  // namespace

FigureRecipe attention_overlay_recipe() {
  return {
      .name = "attention-overlay",
      .title = "Attention over the image",
      .source = "Adder, appendix Fig. 3",
      .question = FigureQuestion::maps,
      .has_panel = true,
      .settings =
          {indices_setting("layers", "layers; auto: the first, middle and last")
               .or_word({"auto"})
               .by_default("auto"),
           setting::whole("query", 0, {.minimum = 0},
                          "the token whose row is shown, by its index in the first layer; auto: "
                          "the class token, or the middle of the image where there is none; of a "
                          "text about a picture the last token")
               .or_word({"auto", "class"})
               .by_default("auto"),
           setting::whole("heads", 0, {.minimum = 0},
                          "the mean, max or min over heads, or one head's index")
               .or_word(names_of(rollout_fusion_names))
               .by_default("mean"),
           setting::choice(
               "rollout", {"auto", "yes", "no", "block-norms", "globenc", "alti"}, "auto",
               "rollout through all layers in the last column: of the weights (yes; "
               "auto: where layers have the same tokens, or merge them), or of what is added "
               "(Kobayashi et al. 2021, GlobEnc, ALTI)"),
           setting::flag("sinks", true,
                         "keys with more than 0.3 of the attention; no: without them"),
           setting::text("neutral", "",
                         "another text about the same picture, by whose attention that of the text "
                         "is divided: \"Write a general description of the image.\""),
           setting::whole("picture", 1, {.minimum = 1},
                          "the picture that is shown, of several in a text, counted from 1; all: "
                          "one below the other")
               .or_word({"all"})
               .by_default("all"),
           setting::flag("image", true, "the image itself in the first column"),
           setting::number("opacity", 0.7, {0, 1}, "opacity of the colours over the image"),
           setting::choice("scale", {"each", "shared"}, "each",
                           "one colour scale for each row, or one for all, in which a flat model "
                           "is dark next to a sharp one"),
           colour_map_setting("magma"), norm_setting(), range_setting()},
      .needs = {.input = InputNeed::image,
                .vectors = true,
                .missing = "needs a model that has run on a picture"},
      .make = make_attention_overlay};
}

}  // namespace attnscope
