#include "analysis/energy/architecture.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

// Factory functions of the families, defined in their own files.
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

void check(const Network& architecture) {
  for (const Stage& stage : architecture.stages) {
    const std::pair<const char*, std::int64_t> extents[] = {
        {"tokens", stage.tokens}, {"width", stage.width},         {"heads", stage.heads},
        {"layers", stage.layers}, {"mlp_width", stage.mlp_width},
    };
    for (const auto& [name, extent] : extents) {
      if (extent > 0) continue;
      throw Error(ErrorKind::usage, "a dimension of " + architecture.name + " is not positive")
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
    if (stage.embedding.kind == StageEmbedding::Kind::convolution && stage.embedding.outputs <= 0) {
      throw Error(ErrorKind::usage, "no token is left for the patches")
          .about("tokens")
          .expected("more than " + std::to_string(stage.embedding.class_tokens) + " class tokens")
          .found(std::to_string(stage.tokens));
    }
  }
}

}  // namespace attnscope
