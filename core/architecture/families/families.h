// The built-in families, each in its own file, as JSON a user could have written.
#pragma once

#include <string_view>

namespace attnscope {

extern const std::string_view own_family;
extern const std::string_view timm_family;
extern const std::string_view dinov2_family;
extern const std::string_view hugging_face_vit_family;
extern const std::string_view hugging_face_dinov2_family;
extern const std::string_view hugging_face_deit_family;
extern const std::string_view transformer_lens_family;
extern const std::string_view jax_vit_family;
extern const std::string_view jax_vit_stacked_family;
extern const std::string_view torchvision_family;
extern const std::string_view torch_encoder_family;
extern const std::string_view vit_pytorch_family;
extern const std::string_view vit_pytorch_2021_family;
extern const std::string_view vit_pytorch_early_2021_family;
extern const std::string_view vit_pytorch_2020_family;
extern const std::string_view vit_pytorch_autumn_2020_family;
extern const std::string_view vit_pytorch_october_2020_family;
extern const std::string_view vit_pytorch_first_2020_family;
extern const std::string_view aft_pytorch_vit_family;
extern const std::string_view labml_vit_family;
extern const std::string_view labml_aft_family;
extern const std::string_view fastformer_family;
extern const std::string_view fastformer_lm_family;
extern const std::string_view hugging_face_gpt2_family;
extern const std::string_view min_gpt_family;
extern const std::string_view min_gpt_2020_family;
extern const std::string_view pvt_v2_family;
extern const std::string_view timm_pvt_v2_family;
extern const std::string_view twins_family;
extern const std::string_view swin_family;
extern const std::string_view timm_swin_family;
extern const std::string_view hugging_face_swin_family;
extern const std::string_view lecture_gpt_family;
extern const std::string_view hugging_face_llama_family;
extern const std::string_view meta_llama_family;
extern const std::string_view hugging_face_qwen3_family;
extern const std::string_view hugging_face_gemma_family;
extern const std::string_view hugging_face_gemma2_family;
extern const std::string_view hugging_face_gemma3_family;
extern const std::string_view hugging_face_phi_family;
extern const std::string_view hugging_face_phi3_family;
extern const std::string_view hugging_face_gpt_neox_family;
extern const std::string_view hugging_face_gptj_family;
extern const std::string_view hugging_face_opt_family;
extern const std::string_view hugging_face_bloom_family;
extern const std::string_view hugging_face_olmo2_family;
extern const std::string_view hugging_face_bert_family;
extern const std::string_view hugging_face_roberta_family;
extern const std::string_view hugging_face_mpnet_family;
extern const std::string_view hugging_face_distilbert_family;
extern const std::string_view hugging_face_electra_family;
extern const std::string_view hugging_face_albert_family;
extern const std::string_view hugging_face_modernbert_family;
extern const std::string_view hugging_face_modernbert_classifier_family;
extern const std::string_view hugging_face_deberta_v2_family;
extern const std::string_view hugging_face_t5_encoder_family;
extern const std::string_view gguf_family;
extern const std::string_view dinov3_family;
extern const std::string_view hugging_face_dinov3_family;
extern const std::string_view clip_family;
extern const std::string_view clip_text_family;
extern const std::string_view hugging_face_clip_family;
extern const std::string_view hugging_face_clip_text_family;
extern const std::string_view hugging_face_siglip_family;
extern const std::string_view hugging_face_siglip_text_family;
extern const std::string_view timm_beit_family;
extern const std::string_view hugging_face_beit_family;
extern const std::string_view hugging_face_beit_class_family;
extern const std::string_view timm_eva02_family;
extern const std::string_view timm_rope_vit_family;

}  // namespace attnscope
