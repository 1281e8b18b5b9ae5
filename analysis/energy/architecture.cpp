#include "analysis/energy/architecture.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/model/pyramid_grid.h"
#include "core/name_list.h"

namespace attnscope {

// One maker a family, declared where it is written.
Network make_deit(const NamedNetwork& self, const NetworkExtents& extents);
Network make_pvt_v2(const NamedNetwork& self, const NetworkExtents& extents);
Network make_twins_svt(const NamedNetwork& self, const NetworkExtents& extents);
Network make_lra_text(const NamedNetwork& self, const NetworkExtents& extents);
Network make_fastformer_lm(const NamedNetwork& self, const NetworkExtents& extents);
Network make_gpt2(const NamedNetwork& self, const NetworkExtents& extents);

std::span<const NamedNetwork> named_architectures() {
  static constexpr NamedNetwork list[] = {
      {"deit-tiny", "DeiT-T", "Touvron et al. 2021", make_deit},
      {"deit-small", "DeiT-S", "Touvron et al. 2021", make_deit},
      {"deit-base", "DeiT-B", "Touvron et al. 2021", make_deit},
      {"pvtv2-b0", "PVTv2-B0", "Wang et al. 2022", make_pvt_v2},
      {"pvtv2-b1", "PVTv2-B1", "Wang et al. 2022", make_pvt_v2},
      {"pvtv2-b2", "PVTv2-B2", "Wang et al. 2022", make_pvt_v2},
      {"pvtv2-b3", "PVTv2-B3", "Wang et al. 2022", make_pvt_v2},
      {"pvtv2-b4", "PVTv2-B4", "Wang et al. 2022", make_pvt_v2},
      {"pvtv2-b5", "PVTv2-B5", "Wang et al. 2022", make_pvt_v2},
      {"twins-svt-small", "Twins-SVT-S", "Chu et al. 2021", make_twins_svt},
      {"lra-text", "LRA text", "Tay et al. 2021; EcoFormer, 5.2", make_lra_text},
      {"fastformer-lm", "Fastformer-LM", "Additive Attention Is All You Need?", make_fastformer_lm},
      {"gpt2", "GPT-2", "Radford et al. 2019", make_gpt2},
      {"gpt2-medium", "GPT-2 medium", "Radford et al. 2019", make_gpt2},
      {"gpt2-large", "GPT-2 large", "Radford et al. 2019", make_gpt2},
      {"gpt2-xl", "GPT-2 XL", "Radford et al. 2019", make_gpt2},
  };
  return list;
}

const NamedNetwork* find_named_architecture(std::string_view name) {
  const auto is_name = [name](std::string_view known) {
    return std::equal(known.begin(), known.end(), name.begin(), name.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) ==
             std::tolower(static_cast<unsigned char>(b));
    });
  };
  for (const NamedNetwork& architecture : named_architectures()) {
    if (is_name(architecture.name) || is_name(architecture.title)) return &architecture;
  }
  return nullptr;
}

std::string architecture_names() { return name_list(named_architectures(), &NamedNetwork::name); }

namespace {

/// The stages of a pyramid; windows mean Twins, whose position convolution PVTv2 has in its MLPs.
std::vector<Stage> stages_of(const ModelSpec& spec, const std::string& name, std::int64_t tokens) {
  const std::vector<GridExtents> grids = pyramid_grids(spec);
  if (tokens > 0 && tokens != grids.front().tokens()) {
    throw Error(ErrorKind::usage, "the image decides the tokens of a pyramid's stages")
        .about(name)
        .expected(std::to_string(grids.front().tokens()))
        .found(std::to_string(tokens));
  }
  std::vector<Stage> stages;
  std::int64_t channels = spec.channels, layer = 0;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const PyramidStage& own = spec.stages[i];
    const bool twins = own.window > 0;
    Stage stage;
    stage.tokens = grids[i].tokens();
    stage.width = own.width;
    stage.heads = own.heads;
    stage.layers = own.layers;
    stage.mlp_width = own.mlp_width;
    stage.mlp_convolution_taps = twins ? 0 : 9;
    stage.position_convolution_taps = twins ? 9 : 0;
    stage.closing_norm = !twins;
    stage.softmax_only =
        mechanism_of(spec, layer).name == "softmax" && spec.mechanism.name != "softmax";
    stage.reduction = own.reduction;
    stage.reduction_norm = own.reduction > 1;
    stage.window_tokens = own.window * own.window;
    stage.embedding = {.kind = Embedding::Kind::convolution,
                       .outputs = stage.tokens,
                       .input_channels = channels,
                       .kernel_taps = own.kernel * own.kernel,
                       .norm = true};
    channels = own.width;
    layer += own.layers;
    stages.push_back(stage);
  }
  return stages;
}

}  // namespace

