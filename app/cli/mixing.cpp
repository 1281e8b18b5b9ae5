// attnscope mixing: the share of each token in every other token's output.
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/mixing/mixed_matrices.h"
#include "analysis/tables/reports.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

struct MixingArguments {
  ModelArguments models;
  std::string by = "norms", layers = "all", heads = "all";
  bool rollout = false;
  TableFormat format = TableFormat::text;
};

struct MixedModel {
  const Subject* subject = nullptr;
  std::vector<MixedMatrix> matrices;
};

MixingRequest mixing_request(const MixingArguments& arguments) {
  return {arguments.by, arguments.rollout, index_list(arguments.layers, "--layers"),
          index_list(arguments.heads, "--heads")};
}

/// The table of one model, in JSON with its name and status.
Report mixed_model_report(const MixedModel& model) {
  Report report = mixing_report(*model.subject->trace, model.matrices);
  ReportColumn name = json_only("model"), status = json_only("status");
  name.value = [&model](std::size_t) { return model.subject->label; };
  status.value = [&model](std::size_t) {
    return json_cell(status_as_json(status_of(*model.subject)));
  };
  report.columns.insert(report.columns.begin(), {std::move(name), std::move(status)});
  return report;
}

int run(const MixingArguments& arguments) {
  const MixingRequest request = mixing_request(arguments);
  check_mixing(request, "--");
  std::vector<Subject> subjects;
  std::vector<MixedModel> all;
  {
    const TerminalProgress line;
    TraceRequest recorded;
    request_for_mixing(recorded);
    subjects = make_subjects(arguments.models, recorded, line.progress().part(0, 0.5));
    const Progress mixing = line.progress().part(0.5, 1);
    for (const Subject& subject : subjects) {
      all.push_back({&subject, mixed_matrices(subject, request, "--", mixing)});
    }
  }
  const auto text = [&all] {
    std::string shown;
    for (const MixedModel& one : all) {
      shown += one.subject->label + "\n" + report_as_text(mixed_model_report(one));
    }
    return shown;
  };
  const auto json = [&] {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const MixedModel& one : all) {
      for (auto& entry : report_as_json(mixed_model_report(one))) list.push_back(std::move(entry));
    }
    return nlohmann::ordered_json{
        {"by", arguments.by}, {"rollout", arguments.rollout}, {"mixing", std::move(list)}};
  };
  print_results(arguments.format, subjects, text, json, [&all] {
    return report_on(all, {{{.name = "model"}, [](const auto& one) { return one.subject->label; }},
                           {{.name = "mixing"},
                            [](const auto& one) { return table_cell(mixed_model_report(one)); }}});
  });
  return 0;
}

}  // namespace

Action add_mixing(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<MixingArguments>();
  added = parent.add_subcommand(
      "mixing",
      "Contribution of each token to each other token\n"
      "Norms of a_ij f(x_j) with f(x_j) = v_j W_O, with residual and norms (F_i(j)), ALTI, value "
      "zeroing, and their rollouts.");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_value_option(*added, "--by", arguments->by,
                   "Measure: |a_ij| ‖f(x_j)‖ of one head, ‖Σ_h a_ij f_h(x_j)‖, ‖F_i(j)‖ with "
                   "residual and norm, the same through the norm after the MLP, max(0, ‖y_i‖₁ − "
                   "‖y_i − F_i(j)‖₁), or 1 − cos of the layer's tokens with and without v_j",
                   name_list(mixing_words(), {}, "|"))
      ->check(CLI::IsMember(mixing_words()));
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  added->add_flag("--rollout", arguments->rollout,
                  "Rollout of block-norms, globenc or alti: R_l = M_l R_{l−1} through all layers, "
                  "with the rows of M divided by their sums");
  add_format_options(*added, arguments->format, "a row for each query and key");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope mixing vit.safetensors --input cat.png",
                "attnscope mixing bert.safetensors --input text:To-be --by alti --rollout --csv",
                "attnscope figure token-mixing vit.pt --input cat.png --out mixing.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
