#include "analysis/figure/settings.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr std::string_view both_views = "both";
constexpr std::string_view mean_of_inputs = "mean";

}  // namespace

std::vector<std::int64_t> Settings::indices(std::string_view name, std::int64_t count) const {
  if (!is(name, "all")) return TypedValues::indices(name, count);
  std::vector<std::int64_t> list(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::int64_t>(i);
  return list;
}

std::optional<std::int64_t> Settings::index(std::string_view name, std::int64_t count) const {
  if (std::holds_alternative<std::string>(values_.find(name)->second)) return std::nullopt;
  const std::int64_t value = whole(name);
  if (value >= 0 && value < count) return value;
  throw Error(ErrorKind::usage, "the index is out of range")
      .about(std::string(name))
      .expected("an index from 0 to " + std::to_string(count - 1))
      .found("'" + std::to_string(value) + "'");
}

std::string Settings::written(std::string_view name) const {
  return to_string(values_.find(name)->second);
}

ParameterDescription indices_setting(std::string name, std::string what) {
  return setting::indices(std::move(name), "", std::move(what)).or_word({"all"}).by_default("all");
}

ParameterDescription identity_setting(std::string_view otherwise) {
  std::vector<std::string> choices = names_of(identity_view_names);
  choices.emplace_back(both_views);
  return setting::choice("identity", std::move(choices), otherwise,
                         "the maps as they are, without or with I added, or both side by "
                         "side");
}

ParameterDescription single_identity_setting() {
  return setting::choice("identity", names_of(identity_view_names), "as-is",
                         "the maps as they are, without or with I added");
}

ParameterDescription threshold_setting() {
  constexpr double kLeast = 1e-6;
  return setting::number("threshold", 0.9, {kLeast, 1},
                         "τ, the share of the singular values that the equivalent rank reaches");
}

ParameterDescription share_setting() {
  return setting::choice("share", names_of(rank_share_names), "values",
                         "what the share is of: the sum of the singular values (values), or of "
                         "their squares (energy)");
}

RankThreshold threshold_of(const Settings& settings) {
  return {settings.number("threshold"), settings.choice("share", rank_share_names)};
}

ParameterDescription spectrum_method_setting() {
  return setting::choice("method", names_of(spectrum_method_names), "automatic",
                         "how singular values are found");
}

ParameterDescription inputs_setting() {
  return setting::choice("inputs", {std::string(mean_of_inputs), "each"}, mean_of_inputs,
                         "the mean over the inputs of each model, or each input by itself");
}

ParameterDescription legend_setting(bool may_be_inside) {
  std::vector<std::string> choices = names_of(legend_names);
  if (!may_be_inside) std::erase(choices, "inside");
  return setting::choice("legend", std::move(choices), "below", "where the legend stands");
}

std::vector<IdentityView> identity_views(const Settings& settings) {
  if (settings.is("identity", both_views)) return {IdentityView::without, IdentityView::with};
  return {settings.choice("identity", identity_view_names)};
}

LegendPosition legend_of(const Settings& settings, LegendPosition inside) {
  const LegendPosition position = settings.choice("legend", legend_names);
  return position == LegendPosition::top_left ? inside : position;
}

bool averages_inputs(const Settings& settings) { return settings.is("inputs", mean_of_inputs); }

std::string layers_written(const FigureRequest& request, std::string_view setting) {
  ParameterValue value = request.settings.find(setting)->second;
  if (auto* ranges = std::get_if<IndexRanges>(&value)) {
    for (IndexRange& range : *ranges) {
      range.first += request.first_layer;
      range.last += request.first_layer;
    }
  }
  return to_string(value);
}

std::string layer_name(const FigureRequest& request, std::int64_t layer) {
  for (const Subject& subject : request.subjects) {
    const bool has = subject.trace && layer < std::ssize(subject.trace->layers);
    if (has) return layer_name(*subject.trace, layer, request.first_layer);
  }
  return layer_name(Trace{}, layer, request.first_layer);
}

std::vector<std::int64_t> first_middle_last(std::int64_t count) {
  std::vector<std::int64_t> list = {0, count / 2, count - 1};
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

SharedExtents shared_extents(const FigureRequest& request) {
  constexpr std::int64_t many = std::numeric_limits<std::int64_t>::max();
  SharedExtents least{many, many, many};
  for (const Subject& subject : request.subjects) {
    least.layers = std::min(least.layers, static_cast<std::int64_t>(subject.trace->layers.size()));
    least.heads = std::min(least.heads, subject.trace->heads());
    least.tokens = std::min(least.tokens, subject.trace->tokens());
  }
  return least;
}

}  // namespace attnscope