Network architecture_of(const ModelSpec& spec, const std::string& name, std::int64_t tokens,
                        std::int64_t classes) {
  Network architecture;
  architecture.name = architecture.title = name;
  architecture.source = "its weight file";
  architecture.mechanism = spec.mechanism;
  architecture.arithmetic = spec.arithmetic;
  architecture.activation = spec.activation;
  architecture.final_norm = spec.norm_position == NormPosition::pre;
  architecture.head_copies = spec.readout == Readout::class_and_distilled ? 2 : 1;
  if (spec.readout != Readout::none) {
    architecture.head_outputs =
        classes >= 0 ? classes : static_cast<std::int64_t>(spec.labels.size());
    if (architecture.head_outputs == 0) {
      architecture.note = "the file names no classes: the head is not counted (--set classes=N)";
    }
  }

  if (!spec.stages.empty()) {
    architecture.stages = stages_of(spec, name, tokens);
    architecture.final_norm = spec.final_norm;
    return architecture;
  }
  Stage stage;
  stage.tokens = tokens > 0 ? tokens : spec.tokens();
  if (stage.tokens <= 0) {
    throw Error(ErrorKind::usage, "only an input would tell the number of tokens")
        .about(name)
        .remedy("give it: --tokens 196");
  }
  stage.width = spec.width;
  stage.heads = spec.heads;
  stage.head_width = spec.head_width;
  stage.layers = spec.layers;
  stage.mlp_width = spec.mlp_width;
  stage.embedding.class_tokens = spec.class_tokens;
  if (spec.patch_height > 0) {
    stage.embedding.kind = Embedding::Kind::convolution;
    stage.embedding.outputs = stage.tokens - spec.class_tokens;
    stage.embedding.input_channels = spec.channels;
    stage.embedding.kernel_taps = spec.patch_height * spec.patch_width;
    stage.embedding.positions = stage.tokens;
  }
  architecture.stages = {stage};
  return architecture;
}

void check(const Network& architecture) {
  for (const Stage& stage : architecture.stages) {
    const std::pair<const char*, std::int64_t> extents[] = {
        {"tokens", stage.tokens}, {"width", stage.width},         {"heads", stage.heads},
        {"layers", stage.layers}, {"mlp_width", stage.mlp_width},
    };
    for (const auto& [name, extent] : extents) {
      if (extent > 0) continue;
      throw Error(ErrorKind::usage, "an extent of " + architecture.name + " is not positive")
          .about(name)
          .expected("1 or more")
          .found(std::to_string(extent));
    }
    if (stage.head_width == 0 && stage.width % stage.heads != 0) {
      throw Error(ErrorKind::usage, "the heads do not divide the width")
          .about("heads")
          .expected("a divisor of " + std::to_string(stage.width))
          .found(std::to_string(stage.heads));
    }
    if (stage.embedding.kind == Embedding::Kind::convolution && stage.embedding.outputs <= 0) {
      throw Error(ErrorKind::usage, "no token is left for the patches")
          .about("tokens")
          .expected("more than " + std::to_string(stage.embedding.class_tokens) + " class tokens")
          .found(std::to_string(stage.tokens));
    }
  }
}

}  // namespace attnscope
