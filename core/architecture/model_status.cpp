#include "core/architecture/model_status.h"

#include <algorithm>
#include <array>

#include "core/architecture/model_options.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

constexpr std::string_view kMechanism = "mechanism";

constexpr std::string_view kInfluential[] = {
    kMechanism,
    "scale",
    "heads",
    "head_width",
    "layer.attention.head_split",
    "layer.scores.causal",
    "layer.attention.cosine",
    kQkvRowsOption,
    "stages",
    "differences",
    "layer_mechanisms",
    "config",
    "layer.rotary.form",
    "layer.rotary.theta",
    "layer.rotary.width",
    "layer.rotary.scaling",
    "layer.rotary.whole_pairs",
    "layer.rotary.trained_side",
    "positions",
    "positions.sinusoid_order",
    "positions.offset",
    "embedding_scale",
    "input.dropped_token",
    "layer.residual",
    "layer.residual_scale",
    "layer.scores.window",
    "layer.scores.soft_cap",
    "layer.scores.bucket_distance",
    "importance_scale",
    "norm_position",
    "norm",
    "layers",
    kStateDictOption,
    "final_norm",
    "readout",
    "readout.end_token",
    "readout.soft_cap",
    "logit_scale",
    "layer.mlp.active_experts",
    "layer.mlp.sums_to_one",
    "layer.mlp.clip",
    "layer.mlp.expert_score",
    "layer.mlp.expert_scale",
    "layer.mlp.expert_groups",
    "layer.mlp.active_groups",
    "layer.mlp.group_best",
    "activation",
    "head_activation",
    "channels",
    "patch_order",
    "patch_height",
    "patch_stride",
    "patch_padding",
    "input.stem.paddings",
    "input.stem.strides",
    "input.stem.activation",
    "image_height",
    "image_width",
    "position_resize",
    "positions.table_resize",
    "input_mean",
    "input_std",
    "resize_mode",
    "resize_filter",
    "crop_fraction",
    "longest_edge",
    "tiles",
    "most_pixels",
    "least_pixels",
    "size_step",
};

constexpr std::string_view kHarmlessOptions[] = {
    "tokenizer", "norm_eps",    "embedding_norm_eps", "input.stem.norm_eps",
    "padding",   kIgnoreOption, "input.kind",
};

/// Words that in_words begins with, followed by a colon.
constexpr std::array<std::string_view, 4> kStates = {"known", "confirmed", "unconfirmed",
                                                     "CONTRADICTED"};
constexpr const char* kRecorded = "status";
constexpr std::string_view kAssumed = "assumed ";

/// The option without the prefix for an image tower.
std::string_view option_of(const Assumption& assumption) {
  std::string_view option = assumption.option;
  const std::string_view prefix = kTowerOption;
  if (option.starts_with(prefix)) option.remove_prefix(prefix.size());
  return option;
}

std::ptrdiff_t place(const Assumption& assumption) {
  return std::ranges::find(kInfluential, option_of(assumption)) - std::begin(kInfluential);
}

}  // namespace

ModelStatus ModelStatus::compared(std::string words, bool agrees) const {
  ModelStatus status = *this;
  status.state = agrees ? ModelState::confirmed : ModelState::contradicted;
  status.reference = std::move(words);
  return status;
}

std::span<const std::string_view> influential_options() { return kInfluential; }

std::span<const std::string_view> harmless_options() { return kHarmlessOptions; }

ModelStatus model_status(const std::vector<Assumption>& assumptions,
                         std::string_view architecture) {
  ModelStatus status;
  for (const Assumption& each : assumptions) {
    if (each.stated) continue;
    const std::string_view option = option_of(each);
    const bool of_family = option == kMechanism && architecture != kNamedModel;
    const bool harmless =
        of_family || std::ranges::find(kHarmlessOptions, option) != std::end(kHarmlessOptions);
    (harmless ? status.harmless : status.influential).push_back(each);
  }
  std::ranges::stable_sort(status.influential, {}, place);
  if (!status.influential.empty()) status.state = ModelState::unconfirmed;
  return status;
}

std::string in_words(const ModelStatus& status) {
  constexpr std::size_t most = 5;
  std::string words(kStates.at(static_cast<std::size_t>(status.state)));
  if (status.state == ModelState::unconfirmed) {
    const std::span all(status.influential);
    words += ": " + name_list(all.first(std::min(all.size(), most)), &Assumption::option) +
             (all.size() > most ? ", …" : "") + " assumed";
  }
  if (status.reference.empty()) return words;
  return words + (status.state == ModelState::unconfirmed ? "; " : ": ") + status.reference;
}

void record_status(const ModelStatus& status, std::map<std::string, std::string>& provenance) {
  if (status.state != ModelState::known) provenance[kRecorded] = in_words(status);
  for (const auto* list : {&status.influential, &status.harmless}) {
    for (const Assumption& each : *list) {
      provenance[std::string(kAssumed) + each.option] = each.value;
    }
  }
}

ModelStatus recorded_status(const std::map<std::string, std::string>& provenance) {
  std::vector<Assumption> assumptions;
  for (const auto& [key, value] : provenance) {
    if (key.starts_with(kAssumed)) {
      assumptions.push_back({key.substr(kAssumed.size()), value, "", false});
    }
  }
  const auto architecture = provenance.find("architecture");
  ModelStatus status = model_status(
      assumptions, architecture == provenance.end() ? std::string_view() : architecture->second);
  const auto recorded = provenance.find(kRecorded);
  if (recorded == provenance.end()) return status;
  for (const ModelState compared : {ModelState::confirmed, ModelState::contradicted}) {
    const std::string begin = std::string(kStates.at(static_cast<std::size_t>(compared))) + ": ";
    if (!recorded->second.starts_with(begin)) continue;
    return status.compared(recorded->second.substr(begin.size()),
                           compared == ModelState::confirmed);
  }
  return status;
}

}  // namespace attnscope
