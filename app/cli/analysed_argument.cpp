#include "app/cli/analysed_argument.h"

#include "analysis/analysed/analysed.h"
#include "core/text/name_list.h"

namespace attnscope {

void add_analysed_options(CLI::App& command, AnalysedArgument& argument) {
  command
      .add_option("--of", argument.of,
                  "What is analysed: " + name_list(names_of(spectrum_of_names)) +
                      " (docs/analyses.md says what each is)")
      ->type_name("WHAT")
      ->capture_default_str();
  command
      .add_option("--added", argument.added,
                  "What else the layer adds, besides the I of --identity: of outputs the residual "
                  "stream, x + A V W_O; DAFT-conv's maps without the convolution's Toeplitz map, "
                  "or that alone")
      ->type_name(name_list(names_of(added_names), {}, "|"))
      ->capture_default_str();
  command.add_flag("--centred", argument.centred, "Without the mean row: X - 1 x̄ᵀ");
}

Analysed analysed_of(const AnalysedArgument& argument) {
  return {spectrum_of_named(argument.of), argument.centred,
          value_of(added_names, argument.added, "addition of layers")};
}

void request_analysed(const Analysed& analysed, TraceRequest& request) {
  request_for(analysed, request);
  // Matrices that depend on the previous layer need every layer recorded (empty list: all layers).
  if (needs_layer_before(analysed)) request.layers.clear();
}

}  // namespace attnscope
