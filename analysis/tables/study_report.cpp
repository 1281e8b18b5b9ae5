#include "analysis/tables/study_report.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/shown_text.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

/// One column of a series and its outcome.
struct StudyChange {
  const StudySeries* series = nullptr;
  StudySeries::Column column;
  Outcome outcome;

  /// True for the unchanged model, the first column.
  [[nodiscard]] bool is_whole() const { return column.name == series->columns.front().name; }
};

std::vector<StudyChange> changes_of(const StudyResult& result, std::size_t series) {
  const StudySeries& of = result.series[series];
  std::vector<StudyChange> changes;
  for (const StudySeries::Column& column : of.columns) {
    changes.push_back({&of, column, outcome_of(result, series, changes.size())});
  }
  return changes;
}

/// Column of the text with `factor` times a value and its error, "12.34 ± 0.56"; the error may be
/// unknown (NaN).
ColumnOf<StudyChange> with_error(ReportColumn column, double Outcome::*value,
                                 double Outcome::*error, double factor = 1) {
  const int decimals = column.decimals;
  const char* const unit = column.per_cent ? " %" : "";
  return {std::move(column), nullptr, [=](const StudyChange& change) {
            return number_cell(factor * change.outcome.*value, 0, decimals) + " ±" +
                   number_cell(factor * change.outcome.*error, decimals + 3, decimals) + unit;
          }};
}

/// The numbers of each change, in CSV and JSON.
std::vector<ColumnOf<StudyChange>> number_columns() {
  std::vector<ColumnOf<StudyChange>> columns = {
      {json_only("name"), [](const auto& change) { return change.column.name; }},
      {csv_only("change"), [](const auto& change) { return change.column.name; }},
      {{.name = "rank"},
       [](const auto& change) { return known_if(change.column.rank > 0, change.column.rank); }},
      {{.name = "layer"}, [](const auto& change) { return if_any(change.column.layer); }},
      {{.name = "head"}, [](const auto& change) { return if_any(change.column.head); }}};
  const auto add = [&columns](const char* name, auto member, const char* unit = "") {
    columns.push_back({{.name = name, .unit = unit},
                       [member](const auto& change) { return change.outcome.*member; }});
  };
  add("predicted", &Outcome::predicted);
  add("correct", &Outcome::correct);
  add("not_finite", &Outcome::not_finite);
  add("accuracy", &Outcome::accuracy);
  add("accuracy_error", &Outcome::accuracy_error);
  add("accuracy_change", &Outcome::accuracy_change);
  add("accuracy_change_error", &Outcome::accuracy_change_error);
  add("divergence", &Outcome::divergence, "bits");
  add("divergence_error", &Outcome::divergence_error, "bits");
  add("bits_per_token", &Outcome::bits_per_token, "bits");
  add("bits_per_token_error", &Outcome::bits_per_token_error, "bits");
  add("bits_per_character", &Outcome::bits_per_character, "bits");
  add("bits_per_character_error", &Outcome::bits_per_character_error, "bits");
  return columns;
}

/// The columns of the text of a truncation.
std::vector<ColumnOf<StudyChange>> truncation_columns(bool of_text) {
  std::vector<ColumnOf<StudyChange>> columns = {
      {{.title = "rank", .width = 5},
       nullptr,
       [](const StudyChange& change) {
         return change.column.rank > 0 ? std::to_string(change.column.rank) : "whole";
       }},
      with_error({.title = "accuracy", .width = 16, .per_cent = true}, &Outcome::accuracy,
                 &Outcome::accuracy_error, 100),
      with_error({.title = "divergence (bits)", .width = 20, .decimals = 4}, &Outcome::divergence,
                 &Outcome::divergence_error)};
  if (of_text) {
    append(columns, {with_error({.title = "bits a character", .width = 19, .decimals = 4},
                                &Outcome::bits_per_character, &Outcome::bits_per_character_error),
                     with_error({.title = "bits a token", .width = 18, .decimals = 4},
                                &Outcome::bits_per_token, &Outcome::bits_per_token_error)});
  }
  return columns;
}

/// The columns of the text of an ablation.
std::vector<ColumnOf<StudyChange>> ablation_columns(bool of_text) {
  const auto or_all = [](std::int64_t StudySeries::Column::*index, const char* whole) {
    return [index, whole](const StudyChange& change) {
      if (change.is_whole()) return std::string(whole);
      return change.column.*index < 0 ? "all" : std::to_string(change.column.*index);
    };
  };
  std::vector<ColumnOf<StudyChange>> columns = {
      {{.title = "layer", .width = 5}, nullptr, or_all(&StudySeries::Column::layer, "whole")},
      {{.title = "head", .width = 5}, nullptr, or_all(&StudySeries::Column::head, "")},
      {{.title = "accuracy", .width = 11, .per_cent = true},
       [](const StudyChange& change) { return change.outcome.accuracy; }},
      with_error({.title = "change (points)", .width = 17}, &Outcome::accuracy_change,
                 &Outcome::accuracy_change_error, 100),
      with_error({.title = "divergence (bits)", .width = 20, .decimals = 4}, &Outcome::divergence,
                 &Outcome::divergence_error)};
  if (of_text) {
    columns.push_back(with_error({.title = "bits a character", .width = 18, .decimals = 4},
                                 &Outcome::bits_per_character, &Outcome::bits_per_character_error));
  }
  return columns;
}

