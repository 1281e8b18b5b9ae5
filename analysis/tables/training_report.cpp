#include "analysis/tables/training_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/training/training_history.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

// --- one run -----------------------------------------------------------------------------------

constexpr const char* kProbed[] = {"rank_of_mean", "mean_rank", "identity_rank", "entropy",
                                   "rank_at_entropy"};

/// The row of a table at exactly this step; empty if there is none.
std::vector<double> row_of_step(const TrainingLog& log, const std::string& group,
                                const std::string& name, double step) {
  const LogTable* const steps = log.find(group + "/step");
  if (!steps || std::ranges::count(steps->numbers, step) == 0) return {};
  return row_at(log, group + "/" + name, step);
}

ReportValue number_of_step(const TrainingLog& log, const std::string& group,
                           const std::string& name, double step) {
  const std::vector<double> row = row_of_step(log, group, name, step);
  return row.empty() ? ReportValue() : ReportValue(row.front());
}

/// Mean over the layers; unknown without probes.
ReportValue mean_of_layers(const std::vector<double>& layers) {
  if (layers.empty()) return {};
  return std::accumulate(layers.begin(), layers.end(), 0.0) / static_cast<double>(layers.size());
}

/// The probes of each layer at a step.
ReportValue probed_layers(const TrainingLog& log, double step) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const char* const name : kProbed) {
    const std::vector<double> row = row_of_step(log, "probes", name, step);
    for (std::size_t layer = 0; layer < row.size(); ++layer) {
      if (layers.size() <= layer) layers.push_back({{"layer", layer}});
      layers[layer][name] = row[layer];
    }
  }
  return json_cell(layers);
}

// --- studies -----------------------------------------------------------------------------------

/// One layer of a variant at a moment.
struct MomentRow {
  const char* moment = "";
  std::shared_ptr<const VariantMoment> variant;
  std::size_t layer = 0;
};

std::string mean_in_words(const SeedMean& number, int decimals, double scale) {
  if (number.runs == 0) return "–";
  std::string text = fixed_text(scale * number.mean, decimals);
  if (number.runs > 1) text += " ± " + fixed_text(scale * number.deviation, decimals);
  return text;
}

/// A mean with the column of its deviation.
template <class Mean>
void add_mean(std::vector<ColumnOf<MomentRow>>& columns, ReportColumn column, Mean mean,
              double scale = 1) {
  ReportColumn deviation = {.name = column.name + "_deviation", .unit = column.unit};
  const int decimals = column.decimals;
  columns.push_back({std::move(column), [mean](const MomentRow& row) { return mean(row).mean; },
                     [mean, decimals, scale](const MomentRow& row) {
                       return mean_in_words(mean(row), decimals, scale);
                     }});
  columns.push_back(
      {std::move(deviation), [mean](const MomentRow& row) { return mean(row).deviation; }});
}

/// The value of a layer in one of a moment's lists; unknown if the list is shorter.
auto of_layer(std::vector<SeedMean> VariantMoment::*layers) {
  return [layers](const MomentRow& row) {
    const std::vector<SeedMean>& all = (*row.variant).*layers;
    return row.layer < all.size() ? all[row.layer] : seed_mean({});
  };
}

}  // namespace

Report training_steps_report(const TrainingLog& log) {
  std::set<double> steps;
  for (const char* const table : {"tests/step", "probes/step"}) {
    if (const LogTable* const found = log.find(table)) {
      steps.insert(found->numbers.begin(), found->numbers.end());
    }
  }
  const auto kept = std::make_shared<const TrainingLog>(log);
  const auto of_step = [kept](const char* group, const char* name) {
    return [=](double step) { return number_of_step(*kept, group, name, step); };
  };
  const auto over_layers = [kept](const char* name) {
    return [=](double step) { return mean_of_layers(row_of_step(*kept, "probes", name, step)); };
  };
  return report_of<double>(
      std::vector<double>(steps.begin(), steps.end()),
      {{{.name = "step", .title = "step", .width = 8},
        [](double step) { return static_cast<std::int64_t>(step); }},
       {{.name = "loss",
         .title = "loss",
         .unit = "nats",
         .width = 9,
         .decimals = 4,
         .if_known = true},
        of_step("steps", "loss")},
       {{.name = "test_loss",
         .title = "test loss",
         .unit = "nats",
         .width = 11,
         .decimals = 4,
         .if_known = true},
        of_step("tests", "loss")},
       {{.name = "accuracy",
         .title = "right",
         .formula = "share of the test examples with the right answer",
         .width = 10,
         .per_cent = true,
         .if_known = true},
        of_step("tests", "accuracy")},
       {{.name = "mean_rank",
         .title = "rank",
         .formula = "equivalent rank at 0.9 of A without I, mean over the probes' maps",
         .width = 8,
         .decimals = 1,
         .if_known = true},
        over_layers("mean_rank")},
       {{.name = "entropy",
         .title = "entropy",
         .unit = "nats",
         .formula = "entropy of a query's weights, mean over the probes' maps",
         .width = 9,
         .if_known = true},
        over_layers("entropy")},
       {json_only("layers"), [kept](double step) { return probed_layers(*kept, step); }}});
}

