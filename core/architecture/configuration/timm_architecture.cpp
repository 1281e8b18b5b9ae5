// Architectures of timm: their possible families, and settings that follow from their names but not
// from their tensors.
#include "core/architecture/configuration/timm_architecture.h"

#include "core/error.h"

namespace attnscope {

namespace {

/// Architectures of timm's class VisionTransformer with computations that the names of their
/// tensors do not show.
constexpr std::pair<std::string_view, std::string_view> kRefusedVits[] = {
    {"relpos", "relative position biases"},
    {"rope", "rotary positions"},
    {"dinov3", "rotary positions"},
    {"_rpn_", "norms after the parts and before the residuals"},
    {"_xp_", "parallel blocks"},
    {"18x2", "parallel blocks"},
    {"pwee", "parallel blocks"},
    {"dwee", "differential attention"},
    {"dlittle", "differential attention"},
    {"_r26_", "a convolutional network before the patches"},
    {"_r50_", "a convolutional network before the patches"},
    {"resnet", "a convolutional network before the patches"},
    {"_mci_", "a convolutional network before the patches"},
    {"tipsv2", "a different read-out"},
};

/// Number of heads of architectures whose heads are not 64 channels wide.
constexpr std::pair<std::string_view, std::string_view> kHeads[] = {
    {"vit_huge", "16"},
    {"deit3_huge", "16"},
    {"vit_giant_patch14_dinov2", "24"},
    {"vit_giant_patch14_reg4_dinov2", "24"},
    {"vit_giant", "16"},
    {"vit_gigantic", "16"},
    {"vit_so400m", "16"},
    {"vit_base_patch16_gap_224", "16"},
    {"test_vit", "2"},
};

/// SigLIP models with GELU's tanh form.
constexpr std::string_view kTanhs[] = {
    "vit_base_patch32_siglip_",         "vit_large_patch16_siglip_512",
    "vit_large_patch16_siglip_gap_512", "vit_so400m_patch16_siglip_",
    "vit_giantopt_patch16_siglip_",
};

constexpr std::string_view kVits[] = {"vit_", "deit_", "deit3_", "flexivit_", "test_vit"};

void refuse_vit(std::string_view architecture) {
  for (const auto& [part, what] : kRefusedVits) {
    if (architecture.find(part) == std::string_view::npos) continue;
    throw Error(ErrorKind::unsupported, "timm's " + std::string(architecture) + " has " +
                                            std::string(what) + ", which is not supported")
        .about("architecture");
  }
}

void read_vit(std::string_view architecture, NeighbourConfig& config) {
  refuse_vit(architecture);
  for (const auto& [beginning, heads] : kHeads) {
    if (!architecture.starts_with(beginning)) continue;
    config.values["heads"] = heads;
    break;
  }
  const bool clip = architecture.find("_clip_") != std::string_view::npos;
  config.values["norm_eps"] = clip ? "1e-5" : "1e-6";
  if (architecture.find("quickgelu") != std::string_view::npos) {
    config.values["activation"] = "quick_gelu";
  }
  for (const std::string_view beginning : kTanhs) {
    if (architecture.starts_with(beginning)) config.values["activation"] = "gelu_tanh";
  }
}

/// Prefixes of common architectures with parts that are not supported.
constexpr std::pair<std::string_view, std::string_view> kOtherTimmKinds[] = {
    {"xcit_", "attention between channels, not between tokens"},
    {"swinv2_", "cosines of queries and keys, and position biases from a network"},
    {"maxvit", "windows and grids between convolutions"},
};

/// Description of a known architecture: ": attention between channels"; otherwise empty.
std::string what_it_is(std::string_view architecture) {
  for (const auto& [beginning, what] : kOtherTimmKinds) {
    if (architecture.starts_with(beginning)) return ": " + std::string(what);
  }
  return {};
}

/// Families of an architecture; empty if not supported.
std::vector<std::string_view> families_of_timm(std::string_view architecture) {
  if (architecture.starts_with("pvt_v2_")) return {"timm PVTv2", "PVTv2"};
  if (architecture.starts_with("twins_svt_")) return {"Twins"};
  if (architecture.starts_with("swin_")) return {"timm Swin", "Swin"};
  if (architecture.starts_with("cait_")) return {"CaiT"};
  if (architecture.starts_with("samvit_")) return {"timm SAM"};
  for (const std::string_view beginning : {"beit_", "beitv2_", "eva_giant_"}) {
    if (architecture.starts_with(beginning)) return {"timm BEiT"};
  }
  // The largest model has its norms in different places.
  const bool enormous = architecture.starts_with("eva02_enormous");
  if (architecture.starts_with("eva02_") && !enormous) return {"timm EVA-02"};
  const bool of_eva = architecture.find("_rope_reg") != std::string_view::npos;
  if (architecture.starts_with("vit_") && of_eva) return {kRotaryVit};
  for (const std::string_view beginning : kVits) {
    if (architecture.starts_with(beginning)) return {"timm ViT", "DINOv2"};
  }
  return {};
}

}  // namespace

void read_timm_architecture(const std::string& architecture, NeighbourConfig& config) {
  config.kind = architecture;
  config.families = families_of_timm(config.kind);
  if (config.families.empty()) {
    throw Error(ErrorKind::unsupported,
                "this timm architecture is not supported" + what_it_is(config.kind))
        .about("architecture")
        .expected(
            "vit_…, deit_…, deit3_…, flexivit_…, beit_…, beitv2_…, eva_giant_…, eva02_…, swin_…, "
            "cait_…, samvit_…, pvt_v2_… or twins_svt_…")
        .found(config.kind)
        .remedy(
            "give an architecture description, or --option ignore=config if it is not of this "
            "file");
  }
  if (config.families.front() == "timm ViT") read_vit(config.kind, config);
}

}  // namespace attnscope
