#include "analysis/tables/energy_report.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

/// An energy in pJ as text in mJ.
std::string millijoules(double energy_pj) { return rounded_text(energy_pj / 1e9); }

std::vector<ColumnOf<CountedRow>> count_columns(const EnergySubject& subject) {
  const bool complete = subject.options.convention == CostConvention::complete;
  std::vector<ColumnOf<CountedRow>> columns;
  const auto add = [&columns](const char* name, bool in_text, int width,
                              std::int64_t OperationCount::*count) {
    columns.push_back({{.name = name, .title = in_text ? name : "", .width = width},
                       [count](const CountedRow& row) { return row.count.*count; },
                       [count](const CountedRow& row) { return grouped(row.count.*count); }});
  };
  add("multiplications", true, 21, &OperationCount::multiplications);
  add("additions", true, 21, &OperationCount::additions);
  add("shifts", complete, 11, &OperationCount::shifts);
  add("divisions", complete, 15, &OperationCount::divisions);
  add("exponentials", complete, 15, &OperationCount::exponentials);
  add("bytes_moved", false, 0, &OperationCount::bytes_moved);
  const EnergyConstants& constants = subject.constants;
  columns.push_back({{.name = "energy_pj", .digits = 10}, [&constants](const CountedRow& row) {
                       return operations_energy_pj(row.count, constants);
                     }});
  columns.push_back({{.name = "traffic_pj", .digits = 10}, [&constants](const CountedRow& row) {
                       return traffic_energy_pj(row.count, constants);
                     }});
  return columns;
}

std::string signed_per_cent(double share) {
  return (share < 0 ? "" : "+") + fixed_text(100 * share, 2) + " %";
}

std::string verdict_text(const ReproducedFigure& figure) {
  if (figure.published.verdict == Verdict::printed) return "not computed";
  if (std::isnan(figure.printed)) return "formula";
  if (figure.rounds_to_print) return "rounds to print";
  return figure.published.verdict == Verdict::near ? "within a digit" : "not reproduced";
}

}  // namespace

NetworkReport network_report(const EnergyRequest& request, bool by_layer) {
  NetworkReport report;
  report.by_layer = by_layer;
  report.request = request;
  report.subject = resolve(request);
  const NetworkCost cost = count_operations(report.subject.architecture, report.subject.options);
  if (by_layer) {
    for (const PartCost& part : cost.parts) {
      for (const ComponentCost& component : part.components) {
        report.rows.push_back({part.name, std::string(name_of(component.group)), component.count});
      }
    }
  } else {
    for (const ComponentCost& component : cost.by_component()) {
      report.rows.push_back({"all", std::string(name_of(component.group)), component.count});
    }
  }
  // Components that the counting convention excludes would be rows of zeros.
  std::erase_if(report.rows, [](const CountedRow& row) {
    const OperationCount& c = row.count;
    return c.multiplications + c.additions + c.shifts + c.divisions + c.exponentials == 0;
  });
  report.total = cost.total();
  report.attention = cost.total_of(ComponentGroup::attention);
  report.feed_forward = cost.total_of(ComponentGroup::feed_forward);
  report.parameters = count_parameters(report.subject.architecture, report.subject.options);
  for (const ParameterCount& count : report.parameters) report.all_parameters += count.parameters;
  return report;
}

Report components_energy_report(const NetworkReport& report, bool with_total) {
  std::vector<CountedRow> rows = report.rows;
  if (with_total) rows.push_back({"all", "total", report.total});
  std::vector<ColumnOf<CountedRow>> columns = {
      {{.name = "part", .title = report.by_layer ? "part" : "", .width = 14, .left = true},
       &CountedRow::part,
       [](const CountedRow& row) { return row.group == "total" ? "" : row.part; }},
      {{.name = "group"}, &CountedRow::group},
      {{.name = "component", .title = "component", .width = 24, .left = true},
       [](const CountedRow& row) { return row.count.component; }}};
  append(columns, count_columns(report.subject));
  const EnergyConstants& constants = report.subject.constants;
  const double all = operations_energy_pj(report.total, constants);
  columns.push_back(
      {{.title = "energy (mJ)", .width = 13}, nullptr, [&constants](const CountedRow& row) {
         return millijoules(operations_energy_pj(row.count, constants));
       }});
  columns.push_back({{.title = "share", .width = 8, .decimals = 1, .per_cent = true},
                     [&constants, all](const CountedRow& row) {
                       return all > 0 ? operations_energy_pj(row.count, constants) / all : 0;
                     }});
  return report_of(std::move(rows), std::move(columns));
}

