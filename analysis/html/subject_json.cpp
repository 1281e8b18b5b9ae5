#include "analysis/html/subject_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/html/html_text.h"
#include "analysis/tables/shared_columns.h"
#include "analysis/tables/spectrum_report.h"
#include "core/error.h"
#include "core/file/png_writer.h"
#include "core/shown_text.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

bool contains(const std::vector<std::int64_t>& chosen, std::int64_t index) {
  return chosen.empty() || std::ranges::count(chosen, index) > 0;
}

Json image_as_json(const Image& image) {
  if (image.pixels.empty()) return nullptr;
  std::vector<std::uint32_t> pixels;
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t at = 0; at + channels <= image.pixels.size(); at += channels) {
    std::uint32_t colour = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      colour = colour << 8U | image.pixels[at + (channels == 3 ? c : 0)];
    }
    pixels.push_back(colour);
  }
  return {{"src", png_uri(png_of(image.width, image.height, pixels))},
          {"width", image.width},
          {"height", image.height}};
}

/// The cells of a grid, or of a picture in a text.
Json cells_as_json(const TokenCells& cells) {
  Json tokens = Json::array(), overview = Json::array();
  for (std::int64_t cell = 0; cell < cells.count(); ++cell) {
    tokens.push_back(cells.token_at(cell / cells.columns, cell % cells.columns));
  }
  for (std::int64_t i = 0; i < cells.overview_count(); ++i) {
    const std::int64_t token = cells.overview + i;
    const std::vector<double> shares =
        cells.spread([token](std::int64_t other) { return other == token ? 1 : 0; });
    for (std::size_t cell = 0; cell < shares.size(); ++cell) {
      if (shares[cell] > 0) overview.push_back(Json::array({token, cell, shares[cell]}));
    }
  }
  return {{"rows", cells.rows},
          {"columns", cells.columns},
          {"tokens", std::move(tokens)},
          {"overview", std::move(overview)}};
}

/// The distinct layouts of a subject's tokens.
class Layouts {
 public:
  /// Index of the layout of `count` tokens.
  std::size_t index_of(const TokenLayout& layout, std::int64_t count) {
    Json names = Json::array(), texts = Json::array(), grids = Json::array();
    for (std::int64_t token = 0; token < count; ++token) {
      names.push_back(shown_text(layout.name(token)));
    }
    for (const std::string& text : layout.texts) texts.push_back(text);
    for (std::int64_t grid = 0; grid < layout.cell_grids(); ++grid) {
      if (layout.cells_of(count, grid).count() == 0) break;
      grids.push_back(cells_as_json(layout.cells(grid)));
    }
    Json json = {{"prefix", layout.prefix},
                 {"grids", std::move(grids)},
                 {"names", std::move(names)},
                 {"texts", std::move(texts)}};
    const auto known = std::ranges::find(list_, json);
    if (known != list_.end()) return static_cast<std::size_t>(known - list_.begin());
    list_.push_back(std::move(json));
    return list_.size() - 1;
  }
  [[nodiscard]] const std::vector<Json>& list() const { return list_; }

 private:
  std::vector<Json> list_;
};

Json layers_as_json(const Trace& trace, const std::vector<std::int64_t>& layers, Layouts& layouts) {
  Json list = Json::array();
  for (const std::int64_t layer : layers) {
    const std::int64_t queries = trace.queries(layer), keys = trace.keys(layer);
    list.push_back({{"index", layer},
                    {"name", layer_name(trace, layer)},
                    {"queries", queries},
                    {"keys", keys},
                    {"query_layout", layouts.index_of(query_layout(trace, layer), queries)},
                    {"key_layout", layouts.index_of(key_layout(trace, layer), keys)},
                    {"identity", has_identity(trace, layer)}});
  }
  return list;
}

SpectrumReport report_in_view(const Subject& subject, IdentityView view, const PageMaps& shown,
                              const Progress& progress) {
  const Trace& trace = *subject.trace;
  SpectrumReport report;
  report.model = subject.label;
  add_run(report, trace);
  report.threshold = shown.threshold;
  report.status = status_of(subject);
  report.analysed.identity = view;
  const SpectrumOptions options{.threshold = shown.threshold,
                                .accuracy = SpectrumAccuracy::every_value,
                                .layers = shown.layers};
  report.maps = {spectra_of(trace, view, options, progress)};
  std::erase_if(report.maps.front(),
                [&](const MapSpectrum& map) { return !contains(shown.heads, map.head); });
  return report;
}

