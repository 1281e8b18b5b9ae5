#include "tests/support/sample_figures.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/mechanism_costs.h"
#include "analysis/intervention/ablation.h"
#include "analysis/intervention/truncation.h"
#include "analysis/sweep/sweep.h"
#include "analysis/training/training_study.h"
#include "core/input/input.h"
#include "core/model/model.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/small_data_set.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

const fs::path samples = source_folder() + "/sample_data";

/// Mechanisms of the sample figures that draw all by default. The references do not change with the
/// list of mechanisms.
const std::vector<std::string> drawn_mechanisms = {"softmax",
                                                   "adder",
                                                   "additive",
                                                   "hash",
                                                   "linear",
                                                   "daft-full",
                                                   "daft-conv conv_heads=16",
                                                   "daft-local conv_heads=16",
                                                   "daft-one-hot conv_heads=16",
                                                   "performer",
                                                   "linformer",
                                                   "reformer",
                                                   "synthesizer",
                                                   "cosformer",
                                                   "talking-heads",
                                                   "mixer"};

std::vector<Subject> made_up_subjects() {
  const SubjectShape shape = {.layers = 2, .heads = 2, .grid_rows = 3, .grid_columns = 3};
  return {attention_subject("softmax", {"softmax", {}}, shape),
          attention_subject("adder", {"adder", {}}, shape)};
}

/// A sample model with its run on a sample input.
Subject sample_subject(const std::string& model, const std::string& input) {
  Subject subject;
  subject.label = model;
  subject.model = load_model(samples / "models" / (model + ".h5"));
  subject.mechanism = subject.model->spec().mechanism;
  subject.input = std::make_shared<const Input>(
      open_input(input.starts_with("text:") ? input : (samples / "inputs" / input).string()));
  TraceRequest wanted;
  wanted.quantities = wanted.queries_keys_values = wanted.tokens = true;
  subject.trace = std::make_shared<const Trace>(
      subject.model->run(*subject.input, subject.mechanism, wanted, {}));
  return subject;
}

/// A tiny model for 16 × 16 pixels, plain and hashed.
std::vector<Subject> tiny_subjects() {
  const std::shared_ptr<const Model> model =
      load_model(test_data("sweep/model.npz"), {{{"heads", "2"}, {"crop_fraction", "1"}}, {}});
  const MechanismChoice hash = {"hash", {{"bits", std::int64_t{4}}, {"supports", std::int64_t{8}}}};
  return {{"tiny", model, model->spec().mechanism, nullptr, nullptr},
          {"tiny, hashed", model, hash, nullptr, nullptr}};
}

void sweep_tiny_subjects(const fs::path& out) {
  SweepRequest request;
  request.subjects = tiny_subjects();
  request.data_set_path = test_data("sweep/images.npz");
  request.data_set = open_data_set(request.data_set_path);
  request.choice.count = 24;
  request.out = out;
  (void)run_sweep(request);
}

void study_tiny_subjects(StudyKind kind, const fs::path& out) {
  StudyRequest request;
  request.data = test_data("sweep/images.npz");
  request.data_set = open_data_set(request.data);
  request.choice.count = 24;
  request.out = out;
  if (kind == StudyKind::ablation) {
    add_ablation(tiny_subjects(), {}, AblatedUnit::head, request);
  } else {
    add_truncation(tiny_subjects(), {.ranks = {1, 2, 4, 8, 16}}, request);
  }
  request.description = "the tiny model";
  (void)run_study(request);
}

/// Trains four variants of a tiny network with two seeds each.
void train_tiny_networks(const fs::path& out) {
  const TemporaryFolder sources;
  const Recipe recipe({{"dataset", write_small_data_set(sources).string()},
                       {"patch", std::int64_t{3}},
                       {"width", std::int64_t{8}},
                       {"model_heads", std::int64_t{2}},
                       {"depth", std::int64_t{2}},
                       {"steps", std::int64_t{8}},
                       {"batch", std::int64_t{4}},
                       {"warm_up", std::int64_t{1}},
                       {"checkpoints", std::int64_t{4}},
                       {"test_items", std::int64_t{8}},
                       {"probes", std::int64_t{1}}});
  begin_study({out}, find_training_study("adder-parts"), recipe, 2);
  train_study({out}, {});
}

