#include "app/cli/subcommand.h"

namespace attnscope {

// One declaration per subcommand; each is defined in its own file.
Action add_ablate(CLI::App& parent, CLI::App*& added);
Action add_compare(CLI::App& parent, CLI::App*& added);
Action add_completion(CLI::App& parent, CLI::App*& added);
Action add_components(CLI::App& parent, CLI::App*& added);
Action add_energy(CLI::App& parent, CLI::App*& added);
Action add_evaluate(CLI::App& parent, CLI::App*& added);
Action add_experts(CLI::App& parent, CLI::App*& added);
Action add_export_html(CLI::App& parent, CLI::App*& added);
Action add_figure(CLI::App& parent, CLI::App*& added);
Action add_first_minute(CLI::App& parent, CLI::App*& added);
Action add_frequencies(CLI::App& parent, CLI::App*& added);
Action add_gallery(CLI::App& parent, CLI::App*& added);
Action add_generate(CLI::App& parent, CLI::App*& added);
Action add_groups(CLI::App& parent, CLI::App*& added);
Action add_gui(CLI::App& parent, CLI::App*& added);
Action add_heads(CLI::App& parent, CLI::App*& added);
Action add_help(CLI::App& parent, CLI::App*& added);
Action add_inspect(CLI::App& parent, CLI::App*& added);
Action add_learn_codes(CLI::App& parent, CLI::App*& added);
Action add_lens(CLI::App& parent, CLI::App*& added);
Action add_list(CLI::App& parent, CLI::App*& added);
Action add_man(CLI::App& parent, CLI::App*& added);
Action add_mixing(CLI::App& parent, CLI::App*& added);
Action add_open(CLI::App& parent, CLI::App*& added);
Action add_paper(CLI::App& parent, CLI::App*& added);
Action add_patch(CLI::App& parent, CLI::App*& added);
Action add_random(CLI::App& parent, CLI::App*& added);
Action add_relevance(CLI::App& parent, CLI::App*& added);
Action add_serve(CLI::App& parent, CLI::App*& added);
Action add_spectrum(CLI::App& parent, CLI::App*& added);
Action add_sweep(CLI::App& parent, CLI::App*& added);
Action add_trace(CLI::App& parent, CLI::App*& added);
Action add_train(CLI::App& parent, CLI::App*& added);
Action add_truncate(CLI::App& parent, CLI::App*& added);
Action add_version(CLI::App& parent, CLI::App*& added);
Action add_weights(CLI::App& parent, CLI::App*& added);

std::span<const Subcommand> subcommands() {
  // One line per subcommand, in the order and under the headings of --help: what a user asks for.
  // clang-format off
  static constexpr Subcommand list[] = {
      {"Look at a model", add_gui},
      {"Look at a model", add_open},
      {"Look at a model", add_inspect},
      {"Look at a model", add_evaluate},
      {"Look at a model", add_generate},
      {"Look at a model", add_trace},
      {"Measure attention", add_spectrum},
      {"Measure attention", add_heads},
      {"Measure attention", add_components},
      {"Measure attention", add_frequencies},
      {"Measure attention", add_weights},
      {"Measure attention", add_groups},
      {"Measure attention", add_mixing},
      {"Measure attention", add_relevance},
      {"Measure attention", add_lens},
      {"Measure attention", add_experts},
      {"Measure attention", add_random},
      {"Measure attention", add_energy},
      {"Change it and see", add_ablate},
      {"Change it and see", add_truncate},
      {"Change it and see", add_patch},
      {"Change it and see", add_learn_codes},
      {"Compare", add_compare},
      {"Compare", add_first_minute},
      {"Data sets and training", add_sweep},
      {"Data sets and training", add_train},
      {"Figures", add_figure},
      {"Figures", add_gallery},
      {"Figures", add_paper},
      {"Figures", add_export_html},
      {"Program", add_list},
      {"Program", add_serve},
      {"Program", add_help},
      {"Program", add_version},
      {"Program", add_completion},
      {"Program", add_man},
  };
  // clang-format on
  return list;
}

}  // namespace attnscope