Json table_as_json(const SpectrumReport& spectra) {
  const Report report = map_rows_report(spectra);
  const ReportTexts texts = report_texts(report);
  Json columns = Json::array(), rows = Json::array();
  for (const ReportColumn& column : texts.columns) {
    columns.push_back({{"name", column.name}, {"title", column.title}});
  }
  for (std::size_t row = 0; row < texts.rows.size(); ++row) {
    Json cells = Json::array();
    for (std::size_t i = 0; i < texts.columns.size(); ++i) {
      const ReportColumn& column = texts.columns[i];
      Json value = column.value ? cell_as_json(column.value(row)) : Json();
      cells.push_back(Json::array({std::move(value), texts.rows[row][i]}));
    }
    rows.push_back(std::move(cells));
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

/// The tile of a map without I; null if the map was not recorded.
Json tile_as_json(const Trace& trace, const MapSpectrum& spectrum, const ImpliedMaps& maps,
                  const TileCoding& coding, double& largest_error) {
  if (trace.layers[static_cast<std::size_t>(spectrum.layer)].implied_map.empty()) return nullptr;
  const MapTile tile = tile_of(maps.head(spectrum.head), coding);
  largest_error = std::max(largest_error, tile.largest_error);
  return {{"minimum", tile.minimum}, {"maximum", tile.maximum}, {"codes", base64(tile.packed)}};
}

Json maps_as_json(const Trace& trace, const std::vector<MapSpectrum>& without,
                  const std::vector<MapSpectrum>& with, const TileCoding& coding,
                  double& largest_error, const Progress& progress) {
  Json list = Json::array();
  ImpliedMaps maps;
  std::int64_t layer = -1;
  for (std::size_t i = 0; i < without.size(); ++i) {
    const MapSpectrum& map = without[i];
    progress.step(static_cast<double>(i) / static_cast<double>(without.size()), "maps");
    const bool recorded = !trace.layers[static_cast<std::size_t>(map.layer)].implied_map.empty();
    if (map.layer != layer && recorded) maps = maps_seen(trace, map.layer, IdentityView::without);
    layer = map.layer;
    list.push_back({{"layer", map.layer},
                    {"head", map.head},
                    {"tile", tile_as_json(trace, map, maps, coding, largest_error)},
                    {"without", map.singular_values},
                    {"with", with[i].identity ? Json(with[i].singular_values) : Json()},
                    {"estimated", map.estimate != nullptr},
                    {"state", describe(map.state)}});
  }
  return list;
}

}  // namespace

std::int64_t shown_cells(const Subject& subject, const PageMaps& shown) {
  std::int64_t cells = 0;
  const Trace& trace = *subject.trace;
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    if (!contains(shown.layers, layer)) continue;
    for (std::int64_t head = 0; head < trace.heads(layer); ++head) {
      if (contains(shown.heads, head)) cells += trace.queries(layer) * trace.keys(layer);
    }
  }
  return cells;
}

Json subject_as_json(const Subject& subject, const PageMaps& shown, const TileCoding& coding,
                     const Progress& progress) {
  const Trace& trace = *subject.trace;
  const SpectrumReport without =
      report_in_view(subject, IdentityView::without, shown, progress.part(0, 0.4));
  const SpectrumReport with =
      report_in_view(subject, IdentityView::with, shown, progress.part(0.4, 0.8));
  if (without.maps.front().empty()) {
    throw Error(ErrorKind::usage, "no map is left to show")
        .about(subject.label)
        .expected("layers and heads of the model")
        .remedy("attnscope inspect lists them; --layers and --heads count from 0");
  }
  std::vector<std::int64_t> layers;
  for (const MapSpectrum& map : without.maps.front()) {
    if (layers.empty() || layers.back() != map.layer) layers.push_back(map.layer);
  }
  Layouts layouts;
  double largest_error = 0;
  Json images = Json::array();
  for (const Image& image : trace.images) images.push_back(image_as_json(image));
  Json json = {{"label", shown_text(subject.label)},
               {"mechanism", in_words(trace.mechanism) +
                                 (trace.mechanism_trained ? "" : ", not trained with it")},
               {"input", shown_text(trace.input_label)},
               {"status", shown_text(status_of(subject).is_doubtful() ? in_words(status_of(subject))
                                                                      : std::string())},
               {"images", std::move(images)},
               {"layers", layers_as_json(trace, layers, layouts)}};
  json["layouts"] = layouts.list();
  json["maps"] = maps_as_json(trace, without.maps.front(), with.maps.front(), coding, largest_error,
                              progress.part(0.8, 1));
  json["tables"] = {{"without", table_as_json(without)}, {"with", table_as_json(with)}};
  json["largest_error"] = largest_error;
  return json;
}

}  // namespace attnscope
