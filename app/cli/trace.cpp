// attnscope trace: runs a model and writes the recorded trace to a file.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

TraceRequest request_of(const std::vector<std::string>& recorded) {
  TraceRequest request;
  for (const std::string& what : recorded) {
    if (what == "maps") continue;
    if (what == "qkv") {
      request.queries_keys_values = true;
    } else if (what == "tokens") {
      request.tokens = true;
    } else if (what == "quantities") {
      request.quantities = true;
    } else {
      throw unknown_name("thing to record", what, "maps, qkv, tokens, quantities");
    }
  }
  return request;
}

void print_classes(std::FILE* stream, const Trace& trace) {
  if (trace.logits.empty()) return;
  std::vector<std::int64_t> order(static_cast<std::size_t>(trace.logits.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  const float* const logits = trace.logits.data();
  const std::size_t shown = std::min<std::size_t>(order.size(), 3);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](auto a, auto b) { return logits[a] > logits[b]; });
  for (std::size_t i = 0; i < shown; ++i) {
    const auto index = static_cast<std::size_t>(order[i]);
    std::fprintf(stream, "  %-24s logit %s\n",
                 index < trace.labels.size() ? trace.labels[index].c_str()
                                             : ("class " + std::to_string(index)).c_str(),
                 right_cell(fixed_text(static_cast<double>(logits[index]), 5), 9).c_str());
  }
}

}  // namespace

Action add_trace(CLI::App& parent, CLI::App*& added) {
  struct Arguments {
    ModelArguments model;
    std::string out;
    std::vector<std::string> record;
    std::string layers = "all";
  };
  auto arguments = std::make_shared<Arguments>();
  added = parent.add_subcommand("trace", "Run a model on an input and keep its attention maps");
  add_model_argument(*added, arguments->model, false, true);
  add_input_option(*added, arguments->model);
  added->add_option("--out", arguments->out, "The trace to write (HDF5); - for standard output")
      ->required()
      ->type_name("FILE");
  added
      ->add_option(
          "--record", arguments->record,
          "Quantities recorded besides the maps, separated by commas: qkv, tokens, quantities")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  add_layers_option(*added, arguments->layers);
  add_mechanism_options(*added, arguments->model);
  add_channel_option(*added, arguments->model);
  add_model_options(*added, arguments->model);
  set_examples(*added,
               {"attnscope trace vit.safetensors --input cat.png --out cat.h5",
                "attnscope trace vit.safetensors@adder,identity=true --input cat.png --out cat.h5",
                "attnscope trace gpt.pt --input - --out text.h5 <essay.txt"});
  return [arguments] {
    TraceRequest request = request_of(arguments->record);
    request.layers = index_list(arguments->layers, "--layers");
    refuse_to_overwrite(arguments->out, files_read(arguments->model));
    check_hdf5_name(arguments->out);
    if (arguments->model.inputs.size() > 1) {
      throw Error(ErrorKind::usage, "a trace takes only one input").about("--input");
    }
    const std::vector<Subject> subjects = [&] {
      const TerminalProgress line;
      return make_subjects(arguments->model, request, line.progress());
    }();
    const Trace& trace = *subjects.front().trace;
    write_output(arguments->out, ".h5",
                 [&trace](const std::filesystem::path& file) { write_trace(file, trace); });
    std::FILE* const lines = lines_beside(arguments->out);
    const char* const up_to = trace.uniform() ? "" : "up to ";
    std::fprintf(lines, "%s: %s%s on %s, %zu layers of %s%lld heads over %s%lld tokens\n",
                 shown_text(arguments->out).c_str(), to_string(trace.mechanism).c_str(),
                 training_note(trace.mechanism_trained).c_str(), trace.input_label.c_str(),
                 trace.layers.size(), up_to, static_cast<long long>(trace.heads()), up_to,
                 static_cast<long long>(trace.tokens()));
    if (trace.map_channels > 1) {
      std::fprintf(lines, "maps: %s\n", channel_in_words(trace).c_str());
    }
    print_classes(lines, trace);
    print_status(lines, subjects);
    return 0;
  };
}

}  // namespace attnscope
