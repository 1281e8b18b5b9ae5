// Figure of activation and path patching: layer × head, or token × layer.
#include "analysis/intervention/patching.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Ticks at every cell of a list of indices, or at every second, third … of many.
std::vector<Tick> index_ticks(const std::vector<std::int64_t>& indices, std::int64_t first,
                              std::size_t most) {
  std::vector<Tick> ticks;
  const std::size_t step = (indices.size() + most - 1) / most;
  for (std::size_t i = 0; i < indices.size(); i += step) {
    ticks.push_back({static_cast<double>(i), std::to_string(indices[i] + first)});
  }
  return ticks;
}

PatchRequest request_of(const FigureRequest& request, const Model& model) {
  const Settings read(request);
  const ModelSpec& spec = model.spec();
  PatchRequest wanted;
  wanted.of = read.choice("of", patched_part_names);
  wanted.where.layers = read.indices("layers", spec.layers);
  wanted.where.heads = read.indices("heads", spec.layer.attention.heads);
  if (!read.is("positions", "all")) wanted.positions = read.indices("positions", 1 << 30);
  wanted.answer = read.text("answer");
  wanted.against = read.text("against");
  if (!read.is("place", "last")) wanted.place = read.whole("place");
  if (!read.is("to", "none")) wanted.path = path_receivers(read.text("to"), "to");
  wanted.through_mlps = read.flag("through-mlps");
  return wanted;
}

HeatMap heat_of(const PatchTable& table, bool raw) {
  const Patching& patching = *table.patching;
  const bool by_head = is_of_heads(patching.request().of);
  const std::vector<std::int64_t>& rows = by_head ? patching.layers() : patching.columns();
  const std::vector<std::int64_t>& columns = by_head ? patching.columns() : patching.layers();
  HeatMap heat;
  heat.rows = std::ssize(rows);
  heat.columns = std::ssize(columns);
  heat.values.assign(rows.size() * columns.size(), std::nanf(""));
  for (std::size_t i = 0; i < patching.places().size(); ++i) {
    const PatchPlace& place = patching.places()[i];
    const auto row = std::ranges::find(rows, by_head ? place.layer : place.position);
    const auto column = std::ranges::find(columns, by_head ? place.head : place.layer);
    const double difference = table.differences[i];
    heat.values[static_cast<std::size_t>((row - rows.begin()) * heat.columns) +
                static_cast<std::size_t>(column - columns.begin())] =
        static_cast<float>(raw ? difference : patching.effect(difference));
  }
  return heat;
}

/// "Mary ← John" for a token with another counterpart; fewer of many tokens.
std::vector<Tick> token_ticks(const Patching& patching) {
  constexpr std::size_t most_tokens = 44;
  std::vector<Tick> ticks;
  const std::size_t step = (patching.columns().size() + most_tokens - 1) / most_tokens;
  for (std::size_t i = 0; i < patching.columns().size(); i += step) {
    const auto at = static_cast<std::size_t>(patching.columns()[i]);
    const std::string own = elided(shown_text(patching.tokens()[at]), 7);
    const std::string other = elided(shown_text(patching.other_tokens()[at]), 7);
    ticks.push_back({static_cast<double>(i), own == other ? own : own + " ← " + other});
  }
  return ticks;
}

Panel patch_panel(const FigureRequest& request, const Patching& patching, const HeatMap& heat) {
  const bool by_head = is_of_heads(patching.request().of);
  constexpr std::size_t most = 24;
  Panel panel;
  panel.reversed_y = true;
  panel.x.minimum = panel.y.minimum = -0.5;
  panel.x.maximum = static_cast<double>(heat.columns) - 0.5;
  panel.y.maximum = static_cast<double>(heat.rows) - 0.5;
  panel.x.label = panel.x.key = by_head ? "head" : "layer";
  panel.y.label = by_head ? "layer" : "";
  panel.y.key = by_head ? "layer" : "token";
  const std::int64_t first = request.first_layer;
  panel.x.ticks =
      index_ticks(by_head ? patching.columns() : patching.layers(), by_head ? 0 : first, most);
  panel.y.ticks = by_head ? index_ticks(patching.layers(), first, most) : token_ticks(patching);
  return panel;
}

