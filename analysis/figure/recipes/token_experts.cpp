// Figure of the experts of each token, in strips under the lines of the text.
#include "analysis/experts/token_experts.h"

#include <algorithm>
#include <limits>

#include "analysis/figure/caption.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/text_heat.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"
#include "core/model/parts/experts.h"

namespace attnscope {

namespace {

/// A character's place in its line, and those of the other characters of its token there.
struct TokenSpan {
  std::int64_t token = 0;
  std::size_t first = 0, count = 0;
};

std::vector<TokenSpan> spans_of(const std::vector<TextSign>& line) {
  std::vector<TokenSpan> spans;
  for (std::size_t column = 0; column < line.size(); ++column) {
    if (spans.empty() || spans.back().token != line[column].token) {
      spans.push_back({line[column].token, column, 0});
    }
    ++spans.back().count;
  }
  return spans;
}

/// The layers of the setting that have experts; without a choice the first, middle and last.
std::vector<LayerExperts> layers_with_experts(const Settings& read, const Trace& trace) {
  if (!read.is("layers", "auto")) {
    return layer_experts(trace, read.indices("layers", std::ssize(trace.layers)));
  }
  std::vector<LayerExperts> all = layer_experts(trace), chosen;
  for (const std::int64_t place : first_middle_last(std::ssize(all))) {
    chosen.push_back(std::move(all[static_cast<std::size_t>(place)]));
  }
  return chosen;
}

/// Each line of the text with a strip for each layer under it, whose cells are a token's expert.
class ExpertStrips {
 public:
  ExpertStrips(const TokenLayout& layout, const std::vector<LayerExperts>& layers,
               std::size_t place, std::size_t columns)
      : layers_(layers),
        place_(place),
        columns_(columns),
        lines_(text_lines(layout, std::ssize(layers.front().tokens), columns)) {}

  [[nodiscard]] Panel panel(const FigureRequest& request, const ColourScale& scale) const {
    Panel panel;
    panel.reversed_y = true;
    panel.x.visible = false;
    const std::size_t each = layers_.size() + 2;  // text, strips, and a space
    HeatMap map;
    map.rows = static_cast<std::int64_t>(lines_.size() * each) - 1;
    map.columns = static_cast<std::int64_t>(columns_);
    map.missing = Colour{255, 255, 255, 255};
    map.values.assign(static_cast<std::size_t>(map.rows) * columns_,
                      std::numeric_limits<float>::quiet_NaN());
    std::vector<TextMark> marks;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      add_signs(line, line * each, marks);
      for (std::size_t strip = 0; strip < layers_.size(); ++strip) {
        const std::size_t row = line * each + strip + 1;
        panel.y.ticks.push_back(
            {static_cast<double>(row), layer_name(request, layers_[strip].layer)});
        add_strip(line, layers_[strip], row, ScaleColours(scale), scale, map, marks);
      }
    }
    panel.marks.emplace_back(std::move(map));
    for (TextMark& mark : marks) panel.marks.emplace_back(std::move(mark));
    return panel;
  }

 private:
  void add_signs(std::size_t line, std::size_t row, std::vector<TextMark>& marks) const {
    for (std::size_t column = 0; column < lines_[line].size(); ++column) {
      if (lines_[line][column].text == "␣") continue;
      marks.push_back({.x = static_cast<double>(column),
                       .y = static_cast<double>(row),
                       .text = lines_[line][column].text});
    }
  }

