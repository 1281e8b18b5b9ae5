#include "app/cli/energy_text.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "core/text/csv_field.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMillijoule = 1e9;  // in pJ

__attribute__((format(printf, 2, 3))) void append(std::string& text, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length > 0) text.append(line, std::min<std::size_t>(static_cast<std::size_t>(length), 511));
}

/// Columns the terminal takes for it: bytes of UTF-8 that begin a character.
int columns_of(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

void append_padded(std::string& text, const std::string& word, int width) {
  text += word;
  text.append(static_cast<std::size_t>(std::max(1, width - columns_of(word))), ' ');
}

/// 1234567 as "1 234 567".
std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ' ');
  }
  return digits;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

struct Row {
  std::string part, group;
  OperationCount count;
};

/// What is shown of a counted network.
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
  report.subject = understand(request);
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
  // What a convention leaves out would be rows of zeros.
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

  if (by_layer) append_padded(text, "part", 14);
  append_padded(text, "component", 24);
  append(text, "%20s %20s", "multiplications", "additions");
  if (complete) append(text, " %10s %14s %14s", "shifts", "divisions", "exponentials");
  append(text, " %12s %7s\n", "energy (mJ)", "share");
  const auto line = [&](const std::string& part, const std::string& name, const OperationCount& c) {
    const double energy = operations_energy_pj(c, constants);
    if (by_layer) append_padded(text, part, 14);
    append_padded(text, name, 24);
    append(text, "%20s %20s", grouped(c.multiplications).c_str(), grouped(c.additions).c_str());
    if (complete) {
      append(text, " %10s %14s %14s", grouped(c.shifts).c_str(), grouped(c.divisions).c_str(),
             grouped(c.exponentials).c_str());
    }
    append(text, " %12.4g %6.1f%%\n", energy / kMillijoule, all > 0 ? 100 * energy / all : 0);
  };
  for (const Row& row : report.rows) line(row.part, row.count.component, row.count);
  line("", "total", report.total);
  text += "\n";
  const double core = operations_energy_pj(report.attention, constants);
  const double forward = operations_energy_pj(report.feed_forward, constants);
  append(text, "attention %.4g mJ, FFN %.4g mJ: attention is %.1f %% of the two\n",
         core / kMillijoule, forward / kMillijoule,
         core + forward > 0 ? 100 * core / (core + forward) : 0);
  if (complete) {
    append(text, "memory traffic, apart: %s bytes, %.4g mJ at %g pJ a byte\n",
           grouped(report.total.bytes_moved / 4 * constants.bytes_per_value).c_str(),
           traffic_energy_pj(report.total, constants) / kMillijoule, constants.byte_pj);
  }
  append(text, "parameters: %s\n", grouped(report.all_parameters).c_str());
  return text;
}