/// Description of the questions: "500 of 10000 images, spread evenly (seed 0)", "12 chunks of
/// the text".
std::string questions_in_words(const StudyResult& result, const StudySeries& series) {
  if (result.of_text) {
    return std::to_string(series.done) + (series.done == 1 ? " chunk" : " chunks") + " of the text";
  }
  return choice_in_words(result.items, {series.count, result.seed}, "images");
}

}  // namespace

Report changes_report(const StudyResult& result, std::optional<std::size_t> series,
                      bool with_whole) {
  std::vector<StudyChange> changes;
  for (std::size_t index = 0; index < result.series.size(); ++index) {
    if (series.value_or(index) != index) continue;
    for (StudyChange& change : changes_of(result, index)) changes.push_back(std::move(change));
  }
  if (!with_whole) std::erase_if(changes, [](const auto& change) { return change.is_whole(); });
  std::vector<ColumnOf<StudyChange>> columns;
  if (!series) {
    const bool several = result.series.size() > 1;
    append(columns, {{{.name = "series", .title = several ? "series" : "", .left = true},
                      [](const StudyChange& change) { return change.series->label; }},
                     {{.name = "mechanism"},
                      [](const StudyChange& change) { return change.series->mechanism; }}});
  }
  append(columns, number_columns());
  append(columns, result.kind == StudyKind::truncation ? truncation_columns(result.of_text)
                                                       : ablation_columns(result.of_text));
  columns.push_back({{.left = true}, nullptr, [](const StudyChange& change) {
                       const std::int64_t count = change.outcome.not_finite;
                       return count > 0 ? std::to_string(count) + " not finite: wrong"
                                        : std::string();
                     }});
  return report_of(std::move(changes), std::move(columns));
}

Report series_report(const StudyResult& result) {
  using Series = StudySeries;
  const auto outcomes = [&result](const Series& series) {
    return table_cell(
        changes_report(result, static_cast<std::size_t>(&series - result.series.data())));
  };
  const auto of_null = [](double NullOutcome::*member) {
    return [member](const Series& series) {
      const std::optional<NullOutcome> null = mean_null_of(series);
      return null ? ReportValue((*null).*member) : ReportValue();
    };
  };
  return report_on(result.series,
                   {{json_only("label"), &Series::label},
                    {csv_only("series"), &Series::label},
                    {json_only("model"), &Series::model},
                    {{.name = "mechanism"}, &Series::mechanism},
                    {csv_only("outcomes"), outcomes},
                    {json_only("questions"), &Series::done},
                    {{.name = "mean_equivalent_rank"},
                     [](const Series& series) { return if_any(mean_equivalent_rank(series)); }},
                    {{.name = "mean_null_rank"}, of_null(&NullOutcome::rank)},
                    {{.name = "mean_rank_over_null"}, of_null(&NullOutcome::rank_over_null)},
                    {json_only("greatest_rank"),
                     [](const Series& series) {
                       return known_if(series.greatest_rank > 0, series.greatest_rank);
                     }},
                    {json_only("outcomes"), outcomes}});
}

std::string series_in_words(const StudyResult& result, std::size_t index) {
  const StudySeries& series = result.series[index];
  std::string text =
      series.label + ": " + series.mechanism + ", " + questions_in_words(result, series) + "\n";
  if (result.kind == StudyKind::ablation) {
    const Outcome whole = outcome_of(result, index, 0);
    return text + result.description + "; whole: " + fixed_text(100 * whole.accuracy, 2) + " %" +
           (result.of_text
                ? ", " + number_cell(whole.bits_per_character, 0, 4) + " bits a character"
                : "") +
           "\n";
  }
  text += "truncated: " + result.description + "; mean equivalent rank (" +
          to_string(result.threshold) +
          "): " + number_cell(mean_equivalent_rank(series).value_or(std::nan("")), 0, 1);
  if (const std::optional<NullOutcome> null = mean_null_of(series)) {
    text += "; if shuffled: " + number_cell(null->rank, 0, 1) +
            "; rank / null: " + number_cell(null->rank_over_null, 0, 3);
  }
  return text + "\n";
}

std::string study_errors_in_words(const StudyResult& result) {
  std::string words = "standard deviations of 1000 resamples of the chunks";
  if (!result.of_text) {
    words = result.kind == StudyKind::truncation
                ? "√(p(1 − p)/n) of the accuracy, standard errors of the means"
                : "of the change √(b + c − (b − c)²/n)/n, b and c the answers that only one "
                  "has right; of the divergence the standard error";
  }
  return "errors: " + words + "\n";
}

Report answers_report(const std::vector<LogitChange>& changes) {
  using Change = LogitChange;
  return report_of<Change>(
      changes,
      {{{.width = 24, .left = true},
        nullptr,
        [](const Change& one) {
          return one.label.empty() ? std::to_string(one.index) : shown_text(one.label);
        }},
       {{.name = "index"}, &Change::index},
       {{.name = "label"}, &Change::label},
       {{.name = "logit_before", .title = "logit", .width = 11, .decimals = 4}, &Change::before},
       {{.name = "logit_after", .title = "after", .width = 11, .decimals = 4}, &Change::after},
       {{.title = "change", .width = 10, .decimals = 4},
        [](const Change& one) { return one.after - one.before; }},
       {{.name = "probability_before", .title = "p before", .width = 11, .per_cent = true},
        &Change::probability_before},
       {{.name = "probability_after", .title = "p after", .width = 12, .per_cent = true},
        &Change::probability_after}});
}

}  // namespace attnscope
