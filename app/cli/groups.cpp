// attnscope groups: attention between words, sentences and other groups of tokens.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/groups/grouped_maps.h"
#include "analysis/tables/group_report.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

struct GroupArguments {
  ModelArguments models;
  GroupOptions options;
  std::string layers = "all", heads = "all", from = "all";
  TableFormat format = TableFormat::text;
};

struct GroupedModel {
  const Subject* subject = nullptr;
  GroupedMaps maps;
  std::optional<std::size_t> from;
  std::vector<std::int64_t> heads;  ///< all if empty

  [[nodiscard]] Report groups_table() const { return groups_report(maps, from); }
  [[nodiscard]] Report heads_table() const {
    return grouped_heads_report(*subject->trace, maps, from, heads);
  }
};

std::vector<GroupedModel> grouped_models(const GroupArguments& arguments,
                                         const GroupOptions& options,
                                         const std::vector<Subject>& subjects,
                                         const Progress& progress) {
  const std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  std::vector<GroupedModel> all;
  const double share = 1 / static_cast<double>(subjects.size());
  for (const Subject& subject : subjects) {
    const double first = share * static_cast<double>(all.size());
    GroupedModel& model = all.emplace_back();
    model.subject = &subject;
    model.maps = grouped_maps(*subject.trace, options, progress.part(first, first + share));
    model.from = group_named(model.maps.groups, arguments.from);
    check_heads(heads, subject.trace->heads());
    model.heads = heads;
  }
  return all;
}

std::string as_text(const std::vector<GroupedModel>& all, const GroupOptions& options) {
  std::string text;
  for (const GroupedModel& one : all) {
    const Report groups = one.groups_table(), heads = one.heads_table();
    text += (text.empty() ? "" : "\n") + shown_text(one.subject->label) + "\n" +
            groups_in_words(one.maps, options, one.from) + "\n" + report_as_text(groups) + "\n" +
            report_as_text(heads) + "\n" + report_legend(groups) + report_legend(heads);
  }
  return text;
}

Report as_report(const std::vector<GroupedModel>& all) {
  std::vector<ColumnOf<GroupedModel>> columns = model_columns<GroupedModel>();
  append(columns, {{json_only("tokens"), [](const GroupedModel& one) { return one.maps.tokens; }},
                   {json_only("groups"),
                    [](const GroupedModel& one) { return table_cell(one.groups_table()); }},
                   {{.name = "heads"},
                    [](const GroupedModel& one) { return table_cell(one.heads_table()); }}});
  return report_on(all, std::move(columns));
}

int run(const GroupArguments& arguments) {
  GroupOptions options = arguments.options;
  options.layers = index_list(arguments.layers, "--layers");
  std::vector<Subject> subjects;
  std::vector<GroupedModel> all;
  {
    const TerminalProgress line;
    TraceRequest recorded;
    recorded.layers = options.layers;
    subjects = make_subjects(arguments.models, recorded, line.progress().part(0, 0.8));
    all = grouped_models(arguments, options, subjects, line.progress().part(0.8, 1));
  }
  print_results(
      arguments.format, subjects, [&] { return as_text(all, options); },
      [&] {
        return nlohmann::ordered_json{{"groups", options.groups},
                                      {"from", arguments.from},
                                      {"apart", options.apart},
                                      {"subjects", report_as_json(as_report(all))}};
      },
      [&all] { return as_report(all); });
  return 0;
}

}  // namespace

Action add_groups(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<GroupArguments>();
  added = parent.add_subcommand(
      "groups",
      "Attention between words, sentences, image regions\n"
      "Maps averaged by group, the share of each group over depth, and receiver heads: those whose "
      "later groups return to few earlier ones.");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_value_option(
      *added, "--groups", arguments->options.groups,
      "Groups: words, sentences, parts (runs of text between special tokens), roles "
      "(special tokens and text, or class token, registers and patches); by hand, "
      "\"subject=3-5+9,others=rest\", patches as \"sky=(0,0)-(4,13)\"; or a JSON file. "
      "auto: sentences of texts, roles otherwise",
      "GROUPS");
  add_value_option(*added, "--from", arguments->from,
                   "Group whose queries the shares are of, by name or number; all: all queries",
                   "GROUP");
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  add_value_option(*added, "--apart", arguments->options.apart,
                   "Least distance, in groups, of the later groups in receiver scores", "N");
  add_value_option(*added, "--receivers", arguments->options.receivers,
                   "Number of receiver heads; 0: 20, but at most a tenth of all heads", "N");
  add_format_options(*added, arguments->format, "a row for each head and pair of groups");
  add_mechanism_options(*added, arguments->models);
  add_channel_option(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(
      *added,
      {"attnscope groups gpt2.safetensors --input story.txt --groups sentences",
       "attnscope groups bert.safetensors --input pair:\"Who? ||| She.\" --groups parts",
       "attnscope groups vit.pt --input cat.png --groups \"cat=(4,3)-(9,8),others=rest\"",
       "attnscope figure groups-over-depth gpt2.safetensors --input story.txt --out g.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
