#include "app/cli/energy_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/status_line.h"
#include "app/cli/table_cell.h"
#include "core/shown_text.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

/// An energy in pJ as text in mJ.
std::string millijoules(double energy_pj) { return rounded_text(energy_pj / 1e9); }

/// The number with 10 significant digits.
std::string plain_number(double value) { return rounded_text(value, 10); }

// Column widths of the table, including the leading blank.
constexpr int kPart = 14, kComponent = 24, kCount = 21, kFew = 11, kMany = 15, kEnergy = 13,
              kShare = 8;

struct Row {
  std::string part, group;
  OperationCount count;
};

/// The counted network and the numbers shown for it.
struct NetworkReport {
  EnergyRequest request;
  EnergySubject subject;
  std::vector<Row> rows;
  OperationCount total;
  OperationCount attention, feed_forward;
  std::vector<ParameterCount> parameters;
  std::int64_t all_parameters = 0;
};

NetworkReport report_on(const EnergyRequest& request, bool by_layer) {
  NetworkReport report;
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
  std::erase_if(report.rows, [](const Row& row) {
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

std::string as_table(const NetworkReport& report, bool by_layer) {
  const EnergySubject& subject = report.subject;
  const EnergyConstants& constants = subject.constants;
  const double all = operations_energy_pj(report.total, constants);
  const bool complete = subject.options.convention == CostConvention::complete;
  std::string text = subject.label + ": " + std::string(name_of(subject.options.convention)) +
                     " accounting, " + constants.title + "\n";
  text += "N = " + std::to_string(subject.architecture.stages.front().tokens) + " tokens";
  if (!subject.architecture.note.empty()) text += "; " + subject.architecture.note;
  text += "\n\n";

  if (by_layer) text += left_cell("part", kPart);
  text += left_cell("component", kComponent) + right_cell("multiplications", kCount) +
          right_cell("additions", kCount);
  if (complete) {
    text += right_cell("shifts", kFew) + right_cell("divisions", kMany) +
            right_cell("exponentials", kMany);
  }
  text += right_cell("energy (mJ)", kEnergy) + right_cell("share", kShare) + "\n";
  const auto line = [&](const std::string& part, const OperationCount& c) {
    const double energy = operations_energy_pj(c, constants);
    if (by_layer) text += left_cell(part, kPart);
    text += left_cell(c.component, kComponent) + right_cell(grouped(c.multiplications), kCount) +
            right_cell(grouped(c.additions), kCount);
    if (complete) {
      text += right_cell(grouped(c.shifts), kFew) + right_cell(grouped(c.divisions), kMany) +
              right_cell(grouped(c.exponentials), kMany);
    }
    text += right_cell(millijoules(energy), kEnergy) +
            number_cell(all > 0 ? 100 * energy / all : 0, kShare - 2, 1) + " %\n";
  };
  for (const Row& row : report.rows) line(row.part, row.count);
  OperationCount total = report.total;
  total.component = "total";
  line("", total);
  const double core = operations_energy_pj(report.attention, constants);
  const double forward = operations_energy_pj(report.feed_forward, constants);
  const double both = core + forward;
  text += "\nattention " + millijoules(core) + " mJ, FFN " + millijoules(forward) +
          " mJ: attention is " + fixed_text(both > 0 ? 100 * core / both : 0, 1) +
          " % of the two\n";
  if (complete) {
    text += "memory traffic, apart: " +
            grouped(report.total.bytes_moved / 4 * constants.bytes_per_value) + " bytes, " +
            millijoules(traffic_energy_pj(report.total, constants)) + " mJ at " +
            rounded_text(constants.byte_pj) + " pJ a byte\n";
  }
  return text + "parameters: " + grouped(report.all_parameters) + "\n";
}

std::string as_csv(const NetworkReport& report) {
  const EnergyConstants& constants = report.subject.constants;
  std::string text = "# " + shown_text(command_line(report.request)) + "\n" +
                     "part,group,component,multiplications,additions,shifts,divisions,"
                     "exponentials,bytes_moved,energy_pj,traffic_pj\n";
  const auto line = [&](const Row& row) {
    const OperationCount& c = row.count;
    text += row.part + "," + row.group + "," + csv_field(c.component);
    for (const std::int64_t value :
         {c.multiplications, c.additions, c.shifts, c.divisions, c.exponentials, c.bytes_moved}) {
      text += "," + std::to_string(value);
    }
    text += "," + plain_number(operations_energy_pj(c, constants)) + "," +
            plain_number(traffic_energy_pj(c, constants)) + "\n";
  };
  for (const Row& row : report.rows) line(row);
  line({"all", "total", report.total});
  return text;
}

Json as_json(const OperationCount& c, const EnergyConstants& constants) {
  return {{"multiplications", c.multiplications},
          {"additions", c.additions},
          {"shifts", c.shifts},
          {"divisions", c.divisions},
          {"exponentials", c.exponentials},
          {"bytes_moved", c.bytes_moved},
          {"energy_pj", operations_energy_pj(c, constants)},
          {"traffic_pj", traffic_energy_pj(c, constants)}};
}

std::string as_json(const NetworkReport& report, const Model* model) {
  const EnergySubject& subject = report.subject;
  const EnergyConstants& constants = subject.constants;
  Json json = {{"network", subject.architecture.name},
               {"label", subject.label},
               {"command", command_line(report.request)},
               {"convention", name_of(subject.options.convention)},
               {"mechanism", to_string(subject.options.mechanism)},
               {"tokens", subject.architecture.stages.front().tokens},
               {"constants",
                {{"name", constants.name},
                 {"source", constants.source},
                 {"addition_pj", constants.addition_pj},
                 {"multiplication_pj", constants.multiplication_pj},
                 {"shift_pj", constants.shift_pj},
                 {"division_pj", constants.division_pj},
                 {"exponential_pj", constants.exponential_pj},
                 {"byte_pj", constants.byte_pj},
                 {"bytes_per_value", constants.bytes_per_value}}}};
  if (!subject.architecture.note.empty()) json["note"] = subject.architecture.note;
  json["components"] = Json::array();
  for (const Row& row : report.rows) {
    Json entry = {{"part", row.part}, {"group", row.group}, {"component", row.count.component}};
    entry.update(as_json(row.count, constants));
    json["components"].push_back(entry);
  }
  json["attention"] = as_json(report.attention, constants);
  json["FFN"] = as_json(report.feed_forward, constants);
  json["total"] = as_json(report.total, constants);
  json["parameters"] = {{"total", report.all_parameters}};
  for (const ParameterCount& count : report.parameters) {
    json["parameters"][count.component] = count.parameters;
  }
  json["status"] = model ? status_as_json(model->status()) : Json();
  return json.dump(2) + "\n";
}

}  // namespace

std::string network_as_text(const EnergyRequest& request, const Model* model, bool by_layer,
                            EnergyFormat format) {
  const NetworkReport report = report_on(request, by_layer);
  switch (format) {
    case EnergyFormat::csv:
      return as_csv(report);
    case EnergyFormat::json:
      return as_json(report, model);
    case EnergyFormat::text:
      break;
  }
  const std::string status = model ? status_line(*model) : std::string();
  return as_table(report, by_layer) + status + (status.empty() ? "" : "\n");
}

}  // namespace attnscope
