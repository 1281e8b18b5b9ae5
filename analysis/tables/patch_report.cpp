#include "analysis/tables/patch_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/shown_text.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

constexpr double kUnknownEffect = std::numeric_limits<double>::quiet_NaN();

struct PatchRow {
  PatchPlace place;
  double difference = 0, effect = 0;
};

/// The value of a cell: its effect or with `raw` its logit difference; NaN if it is unknown.
double shown_number(const PatchTable& table, const PatchPlace& place, bool raw) {
  const std::vector<PatchPlace>& places = table.patching->places();
  const auto found = std::ranges::find(places, place);
  if (found == places.end()) return kUnknownEffect;
  const double difference = table.differences[static_cast<std::size_t>(found - places.begin())];
  return raw ? difference : table.patching->effect(difference);
}

nlohmann::ordered_json known_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

ReportColumn number_column(const std::string& title, std::function<double(std::size_t)> value) {
  return {.title = title, .width = 9, .decimals = 3, .value = std::move(value)};
}

Report heads_by_layer(const PatchTable& table, bool raw) {
  const Patching& patching = *table.patching;
  Report report{{}, patching.layers().size()};
  report.columns.push_back({.title = "layer", .width = 5, .value = [&patching](std::size_t row) {
                              return patching.layers()[row];
                            }});
  for (const std::int64_t head : patching.columns()) {
    report.columns.push_back(
        number_column("head " + std::to_string(head), [&table, raw, head](std::size_t row) {
          const std::int64_t layer = table.patching->layers()[row];
          return shown_number(table, {.layer = layer, .head = head}, raw);
        }));
  }
  return report;
}

/// A token and, if it is another one, its counterpart: "Mary ← John".
std::string tokens_in_words(const Patching& patching, std::int64_t position) {
  const auto at = static_cast<std::size_t>(position);
  const std::string own = shown_text(patching.tokens()[at]);
  const std::string other = shown_text(patching.other_tokens()[at]);
  return own == other ? own : own + " ← " + other;
}

Report tokens_by_layer(const PatchTable& table, bool raw) {
  const Patching& patching = *table.patching;
  Report report{{}, patching.columns().size()};
  report.columns.push_back({.title = "position", .width = 8, .value = [&patching](std::size_t row) {
                              return patching.columns()[row];
                            }});
  report.columns.push_back({.title = "token", .left = true, .value = [&patching](std::size_t row) {
                              return tokens_in_words(patching, patching.columns()[row]);
                            }});
  for (const std::int64_t layer : patching.layers()) {
    report.columns.push_back(
        number_column("layer " + std::to_string(layer), [&table, raw, layer](std::size_t row) {
          const std::int64_t position = table.patching->columns()[row];
          return shown_number(table, {.layer = layer, .position = position}, raw);
        }));
  }
  return report;
}

}  // namespace

Report patched_places_report(const PatchTable& table) {
  const Patching& patching = *table.patching;
  std::vector<PatchRow> rows;
  for (std::size_t i = 0; i < patching.places().size(); ++i) {
    const double difference = table.differences[i];
    rows.push_back({patching.places()[i], difference, patching.effect(difference)});
  }
  using Row = PatchRow;
  std::vector<ColumnOf<Row>> columns = {
      {{.name = "layer", .title = "layer"}, [](const Row& row) { return row.place.layer; }}};
  if (is_of_heads(patching.request().of)) {
    append(columns,
           {{{.name = "head", .title = "head"}, [](const Row& row) { return row.place.head; }}});
  } else {
    const auto token = [](const std::vector<std::string>& tokens, const Row& row) {
      return tokens[static_cast<std::size_t>(row.place.position)];
    };
    append(columns,
           {{{.name = "position", .title = "position"},
             [](const Row& row) { return row.place.position; }},
            {{.name = "token", .title = "token", .left = true},
             [&patching, token](const Row& row) { return token(patching.tokens(), row); }},
            {{.name = "other_token", .title = "other token", .left = true},
             [&patching, token](const Row& row) { return token(patching.other_tokens(), row); }}});
  }
  append(columns, {{{.name = "difference",
                     .title = "logit difference",
                     .formula = "logit of the answer − logit of the answer against it",
                     .decimals = 4},
                    &Row::difference},
                   {{.name = "effect",
                     .title = "effect",
                     .formula = "(difference − corrupted) / (clean − corrupted)",
                     .decimals = 4},
                    &Row::effect}});
  return report_of<Row>(std::move(rows), std::move(columns));
}

Report patched_parts_report(const PatchTable& table, bool raw) {
  return is_of_heads(table.patching->request().of) ? heads_by_layer(table, raw)
                                                   : tokens_by_layer(table, raw);
}

std::string patching_in_words(const Patching& patching) {
  const auto shown = [](double value) { return number_cell(value, 0, 4); };
  return patching.subject().label + ": " + in_words(patching.request()) + "\n" + "from  " +
         shown_text(patching.other().label) + "\ninto  " + shown_text(patching.input().label) +
         "\nlogit of \"" + shown_text(patching.answer_name()) + "\" − logit of \"" +
         shown_text(patching.against_name()) + "\": " + shown(patching.corrupted()) +
         " unchanged (corrupted), " + shown(patching.clean()) + " on the other input (clean)\n";
}

std::string patch_numbers_in_words(bool raw) {
  return raw ? "logit difference of each patched run:\n"
             : "effect of each patch, (patched − corrupted) / (clean − corrupted):\n";
}

Report joint_patch_report(const Patching& patching, double difference) {
  const auto only = [](ReportColumn column, ReportValue value) {
    column.value = [value = std::move(value)](std::size_t) { return value; };
    return column;
  };
  return {{only({.name = "places", .title = "places"}, std::ssize(patching.places())),
           only({.name = "difference", .title = "logit difference", .decimals = 4}, difference),
           only({.name = "effect", .title = "effect", .decimals = 4}, patching.effect(difference))},
          1};
}

std::string joint_patch_in_words(const Patching& patching, double difference) {
  const auto count = std::to_string(patching.places().size());
  return "all " + count + " places together: logit difference " + number_cell(difference, 0, 4) +
         ", effect " + number_cell(patching.effect(difference), 0, 4) + "\n";
}

nlohmann::ordered_json patching_as_json(const Patching& patching) {
  const PatchRequest& request = patching.request();
  return {{"of", name_of(patched_part_names, request.of)},
          {"patched", in_words(request)},
          {"input", patching.input().locator},
          {"from", patching.other().locator},
          {"answer", patching.answer_name()},
          {"against", patching.against_name()},
          {"corrupted", known_number(patching.corrupted())},
          {"clean", known_number(patching.clean())},
          {"tokens", patching.tokens()},
          {"other_tokens", patching.other_tokens()}};
}

}  // namespace attnscope
