// attnscope learn-codes: hash codes learned from a model's own attention.
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "analysis/hash_codes/learned_codes.h"
#include "app/cli/command_table.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

struct LearnCodesArguments {
  ModelArguments model;
  HashLearningOptions options;
  std::string out;
};

/// Mean of the heads that exist; NaN without any.
double mean_of_heads(const MatrixD& errors) {
  double sum = 0, heads = 0;
  for (const double error : errors.reshaped()) {
    if (std::isnan(error)) continue;
    sum += error;
    ++heads;
  }
  return heads > 0 ? sum / heads : std::numeric_limits<double>::quiet_NaN();
}

void print(const LearnedCodes& codes, const LearnCodesArguments& arguments) {
  std::FILE* const lines = lines_beside(arguments.out);
  std::fprintf(lines, "%s: %lld bits, %lld supports, from %zu input%s\n", arguments.out.c_str(),
               static_cast<long long>(arguments.options.bits),
               static_cast<long long>(arguments.options.supports), arguments.model.inputs.size(),
               arguments.model.inputs.size() == 1 ? "" : "s");
  std::fprintf(lines, "error ‖HHᵀ − bY‖² / ‖bY‖², mean over heads: random → learned\n");
  for (Eigen::Index layer = 0; layer < codes.error_before.rows(); ++layer) {
    std::fprintf(lines, "  layer %-3lld %s → %s\n", static_cast<long long>(layer),
                 number_cell(mean_of_heads(codes.error_before.row(layer)), 7, 3).c_str(),
                 number_cell(mean_of_heads(codes.error_after.row(layer)), 0, 3).c_str());
  }
  std::fprintf(lines,
               "0: Y is met exactly; 1: codes of zeros; %s: independent random bits, on average\n",
               number_cell(mean_of_heads(codes.error_of_chance), 0, 3).c_str());
  if (mean_of_heads(codes.error_after) > kErrorOfZeros) {
    std::fprintf(
        lines,
        "The learned codes miss Y by more than codes of zeros: each query has %lld similar and "
        "%lld\n"
        "dissimilar keys at most, all others count as 0, and %lld bits cannot give 0 for all of\n"
        "them. Set --pairs or --bits higher.\n",
        static_cast<long long>(arguments.options.pairs),
        static_cast<long long>(arguments.options.pairs),
        static_cast<long long>(arguments.options.bits));
  }
}

int run(const LearnCodesArguments& arguments) {
  check(arguments.options);
  refuse_to_overwrite(arguments.out, files_read(arguments.model));
  check_hdf5_name(arguments.out);
  const ModelArgument argument = split_without_input(arguments.model.models.front());
  const auto model = load_model(argument.file, options_of(arguments.model, argument));
  const MechanismChoice mechanism =
      choose_mechanism(arguments.model, argument, model->spec().mechanism);
  std::vector<std::shared_ptr<const Input>> inputs;
  for (const std::string& locator : arguments.model.inputs) {
    inputs.push_back(std::make_shared<const Input>(open_input_argument(locator)));
  }
  refuse_to_overwrite_read(arguments.out);
  const LearnedCodes codes = [&] {
    const TerminalProgress line;
    return learn_hash_codes(*model, mechanism, inputs, arguments.options, line.progress());
  }();
  write_output(arguments.out, ".h5", [&codes](const std::filesystem::path& file) {
    write_learned_tensors(file, codes.tensors);
  });
  print(codes, arguments);
  print_status(lines_beside(arguments.out), *model);
  return 0;
}

}  // namespace

Action add_learn_codes(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<LearnCodesArguments>();
  added = parent.add_subcommand("learn-codes",
                                "Learn hash codes from a model's own attention\n"
                                "They are laid over the model with --codes. The error that is "
                                "printed is that of EcoFormer, Eq. 12: 0 if the similarities Y are "
                                "met exactly, 1 for codes of zeros, about 1 + keys / (2 l b) for "
                                "independent random bits.");
  add_model_argument(*added, arguments->model, false, true);
  add_input_option(*added, arguments->model);
  added->get_option("--input")->required();
  HashLearningOptions& options = arguments->options;
  add_value_option(*added, "--bits", options.bits, "b, bits of a code, 1 to 64", "N");
  add_value_option(*added, "--supports", options.supports, "m, support samples, at most the tokens",
                   "N");
  add_value_option(
      *added, "--pairs", options.pairs,
      "l, similar and dissimilar keys of each query, at most half of the keys; the other "
      "keys count as 0",
      "N");
  add_value_option(*added, "--steps", options.steps, "Steps of the descent for each bit", "N");
  add_value_option(*added, "--seed", options.seed, "Seed of the supports and initial weights", "N");
  added->add_option("--out", arguments->out, "The codes to write (HDF5); - for standard output")
      ->required()
      ->type_name("FILE");
  added
      ->add_option("--mechanism", arguments->model.mechanism,
                   "Imitate this attention laid over the weights instead of the model's own")
      ->type_name("MECHANISM")
      ->group("Mechanism");
  added->add_option("--set", arguments->model.settings, "A parameter of that mechanism")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group("Mechanism");
  add_model_options(*added, arguments->model);
  set_examples(*added, {"attnscope learn-codes vit.safetensors --input cat.png --out codes.h5",
                        "attnscope spectrum vit.safetensors --codes codes.h5 --input cat.png"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
