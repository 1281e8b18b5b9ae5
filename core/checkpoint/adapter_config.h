// Reader of PEFT's adapter_config.json. Every key that changes the computation is read or refused.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace attnscope {

struct AdapterConfig {
  std::string base;                             ///< base_model_name_or_path
  double rank = 0, alpha = 0;                   ///< r, lora_alpha
  bool root_of_rank = false;                    ///< use_rslora
  bool fan_in_fan_out = false;                  ///< base weights are stored [in, out]
  std::map<std::string, double> ranks, alphas;  ///< rank_pattern, alpha_pattern

  /// Rank of the module with this name ("model.layers.0.self_attn.q_proj"). Throws
  /// Error(unsupported) if several patterns fit and disagree.
  [[nodiscard]] double rank_of(std::string_view module) const;
  /// Factor of B A for the module with this name.
  [[nodiscard]] double scale_of(std::string_view module) const;
};

/// Reads the file. Throws Error(io, damaged), and Error(unsupported) naming a key that is neither
/// supported nor disabled (null, false, empty).
[[nodiscard]] AdapterConfig read_adapter_config(const std::filesystem::path& file);

}  // namespace attnscope