/// The figure of made-up measurements: 0.1 ns · N² for the first kernel, and a tenth more for each
/// next one.
Figure costs_of_fixed_measurements(const FigureRequest& request) {
  FigureRequest complete = request;
  complete.settings = complete_settings("mechanism-costs", request.settings);
  const MechanismCostsRequest wanted = mechanism_costs_request(complete);
  Measurement measurement;
  measurement.options = wanted.measured;
  measurement.threads = 1;
  measurement.processor = "no machine";
  double factor = 1;
  for (const MechanismChoice& mechanism : wanted.measured.mechanisms) {
    MeasuredKernel kernel{mechanism, {}, {}};
    for (const std::int64_t tokens : wanted.measured.tokens) {
      const auto n = static_cast<double>(tokens);
      kernel.runs.push_back({tokens, factor * 1e-10 * n * n, 3, 1024 * tokens});
    }
    measurement.kernels.push_back(std::move(kernel));
    factor *= 1.1;
  }
  return mechanism_costs_figure(wanted, measurement, request.width_mm);
}

}  // namespace

Figure sample_figure(const std::string& recipe, ParameterValues settings, double width_mm) {
  FigureRequest request;
  request.settings = std::move(settings);
  request.width_mm = width_mm;
  if (recipe == "mechanism-costs" || recipe == "energy-growth") {
    request.settings.try_emplace("mechanisms", drawn_mechanisms);
  }
  if (recipe == "mechanism-costs") return costs_of_fixed_measurements(request);
  const TemporaryFolder folder;
  if (recipe == "position-bias") {
    request.subjects = {sample_subject("fashion-daft-full", "09_ankle_boot.png")};
  } else if (recipe == "key-maps") {
    request.subjects = {sample_subject("fashion-daft-conv", "09_ankle_boot.png")};
  } else if (recipe == "hash-codes") {
    request.subjects = {sample_subject("fashion-hash", "09_ankle_boot.png")};
  } else if (recipe == "token-importance") {
    request.subjects = {sample_subject("shakespeare-fastformer", "text:To be, or not to be")};
  } else if (recipe == "feature-scatter") {
    request.subjects = tiny_subjects();
    request.settings["dataset"] = test_data("sweep/images.npz");
  } else if (recipe.starts_with("sweep-")) {
    request.settings["file"] = (folder / "sweep.h5").string();
    sweep_tiny_subjects(folder / "sweep.h5");
  } else if (recipe == "rank-accuracy" || recipe == "ablation") {
    request.settings["file"] = (folder / "study.h5").string();
    study_tiny_subjects(recipe == "ablation" ? StudyKind::ablation : StudyKind::truncation,
                        folder / "study.h5");
  } else if (recipe == "over-training" || recipe == "trained-ranks") {
    request.settings["folder"] = (folder / "study").string();
    train_tiny_networks(folder / "study");
  } else if (recipe == "rotary-use") {
    request.subjects = {
        family_subject(folder.path(), "hugging_face_llama", {3, 1, 4, 1, 5, 9, 2, 6})};
    request.subjects.front().label = "llama";
  } else if (recipe == "token-experts") {
    request.subjects = {
        family_subject(folder.path(), "hugging_face_mixtral", {3, 1, 4, 1, 5, 9, 2, 6})};
    request.subjects.front().label = "mixtral";
  } else if (recipe == "patching") {
    request.subjects = {sample_subject("shakespeare-softmax", "text:What you")};
    request.settings["from"] = "text:What wou";
  } else if (recipe == "logit-lens" || recipe == "attention-lines") {
    request.subjects = {sample_subject("shakespeare-softmax", "text:To be, or not to be")};
  } else if (recipe.starts_with("group") || recipe == "receiver-heads") {
    request.subjects = {
        sample_subject("shakespeare-softmax", "text:To be, or not to be, that is the question")};
    request.settings.try_emplace("groups", "words");
  } else if (recipe == "token-mixing" || recipe == "logit-attribution" || recipe == "relevance" ||
             recipe == "tokens-over-depth" || recipe == "score-channels" ||
             recipe == "query-key-scatter" || recipe == "rank-against-entropy" ||
             recipe == "patch-features" || recipe == "spatial-frequencies") {
    request.subjects = {sample_subject("fashion-softmax", "09_ankle_boot.png")};
  } else if (find_figure(recipe).needs.least > 0) {
    request.subjects = made_up_subjects();
  }
  return make_figure(recipe, request);
}

}  // namespace attnscope
