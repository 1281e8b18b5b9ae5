#include "app/cli/subcommand.h"

namespace attnscope {

// One declaration per subcommand; each is defined in its own file.
Action add_ablate(CLI::App& parent, CLI::App*& added);
Action add_compare(CLI::App& parent, CLI::App*& added);
Action add_completion(CLI::App& parent, CLI::App*& added);
Action add_components(CLI::App& parent, CLI::App*& added);
Action add_energy(CLI::App& parent, CLI::App*& added);
Action add_evaluate(CLI::App& parent, CLI::App*& added);
Action add_figure(CLI::App& parent, CLI::App*& added);
Action add_first_minute(CLI::App& parent, CLI::App*& added);
Action add_gallery(CLI::App& parent, CLI::App*& added);
Action add_gui(CLI::App& parent, CLI::App*& added);
Action add_heads(CLI::App& parent, CLI::App*& added);
Action add_help(CLI::App& parent, CLI::App*& added);
Action add_inspect(CLI::App& parent, CLI::App*& added);
Action add_learn_codes(CLI::App& parent, CLI::App*& added);
Action add_lens(CLI::App& parent, CLI::App*& added);
Action add_list(CLI::App& parent, CLI::App*& added);
Action add_man(CLI::App& parent, CLI::App*& added);
Action add_mixing(CLI::App& parent, CLI::App*& added);
Action add_relevance(CLI::App& parent, CLI::App*& added);
Action add_spectrum(CLI::App& parent, CLI::App*& added);
Action add_sweep(CLI::App& parent, CLI::App*& added);
Action add_trace(CLI::App& parent, CLI::App*& added);
Action add_train(CLI::App& parent, CLI::App*& added);
Action add_truncate(CLI::App& parent, CLI::App*& added);
Action add_version(CLI::App& parent, CLI::App*& added);
Action add_weights(CLI::App& parent, CLI::App*& added);

std::span<const Subcommand> subcommands() {
  // One line per subcommand.
  // clang-format off
  static constexpr Subcommand list[] = {
      {add_ablate},
      {add_compare},
      {add_completion},
      {add_components},
      {add_energy},
      {add_evaluate},
      {add_figure},
      {add_first_minute},
      {add_gallery},
      {add_gui},
      {add_heads},
      {add_help},
      {add_inspect},
      {add_learn_codes},
      {add_lens},
      {add_list},
      {add_man},
      {add_mixing},
      {add_relevance},
      {add_spectrum},
      {add_sweep},
      {add_trace},
      {add_train},
      {add_truncate},
      {add_version},
      {add_weights},
  };
  // clang-format on
  return list;
}

}  // namespace attnscope
