// attnscope energy: operations and energy of a network, next to the papers' tables.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/energy/published.h"
#include "analysis/energy/request.h"
#include "analysis/report/report.h"
#include "app/cli/command_table.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/table_format.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/model/model.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

/// An energy in pJ as text in mJ.
std::string millijoules(double energy_pj) { return rounded_text(energy_pj / 1e9); }

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

NetworkReport network_report(const EnergyRequest& request, bool by_layer) {
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

std::vector<ColumnOf<Row>> count_columns(const EnergySubject& subject) {
  const bool complete = subject.options.convention == CostConvention::complete;
  std::vector<ColumnOf<Row>> columns;
  const auto add = [&columns](const char* name, bool in_text, int width,
                              std::int64_t OperationCount::*count) {
    columns.push_back({{.name = name, .title = in_text ? name : "", .width = width},
                       [count](const Row& row) { return row.count.*count; },
                       [count](const Row& row) { return grouped(row.count.*count); }});
  };
  add("multiplications", true, 21, &OperationCount::multiplications);
  add("additions", true, 21, &OperationCount::additions);
  add("shifts", complete, 11, &OperationCount::shifts);
  add("divisions", complete, 15, &OperationCount::divisions);
  add("exponentials", complete, 15, &OperationCount::exponentials);
  add("bytes_moved", false, 0, &OperationCount::bytes_moved);
  const EnergyConstants& constants = subject.constants;
  columns.push_back({{.name = "energy_pj", .digits = 10}, [&constants](const Row& row) {
                       return operations_energy_pj(row.count, constants);
                     }});
  columns.push_back({{.name = "traffic_pj", .digits = 10}, [&constants](const Row& row) {
                       return traffic_energy_pj(row.count, constants);
                     }});
  return columns;
}

/// One row per component, and the total if `with_total`.
Report rows_report(const NetworkReport& report, bool by_layer, bool with_total) {
  std::vector<Row> rows = report.rows;
  if (with_total) rows.push_back({"all", "total", report.total});
  std::vector<ColumnOf<Row>> columns = {
      {{.name = "part", .title = by_layer ? "part" : "", .width = 14, .left = true},
       &Row::part,
       [](const Row& row) { return row.group == "total" ? "" : row.part; }},
      {{.name = "group"}, &Row::group},
      {{.name = "component", .title = "component", .width = 24, .left = true},
       [](const Row& row) { return row.count.component; }}};
  append(columns, count_columns(report.subject));
  const EnergyConstants& constants = report.subject.constants;
  const double all = operations_energy_pj(report.total, constants);
  columns.push_back({{.title = "energy (mJ)", .width = 13}, nullptr, [&constants](const Row& row) {
                       return millijoules(operations_energy_pj(row.count, constants));
                     }});
  columns.push_back({{.title = "share", .width = 8, .decimals = 1, .per_cent = true},
                     [&constants, all](const Row& row) {
                       return all > 0 ? operations_energy_pj(row.count, constants) / all : 0;
                     }});
  return report_of(std::move(rows), std::move(columns));
}

std::string as_table(const NetworkReport& report, bool by_layer) {
  const EnergySubject& subject = report.subject;
  const EnergyConstants& constants = subject.constants;
  std::string text = subject.label + ": " + std::string(name_of(subject.options.convention)) +
                     " accounting, " + constants.title + "\n";
  text += "N = " + std::to_string(subject.architecture.stages.front().tokens) + " tokens";
  if (!subject.architecture.note.empty()) text += "; " + subject.architecture.note;
  text += "\n\n" + report_as_text(rows_report(report, by_layer, true));
  const double core = operations_energy_pj(report.attention, constants);
  const double forward = operations_energy_pj(report.feed_forward, constants);
  const double both = core + forward;
  text += "\nattention " + millijoules(core) + " mJ, FFN " + millijoules(forward) +
          " mJ: attention is " + fixed_text(both > 0 ? 100 * core / both : 0, 1) +
          " % of the two\n";
  if (subject.options.convention == CostConvention::complete) {
    text += "memory traffic, apart: " +
            grouped(report.total.bytes_moved / 4 * constants.bytes_per_value) + " bytes, " +
            millijoules(traffic_energy_pj(report.total, constants)) + " mJ at " +
            rounded_text(constants.byte_pj) + " pJ a byte\n";
  }
  return text + "parameters: " + grouped(report.all_parameters) + "\n";
}

Json as_json(const NetworkReport& report, const Model* model) {
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
  json["components"] = report_as_json(rows_report(report, false, false));
  const auto count_json = [&subject](const OperationCount& count) {
    return report_as_json(report_of<Row>({{"", "", count}}, count_columns(subject))).front();
  };
  json["attention"] = count_json(report.attention);
  json["FFN"] = count_json(report.feed_forward);
  json["total"] = count_json(report.total);
  json["parameters"] = {{"total", report.all_parameters}};
  for (const ParameterCount& count : report.parameters) {
    json["parameters"][count.component] = count.parameters;
  }
  json["status"] = model ? status_as_json(model->status()) : Json();
  return json;
}

/// Prints every component (per layer if `by_layer`), the total, memory traffic separately, and
/// parameters. Counts are exact; energies in CSV and JSON are in pJ. `model` is that of the
/// request's weight file; null for a named network.
void print_network(const EnergyRequest& request, const Model* model, bool by_layer,
                   TableFormat format) {
  const NetworkReport report = network_report(request, by_layer);
  if (format == TableFormat::json) return print_json(as_json(report, model));
  if (format == TableFormat::text) {
    write_to_standard_output(as_table(report, by_layer));
  } else {
    if (format == TableFormat::csv) {
      write_to_standard_output("# " + shown_text(command_line(request)) + "\n");
    }
    print_report(rows_report(report, by_layer, true), format);
  }
  if (model) print_status(format == TableFormat::text ? stdout : stderr, *model);
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

/// Printed figures next to the computed ones, with relative differences and notes.
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

/// A section for the figures that `belongs` is true for; empty if there are none.
template <class Belongs>
std::string reproduced_section(const std::vector<ReproducedFigure>& figures,
                               const std::string& title, Belongs belongs) {
  std::vector<ReproducedFigure> own;
  std::ranges::copy_if(figures, std::back_inserter(own), belongs);
  if (own.empty()) return {};
  return "\n" + title + "\n\n" + report_as_text(reproduced_report(std::move(own)));
}

std::string reproduced_as_text(const std::vector<ReproducedFigure>& figures) {
  const PublishedFigure& first = figures.front().published;
  const auto is_computed = [](const ReproducedFigure& figure) {
    return figure.published.verdict != Verdict::printed;
  };
  std::string text = first.paper + ", " + first.table + "\n";
  text += reproduced_section(figures, "Printed next to computed", [&](const auto& figure) {
    return is_computed(figure) && !figure.published.alternative;
  });
  text += reproduced_section(figures, "Other readings of the same figures",
                             [](const auto& figure) { return figure.published.alternative; });
  text += reproduced_section(figures, "As printed, not computed here",
                             [&](const auto& figure) { return !is_computed(figure); });
  if (text.find("fitted: ") != std::string::npos) {
    text +=
        "\nfitted: what the paper does not state, chosen here so that the printed number comes "
        "out, which confirms nothing\n";
  }
  return text;
}

/// The networks, mechanisms with their parameters, settings, energy tables and published tables.
std::string known_networks_as_text() {
  std::string text = "Networks\n";
  for (const NamedNetwork& network : named_architectures()) {
    text += "  " + left_cell(std::string(network.name), 18) +
            left_cell(std::string(network.title), 16) + std::string(network.source) + "\n";
  }
  text += "\nMechanisms, with the parameters --set takes\n";
  for (const MechanismEntry& mechanism : counted_mechanisms()) {
    text += "  " + left_cell(std::string(mechanism.name), 18) + std::string(mechanism.title) +
            ": " + std::string(mechanism.source) + "\n";
    for (const ParameterDescription& parameter : mechanism.counted_parameters()) {
      text += "    " + left_cell(parameter.name + "=" + to_string(parameter.default_value), 25) +
              " " + parameter.explanation + "\n";
    }
  }
  text += "\nSettings of the network, for --set\n";
  for (const ParameterDescription& setting : energy_settings()) {
    text +=
        "  " + left_cell(setting.name, 22) + setting.explanation + ": " + range_of(setting) + "\n";
  }
  text += "\nEnergy tables, for --constants, in pJ\n";
  for (const EnergyConstants& table : energy_tables()) {
    text += "  " + left_cell(table.name, 8);
    std::string separator;
    for (const auto& [operation, energy] : {std::pair{"addition", table.addition_pj},
                                            {"multiplication", table.multiplication_pj},
                                            {"shift", table.shift_pj},
                                            {"division", table.division_pj},
                                            {"exponential", table.exponential_pj},
                                            {"byte", table.byte_pj}}) {
      text += separator + operation + " " + rounded_text(energy, 6);
      separator = ", ";
    }
    text += "\n";
  }
  text += "  " + energy_tables().front().source + "\n";
  return text + "\nPublished tables, for --paper\n  " + published_table_names() + "\n";
}

/// {"networks", "mechanisms", "settings", "constants", "papers"}, with the content of
/// known_networks_as_text.
nlohmann::ordered_json known_networks_as_json() {
  Json networks = Json::array(), mechanisms = Json::array(), settings = Json::array(),
       constants = Json::array(), papers = Json::array();
  for (const NamedNetwork& network : named_architectures()) {
    networks.push_back(
        {{"name", network.name}, {"title", network.title}, {"source", network.source}});
  }
  for (const MechanismEntry& entry : counted_mechanisms()) {
    mechanisms.push_back({{"name", entry.name}, {"title", entry.title}, {"source", entry.source}});
  }
  for (const ParameterDescription& setting : energy_settings()) {
    settings.push_back({{"name", setting.name},
                        {"default", to_string(setting.default_value)},
                        {"range", range_of(setting)},
                        {"explanation", setting.explanation}});
  }
  for (const EnergyConstants& table : energy_tables()) {
    constants.push_back({{"name", table.name},
                         {"addition_pj", table.addition_pj},
                         {"multiplication_pj", table.multiplication_pj},
                         {"shift_pj", table.shift_pj},
                         {"division_pj", table.division_pj},
                         {"exponential_pj", table.exponential_pj},
                         {"byte_pj", table.byte_pj}});
  }
  std::istringstream names(published_table_names());
  for (std::string name; std::getline(names >> std::ws, name, ',');) papers.push_back(name);
  return {{"networks", std::move(networks)},
          {"mechanisms", std::move(mechanisms)},
          {"settings", std::move(settings)},
          {"constants", std::move(constants)},
          {"papers", std::move(papers)}};
}

struct EnergyArguments {
  std::string subject;
  ModelArguments model;  ///< what the user says about a weight file
  std::string paper;
  std::string mechanism;
  std::string convention;
  std::string constants = "fp32";
  std::int64_t tokens = 0;
  std::vector<std::string> settings;
  bool by_layer = false;
  bool list = false;
  TableFormat format = TableFormat::text;
};

/// True if `subject` is a weight file instead of a known name: an existing file, or a name with an
/// extension.
bool is_model(const std::string& subject, const ModelArgument& model) {
  return find_named_architecture(subject) == nullptr &&
         (std::filesystem::exists(model.file) || model.file.has_extension());
}

void set(EnergyRequest& request, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(ErrorKind::usage, "a setting is written key=value").about("--set").found(setting);
  }
  set(request, setting.substr(0, equals), setting.substr(equals + 1));
}

/// The model of a weight file; null for a name.
std::shared_ptr<const Model> counted_model(const EnergyArguments& arguments) {
  const ModelArgument model = split_without_input(arguments.subject);
  if (!is_model(arguments.subject, model)) {
    const std::vector<std::string> given = further_arguments(arguments.model);
    if (given.empty()) return nullptr;
    throw Error(ErrorKind::usage, "properties of a model can only be given for a weight file")
        .about(given.front())
        .expected("a weight file")
        .found(arguments.subject)
        .remedy("settings of a network without weights are given by --set");
  }
  return load_model(model.file, options_of(arguments.model, model));
}

EnergyRequest request_of(const EnergyArguments& arguments, const Model* loaded) {
  EnergyRequest request;
  request.architecture = arguments.subject;
  const ModelArgument model = split_without_input(arguments.subject);
  if (loaded) {
    request = energy_request_of(*loaded);
    request.label = arguments.subject;
  }
  request.mechanism.name =
      loaded && !model.mechanism.empty() ? model.mechanism : arguments.mechanism;
  if (!arguments.convention.empty()) request.convention = find_convention(arguments.convention);
  request.constants = arguments.constants;
  request.tokens = arguments.tokens;
  for (const std::string& setting : arguments.settings) set(request, setting);
  if (loaded) {
    for (const std::string& setting : model.settings) set(request, setting);
  }
  return request;
}

int run(const EnergyArguments& arguments) {
  if (arguments.list) {
    if (arguments.format == TableFormat::json) {
      print_json(known_networks_as_json());
    } else {
      write_to_standard_output(known_networks_as_text());
    }
  } else if (!arguments.paper.empty()) {
    if (!arguments.subject.empty()) {
      throw Error(ErrorKind::usage, "--paper takes its networks from the paper")
          .about(arguments.subject)
          .remedy("leave the network out");
    }
    std::vector<ReproducedFigure> figures = reproduce_table(arguments.paper);
    if (arguments.format == TableFormat::json) {
      print_json(report_as_json(reproduced_report(std::move(figures))));
    } else if (arguments.format == TableFormat::text) {
      write_to_standard_output(reproduced_as_text(figures));
    } else {
      print_report(reproduced_report(std::move(figures)), arguments.format);
    }
  } else if (arguments.subject.empty()) {
    throw Error(ErrorKind::usage, "no network was given")
        .expected("a weight file, " + architecture_names() + ", or --paper TABLE")
        .remedy("such as attnscope energy deit-small");
  } else {
    const std::shared_ptr<const Model> model = counted_model(arguments);
    print_network(request_of(arguments, model.get()), model.get(), arguments.by_layer,
                  arguments.format);
  }
  return 0;
}

}  // namespace

