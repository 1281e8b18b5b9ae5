// attnscope inspect: a file's kind, what was recognised and assumed, and every tensor in it.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "app/cli/command_table.h"
#include "app/cli/inspect_trace.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/terminal_progress.h"
#include "core/architecture/architecture.h"
#include "core/architecture/model_options.h"
#include "core/architecture/model_spec_json.h"
#include "core/architecture/pyramid_grid.h"
#include "core/architecture/vision_language/vision_language_file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"
#include "core/model/evaluation/fit.h"
#include "core/model/evaluation/self_test.h"
#include "core/shown_text.h"
#include "core/text/json.h"
#include "core/text/number_text.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

/// Arguments of attnscope inspect MODEL --fit.
struct FitArguments {
  std::filesystem::path file;
  ModelOptions options;
  std::string out;  ///< the description to write; empty: none
  bool json = false;
};

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

/// Finds, prints and describes the choices under which the model agrees with the reference next to
/// it. Returns 1 if no choice fits. Throws Error; without a reference, its text shows how to make
/// one.
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

struct InspectArguments {
  ModelArguments model;
  bool json = false;
  bool headers_only = false;
  bool fit = false;
  std::string out;
};

struct Inspection {
  explicit Inspection(Checkpoint opened) : checkpoint(std::move(opened)) {}

  Checkpoint checkpoint;
  std::optional<Architecture> architecture;  ///< the language model's, if there are parts
  std::optional<Architecture> tower;         ///< the image tower of such a model
  std::string why_not;                       ///< reason why no architecture was recognised
  std::vector<TensorScan> scans;
  ModelStatus status;  ///< includes the comparison with a reference next to the file

  [[nodiscard]] std::int64_t unreadable() const {
    return std::ranges::count_if(scans, [](const TensorScan& one) { return !one.error.empty(); });
  }
};

/// The status after a comparison with the reference next to the file. A model that does not run is
/// reported in the status, not thrown.
ModelStatus compared_with_reference(ModelStatus status, const std::filesystem::path& file,
                                    const ModelOptions& options) {
  const std::optional<std::filesystem::path> reference = reference_beside(file);
  if (!reference) return status;
  try {
    const auto model = load_model(file, options);
    if (!model->status().reference.empty()) return model->status();
    const SelfTest test = self_test(*model, *reference);
    return status.compared(in_words(test), test.agrees());
  } catch (const Error& error) {
    status.reference = std::string("was not compared with its reference: ") + error.what();
    return status;
  }
}

ModelStatus status_of(const Architecture& architecture) {
  return model_status(architecture.assumptions, architecture.name);
}

Inspection inspect(const InspectArguments& arguments) {
  const ModelOptions options = options_of(arguments.model, {});
  const std::filesystem::path file = model_file(arguments.model.models.front());
  Inspection inspection(open_model_file(file, options));
  try {
    const auto parts = vision_language_file(inspection.checkpoint, options);
    const Checkpoint* const one = parts ? one_part(*parts, options) : &inspection.checkpoint;
    inspection.architecture = recognise_architecture(one ? *one : parts->language,
                                                     one ? options : options_of_language(options));
    if (!one) inspection.tower = recognise_architecture(parts->tower, options_of_tower(options));
  } catch (const Error& error) {
    // Wrong options are errors; a file of an unknown model is a finding.
    if (error.kind() == ErrorKind::usage || !options.description.empty()) throw;
    inspection.why_not = error.what();
  }
  if (inspection.architecture) {
    inspection.status = status_of(*inspection.architecture);
  }
  if (arguments.headers_only) return inspection;
  inspection.scans = scan_tensors(inspection.checkpoint);
  if (inspection.architecture) {
    inspection.status = compared_with_reference(std::move(inspection.status), file, options);
  }
  return inspection;
}

Json architecture_json(const Architecture& architecture, const ModelStatus& status) {
  const ModelSpec& spec = architecture.spec;
  return {{"name", architecture.name},
          {"mechanism", to_string(spec.mechanism)},
          {"layers", spec.layers},
          {"heads", spec.layer.attention.heads},
          {"width", spec.width},
          {"tokens", spec.tokens()},
          {"assumptions", assumptions_as_json(architecture.assumptions)},
          {"status", status_as_json(status)},
          {"spec", Json::parse(to_json(spec))},
          {"unused_tensors", architecture.unused}};
}