  /// Colours the cells of each token, and writes its expert's number where it has room.
  void add_strip(std::size_t line, const LayerExperts& layer, std::size_t row,
                 const ScaleColours& colours, const ColourScale& scale, HeatMap& map,
                 std::vector<TextMark>& marks) const {
    for (const TokenSpan& span : spans_of(lines_[line])) {
      const std::int64_t expert = layer.tokens[static_cast<std::size_t>(span.token)][place_].expert;
      const auto value = static_cast<double>(expert);
      std::fill_n(map.values.begin() + static_cast<std::ptrdiff_t>(row * columns_ + span.first),
                  span.count, static_cast<float>(value));
      const std::string number = std::to_string(expert);
      if (number.size() > span.count) continue;
      marks.push_back(
          {.x = static_cast<double>(span.first) + (static_cast<double>(span.count) - 1) / 2,
           .y = static_cast<double>(row),
           .text = number,
           .colour = legible_on(colours(fraction_of(scale, value).value_or(0)))});
    }
  }

  const std::vector<LayerExperts>& layers_;
  std::size_t place_, columns_;
  std::vector<std::vector<TextSign>> lines_;
};

void add_numbers(const std::vector<LayerExperts>& layers, std::size_t place, Figure& figure) {
  for (const LayerExperts& layer : layers) {
    const std::string key = "/layer " + std::to_string(layer.layer);
    for (const std::vector<ChosenExpert>& chosen : layer.tokens) {
      figure.numbers["expert" + key].push_back(static_cast<double>(chosen[place].expert));
      figure.numbers["weight" + key].push_back(chosen[place].weight);
    }
  }
}

bool has_experts(const Subject& subject) {
  return subject.trace && std::ranges::any_of(subject.trace->layers, [](const LayerTrace& layer) {
           return layer.quantities.contains(kExpertNumbers);
         });
}

Figure make_token_experts(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  const Trace& trace = *request.subjects.front().trace;
  const std::vector<LayerExperts> layers = layers_with_experts(read, trace);
  const auto place = static_cast<std::size_t>(read.whole("place"));
  if (std::ssize(layers.front().tokens.front()) < read.whole("place")) {
    throw Error(ErrorKind::usage, "tokens do not pass through as many experts")
        .about("place")
        .expected("1 to " + std::to_string(layers.front().active()))
        .found(std::to_string(place));
  }
  double most = 1;
  for (const LayerExperts& layer : layers) {
    most = std::max(most, static_cast<double>(layer.loads.size()) - 1);
  }
  const std::string which =
      place == 1 ? "greatest weight" : "weight " + std::to_string(place) + " by size";
  Figure figure;
  const ColourScale scale{
      .label = "expert", .colour_map = read.written("colour-map"), .minimum = 0, .maximum = most};
  double names_mm = 0;
  for (const LayerExperts& layer : layers) {
    names_mm =
        std::max(names_mm, text_mm(layer_name(request, layer.layer), figure.font_size_pt) + 2);
  }
  const std::size_t columns = signs_across(request.width_mm - names_mm, figure.font_size_pt);
  const ExpertStrips strips(query_layout(trace, layers.front().layer), layers, place - 1, columns);
  figure.panels.push_back(strips.panel(request, scale));
  figure.height_mm = text_heat_height_mm(figure.panels.back(), figure.font_size_pt);
  figure.colour_scales.push_back(scale);
  add_numbers(layers, place - 1, figure);
  figure.caption =
      "Experts that the tokens pass through: under each line of the text, the number of "
      "the expert with the " +
      which + " in a token's sum of " + std::to_string(layers.front().active()) +
      ", one strip for each layer. " + subjects_in_words(request) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe token_experts_recipe() {
  return {.name = "token-experts",
          .title = "Experts of the tokens of a text",
          .question = FigureQuestion::maps,
          .settings = {indices_setting("layers",
                                       "layers, a strip each; auto: the first, middle and last "
                                       "with experts")
                           .or_word({"auto"})
                           .by_default("auto"),
                       setting::whole("place", 1, {1, 1000},
                                      "which of a token's experts, by falling weight"),
                       colour_map_setting()},
          .needs = {.subject = SubjectNeed::run,
                    .most = 1,
                    .input = InputNeed::text,
                    .shows = has_experts,
                    .missing = "needs a mixture of experts, run on a text"},
          .make = make_token_experts};
}

}  // namespace attnscope
