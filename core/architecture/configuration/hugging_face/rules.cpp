// Names of the rules by which the data call them.
#include "core/architecture/configuration/hugging_face/rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/name_list.h"

namespace attnscope {

namespace {

struct NamedRule {
  std::string_view name;
  ConfigRule read;
};
constexpr NamedRule kConfigRules[] = {
    {"beit_readout", read_beit_readout},
    {"classifier_pooling", read_classifier_pooling},
    {"deberta", read_deberta},
    {"deberta_v2", read_deberta_v2},
    {"decoder_vocabulary", read_decoder_vocabulary},
    {"encoder_and_decoder", read_encoder_and_decoder},
    {"end_token", read_end_token},
    {"even_windows", read_even_windows},
    {"esm", read_esm},
    {"falcon", read_falcon},
    {"expert_groups", read_expert_groups},
    {"first_layers", read_first_layers},
    {"gemma_activation", read_gemma_activation},
    {"global_and_local", read_global_and_local},
    {"heads_in_pairs", read_heads_in_pairs},
    {"last_windows", read_last_windows},
    {"latent_heads", read_latent_heads},
    {"linear_layers", read_linear_layers},
    {"mamba2", read_mamba2},
    {"mpnet_context", read_mpnet_context},
    {"multipliers", read_multipliers},
    {"nomic", read_nomic},
    {"padding", read_padding},
    {"picture_in_text", read_picture_in_text},
    {"plain_layers", read_plain_layers},
    {"positions_after_padding", read_positions_after_padding},
    {"quantisation", read_quantisation},
    {"query_scale", read_query_scale},
    {"sam_windows", read_sam_windows},
    {"sparse_layers", read_sparse_layers},
    {"t5", read_t5},
    {"tiles_that_are_cut", read_tiles_that_are_cut},
    {"trained_grid", read_trained_grid},
    {"window", read_window},
};

}  // namespace

ConfigRule find_config_rule(std::string_view name) {
  const auto found = std::ranges::find(kConfigRules, name, &NamedRule::name);
  return found == std::end(kConfigRules) ? nullptr : found->read;
}

std::string config_rule_names() { return name_list(kConfigRules, &NamedRule::name); }

}  // namespace attnscope
