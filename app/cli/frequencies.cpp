// attnscope frequencies: what heads use of rotary frequencies, what maps let pass of spatial ones.
#include "analysis/frequencies/frequencies.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/tables/reports.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/input/data_set.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

struct FrequencyArguments {
  ModelArguments models;
  std::string of = "filter-response", profile = "radius", identity = "as-is";
  std::string layers = "all", heads = "all";
  std::string data_set;  ///< its path; empty: none
  ItemChoice choice{16};
  TableFormat format = TableFormat::text;
};

struct FrequenciesOf {
  const Subject* subject = nullptr;
  FrequencyRows rows;
};

FrequencyRequest frequency_request(const FrequencyArguments& arguments) {
  return {value_of(frequency_analysis_names, arguments.of, "analysis by frequency"),
          value_of(frequency_profile_names, arguments.profile, "profile over frequencies"),
          value_of(identity_view_names, arguments.identity, "view of the identity mapping"),
          index_list(arguments.layers, "--layers"), index_list(arguments.heads, "--heads")};
}

/// The models over the items of the data set, with the means of their rows. Each keeps the trace of
/// the last item, which has the names of its layers.
struct OverDataSet {
  std::vector<Subject> subjects;
  std::vector<FrequencyRows> rows;  ///< one per subject
  std::string words;                ///< "16 of 10000 items, spread evenly (seed 0) of photos"
  std::int64_t items = 0;
};

OverDataSet over_data_set(const FrequencyArguments& arguments, const FrequencyRequest& request,
                          TraceRequest recorded, const Progress& progress) {
  if (!arguments.models.inputs.empty()) {
    throw Error(ErrorKind::usage, "frequencies are those of inputs or means over a data set")
        .expected("--input or --dataset")
        .found("both");
  }
  const auto data_set = open_data_set(arguments.data_set);
  const std::vector<std::int64_t> items = chosen_items(data_set->size(), arguments.choice);
  if (items.empty()) {
    throw Error(ErrorKind::usage, "the data set is empty").in_file(arguments.data_set);
  }
  OverDataSet made;
  made.subjects = make_subjects_without_traces(arguments.models);
  made.items = std::ssize(items);
  made.words =
      choice_in_words(data_set->size(), arguments.choice, "items") + " of " + arguments.data_set;
  recorded.channel = parse_channel(arguments.models.channel);
  const double share = 1 / static_cast<double>(items.size() * made.subjects.size());
  double done = 0;
  for (Subject& subject : made.subjects) {
    MeanFrequencyRows mean;
    for (const std::int64_t item : items) {
      const Progress own = progress.part(done, std::min(done + share, 1.0));
      subject.input = std::make_shared<const Input>(data_set->item(item));
      subject.trace = std::make_shared<const Trace>(
          subject.model->run(*subject.input, subject.mechanism, recorded, own.part(0, 0.6)));
      mean.add(frequency_rows(subject, request, own.part(0.6, 1)));
      done += share;
    }
    made.rows.push_back(mean.rows());
  }
  return made;
}

int run(const FrequencyArguments& arguments) {
  const FrequencyRequest request = frequency_request(arguments);
  check_frequencies(request, "--");
  std::vector<Subject> subjects;
  std::vector<FrequenciesOf> all;
  std::string words;
  std::int64_t items = 0;
  TraceRequest recorded;
  request_for(request, recorded);
  if (!arguments.data_set.empty()) {
    const TerminalProgress line;
    OverDataSet over = over_data_set(arguments, request, recorded, line.progress());
    subjects = std::move(over.subjects);
    words = "; means over " + over.words;
    items = over.items;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      all.push_back({&subjects[i], std::move(over.rows[i])});
    }
  } else {
    const TerminalProgress line;
    subjects = make_subjects(arguments.models, recorded, line.progress().part(0, 0.6));
    for (const Subject& subject : subjects) {
      all.push_back({&subject, frequency_rows(subject, request, line.progress().part(0.6, 1))});
    }
  }
  const auto table_of = [&request](const FrequenciesOf& one) {
    return frequencies_report(*one.subject->trace, one.rows, request);
  };
  const auto report = [&] {
    auto columns = model_columns<FrequenciesOf>();
    append(columns, {{{.name = "rows"},
                      [&](const FrequenciesOf& one) { return table_cell(table_of(one)); }}});
    return report_on(all, std::move(columns));
  };
  const auto text = [&] {
    std::string shown;
    for (const FrequenciesOf& one : all) {
      const Report table = table_of(one);
      shown += (shown.empty() ? "" : "\n") + one.subject->label + ": " +
               frequencies_in_words(request) + words + "\n\n" + report_as_text(table) + "\n" +
               report_legend(table);
    }
    return shown;
  };
  print_results(
      arguments.format, subjects, text,
      [&] {
        nlohmann::ordered_json json = {
            {"of", arguments.of}, {"profile", arguments.profile}, {"identity", arguments.identity}};
        if (items > 0) {
          json["data_set"] = arguments.data_set;
          json["items"] = items;
        }
        json["models"] = report_as_json(report());
        return json;
      },
      report);
  return 0;
}

}  // namespace

Action add_frequencies(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<FrequencyArguments>();
  added = parent.add_subcommand(
      "frequencies",
      "Use of rotary and filtering of spatial frequencies\n"
      "rotary-use is the mean norm of queries times that of keys for each pair of channels that is "
      "rotated, by its wavelength. filter-response is what the maps let pass of the frequencies "
      "over the grid of patches, amplitude the log-amplitude of the tokens there, after each "
      "layer.");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_data_set_option(*added, arguments->data_set,
                      "Data set over whose items the numbers are averaged");
  add_choice_options(*added, arguments->choice, "Number of items of the data set (16; 0: all)");
  add_value_option(*added, "--of", arguments->of,
                   "Analysis: " + name_list(names_of(frequency_analysis_names)), "WHAT")
      ->check(CLI::IsMember(names_of(frequency_analysis_names)));
  add_value_option(*added, "--profile", arguments->profile,
                   "Frequencies over the grid that are averaged: rings of equal radius, or those "
                   "along the diagonal alone",
                   name_list(names_of(frequency_profile_names), {}, "|"));
  add_value_option(*added, "--identity", arguments->identity,
                   "View of the identity mapping, with --of filter-response: the maps as they are, "
                   "without their I, or with I",
                   name_list(names_of(identity_view_names), {}, "|"));
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  add_format_options(*added, arguments->format, "a row for each frequency");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope frequencies vit.safetensors --input cat.png",
                "attnscope frequencies vit.safetensors --input cat.png --of amplitude --csv",
                "attnscope frequencies vit.safetensors --dataset photos --count 100",
                "attnscope frequencies llama.gguf --input essay.txt --of rotary-use --layers 5",
                "attnscope figure rotary-use llama.gguf --input essay.txt --out use.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
