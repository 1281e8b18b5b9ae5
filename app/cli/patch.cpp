// attnscope patch: a model runs on one input with parts of its run on another.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/figure_command.h"
#include "analysis/intervention/patching.h"
#include "analysis/tables/patch_report.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

struct PatchArguments {
  ModelArguments model;
  std::string input, from, of = "head-output", layers = "all", heads = "all", positions = "all", to;
  std::string show = "effect";
  PatchRequest request;
  bool freezes_mlps = false, together = false;
  TableFormat format = TableFormat::text;
};

std::shared_ptr<const Patching> patching_of(const PatchArguments& arguments) {
  const ModelArgument argument = split_without_input(arguments.model.models.front());
  PatchRequest request = arguments.request;
  request.of = value_of(patched_part_names, arguments.of, "patched part");
  request.where = {index_list(arguments.layers, "--layers"),
                   index_list(arguments.heads, "--heads")};
  request.positions = index_list(arguments.positions, "--positions");
  request.through_mlps = !arguments.freezes_mlps;
  if (!arguments.to.empty()) request.path = path_receivers(arguments.to, "--to");
  Input input = open_input_argument(arguments.input), from = open_input_argument(arguments.from);
  Subject subject;
  subject.model = load_model(argument.file, options_of(arguments.model, argument));
  MechanismArgument mechanism =
      mechanism_argument(arguments.model, argument, subject.model->spec().mechanism);
  subject.mechanism = std::move(mechanism.choice);
  subject.parameters = std::move(mechanism.parameters);
  subject.label = subject_name(*subject.model, subject.mechanism, subject.parameters != nullptr);
  const TerminalProgress line;
  return std::make_shared<const Patching>(std::move(subject), std::move(input), std::move(from),
                                          std::move(request), line.progress());
}

/// Prints the lines of the text table as soon as they are known.
class GrowingTable {
 public:
  GrowingTable(std::shared_ptr<const Patching> patching, bool raw)
      : table_{std::move(patching), {}}, raw_(raw) {
    const std::vector<PatchPlace>& places = table_.patching->places();
    table_.differences.assign(places.size(), 0);
    left_.assign(patched_parts_report(table_, raw_).rows, 0);
    for (const PatchPlace& place : places) ++left_[row_of(place)];
    write_to_standard_output(patching_in_words(*table_.patching) + patch_numbers_in_words(raw_));
    print_lines(0, 1);
  }

  void take(std::size_t place, double difference) {
    table_.differences[place] = difference;
    --left_[row_of(table_.patching->places()[place])];
    std::size_t complete = printed_;
    while (complete < left_.size() && left_[complete] == 0) ++complete;
    if (complete > printed_) print_lines(printed_ + 1, complete + 1);
    printed_ = complete;
  }

 private:
  [[nodiscard]] std::size_t row_of(const PatchPlace& place) const {
    const Patching& patching = *table_.patching;
    const bool by_head = place.head >= 0;
    const std::vector<std::int64_t>& rows = by_head ? patching.layers() : patching.columns();
    const auto found = std::ranges::find(rows, by_head ? place.layer : place.position);
    return static_cast<std::size_t>(found - rows.begin());
  }

  /// Prints lines `first` to `end` − 1 of the table, of which the first has the headings.
  void print_lines(std::size_t first, std::size_t end) const {
    const std::string text = report_as_text(patched_parts_report(table_, raw_));
    std::size_t at = 0;
    for (std::size_t line = 0; line < end; ++line) {
      const std::size_t next = text.find('\n', at) + 1;
      if (line >= first) write_to_standard_output(text.substr(at, next - at));
      at = next;
    }
    std::fflush(stdout);
  }

  PatchTable table_;
  bool raw_;
  std::vector<std::size_t> left_;  ///< number of unknown cells of each row
  std::size_t printed_ = 0;
};

int print_joint(const Patching& patching, const PatchArguments& arguments) {
  const double difference = [&] {
    const TerminalProgress line;
    return patching.difference(patching.places(), line.progress());
  }();
  if (arguments.format == TableFormat::json) {
    nlohmann::ordered_json json = patching_as_json(patching);
    json["together"] = report_as_json(joint_patch_report(patching, difference)).front();
    print_json(json);
    return 0;
  }
  if (arguments.format != TableFormat::text) {
    print_report(joint_patch_report(patching, difference), arguments.format);
    return 0;
  }
  write_to_standard_output(patching_in_words(patching) +
                           joint_patch_in_words(patching, difference));
  return 0;
}

