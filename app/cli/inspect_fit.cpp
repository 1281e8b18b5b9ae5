#include "app/cli/inspect_fit.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/inspect_trace.h"
#include "app/cli/json_output.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"
#include "core/model/evaluation/fit.h"
#include "core/model/evaluation/self_test.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

std::filesystem::path reference_of(const FitArguments& arguments) {
  if (const auto reference = reference_beside(arguments.file)) return *reference;
  throw Error(ErrorKind::usage, "--fit needs a reference of what the model's own code computes")
      .in_file(arguments.file)
      .expected(std::filesystem::is_directory(arguments.file)
                    ? "reference.npz in the folder"
                    : arguments.file.stem().string() + ".reference.npz next to it")
      .remedy("with `model` as your code has it, in Python (docs/self-test.md):\n" +
              lines_for_reference(arguments.file, arguments.options));
}

Json json_of(const Fit& fit) {
  Json choices = Json::array(), parts = Json::array();
  for (const FittedChoice& choice : fit.choices) {
    Json entry = {{"option", choice.option}, {"value", choice.value}};
    if (!choice.other.empty()) {
      entry["other"] = choice.other;
      entry["difference_with_other"] = choice.difference;
    }
    entry["determined"] = choice.determined;
    choices.push_back(std::move(entry));
  }
  for (const FittedPart& part : fit.parts) {
    parts.push_back({{"part", part.name}, {"difference", part.difference}});
  }
  const FittedPart* const first = fit.first_difference();
  return {{"reference", fit.reference.string()},
          {"fits", first == nullptr},
          {"first_difference", first ? Json(first->name) : Json()},
          {"choices", std::move(choices)},
          {"parts", std::move(parts)}};
}

std::string evidence_of(const FittedChoice& choice) {
  if (choice.other.empty()) return "from the reference's maps alone";
  if (!choice.determined) return "not determined: " + choice.other + " agrees as well";
  return "with " + choice.other + " differs by " + rounded_text(choice.difference, 2);
}

void print(const Fit& fit) {
  const FittedPart* const first = fit.first_difference();
  print_line("reference", fit.reference.string());
  print_line("fit", first ? "none fits; the nearest differs first in " + first->name + " (by " +
                                rounded_text(first->difference, 2) + " of the greatest value)"
                          : "found");
  std::printf("%s\n", first ? "the nearest:" : "found, with what else would differ:");
  for (const FittedChoice& choice : fit.choices) {
    std::printf("  %-28s %-20s %s\n", choice.option.c_str(), choice.value.c_str(),
                evidence_of(choice).c_str());
  }
  std::printf("differences, relative to the greatest value of each part:\n");
  for (const FittedPart& part : fit.parts) {
    std::printf("  %-28s %s\n", part.name.c_str(), rounded_text(part.difference, 1).c_str());
  }
}

}  // namespace

int inspect_fit(const FitArguments& arguments) {
  const std::filesystem::path reference = reference_of(arguments);
  if (!arguments.out.empty()) {
    const std::filesystem::path read[] = {arguments.file, reference, arguments.options.description};
    refuse_to_overwrite(arguments.out, read);
  }
  const Fit fit = [&] {
    const TerminalProgress line;
    return fit_model(arguments.file, reference, arguments.options, line.progress());
  }();
  if (arguments.json) {
    print_json(json_of(fit));
  } else {
    print(fit);
  }
  if (fit.first_difference()) return 1;
  if (arguments.out.empty()) return 0;
  ModelOptions options = arguments.options;
  for (const auto& [option, value] : fit.options) options.overrides.insert_or_assign(option, value);
  write_file(arguments.out, fitted_description(arguments.file, options));
  if (!arguments.json) {
    std::printf("%s opens the file: --architecture %s\n", arguments.out.c_str(),
                arguments.out.c_str());
  }
  return 0;
}

}  // namespace attnscope
