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

#include "analysis/tables/energy_report.h"
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

std::string network_as_text(const NetworkReport& report) {
  return network_in_words(report) + "\n" + report_as_text(components_energy_report(report, true)) +
         "\n" + network_sums_in_words(report);
}

Json network_as_json(const NetworkReport& report, const Model* model) {
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
  json["components"] = report_as_json(components_energy_report(report, false));
  for (Json& sum : report_as_json(energy_sums_report(report))) {
    const std::string group = sum["group"].get<std::string>();
    sum.erase("group");
    json[group] = std::move(sum);
  }
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
  if (format == TableFormat::json) return print_json(network_as_json(report, model));
  if (format == TableFormat::text) {
    write_to_standard_output(network_as_text(report));
  } else {
    if (format == TableFormat::csv) {
      write_to_standard_output("# " + shown_text(command_line(request)) + "\n");
    }
    print_report(components_energy_report(report, true), format);
  }
  if (model) print_status(format == TableFormat::text ? stdout : stderr, *model);
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
  ModelArguments model;  ///< settings of a weight file, from the command line
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
