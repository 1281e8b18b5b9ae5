// Rules of configurations that are not data: settings that depend on more than one key, and what
// several kinds share. Data name the rules of rules.cpp.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/architecture/configuration/config_reader.h"

namespace attnscope {

// Rules that each read settings of one kind, or of a few. All throw Error(damaged) for a value of
// the wrong type and Error(unsupported) for one that is not supported.

/// BEiT: reads the tokens of the read-out, which determine the position of the norm.
void read_beit_readout(ConfigReader& reader, NeighbourConfig& config);
/// SAM: reads windows, which all layers have except for those in a list.
void read_sam_windows(ConfigReader& reader, NeighbourConfig& config);
/// CLIP's text tower: configurations before July 2023 give the wrong eos_token_id 2; the largest id
/// is read instead.
void read_end_token(ConfigReader& reader, NeighbourConfig& config);
/// SigLIP's text tower: the tokenizer's padding token takes precedence over this one.
void read_padding(ConfigReader& reader, NeighbourConfig& config);
/// RoBERTa: positions are counted from the padding token's id + 1, and that token is never read.
void read_positions_after_padding(ConfigReader& reader, NeighbourConfig& config);
/// MPNet: reads the context. The padding token is 1 regardless of pad_token_id.
void read_mpnet_context(ConfigReader& reader, NeighbourConfig& config);
/// ModernBERT: reads the kind of head, which only the model's class shows.
void read_classifier_pooling(ConfigReader& reader, NeighbourConfig& config);
/// Gemma: hidden_act is used if hidden_activation is missing; versions of transformers differ on
/// "gelu", which early ones read as the tanh form.
void read_gemma_activation(ConfigReader& reader, NeighbourConfig& config);
/// Gemma 2: reads the divisor of the scores, √query_pre_attn_scalar instead of √d.
void read_query_scale(ConfigReader& reader, NeighbourConfig& config);
/// DiffLlama: two heads of queries, keys and values are one of differential attention.
void read_heads_in_pairs(ConfigReader& reader, NeighbourConfig& config);
/// Qwen3.5: layers with a gated delta rule, except for every full_attention_interval-th or those in
/// layer_types, which have softmax attention with heads of their own.
void read_linear_layers(ConfigReader& reader, NeighbourConfig& config);
/// Qwen2.5-VL's image tower: layers with windows of whole squares of patches, cut at the edges.
void read_tiles_that_are_cut(ConfigReader& reader, NeighbourConfig& config);
/// Gemma 3 with an image tower: a picture's tokens see each other in the language model.
void read_picture_in_text(ConfigReader& reader, NeighbourConfig& config);
/// Nomic's BERT: reads the activation of gated MLPs and rotary positions.
void read_nomic(ConfigReader& reader, NeighbourConfig& config);
/// DeBERTa: each relative position up to the given distance has its own embedding.
void read_deberta(ConfigReader& reader, NeighbourConfig& config);
/// DeBERTa v2 and v3: buckets of relative positions, and a convolution in large models.
void read_deberta_v2(ConfigReader& reader, NeighbourConfig& config);
/// T5: reads forms of the MLP such as "gated-gelu", and adds the decoder.
void read_t5(ConfigReader& reader, NeighbourConfig& config);
/// BART and its relatives: layers and sizes of encoder and decoder. The kind sets the position of
/// the norms; normalize_before must agree.
void read_encoder_and_decoder(ConfigReader& reader, NeighbourConfig& config);
/// Marian: reads the decoder's vocabulary, which may have its own table.
void read_decoder_vocabulary(ConfigReader& reader, NeighbourConfig& config);
/// Mamba-2: steps without limits, and one group of queries and keys.
void read_mamba2(ConfigReader& reader, NeighbourConfig& config);
/// GPT-Neo: local layers have windows.
void read_global_and_local(ConfigReader& reader, NeighbourConfig& config);
/// Falcon: the number of key heads, and whether attention and MLP are parallel.
void read_falcon(ConfigReader& reader, NeighbourConfig& config);
/// Granite: factors of embeddings, scores and branches, and the divisor of the logits.
void read_multipliers(ConfigReader& reader, NeighbourConfig& config);
/// ESM-2: the mask token, whose embedding is 0 if token_dropout is set, and a table of positions
/// that models with rotary positions store and do not use.
void read_esm(ConfigReader& reader, NeighbourConfig& config);
/// Mistral, Phi-3: every layer has a sliding window.
void read_window(ConfigReader& reader, NeighbourConfig& config);
/// Gemma 2: even layers have sliding windows.
void read_even_windows(ConfigReader& reader, NeighbourConfig& config);
/// Qwen: layers from max_window_layers on may have sliding windows.
void read_last_windows(ConfigReader& reader, NeighbourConfig& config);

/// Qwen3's mixtures of experts: layers with one MLP are those of mlp_only_layers, and all but every
/// decoder_sparse_step-th; every layer has a window if use_sliding_window.
void read_sparse_layers(ConfigReader& reader, NeighbourConfig& config);

/// Qwen3-Next: the same layers with one MLP, next to other differences.
void read_plain_layers(ConfigReader& reader, NeighbourConfig& config);
/// DeepSeek: the first first_k_dense_replace layers have one MLP; experts that all tokens share are
/// one MLP in the others; num_nextn_predict_layers are not run.
void read_first_layers(ConfigReader& reader, NeighbourConfig& config);
/// DeepSeek: reads the groups of experts, according to topk_method.
void read_expert_groups(ConfigReader& reader, NeighbourConfig& config);
/// DeepSeek: reads widths of heads whose keys and values are computed from latents, and the scale
/// of scores, d^−1/2 times the square of YaRN's factor for mscale_all_dim.
void read_latent_heads(ConfigReader& reader, NeighbourConfig& config);
/// Accepts the quantised weights that are read: MXFP4, and FP8 with a factor for 128 × 128 numbers.
void read_quantisation(ConfigReader& reader, NeighbourConfig& config);

/// YaRN's factor 0.1 · scale · ln(factor) + 1, or 1 for a factor of at most 1 (Peng et al. 2023).
[[nodiscard]] double yarn_amplitude(double factor, double scale);

/// Whole number above 0 under `key`; 0 if missing or null. Throws Error(damaged).
[[nodiscard]] std::int64_t take_positive(ConfigReader& reader, const char* key);

/// Reads decoder_start_token_id, the first token of a text in the decoder of an encoder–decoder.
/// Throws Error(damaged).
void read_start_token(ConfigReader& reader, NeighbourConfig& config);

/// Reads rotary positions: rope_theta, rope_scaling, rope_parameters, partial_rotary_factor, and
/// max_position_embeddings, which is the context except with dynamic scaling. Throws
/// Error(unsupported) for a scaling that is not supported, Error(damaged) for a scaling that lacks
/// a number.
void read_rotary(ConfigReader& reader, NeighbourConfig& config, const RotaryKeys& keys);

/// Reads rope_scaling or rope_parameters, found under the key `of`. `context` and `trained` are
/// max_position_embeddings and original_max_position_embeddings, or null. Throws like read_rotary.
void read_rope_scaling(const nlohmann::json& scaling, const char* of, const nlohmann::json& context,
                       const nlohmann::json& trained, NeighbourConfig& config);

/// Sets `differences`, layer.rotary and the context of a model that mixes layers with and without
/// windows; members of missing keys are not set. Throws Error(damaged) if the number of layers is
/// missing, Error(unsupported) for kinds of layers and of rotary positions that are not supported.
void read_local_layers(ConfigReader& reader, NeighbourConfig& config, const LocalLayers& keys);

}  // namespace attnscope