Action add_energy(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<EnergyArguments>();
  added = parent.add_subcommand("energy", "Count operations and energy");
  added
      ->add_option("MODEL", arguments->subject,
                   "A weight file, MODEL@MECHANISM,KEY=VALUE,… to count another attention, or the "
                   "name of a network without weights: see --list")
      ->type_name("MODEL");
  added
      ->add_option(
          "--paper", arguments->paper,
          "Published table to print next to the computed one: adder:1, ecoformer:2, daft:2, …")
      ->type_name("NAME");
  added
      ->add_option("--mechanism", arguments->mechanism,
                   "Attention to count; the network's own if not given")
      ->type_name("MECHANISM");
  added
      ->add_option("--convention", arguments->convention,
                   "Accounting convention; complete if not given")
      ->type_name("adder|ecoformer|complete");
  added->add_option("--tokens", arguments->tokens, "Number of tokens, class tokens included")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  added
      ->add_option("--set", arguments->settings,
                   "A setting of the network or a parameter of the mechanism (--list shows them); "
                   "may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  add_model_options(*added, arguments->model);
  add_value_option(*added, "--constants", arguments->constants,
                   "Energy per operation: fp32, fp16, int32, int8, or a JSON file of your own",
                   "NAME");
  added->add_flag("--by-layer", arguments->by_layer, "Print every layer, not only the sums");
  added->add_flag("--list", arguments->list,
                  "List the known networks, mechanisms, settings and tables");
  add_format_options(*added, arguments->format, "a row for each component or published figure");
  set_examples(*added, {"attnscope energy deit-tiny --mechanism adder",
                        "attnscope energy vit.safetensors --by-layer --csv",
                        "attnscope energy --paper adder:1"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