Json json_of(const Inspection& inspection) {
  const Checkpoint& checkpoint = inspection.checkpoint;
  Json tensors = Json::array();
  for (std::size_t i = 0; i < checkpoint.tensors().size(); ++i) {
    const StoredTensor& tensor = checkpoint.tensors()[i];
    Json entry = {{"name", tensor.name},
                  {"dtype", tensor.type_name()},
                  {"shape", tensor.shape},
                  {"bytes", tensor.bytes}};
    if (!inspection.scans.empty()) {
      const TensorScan& counted = inspection.scans[i];
      if (counted.error.empty()) {
        entry["nan"] = counted.counts.nan;
        entry["infinite"] = counted.counts.infinite;
      } else {
        entry["error"] = counted.error;
      }
    }
    tensors.push_back(std::move(entry));
  }
  Json object = {{"file", checkpoint.path().string()},
                 {"format", checkpoint.format()},
                 {"metadata", checkpoint.metadata()}};
  if (inspection.architecture) {
    object["architecture"] = architecture_json(*inspection.architecture, inspection.status);
  } else {
    object["architecture"] = nullptr;
    object["architecture_error"] = inspection.why_not;
  }
  if (inspection.tower) {
    object["image_tower"] = architecture_json(*inspection.tower, status_of(*inspection.tower));
  }
  if (!inspection.status.reference.empty()) object["reference"] = inspection.status.reference;
  if (!inspection.scans.empty()) object["unreadable_tensors"] = inspection.unreadable();
  object["tensors"] = std::move(tensors);
  return object;
}

std::string grid_text(const GridExtents& grid) {
  return std::to_string(grid.rows) + " × " + std::to_string(grid.columns);
}

/// Prints which linear layers are adder layers, if any.
void print_arithmetic(const ModelSpec& spec) {
  if (spec.arithmetic != Arithmetic::adder) return;
  std::string multiplying;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    if (arithmetic_of(spec, layer) == Arithmetic::adder) continue;
    multiplying +=
        (multiplying.empty() ? "; multiplicative in layers " : ", ") + std::to_string(layer);
  }
  print_line("linear layers", "adder" + multiplying);
  // These layers do not use adder attention either.
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const bool multiplies = arithmetic_of(spec, layer) == Arithmetic::multiplicative;
    if (!multiplies || mechanism_of(spec, layer).name == spec.mechanism.name) continue;
    print_line(("layer " + std::to_string(layer)).c_str(), to_string(mechanism_of(spec, layer)));
  }
}

/// Prints the stages of a pyramid, because `heads` and `width` are those of the last stage.
void print_stages(const ModelSpec& spec) {
  if (spec.stages.empty()) return;
  const std::vector<GridExtents> grids = pyramid_grids(spec);
  std::int64_t layer = 0;
  for (std::size_t i = 0; i < spec.stages.size(); ++i) {
    const PyramidStage& stage = spec.stages[i];
    const GridExtents keys = key_grid(stage, grids[i]);
    std::string text =
        "layers " + std::to_string(layer) + "–" + std::to_string(layer + stage.layers - 1) + ": " +
        std::to_string(stage.heads) + (stage.heads == 1 ? " head of " : " heads of ") +
        std::to_string(stage.width / stage.heads) + ", " + grid_text(grids[i]) + " tokens";
    if (keys != grids[i]) text += ", keys from " + grid_text(keys);
    if (stage.window > 0) {
      text += ", windows of " + std::to_string(stage.window) +
              (spec.shifts_windows() ? ", every other layer's shifted by half" : " in turn");
    }
    text += ", " + to_string(mechanism_of(spec, layer));
    layer += stage.layers;
    print_line(("stage " + std::to_string(i + 1)).c_str(), text);
  }
}