std::string training_in_words(const TrainingRun& run, const RunFolder& folder) {
  const TrainingLog& log = run.log();
  std::string words = folder.folder.string() + ": " + std::to_string(run.step()) + " steps, loss " +
                      fixed_text(log.last("steps/loss").value(), 4);
  if (const auto accuracy = log.last("tests/accuracy")) {
    constexpr const char* examples[] = {"images", "chunks", "texts"};  // ExampleKind's order
    words += "; " + std::to_string(run.data().test_size()) + " test " +
             examples[static_cast<std::size_t>(run.data().kind())] + ": " +
             fixed_text(100 * *accuracy, 2) + " % right, loss " +
             fixed_text(log.last("tests/loss").value(), 4);
  }
  return words + "\n";
}

Report training_moments_report(const StudySummary& summary, const std::string& moment) {
  std::vector<MomentRow> rows;
  const auto add = [&](const char* name, const std::vector<VariantMoment>& variants) {
    if (!moment.empty() && moment != name) return;
    for (const VariantMoment& one : variants) {
      const auto kept = std::make_shared<const VariantMoment>(one);
      const std::size_t layers = std::max<std::size_t>(one.mean_rank.size(), 1);
      for (std::size_t layer = 0; layer < layers; ++layer) rows.push_back({name, kept, layer});
    }
  };
  add(kUntrained, summary.untrained);
  add(kEqualSteps, summary.at_equal_steps);
  add(kEqualAccuracy, summary.at_equal_accuracy);
  using Row = MomentRow;
  std::vector<ColumnOf<Row>> columns;
  if (moment.empty()) {
    columns.push_back({{.name = "moment", .title = "moment", .left = true},
                       [](const Row& row) { return std::string(row.moment); }});
  }
  append(columns, {{{.name = "variant", .title = "variant", .left = true},
                    [](const Row& row) { return row.variant->label; }},
                   {{.name = "runs", .title = "runs"},
                    [](const Row& row) { return row.variant->step.runs; }}});
  add_mean(columns, {.name = "step", .title = "step", .decimals = 0},
           [](const Row& row) { return row.variant->step; });
  add_mean(
      columns, {.name = "accuracy", .title = "% right"},
      [](const Row& row) { return row.variant->accuracy; }, 100);
  columns.push_back({{.name = "layer", .title = "layer"},
                     [](const Row& row) { return static_cast<std::int64_t>(row.layer); }});
  add_mean(columns,
           {.name = "rank_of_mean",
            .title = "rank of mean",
            .formula = "equivalent rank at 0.9 of the mean curve of the maps of A without I",
            .decimals = 1},
           of_layer(&VariantMoment::rank_of_mean));
  add_mean(columns,
           {.name = "mean_rank",
            .title = "mean rank",
            .formula = "mean of the maps' equivalent ranks at 0.9, of A without I",
            .decimals = 1},
           of_layer(&VariantMoment::mean_rank));
  add_mean(columns,
           {.name = "rank_at_entropy",
            .title = "at " + rounded_text(kProbedEntropy) + " ln n",
            .formula = "mean rank of the maps at the temperature of that row entropy",
            .decimals = 1,
            .if_known = true},
           of_layer(&VariantMoment::rank_at_entropy));
  add_mean(columns,
           {.name = "entropy", .title = "entropy", .unit = "nats", .decimals = 2, .if_known = true},
           of_layer(&VariantMoment::entropy));
  return report_of(std::move(rows), std::move(columns));
}

}  // namespace attnscope
