// attnscope energy: operations and energy of a network, next to the papers' tables.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/energy/published.h"
#include "analysis/energy/request.h"
#include "app/cli/command_table.h"
#include "app/cli/energy_list.h"
#include "app/cli/energy_text.h"
#include "app/cli/json_output.h"
#include "app/cli/model_arguments.h"
#include "app/cli/published_text.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
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
  if (!is_model(arguments.subject, model)) return nullptr;
  return load_model(model.file, options_of({}, model));
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
  const EnergyFormat format = arguments.format();
  std::string text;
  if (arguments.list && format == EnergyFormat::json) {
    print_json(known_networks_as_json());
  } else if (arguments.list) {
    text = known_networks_as_text();
  } else if (!arguments.paper.empty()) {
    if (!arguments.subject.empty()) {
      throw Error(ErrorKind::usage, "--paper takes its networks from the paper")
          .about(arguments.subject)
          .remedy("leave the network out");
    }
    text = reproduced_as_text(reproduce_table(arguments.paper), format);
  } else if (arguments.subject.empty()) {
    throw Error(ErrorKind::usage, "no network was given")
        .expected("a weight file, " + architecture_names() + ", or --paper TABLE")
        .remedy("such as attnscope energy deit-small");
  } else {
    const std::shared_ptr<const Model> model = counted_model(arguments);
    text = network_as_text(request_of(arguments, model.get()), model.get(), arguments.by_layer,
                           format);
    if (model && format == EnergyFormat::csv) print_status(stderr, *model);
  }
  write_to_standard_output(text);
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
  added
      ->add_option("--constants", arguments->constants,
                   "Energy per operation: fp32, fp16, int32, int8, or a JSON file of your own")
      ->type_name("NAME")
      ->capture_default_str();
  added->add_flag("--by-layer", arguments->by_layer, "Print every layer, not only the sums");
  added->add_flag("--list", arguments->list,
                  "List the known networks, mechanisms, settings and tables");
  add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Write CSV");
  set_examples(*added, {"attnscope energy deit-tiny --mechanism adder",
                        "attnscope energy vit.safetensors --by-layer --csv",
                        "attnscope energy --paper adder:1"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
