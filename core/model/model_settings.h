// Settings that may follow a model's name: MODEL@MECHANISM,KEY=VALUE,…
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attnscope {

/// Settings of one model. Empty members: not given.
struct ModelSettings {
  std::string mechanism;                       ///< laid over the model; empty: the model's own
  std::vector<std::string> settings;           ///< "parameter=value" of the mechanism
  std::string channel;                         ///< "3", "mean"
  std::string architecture;                    ///< a JSON architecture description
  std::string model_heads;                     ///< number of heads in each block
  std::map<std::string, std::string> options;  ///< members of ModelSpec, from "option.KEY=VALUE"
};

/// The settings in "MECHANISM,KEY=VALUE,…". A KEY is channel, architecture, model-heads,
/// option.MEMBER, or a parameter of the mechanism. Throws Error(usage) for another form.
[[nodiscard]] ModelSettings split_model_settings(const std::string& text);

/// True for the name of a mechanism, and for an empty word, which stands for the model's own.
[[nodiscard]] bool names_mechanism(const std::string& word);

/// Index of the '@' in MODEL@MECHANISM,…; npos if no mechanism's name, comma or end follows the
/// last one, as in "me@home/model.h5".
[[nodiscard]] std::size_t settings_begin(const std::string& text);

/// KEY and VALUE of "KEY=VALUE". Throws Error(usage) about `subject` for another form.
[[nodiscard]] std::pair<std::string, std::string> split_setting(const std::string& text,
                                                                const char* subject);

/// The channel's index, or nullopt for "mean". Throws Error(usage).
[[nodiscard]] std::optional<std::int64_t> parse_channel(const std::string& text);

}  // namespace attnscope