std::string network_in_words(const NetworkReport& report) {
  const EnergySubject& subject = report.subject;
  std::string text = subject.label + ": " + std::string(name_of(subject.options.convention)) +
                     " accounting, " + subject.constants.title + "\n";
  text += "N = " + std::to_string(subject.architecture.stages.front().tokens) + " tokens";
  if (!subject.architecture.note.empty()) text += "; " + subject.architecture.note;
  return text + "\n";
}

std::string network_sums_in_words(const NetworkReport& report) {
  const EnergyConstants& constants = report.subject.constants;
  const double core = operations_energy_pj(report.attention, constants);
  const double forward = operations_energy_pj(report.feed_forward, constants);
  const double both = core + forward;
  std::string text = "attention " + millijoules(core) + " mJ, FFN " + millijoules(forward) +
                     " mJ: attention is " + fixed_text(both > 0 ? 100 * core / both : 0, 1) +
                     " % of the two\n";
  if (report.subject.options.convention == CostConvention::complete) {
    text += "memory traffic, apart: " +
            grouped(report.total.bytes_moved / 4 * constants.bytes_per_value) + " bytes, " +
            millijoules(traffic_energy_pj(report.total, constants)) + " mJ at " +
            rounded_text(constants.byte_pj) + " pJ a byte\n";
  }
  return text + "parameters: " + grouped(report.all_parameters) + "\n";
}

Report energy_sums_report(const NetworkReport& report) {
  std::vector<ColumnOf<CountedRow>> columns = {
      {{.name = "group", .title = "group", .left = true}, &CountedRow::group}};
  append(columns, count_columns(report.subject));
  return report_of<CountedRow>({{"all", "attention", report.attention},
                                {"all", "FFN", report.feed_forward},
                                {"all", "total", report.total}},
                               std::move(columns));
}

Report parameter_counts_report(const NetworkReport& report) {
  std::vector<ParameterCount> counts = report.parameters;
  counts.push_back({"total", report.all_parameters});
  return report_of<ParameterCount>(
      std::move(counts),
      {{{.name = "component", .title = "component", .left = true}, &ParameterCount::component},
       {{.name = "parameters", .title = "parameters"},
        &ParameterCount::parameters,
        [](const ParameterCount& count) { return grouped(count.parameters); }}});
}

Report reproduced_report(std::vector<ReproducedFigure> figures) {
  std::vector<ColumnOf<ReproducedFigure>> columns;
  const auto add = [&columns](const char* name, bool in_text, std::string PublishedFigure::*text) {
    columns.push_back({{.name = name, .title = in_text ? name : "", .left = true},
                       [text](const auto& figure) { return figure.published.*text; }});
  };
  add("paper", false, &PublishedFigure::paper);
  add("table", false, &PublishedFigure::table);
  add("model", true, &PublishedFigure::model);
  add("method", true, &PublishedFigure::method);
  add("quantity", true, &PublishedFigure::quantity);
  add("unit", true, &PublishedFigure::unit);
  add("printed", true, &PublishedFigure::printed);
  columns.push_back({{.name = "computed", .title = "computed", .width = 13, .digits = 10},
                     &ReproducedFigure::computed,
                     [](const auto& figure) {
                       const double computed = figure.computed;
                       return std::isnan(computed) ? "–" : rounded_text(computed, 7);
                     }});
  columns.push_back(
      {{.name = "relative_difference", .title = "difference", .width = 12, .digits = 10},
       &ReproducedFigure::relative_difference,
       [](const auto& figure) {
         const double difference = figure.relative_difference;
         return std::isnan(difference) ? "–" : signed_per_cent(difference);
       }});
  columns.push_back({{.name = "rounds_to_print"}, &ReproducedFigure::rounds_to_print});
  columns.push_back(
      {{.name = "alternative"}, [](const auto& figure) { return figure.published.alternative; }});
  add("network", false, &PublishedFigure::recipe);
  add("note", false, &PublishedFigure::note);
  columns.push_back({{.left = true}, nullptr, [](const auto& figure) {
                       const std::string& note = figure.published.note;
                       return verdict_text(figure) + (note.empty() ? "" : "; " + note);
                     }});
  return report_of(std::move(figures), std::move(columns));
}

}  // namespace attnscope