std::string as_csv(const NetworkReport& report) {
  const EnergyConstants& constants = report.subject.constants;
  std::string text = "# " + command_line(report.request) + "\n" +
                     "part,group,component,multiplications,additions,shifts,divisions,"
                     "exponentials,bytes_moved,energy_pj,traffic_pj\n";
  const auto line = [&](const Row& row) {
    const OperationCount& c = row.count;
    text += row.part + "," + row.group + "," + csv_field(c.component);
    for (const std::int64_t value :
         {c.multiplications, c.additions, c.shifts, c.divisions, c.exponentials, c.bytes_moved}) {
      text += "," + std::to_string(value);
    }
    text += "," + number(operations_energy_pj(c, constants)) + "," +
            number(traffic_energy_pj(c, constants)) + "\n";
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

std::string as_json(const NetworkReport& report) {
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
  return json.dump(2) + "\n";
}

std::string verdict_text(const ReproducedFigure& figure) {
  if (std::isnan(figure.printed)) return "formula";
  if (figure.rounds_to_print) return "rounds to print";
  return figure.published.verdict == Verdict::near ? "within a digit" : "not reproduced";
}

std::string reproduced_table(const std::vector<ReproducedFigure>& figures) {
  std::string text = figures.front().published.paper + ", " + figures.front().published.table +
                     ": printed beside computed\n\n";
  int model = 6, method = 7, printed = 9;
  for (const ReproducedFigure& figure : figures) {
    model = std::max(model, columns_of(figure.published.model) + 2);
    method = std::max(method, columns_of(figure.published.method) + 2);
    printed = std::max(printed, columns_of(figure.published.printed) + 2);
  }
  const auto heading = [&](const char* what) {
    append_padded(text, what, model);
    append_padded(text, "method", method);
    append_padded(text, "quantity", 14);
    append_padded(text, "unit", 10);
    append_padded(text, "printed", printed);
    append(text, "%13s %10s  %s\n", "computed", "difference", "");
  };
  const auto line = [&](const ReproducedFigure& figure) {
    append_padded(text, figure.published.model, model);
    append_padded(text, figure.published.method, method);
    append_padded(text, figure.published.quantity, 14);
    append_padded(text, figure.published.unit, 10);
    append_padded(text, figure.published.printed, printed);
    if (std::isnan(figure.computed)) {
      append(text, "%13s", "-");
    } else {
      append(text, "%13.7g", figure.computed);
    }
    if (std::isnan(figure.relative_difference)) {
      append(text, " %10s", "-");
    } else {
      append(text, " %+9.2f%%", 100 * figure.relative_difference);
    }
    text += "  " + verdict_text(figure);
    if (!figure.published.note.empty()) text += "; " + figure.published.note;
    text += "\n";
  };
  heading("model");
  for (const ReproducedFigure& figure : figures) {
    if (!figure.published.alternative) line(figure);
  }
  const bool others = std::any_of(figures.begin(), figures.end(),
                                  [](const auto& figure) { return figure.published.alternative; });
  if (others) {
    text += "\nOther readings of the same figures\n\n";
    heading("model");
    for (const ReproducedFigure& figure : figures) {
      if (figure.published.alternative) line(figure);
    }
  }
  return text;
}

}  // namespace

std::string network_as_text(const EnergyRequest& request, bool by_layer, EnergyFormat format) {
  const NetworkReport report = report_on(request, by_layer);
  switch (format) {
    case EnergyFormat::csv:
      return as_csv(report);
    case EnergyFormat::json:
      return as_json(report);
    case EnergyFormat::text:
      break;
  }
  return as_table(report, by_layer);
}

std::string reproduced_as_text(const std::vector<ReproducedFigure>& figures, EnergyFormat format) {
  if (format == EnergyFormat::text) return reproduced_table(figures);
  if (format == EnergyFormat::json) {
    Json json = Json::array();
    for (const ReproducedFigure& figure : figures) {
      const PublishedFigure& p = figure.published;
      Json entry = {{"paper", p.paper},       {"table", p.table},
                    {"model", p.model},       {"method", p.method},
                    {"quantity", p.quantity}, {"unit", p.unit},
                    {"printed", p.printed},   {"alternative", p.alternative},
                    {"network", p.recipe},    {"note", p.note}};
      entry["computed"] = std::isnan(figure.computed) ? Json() : Json(figure.computed);
      entry["relative_difference"] =
          std::isnan(figure.relative_difference) ? Json() : Json(figure.relative_difference);
      entry["rounds_to_print"] = figure.rounds_to_print;
      json.push_back(entry);
    }
    return json.dump(2) + "\n";
  }
  std::string text =
      "paper,table,model,method,quantity,unit,printed,computed,relative_difference,"
      "rounds_to_print,alternative,network,note\n";
  for (const ReproducedFigure& figure : figures) {
    const PublishedFigure& p = figure.published;
    for (const std::string* field :
         {&p.paper, &p.table, &p.model, &p.method, &p.quantity, &p.unit, &p.printed}) {
      text += csv_field(*field) + ",";
    }
    text += (std::isnan(figure.computed) ? "" : number(figure.computed)) + ",";
    text +=
        (std::isnan(figure.relative_difference) ? "" : number(figure.relative_difference)) + ",";
    text += std::string(figure.rounds_to_print ? "true" : "false") + "," +
            (p.alternative ? "true" : "false") + "," + csv_field(p.recipe) + "," +
            csv_field(p.note) + "\n";
  }
  return text;
}

std::string known_networks_as_text() {
  std::string text = "Networks\n";
  for (const NamedNetwork& network : named_architectures()) {
    text += "  ";
    append_padded(text, std::string(network.name), 18);
    append_padded(text, std::string(network.title), 16);
    text += std::string(network.source) + "\n";
  }
  text += "\nMechanisms, with the parameters --set takes\n";
  for (const MechanismEntry& mechanism : counted_mechanisms()) {
    text += "  ";
    append_padded(text, std::string(mechanism.name), 18);
    text += std::string(mechanism.title) + ": " + std::string(mechanism.source) + "\n";
    for (const ParameterDescription& parameter : mechanism.counted_parameters()) {
      text += "    ";
      append_padded(text, parameter.name + "=" + to_string(parameter.default_value), 26);
      text += parameter.explanation + "\n";
    }
  }
  text += "\nSettings of the network, for --set\n";
  for (const EnergySetting& setting : energy_settings()) {
    text += "  ";
    append_padded(text, std::string(setting.name), 22);
    text += std::string(setting.explanation) + "\n";
  }
  text += "\nEnergy tables, for --constants, in pJ\n";
  for (const EnergyConstants& constants : energy_tables()) {
    text += "  ";
    append_padded(text, constants.name, 8);
    append(text, "addition %g, multiplication %g, shift %g, division %g, exponential %g, byte %g\n",
           constants.addition_pj, constants.multiplication_pj, constants.shift_pj,
           constants.division_pj, constants.exponential_pj, constants.byte_pj);
  }
  text += "  " + energy_tables().front().source + "\n";
  text += "\nPublished tables, for --paper\n  " + published_table_names() + "\n";
  return text;
}

}  // namespace attnscope
