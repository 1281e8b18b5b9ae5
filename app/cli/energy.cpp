// attnscope energy: operations and energy of a network, and the papers' tables beside ours.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/energy/published.h"
#include "analysis/energy/request.h"
#include "app/cli/energy_text.h"
#include "app/cli/subcommand.h"
#include "core/error.h"
#include "core/model/model.h"

namespace attnscope {

namespace {

struct EnergyArguments {
  std::string subject;
  std::string paper;
  std::string mechanism;
  std::string convention;
  std::string constants = "fp32";
  std::int64_t tokens = 0;
  std::vector<std::string> settings;
  bool by_layer = false;
  bool list = false;
  bool json = false;
  bool csv = false;

  [[nodiscard]] EnergyFormat format() const {
    if (json && csv) {
      throw Error(ErrorKind::usage, "choose one of --json and --csv");
    }
    return json ? EnergyFormat::json : csv ? EnergyFormat::csv : EnergyFormat::text;
  }
};

EnergyRequest request_of(const EnergyArguments& arguments) {
  EnergyRequest request;
  request.architecture = arguments.subject;
  request.mechanism = arguments.mechanism;
  if (!arguments.convention.empty()) request.convention = arguments.convention;
  request.constants = arguments.constants;
  request.tokens = arguments.tokens;
  for (const std::string& text : arguments.settings) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::usage, "a setting is written key=value").about("--set").found(text);
    }
    request.settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  // A name is a name; whatever else is there as a file, or looks like one, is a model.
  const std::filesystem::path file = arguments.subject;
  if (find_named_architecture(arguments.subject) == nullptr &&
      (std::filesystem::exists(file) || file.has_extension())) {
    const EnergyRequest of_model = energy_request_of(*load_model(file));
    request.spec = of_model.spec;
    request.weights = of_model.weights;
    request.label = arguments.subject;
  }
  return request;
}

int run(const EnergyArguments& arguments) {
  const EnergyFormat format = arguments.format();
  std::string text;
  if (arguments.list) {
    text = known_networks_as_text();
  } else if (!arguments.paper.empty()) {
    if (!arguments.subject.empty()) {
      throw Error(ErrorKind::usage, "--paper takes its networks from the paper")
          .about(arguments.subject)
          .remedy("leave the network out");
    }
    text = reproduced_as_text(reproduce_table(arguments.paper), format);
  } else if (arguments.subject.empty()) {
    throw Error(ErrorKind::usage, "which network?")
        .expected("a weight file, " + architecture_names() + ", or --paper TABLE")
        .remedy("attnscope energy deit-small");
  } else {
    const EnergyRequest request = request_of(arguments);
    text = network_as_text(request, arguments.by_layer, format);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

Action add_energy(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<EnergyArguments>();
  added = parent.add_subcommand("energy", "Count operations and energy");
  added->add_option("MODEL|ARCHITECTURE", arguments->subject,
                    "A weight file, or a network without weights: see --list");
  added->add_option("--paper", arguments->paper,
                    "A published table beside our figures: adder:1, ecoformer:2, daft:2, ...");
  added->add_option("--mechanism", arguments->mechanism,
                    "Attention to count; the network's own if not given");
  added->add_option("--convention", arguments->convention,
                    "Whose accounting: adder, ecoformer or complete (default)");
  added->add_option("--tokens", arguments->tokens, "N, class tokens included")
      ->check(CLI::PositiveNumber);
  added
      ->add_option("--set", arguments->settings,
                   "A setting of the network or a parameter of the mechanism (--list shows them); "
                   "may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  added
      ->add_option("--constants", arguments->constants,
                   "Energy per operation: fp32, fp16, int32, int8, or a JSON file of your own")
      ->capture_default_str();
  added->add_flag("--layers", arguments->by_layer, "Every layer, not only the sums");
  added->add_flag("--list", arguments->list, "The networks, mechanisms, settings and tables known");
  added->add_flag("--json", arguments->json, "As JSON");
  added->add_flag("--csv", arguments->csv, "As CSV");
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