/// Prints the window size of a model with one grid and windowed attention (SAM).
void print_windows(const ModelSpec& spec) {
  const ScoreSpec& scores = spec.layer.scores;
  if (scores.window == 0 || scores.window_form != WindowForm::tiles) return;
  const GridExtents window{scores.window, scores.window};
  std::string whole;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    if (layer_of(spec, layer).scores.window > 0) continue;
    whole += (whole.empty() ? ", but in layers " : ", ") + std::to_string(layer);
  }
  const bool fill = spec.input.grid_rows() % window.rows || spec.input.grid_columns() % window.rows;
  print_line("windows",
             grid_text(window) + " patches" + whole +
                 (fill ? "; zeros fill up the last ones, and what goes to them is in no map" : ""));
}

/// Prints the layer numbers of the tail (class attention or decoder).
void print_tail(const ModelSpec& spec) {
  if (spec.tail.kind == Tail::none) return;
  const std::string first = std::to_string(spec.body_layers());
  const std::string span = first + "–" + std::to_string(spec.layers - 1);
  if (spec.tail.kind == Tail::class_attention) {
    print_line("class attention", "layers " + span);
    return;
  }
  print_line("decoder", "layers " + span + ": in turn the text's own, from " + first +
                            " on, and those that ask the encoder");
  if (spec.tail.start_token >= 0) {
    print_line("start token", std::to_string(spec.tail.start_token));
  }
}

/// A JSON list of objects with one object per line; empty for any other value.
std::string item_lines(const std::string& value) {
  if (!parse_json_or_null(value).is_array()) return {};
  const Json list = parse_ordered_json(value);
  if (list.empty() || !list.front().is_object()) return {};
  std::string lines;
  for (const Json& item : list) {
    lines += (lines.empty() ? "    [" : ",\n     ") + item.dump();
  }
  return lines + "]\n";
}

/// Prints a list of options; those stated next to the file have no reason.
void print_options(const char* heading, const std::vector<Assumption>& list) {
  bool any = false;
  for (const Assumption& assumption : list) {
    const bool stated = assumption.stated;
    if (!any) std::printf("%s\n", heading);
    any = true;
    const std::string items = item_lines(assumption.value);
    const std::string value = items.empty() ? shown_text(assumption.value) : "as below";
    if (stated) {
      std::printf("  %-18s %s\n", assumption.option.c_str(), value.c_str());
    } else {
      std::printf("  %-18s %-20s %s\n", assumption.option.c_str(), value.c_str(),
                  assumption.reason.c_str());
    }
    std::printf("%s", shown_lines(items).c_str());
  }
}

void print_stem(const StemSpec& stem) {
  std::string text;
  for (std::size_t i = 0; i < stem.widths.size(); ++i) {
    const std::string side = std::to_string(stem.kernels[i]);
    text += (text.empty() ? "" : ", ") + side + " × " + side + " every " +
            std::to_string(stem.strides[i]) + " to " + std::to_string(stem.widths[i]);
  }
  if (!text.empty()) print_line("stem", "convolutions " + text + " channels");
}

void print_image(const InputSpec& input) {
  const std::string size = std::to_string(input.channels) + " × " +
                           std::to_string(input.image_height) + " × " +
                           std::to_string(input.image_width);
  print_line("image", input.keeps_sizes()
                          ? "of any size, with " + std::to_string(input.least_pixels) + " to " +
                                std::to_string(input.most_pixels) + " pixels in steps of " +
                                std::to_string(input.size_step) + "; counted for " + size
                          : size);
}