std::string caption_of(const PatchTable& table, const FigureRequest& request, bool raw) {
  const Patching& patching = *table.patching;
  const std::string measure = "logit of \"" + shown_text(patching.answer_name()) +
                              "\" minus logit of \"" + shown_text(patching.against_name()) + "\"";
  return std::string(raw ? "Logit difference" : "Effect on the logit difference") +
         " of one patch at a time from the run on " + shown_text(patching.other().label) +
         " (clean), " + in_words(patching.request()) + ": " + measure + ", " +
         rounded_text(patching.corrupted(), 4) + " without a patch and " +
         rounded_text(patching.clean(), 4) + " on the clean input. " +
         (raw ? "" : "0: no change; 1: as on the clean input. ") + subjects_in_words(request) +
         ". " + made_with();
}

Figure make_patching(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const Subject& subject = request.subjects.front();
  if (read.text("from").empty()) {
    throw Error(ErrorKind::usage, "the figure needs another input, with as many tokens")
        .about("from")
        .remedy("name it: --set from=cat.png, or --set from=text:WORDS");
  }
  const auto patching =
      std::make_shared<const Patching>(subject, *subject.input, open_input(read.text("from")),
                                       request_of(request, *subject.model), progress.part(0, 0.1));
  const PatchTable table = patch_each(patching, {}, progress.part(0.1, 1));
  const bool raw = read.is("show", "difference");
  Figure figure;
  HeatMap heat = heat_of(table, raw);
  Panel panel = patch_panel(request, *patching, heat);
  const double rows = static_cast<double>(heat.rows);
  const double height = std::clamp(3.4 * rows, 16.0, 150.0);
  figure.colour_scales.push_back(
      heat_scale(read, heat.values,
                 fitted(raw ? "logit difference" : "effect of the patch", height, 7))
          .scale);
  panel.marks.emplace_back(std::move(heat));
  figure.panels.push_back(std::move(panel));
  figure.height_mm = height + 10;
  figure.caption = caption_of(table, request, raw);
  return figure;
}

}  // namespace

FigureRecipe patching_recipe() {
  return {.name = "patching",
          .title = "What carries the answer of another input",
          .source = "Meng et al. 2022; Wang et al. 2022",
          .question = FigureQuestion::answer,
          .has_panel = true,
          .settings =
              {setting::text("from", "", "the input whose run gives the patches (clean)"),
               setting::text("answer", "",
                             "class or token whose logit counts; the likeliest on `from` if empty"),
               setting::text(
                   "against", "",
                   "class or token whose logit is subtracted; the likeliest on the input if empty"),
               setting::choice("of", names_of(patched_part_names), "head-output",
                               "the patched part of each layer"),
               indices_setting("layers", "layers"), indices_setting("heads", "heads"),
               indices_setting("positions", "token positions that are patched"),
               setting::whole("place", 0, {0, 1e9}, "token position whose logits are read")
                   .or_word({"last"})
                   .by_default("last"),
               setting::text("to", "none",
                             "ends of direct paths: end (of the residual stream), or "
                             "LAYER.HEAD.query, .key or .value")
                   .or_word({"none"}),
               setting::flag("through-mlps", true, "paths lead through MLPs, too"),
               setting::choice("show", {"effect", "difference"}, "effect",
                               "the effect, 0 to 1 from one run to the other, or the logit "
                               "difference"),
               colour_map_setting("diverging"), norm_setting(), range_setting("full")},
          .needs = {.subject = SubjectNeed::run,
                    .most = 1,
                    .shows = gives_answers,
                    .missing = "needs a model with a head, run on an input"},
          .make = make_patching};
}

}  // namespace attnscope