int run(const PatchArguments& arguments) {
  const std::shared_ptr<const Patching> patching = patching_of(arguments);
  const Model& model = *patching->subject().model;
  if (arguments.together) {
    const int status = print_joint(*patching, arguments);
    print_status(stderr, model);
    return status;
  }
  if (arguments.format == TableFormat::text) {
    GrowingTable growing(patching, arguments.show == "difference");
    (void)patch_each(patching,
                     [&](std::size_t place, double found) { growing.take(place, found); });
    print_status(stderr, model);
    return 0;
  }
  const PatchTable table = [&] {
    const TerminalProgress line;
    return patch_each(patching, {}, line.progress());
  }();
  if (arguments.format == TableFormat::json) {
    nlohmann::ordered_json json = {{"model", model.name()},
                                   {"mechanism", to_string(patching->subject().mechanism)},
                                   {"status", status_as_json(model.status())}};
    json.update(patching_as_json(*patching));
    json["places"] = report_as_json(patched_places_report(table));
    print_json(json);
    return 0;
  }
  print_report(patched_places_report(table), arguments.format);
  print_status(stderr, model);
  return 0;
}

}  // namespace

Action add_patch(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<PatchArguments>();
  added = parent.add_subcommand(
      "patch",
      "Two inputs: what carries the answer of the other\n"
      "Runs the model on --input with one part at a time of its run on --from, and prints how much "
      "of the difference between the two runs it carries: 0 is the unchanged run, 1 that on "
      "--from. "
      "Both inputs need the same number of tokens.");
  PatchRequest& request = arguments->request;
  add_model_argument(*added, arguments->model, false, true);
  added->add_option("--input", arguments->input, "Input that the model runs on (corrupted)")
      ->type_name("X")
      ->required();
  added->add_option("--from", arguments->from, "Input whose run gives the patches (clean)")
      ->type_name("X")
      ->required();
  added
      ->add_option(
          "--answer", request.answer,
          "Class or token whose logit counts, by its number or name (the likeliest on --from)")
      ->type_name("NAME");
  added
      ->add_option("--against", request.against,
                   "Class or token whose logit is subtracted (the likeliest on --input)")
      ->type_name("NAME");
  add_value_option(
      *added, "--of", arguments->of,
      "Patched part: the output or the map of each head, or at each token position the "
      "residual stream before a layer, the attention's or the MLP's output",
      name_list(names_of(patched_part_names), {}, "|"))
      ->check(CLI::IsMember(names_of(patched_part_names)));
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  add_value_option(*added, "--positions", arguments->positions,
                   "Token positions that are patched: all, or indices such as 0,2-4; of maps the "
                   "queries",
                   "LIST");
  added
      ->add_option("--to", arguments->to,
                   "Path patching: the part reaches only these ends directly, with all heads in "
                   "between as in the unchanged run: end (of the residual stream), or "
                   "LAYER.HEAD.query, .key or .value, separated by commas")
      ->type_name("ENDS");
  added
      ->add_flag("--freeze-mlps", arguments->freezes_mlps,
                 "MLPs on the path as in the unchanged run, too")
      ->needs("--to");
  added
      ->add_option("--place", request.place,
                   "Token position whose logits are read, from 0 (the last)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  added->add_flag("--together", arguments->together, "Effect of all chosen places patched at once");
  add_value_option(*added, "--show", arguments->show,
                   "Numbers of the text: the effect, or the logit difference", "effect|difference")
      ->check(CLI::IsMember({"effect", "difference"}));
  add_format_options(*added, arguments->format, "a row for each place");
  add_mechanism_options(*added, arguments->model);
  add_model_options(*added, arguments->model);
  set_examples(
      *added,
      {"attnscope patch gpt2.safetensors --input 'text:When John and Mary went out, Mary gave it "
       "to' --from 'text:When John and Mary went out, John gave it to' --answer ' Mary' --against "
       "' John'",
       "attnscope patch gpt2.safetensors --input text:A --from text:B --answer ' x' --against ' y' "
       "--to 9.6.query,9.9.query",
       "attnscope patch vit.pt --input cat.png --from dog.png --answer 207 --against 281 --of "
       "residual"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
