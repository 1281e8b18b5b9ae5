// Figure of DAFT's keys as feature maps over the image, like DAFT, Fig. 11 to 14: rows are layers,
// columns channels of the keys.
#include "analysis/position_bias/key_maps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/settings.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::int64_t kMostChannels = 16;

/// The channels shown; `room` is the number of maps that fit side by side.
std::vector<std::int64_t> chosen_channels(const Settings& read, std::int64_t count,
                                          std::int64_t room) {
  if (!read.is("channels", "auto")) return read.indices("channels", count);
  std::vector<std::int64_t> channels(
      static_cast<std::size_t>(std::clamp<std::int64_t>(room, 1, std::min(count, kMostChannels))));
  for (std::size_t i = 0; i < channels.size(); ++i) {
    channels[i] = static_cast<std::int64_t>(i) * count / std::ssize(channels);
  }
  return channels;
}

Figure make_key_maps(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const std::vector<std::string> labels = short_labels(request);
  const bool several = labels.size() > 1;
  Figure figure;
  MapGrid grid{.rows = 0};
  const bool with_image = read.flag("image") && request.subjects.front().trace->image();
  const std::int64_t room = maps_across(request.width_mm) - (with_image ? 1 : 0);
  std::vector<float> values;
  for (std::size_t i = 0; i < request.subjects.size(); ++i) {
    const Trace& trace = *request.subjects[i].trace;
    const auto layers = read.indices("layers", static_cast<std::int64_t>(trace.layers.size()));
    bool first = true;
    for (const std::int64_t layer : layers) {
      progress.step(static_cast<double>(figure.panels.size() % 1000) / 1000, "keys");
      const std::int64_t count = key_channels(trace, layer);
      if (count == 0 && has_key_maps(trace)) continue;  // layer with another mechanism
      std::int64_t column = 0;
      for (const std::int64_t channel :
           chosen_channels(read, std::max<std::int64_t>(count, 1), room)) {
        const KeyMap keys = key_map(trace, layer, channel);
        Panel panel = map_panel(grid.rows, column);
        panel.keys = {{"model", request.subjects[i].label},
                      {"layer", std::to_string(layer + request.first_layer)},
                      {"channel", std::to_string(channel)}};
        if (first) panel.title = (column == 0 ? "channel " : "") + std::to_string(channel);
        if (column == 0) {
          panel.y.label = (several && first ? labels[i] + ", " : "") + layer_name(request, layer);
        }
        HeatMap map;
        map.rows = keys.rows;
        map.columns = keys.columns;
        map.values = keys.values;
        grid.aspect = static_cast<double>(keys.rows) / static_cast<double>(keys.columns);
        values.insert(values.end(), map.values.begin(), map.values.end());
        panel.marks.emplace_back(std::move(map));
        figure.panels.push_back(std::move(panel));
        grid.columns = std::max(grid.columns, ++column);
      }
      first = false;
      ++grid.rows;
    }
  }
  if (with_image) {
    for (Panel& panel : figure.panels) ++panel.column;
    Panel panel = map_panel(0, 0);
    panel.title = "image";
    panel.marks.emplace_back(Picture{*request.subjects.front().trace->image()});
    figure.panels.insert(figure.panels.begin(), std::move(panel));
    ++grid.columns;
  }
  const HeatScale scale = heat_scale(read, std::move(values), "relative exp(K)");
  figure.colour_scales.push_back(scale.scale);
  finish_map_grid(figure, grid, request.width_mm);
  figure.caption =
      "Keys exp(K) as pictures over the image, each relative to its largest; "
      "rows are layers, columns channels of the keys: " +
      subjects_in_words(request) + ". " + clipping_in_words(scale) + made_with();
  return figure;
}

}  // namespace

FigureRecipe key_maps_recipe() {
  return {.name = "key-maps",
          .title = "Keys as pictures",
          .source = "DAFT, Fig. 11 to 14",
          .question = FigureQuestion::maps,
          .has_panel = true,
          .settings = {indices_setting("layers", "layers"),
                       indices_setting(
                           "channels",
                           "channels of the keys; auto: as many as fit, at most 16, evenly spread")
                           .or_word({"auto"})
                           .by_default("auto"),
                       setting::flag("image", false, "the image itself before the first row"),
                       colour_map_setting(), norm_setting(), range_setting(0, 1)},
          .needs = {.subject = SubjectNeed::run,
                    .mechanism = "daft",
                    .missing = "needs a model with DAFT attention"},
          .make = make_key_maps};
}

}  // namespace attnscope
