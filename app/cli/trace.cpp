// attnscope trace: runs a model and keeps what it recorded.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/trace/trace_channel.h"
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

void print_classes(const Trace& trace) {
  if (trace.logits.empty()) return;
  std::vector<std::int64_t> order(static_cast<std::size_t>(trace.logits.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  const float* const logits = trace.logits.data();
  const std::size_t shown = std::min<std::size_t>(order.size(), 3);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](auto a, auto b) { return logits[a] > logits[b]; });
  for (std::size_t i = 0; i < shown; ++i) {
    const auto index = static_cast<std::size_t>(order[i]);
    std::printf("  %-24s logit %9.5f\n",
                index < trace.labels.size() ? trace.labels[index].c_str()
                                            : ("class " + std::to_string(index)).c_str(),
                static_cast<double>(logits[index]));
  }
}

}  // namespace

Action add_trace(CLI::App& parent, CLI::App*& added) {
  struct Arguments {
    ModelArguments model;
    std::string out;
    std::vector<std::string> record;
    std::vector<std::int64_t> layers;
  };
  auto arguments = std::make_shared<Arguments>();
  added = parent.add_subcommand("trace", "Run a model on an input and keep its attention maps");
  added->add_option("MODEL", arguments->model.models, "Weight file")->required()->expected(1);
  add_input_option(*added, arguments->model);
  added->add_option("--out", arguments->out, "The trace to write (HDF5)")
      ->required()
      ->type_name("T.h5");
  added
      ->add_option("--record", arguments->record,
                   "What to keep besides the maps: qkv, tokens, quantities")
      ->delimiter(',')
      ->allow_extra_args(false);
  added
      ->add_option("--layers", arguments->layers,
                   "Layers to record, from 0, such as 0,3 (all): large maps take much memory")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_mechanism_options(*added, arguments->model);
  add_channel_option(*added, arguments->model);
  add_model_options(*added, arguments->model);
  return [arguments] {
    TraceRequest request = request_of(arguments->record);
    request.layers = arguments->layers;
    if (arguments->model.inputs.size() > 1) {
      throw Error(ErrorKind::usage, "a trace is of one input").about("--input");
    }
    const std::vector<Subject> subjects = [&] {
      const TerminalProgress line;
      return make_subjects(arguments->model, request, line.progress());
    }();
    const Trace& trace = *subjects.front().trace;
    write_trace(arguments->out, trace);
    const char* const up_to = trace.uniform() ? "" : "up to ";
    std::printf("%s: %s%s on %s, %zu layers of %s%lld heads over %s%lld tokens\n",
                arguments->out.c_str(), to_string(trace.mechanism).c_str(),
                trace.mechanism_trained ? "" : " (not trained: laid over the weights)",
                trace.input_label.c_str(), trace.layers.size(), up_to,
                static_cast<long long>(trace.heads()), up_to,
                static_cast<long long>(trace.tokens()));
    if (trace.map_channels > 1) std::printf("maps: %s\n", channel_in_words(trace).c_str());
    print_classes(trace);
    return 0;
  };
}

}  // namespace attnscope