void print_architecture(const Architecture& architecture, const ModelStatus& status) {
  const ModelSpec& spec = architecture.spec;
  print_line("architecture", architecture.name);
  print_line("status", in_words(status));
  print_line("mechanism", to_string(spec.mechanism));
  print_line("layers", std::to_string(spec.layers));
  print_arithmetic(spec);
  print_windows(spec);
  print_tail(spec);
  print_line("heads", std::to_string(spec.layer.attention.heads) + " of " +
                          std::to_string(spec.width_of_head()));
  print_line("scale", option_text(spec, "scale") +
                          (spec.layer.scores.scale_by_layer ? ", and by the layer's number" : ""));
  print_line("width", std::to_string(spec.width));
  print_stages(spec);
  if (spec.input.patch_height > 0) {
    print_line("tokens", std::to_string(spec.tokens()) + " (" +
                             std::to_string(spec.input.prefix_tokens()) + " + " +
                             std::to_string(spec.input.grid_rows()) + " × " +
                             std::to_string(spec.input.grid_columns()) + " patches of " +
                             std::to_string(spec.input.patch_height) + " × " +
                             std::to_string(spec.input.patch_width) + ")");
    print_stem(spec.input.stem);
    print_image(spec.input);
  } else if (spec.reads_texts()) {
    const std::string most = spec.input.context > 0
                                 ? "at most " + std::to_string(spec.input.context)
                                 : "as many as the input has";
    print_line("tokens", most + " of " + std::to_string(spec.input.vocabulary) + ", " +
                             option_text(spec, "tokenizer"));
    for (std::size_t i = 0; i < spec.layer_mechanisms.size(); ++i) {
      print_line(("layer " + std::to_string(i)).c_str(), to_string(spec.layer_mechanisms[i]));
    }
  } else if (spec.is_audio()) {
    print_line("tokens", std::to_string(spec.tokens()) + " of 20 ms, of " +
                             std::to_string(spec.input.channels) + " bands");
  } else {
    print_line("tokens", "as many as the input has");
  }
  std::vector<Assumption> stated;
  std::ranges::copy_if(architecture.assumptions, std::back_inserter(stated), &Assumption::stated);
  print_options("given next to the file, or by options:", stated);
  print_options(
      "assumed, because the file does not say (--model-heads N, --option KEY=VALUE), worst first:",
      status.influential);
  print_options("assumed, of little weight:", status.harmless);
}

void print_tensors(const Inspection& inspection) {
  const auto& tensors = inspection.checkpoint.tensors();
  std::size_t longest = 4, longest_type = 9;
  for (const StoredTensor& tensor : tensors) {
    longest = std::max(longest, tensor.name.size());
    longest_type = std::max(longest_type, tensor.type_name().size());
  }
  const int width = static_cast<int>(std::min<std::size_t>(longest, 72));
  const int type_width = static_cast<int>(longest_type);
  std::int64_t bytes = 0, elements = 0, flagged = 0;
  const std::int64_t unreadable = inspection.unreadable();
  std::printf("%-*s  %-*s %-22s %12s\n", width, "tensor", type_width, "dtype", "shape", "bytes");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const StoredTensor& tensor = tensors[i];
    bytes += tensor.bytes;
    elements += element_count(tensor.shape);
    std::printf("%-*s  %-*s %-22s %12lld", width, tensor.name.c_str(), type_width,
                std::string(tensor.type_name()).c_str(), to_string(tensor.shape).c_str(),
                static_cast<long long>(tensor.bytes));
    if (!inspection.scans.empty()) {
      const TensorScan& counted = inspection.scans[i];
      if (!counted.error.empty()) {
        std::printf("  UNREADABLE: %s", counted.error.c_str());
      } else if (counted.counts.nan + counted.counts.infinite > 0) {
        ++flagged;
        std::printf("  %lld NaN, %lld Inf", static_cast<long long>(counted.counts.nan),
                    static_cast<long long>(counted.counts.infinite));
      }
    }
    std::printf("\n");
  }
  std::printf("%zu tensors, %lld numbers, %lld bytes", tensors.size(),
              static_cast<long long>(elements), static_cast<long long>(bytes));
  if (unreadable > 0) std::printf("; %lld UNREADABLE", static_cast<long long>(unreadable));
  const char* const among = unreadable > 0 ? " in the others" : "";
  if (inspection.scans.empty()) {
    std::printf("\n");
  } else if (flagged == 0) {
    std::printf("; no NaN, no Inf%s\n", among);
  } else {
    std::printf("; %lld with NaN or Inf%s\n", static_cast<long long>(flagged), among);
  }
}

/// Prints the file's metadata, one line per entry.
void print_metadata(const Checkpoint& checkpoint) {
  constexpr std::size_t most_characters = 100, most_lines = 20;
  std::size_t lines = 0;
  for (const auto& [key, value] : checkpoint.metadata()) {
    if (key == "format" || key == "format_version" || key == "architecture") continue;
    if (++lines > most_lines) break;
    std::string text = value.substr(0, value.find('\n'));
    std::size_t end = std::min(text.size(), most_characters);
    while (end > 0 && end < text.size() && (text[end] & 0xC0) == 0x80) --end;  // whole characters
    print_line(key.substr(0, 40).c_str(), text.substr(0, end) + (end < value.size() ? " …" : ""));
  }
}

