// Configuration keys of Whisper, whose encoder is run.
#include "core/architecture/configuration/hugging_face/model_type.h"

namespace attnscope {

namespace {

using Use = KeyUse;

constexpr ConfigKey kWhisperKeys[] = {
    {"encoder_attention_heads", Use::member, "heads"},
    {"activation_function", Use::activation},
    {"d_model", Use::fact, "width"},
    {"encoder_layers", Use::fact, "layers"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"encoder_ffn_dim", Use::fact, "mlp_width"},
    {"num_mel_bins", Use::fact, "channels"},
    {"max_source_positions", Use::fact, "context"},
    // Keys of the decoder, of training, and of classifiers:
    {"decoder_*"},
    {"encoder_layerdrop"},
    {"vocab_size"},
    {"max_target_positions"},
    {"scale_embedding"},
    {"forced_decoder_ids"},
    {"is_encoder_decoder"},
    {"init_std"},
    {"apply_spec_augment"},
    {"mask_*"},
    {"median_filter_width"},
    {"classifier_proj_size"},
    {"use_weighted_layer_sum"},
};

void read_whisper(ConfigReader&, NeighbourConfig& config) {
  config.values.erase("labels");  // labels of a classifier, which is not supported
  config.classes = -1;
}

constexpr ModelType kWhisperTypes[] = {
    {"whisper", "hugging-face-whisper-encoder", kWhisperKeys, read_whisper}};

}  // namespace

std::span<const ModelType> whisper_model_types() { return kWhisperTypes; }

}  // namespace attnscope
