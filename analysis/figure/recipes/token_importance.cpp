// Figure of the importance of each token, as colours of the text: Fastformer-LM, Eq. 1 and 5.
#include <algorithm>
#include <optional>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/text_heat.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/importance/importance.h"
#include "core/error.h"

namespace attnscope {

namespace {

struct Shown {
  const Subject* subject = nullptr;
  std::string label;
  TokenImportance importance;
};

std::vector<ImportanceOf> wanted(const Settings& read, const Subject& subject, std::int64_t layer) {
  std::vector<ImportanceOf> available = importances_of(*subject.trace, layer);
  if (read.is("attention", "auto")) {
    if (!available.empty()) return available;
    throw Error(ErrorKind::usage, "the trace records no importance of tokens").about(subject.label);
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
  Panel panel =
      text_heat_panel(shown.subject->trace->layout, shown.importance.weights, columns, scale);
  panel.row = row;
  panel.title = shown.label;
  panel.keys = {{"model", shown.subject->label},
                {"attention", std::string(name_of(shown.importance.attention))}};
  return panel;
}

std::string importance_title(const TokenImportance& importance) {
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
      throw Error(ErrorKind::usage, "the importance of tokens is only shown for texts")
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
                    importance_title(shown.importance) + ", " + layer_name(request, layer) +
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
  const std::size_t columns = signs_across(request.width_mm, figure.font_size_pt);
  figure.height_mm = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    figure.panels.push_back(text_panel(all[i], static_cast<std::int64_t>(i), columns, scale.scale));
    figure.height_mm += text_heat_height_mm(figure.panels.back(), figure.font_size_pt);
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
      .question = FigureQuestion::maps,
      .has_panel = true,
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