/// Prints the unused tensors; many of one module, such as the other tower of CLIP, share a line.
void print_unused(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  if (!names.empty()) std::printf("tensors without a role in this architecture:\n");
  const auto module = [](const std::string& name) { return name.substr(0, name.find('.')); };
  std::map<std::string, std::size_t> counts;
  for (const std::string& name : names) ++counts[module(name)];
  std::set<std::string> said;
  for (const std::string& name : names) {
    const std::string of = module(name);
    if (counts[of] <= most) {
      std::printf("  %s\n", name.c_str());
    } else if (said.insert(of).second) {
      std::printf("  %s.* (%zu tensors)\n", of.c_str(), counts[of]);
    }
  }
}

void print(const Inspection& inspection) {
  print_line("file", inspection.checkpoint.path().string());
  print_line("format", inspection.checkpoint.format());
  print_metadata(inspection.checkpoint);
  if (inspection.architecture) {
    print_architecture(*inspection.architecture, inspection.status);
    if (!inspection.status.reference.empty()) print_line("reference", inspection.status.reference);
    print_unused(inspection.architecture->unused);
    if (inspection.tower) {
      std::printf(
          "\nThe image tower, whose patches the language model above reads in its text "
          "(--option tower.KEY=VALUE; alone: input.kind=patches):\n");
      print_architecture(*inspection.tower, status_of(*inspection.tower));
    }
  } else {
    print_line("architecture", "none recognised: " + inspection.why_not);
  }
  print_tensors(inspection);
}

/// The first unreadable tensor and the number of unreadable tensors.
Error unreadable_tensors(const Inspection& inspection) {
  const std::vector<StoredTensor>& tensors = inspection.checkpoint.tensors();
  std::size_t first = 0;
  while (inspection.scans[first].error.empty()) ++first;
  return Error(ErrorKind::damaged, "the elements of some tensors cannot be read")
      .in_file(inspection.checkpoint.path())
      .about(tensors[first].name)
      .found(std::to_string(inspection.unreadable()) + " of " + std::to_string(tensors.size()) +
             " tensors")
      .remedy("fetch the file again");
}

}  // namespace

Action add_inspect(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<InspectArguments>();
  added = parent.add_subcommand("inspect", "Describe a weight or trace file");
  added
      ->add_option("FILE", arguments->model.models,
                   "A weight file or a trace; - reads one from standard input; org/name is a model "
                   "in the local Hugging Face cache")
      ->required()
      ->expected(1)
      ->type_name("FILE");
  add_json_flag(*added, arguments->json);
  added->add_flag(
      "--headers-only", arguments->headers_only,
      "Do not read the elements: no search for NaN and Inf, no comparison with a reference");
  CLI::Option* const fit = added->add_flag(
      "--fit", arguments->fit,
      "Find settings that only the model's own code knows (heads, scale, positions, norms, "
      "residuals …) from a reference next to the file: docs/self-test.md");
  added->add_option("--out", arguments->out, "With --fit: the architecture description to write")
      ->needs(fit)
      ->type_name("FILE");
  add_model_options(*added, arguments->model);
  set_examples(*added, {"attnscope inspect vit.safetensors",
                        "attnscope inspect vit.safetensors --headers-only --json",
                        "attnscope inspect old.pt --model-heads 6 --option activation=relu",
                        "attnscope inspect gpt.safetensors --fit --out gpt.json"});
  return [arguments] {
    const std::string file = model_file(arguments->model.models.front()).string();
    if (is_trace_file(file)) return inspect_trace(file, arguments->json);
    if (arguments->fit) {
      return inspect_fit({file, options_of(arguments->model, {}), arguments->out, arguments->json});
    }
    const Inspection inspection = inspect(*arguments);
    if (arguments->json) {
      print_json(json_of(inspection));
    } else {
      print(inspection);
    }
    // The findings are printed, but unreadable tensors make the command fail.
    if (inspection.unreadable() > 0) throw unreadable_tensors(inspection);
    return 0;
  };
}

}  // namespace attnscope
