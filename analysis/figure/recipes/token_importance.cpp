// How important each token of a text is, as heat over the text itself: Fastformer-LM, Eq. 1 and 5.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "analysis/figure/caption.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/labels.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_room.h"
#include "analysis/importance/importance.h"
#include "core/error.h"
#include "core/input/text_file.h"

namespace attnscope {

namespace {

/// One character of the text and the token it belongs to.
struct Sign {
  std::string text;
  std::int64_t token = 0;
};

/// The text in lines of at most `columns` signs: after every line's end, and where a line is full,
/// after its last space if it has one.
std::vector<std::vector<Sign>> lines_of(const TokenLayout& layout, std::int64_t tokens,
                                        std::size_t columns) {
  std::vector<std::vector<Sign>> lines(1);
  for (std::int64_t token = 0; token < tokens; ++token) {
    const auto index = static_cast<std::size_t>(token);
    const std::string raw = index < layout.texts.size() ? layout.texts[index] : "";
    const std::string shown = layout.name(token);
    const std::vector<std::size_t> starts = character_starts(shown);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      if (lines.back().size() == columns) {
        std::vector<Sign>& full = lines.back();
        const auto space =
            std::find_if(full.rbegin(), full.rend(), [](const Sign& s) { return s.text == "␣"; });
        std::vector<Sign> next;
        if (space != full.rend()) {
          next.assign(space.base(), full.end());
          full.erase(space.base(), full.end());
        }
        lines.push_back(std::move(next));
      }
      lines.back().push_back({shown.substr(starts[i], starts[i + 1] - starts[i]), token});
    }
    if (!raw.empty() && raw.back() == '\n' && token + 1 < tokens) lines.emplace_back();
  }
  return lines;
}

struct Shown {
  const Subject* subject = nullptr;
  std::string label;
  TokenImportance importance;
};

std::vector<ImportanceOf> wanted(const Settings& read, const Subject& subject, std::int64_t layer) {
  std::vector<ImportanceOf> available = importances_of(*subject.trace, layer);
  if (read.is("attention", "auto")) {
    if (!available.empty()) return available;
    throw Error(ErrorKind::usage, "nothing was recorded that says how important tokens are")
        .about(subject.label);
  }
  return {read.choice("attention", importance_names)};
}

std::vector<std::string> attention_choices() {
  std::vector<std::string> choices = {"auto"};
  for (const EnumName<ImportanceOf>& known : importance_names) choices.emplace_back(known.name);
  return choices;
}

Panel text_panel(const Shown& shown, std::int64_t row, std::size_t columns,
                 const ColourScale& scale) {
  const Trace& trace = *shown.subject->trace;
  const auto lines = lines_of(trace.layout, std::ssize(shown.importance.weights), columns);
  Panel panel;
  panel.row = row;
  panel.title = shown.label;
  panel.keys = {{"model", shown.subject->label},
                {"attention", std::string(name_of(shown.importance.attention))}};
  panel.reversed_y = true;
  panel.x.visible = panel.y.visible = false;
  HeatMap map;
  map.rows = std::ssize(lines);
  map.columns = static_cast<std::int64_t>(columns);
  map.missing = Colour{255, 255, 255, 255};
  map.values.assign(lines.size() * columns, std::numeric_limits<float>::quiet_NaN());
  std::vector<TextMark> signs;
  const ColourMap& colours = find_colour_map(scale.colour_map);
  for (std::size_t line = 0; line < lines.size(); ++line) {
    for (std::size_t column = 0; column < lines[line].size(); ++column) {
      const Sign& sign = lines[line][column];
      const double weight = shown.importance.weights[static_cast<std::size_t>(sign.token)];
      map.values[line * columns + column] = static_cast<float>(weight);
      if (sign.text == "␣") continue;
      TextMark mark{.x = static_cast<double>(column),
                    .y = static_cast<double>(line),
                    .text = sign.text,
                    .colour = {}};
      const auto fraction = fraction_of(scale, weight);
      mark.colour = fraction ? legible_on(colour_at(colours, *fraction, scale.reversed))
                             : Colour{150, 150, 150, 255};
      signs.push_back(std::move(mark));
    }
  }
  panel.marks.emplace_back(std::move(map));
  for (TextMark& sign : signs) panel.marks.emplace_back(std::move(sign));
  return panel;
}

std::string title_of(const TokenImportance& importance) {
  std::string title = importance.attention == ImportanceOf::map
                          ? "row of the map"
                          : std::string(name_of(importance.attention)) + "-attention";
  if (importance.window > 0) title += ", window " + std::to_string(importance.window);
  return title;
}

Figure make_token_importance(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  const std::int64_t top = read.whole("top");
  Figure figure;
  const std::vector<std::string> labels = short_labels(request);
  std::vector<Shown> all;
  std::vector<float> values;
  for (std::size_t i = 0; i < request.subjects.size(); ++i) {
    const Subject& subject = request.subjects[i];
    const Trace& trace = *subject.trace;
    if (trace.layout.has_grid()) {
      throw Error(ErrorKind::usage, "importances of tokens are shown over a text")
          .about(subject.label)
          .found("patches of an image")
          .remedy("attention-overlay shows what they attend to");
    }
    const std::int64_t layers = std::ssize(trace.layers);
    const std::int64_t layer = read.index("layer", layers).value_or(layers - 1);
    const std::optional<std::int64_t> head = read.index("head", trace.heads());
    const std::int64_t end = read.index("end", trace.tokens()).value_or(trace.tokens() - 1);
    for (const ImportanceOf attention : wanted(read, subject, layer)) {
      Shown shown{&subject, {}, token_importance(trace, layer, head, attention, end)};
      shown.label = (request.subjects.size() > 1 ? labels[i] + ", " : "") +
                    title_of(shown.importance) + ", " + layer_name(request, layer) +
                    (head ? ", head " + std::to_string(*head) : ", mean over heads");
      const std::string key = std::string(name_of(attention)) + "/" + subject.label;
      for (const RankedToken& token : top_tokens(shown.importance, top)) {
        figure.numbers["top_token/" + key].push_back(static_cast<double>(token.token));
        figure.numbers["top_weight/" + key].push_back(token.weight);
      }
      figure.numbers["weight/" + key] = shown.importance.weights;
      for (const double weight : shown.importance.weights) {
        values.push_back(static_cast<float>(weight));
      }
      all.push_back(std::move(shown));
    }
  }
  HeatScale scale = heat_scale(read, std::move(values), "weight of the token, α");
  figure.colour_scales.push_back(scale.scale);
  const double sign_mm = figure.font_size_pt * 25.4 / 72 * 0.72;
  const auto columns = static_cast<std::size_t>(std::max(8.0, (request.width_mm - 13) / sign_mm));
  const double line_mm = figure.font_size_pt * 25.4 / 72 * 1.35;
  figure.height_mm = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    figure.panels.push_back(text_panel(all[i], static_cast<std::int64_t>(i), columns, scale.scale));
    const auto& map = std::get<HeatMap>(figure.panels.back().marks.front());
    figure.height_mm += 5.5 + line_mm * static_cast<double>(map.rows);
  }
  ColourScale& shown = figure.colour_scales.front();
  shown.label = fitted(shown.label, figure.height_mm - 5.5, figure.font_size_pt);
  const TokenImportance& first = all.front().importance;
  const TokenLayout& layout = request.subjects.front().trace->layout;
  figure.caption = "How much each token counts" +
                   (first.causal ? ", when the text ends with token " + std::to_string(first.end) +
                                       " (" + layout.name(first.end) + ")"
                                 : std::string()) +
                   ": " + subjects_in_words(request) + ". Tokens on white are not seen. " +
                   clipping_in_words(scale) + made_with();
  return figure;
}

}  // namespace

FigureRecipe token_importance_recipe() {
  return {
      .name = "token-importance",
      .title = "Importance of tokens",
      .source = "Fastformer-LM, Eq. 1 and 5",
      .settings = {setting::whole("layer", 0, {.minimum = 0}, "the layer")
                       .or_word({"last"})
                       .by_default("last"),
                   setting::whole("head", 0, {.minimum = 0}, "the mean over heads, or one head")
                       .or_word({"mean"})
                       .by_default("mean"),
                   setting::choice("attention", attention_choices(), "auto",
                                   "query- or key-attention, a row of the map, or what the model "
                                   "has"),
                   setting::whole("end", 0, {.minimum = 0}, "the text's last token, by its index")
                       .or_word({"last"})
                       .by_default("last"),
                   setting::whole("top", 10, {0, 1000}, "tokens of greatest weight in the numbers"),
                   colour_map_setting("magma"), norm_setting(), range_setting("full")},
      .needs = {.subject = SubjectNeed::run,
                .input = InputNeed::text,
                .missing = "needs a language model, run on a text"},
      .make = make_token_importance};
}

}  // namespace attnscope
