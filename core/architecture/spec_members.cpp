#include "core/architecture/spec_members.h"

#include <algorithm>

#include "core/text/name_list.h"

namespace attnscope {

namespace {

// A member's path has the same spelling in C++ and in JSON.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define MEMBER(name, path, explanation)                                               \
  SpecMember {                                                                        \
    name, #path, [](ModelSpec& spec) -> AnyMember { return &spec.path; }, explanation \
  }
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define NEW_MEMBER(path, explanation) MEMBER(#path, path, explanation)

}  // namespace

const std::vector<SpecMember>& spec_members() {
  static const std::vector<SpecMember> list = {
      MEMBER("width", width, "D, width of a token"),
      MEMBER("layers", layers, "number of blocks"),
      NEW_MEMBER(stored_layers,
                 "number of blocks in the file if each is run several times; 0: each is run once"),
      NEW_MEMBER(input.kind,
                 "input: patches of an image, tokens of a text, given embeddings, or the stages of "
                 "a pyramid"),
      NEW_MEMBER(input.width,
                 "width of embeddings that are projected to the width of the model; 0: none are"),
      MEMBER("channels", input.channels, "channels of the image"),
      MEMBER("image_height", input.image_height,
             "pixels; positions are interpolated if it differs"),
      MEMBER("image_width", input.image_width, "pixels; positions are interpolated if it differs"),
      NEW_MEMBER(input.stem.widths, "channels of the convolutions before the patches (the stem)"),
      NEW_MEMBER(input.stem.kernels, "sides of the kernels of the stem"),
      NEW_MEMBER(input.stem.strides,
                 "strides of the stem, in pixels or cells of the previous convolution"),
      NEW_MEMBER(input.stem.paddings, "zero padding of each convolution of the stem"),
      NEW_MEMBER(input.stem.activation,
                 "activation after each convolution of the stem and its norm"),
      NEW_MEMBER(input.stem.norm_eps, "epsilon of the norms in the stem"),
      MEMBER("patch_height", input.patch_height, "pixels; 0 for an encoder of given tokens"),
      MEMBER("patch_width", input.patch_width, "pixels; 0 for an encoder of given tokens"),
      MEMBER("patch_stride", input.patch_stride,
             "pixels from patch to patch; 0: the patches tile the image"),
      MEMBER("patch_padding", input.patch_padding, "zeros around the image, in pixels"),
      MEMBER("patch_order", input.patch_order, "order of the values in a flattened patch"),
      MEMBER("class_tokens", input.class_tokens,
             "number of class tokens, the first tokens: 0, 1, or 2 (distilled)"),
      MEMBER("register_tokens", input.register_tokens,
             "number of tokens between the class token and the patches"),
      MEMBER("input_mean", input.mean, "subtracted from pixels in [0, 1], per channel"),
      MEMBER("input_std", input.std, "pixels are divided by it, per channel"),
      MEMBER("resize_mode", input.resize_mode, "how an image is resized to the model's size"),
      MEMBER("resize_filter", input.resize_filter, "filter of the resizing, antialiased"),
      MEMBER("crop_fraction", input.crop_fraction,
             "fraction of the resized image that the centre crop keeps"),
      MEMBER("longest_edge", input.longest_edge,
             "pixels of an image's longer side, to which it is resized first; 0: not"),
      MEMBER("tiles", input.tiles,
             "a picture in a text is cut into tiles of the model's size, which it reads before the "
             "whole"),
      MEMBER("most_pixels", input.most_pixels,
             "most pixels of an image, which nearly keeps its aspect ratio; 0: all images have the "
             "model's size"),
      MEMBER("least_pixels", input.least_pixels, "fewest pixels of an image, with most_pixels"),
      MEMBER("size_step", input.size_step,
             "pixels of which the sides of an image are multiples, with most_pixels"),
      MEMBER("frames", input.frames, "number of equal frames that an image is given as"),
      MEMBER("embedding_norm_eps", input.norm_eps,
             "epsilon of the LayerNorms of a pyramid's embeddings and reductions"),
      MEMBER("vocabulary", input.vocabulary,
             "number of tokens in the vocabulary of a model of texts"),
      MEMBER("context", input.context, "greatest number of tokens in a text; 0: any number"),
      NEW_MEMBER(input.token_types,
                 "number of token types, as of a first and a second text; 0: none"),
      MEMBER("embedding_scale", input.scale, "factor of the token embeddings; 0: √width"),
      MEMBER("padding", input.padding, "id of the padding token, which is left out; -1: none"),
      NEW_MEMBER(input.dropped_token,
                 "id of the mask token whose embedding is 0, while the others are scaled by 0.88 / "
                 "(1 − its share), as in ESM; -1: none"),
      NEW_MEMBER(input.pads_to_context,
                 "texts are padded to the context, and all layers see the padding"),
      MEMBER("tokenizer", input.tokenizer, "how a text becomes tokens"),
      MEMBER("positions", positions.kind, "position embeddings that are added to tokens"),
      NEW_MEMBER(positions.sinusoid_order,
                 "sines and cosines in turn, or in two halves, as Marian or to the end as fairseq"),
      NEW_MEMBER(positions.offset, "position of the first token"),
      MEMBER("position_resize", positions.resize, "how positions are resized to another grid"),
      NEW_MEMBER(positions.table_resize,
                 "how tables of relative positions are resized to another grid"),
      MEMBER("layer_form", layer.form, "form of a layer around its attention"),
      NEW_MEMBER(layer.residual, "whether the MLP reads what the attention added"),
      NEW_MEMBER(layer.residual_scale, "α of α·x + f(x), as in DeepNorm"),
      NEW_MEMBER(layer.branch_scale, "β of x + β·f(x), as in Granite"),
      MEMBER("norm", layer.norm.kind,
             "how tokens are normalised: LayerNorm (layer) or by their RMS (rms; rms_plus_one "
             "with 1 + weight)"),
      MEMBER("norm_position", layer.norm.position,
             "norms before each part (pre), after its residual (post), around it (sandwich), or "
             "after it before the residual (branch)"),
      MEMBER("norm_eps", layer.norm.eps, "added to the variance, or to the mean square, of a norm"),
      NEW_MEMBER(layer.attention.of, "tokens that a layer's queries attend to"),
      MEMBER("heads", layer.attention.heads, "H, number of heads of each block"),
      NEW_MEMBER(layer.attention.key_heads,
                 "number of heads of keys and values; 0: as many as of queries"),
      MEMBER("head_width", layer.attention.head_width, "d, width of a head; 0: width / heads"),
      NEW_MEMBER(layer.attention.head_split,
                 "order of the rows of the projections: head by head (h d), channel by channel (d "
                 "h), or the latter only for queries, keys and values"),
      NEW_MEMBER(layer.attention.cosine,
                 "queries and keys of each head are normalised to length 1"),
      NEW_MEMBER(layer.attention.value_width, "dv, width of a head's values; 0: d"),
      NEW_MEMBER(layer.attention.query_heads,
                 "number of stored heads of queries and keys, if several heads of values share "
                 "them; 0: one for each"),
      NEW_MEMBER(layer.attention.halves,
                 "the projections hold the first halves of all heads, then the second, and each "
                 "half is rotated by itself"),
      NEW_MEMBER(layer.attention.latent_width,
                 "r, width of the latent of keys and values; 0: they are of the tokens"),
      NEW_MEMBER(layer.attention.query_latent_width,
                 "r′, width of the latent of queries; 0: they are of the tokens"),
      NEW_MEMBER(layer.attention.heads_norm,
                 "norm of the heads' output: over all heads, of each head, or times 1 − λ₀ of "
                 "differential attention"),
      NEW_MEMBER(layer.attention.gate, "gate of the heads' output, from the layer's input"),
      NEW_MEMBER(layer.attention.decay, "decays of a recurrent mechanism, from the layer's input"),
      NEW_MEMBER(layer.attention.decay_divisor, "divisor of ln σ in decays of log_sigmoid"),
      NEW_MEMBER(layer.rotary.form, "channels of queries and keys that are rotated together"),
      NEW_MEMBER(layer.rotary.grid,
                 "position of rotary angles: the token's, or its patch's row and column, in [−1, "
                 "1] (patches) or from 0 (cells)"),
      NEW_MEMBER(layer.rotary.theta, "θ: channel pair i is rotated by position · θ^(−2i/r)"),
      NEW_MEMBER(layer.rotary.width, "r, number of rotated channels of a head; 0: all"),
      NEW_MEMBER(layer.rotary.trained_side,
                 "cells: patches along a side of the grid in training; 0: as in this model"),
      NEW_MEMBER(layer.rotary.scaling, "scaling of the angles to longer texts"),
      NEW_MEMBER(layer.rotary.factor, "factor of the scaling"),
      NEW_MEMBER(layer.rotary.trained_context, "number of tokens of the texts before the scaling"),
      NEW_MEMBER(layer.rotary.low_frequency, "llama3: frequency below which angles are divided"),
      NEW_MEMBER(layer.rotary.high_frequency, "llama3: frequency above which angles are kept"),
      NEW_MEMBER(layer.rotary.beta_fast, "yarn: turns above which angles are kept"),
      NEW_MEMBER(layer.rotary.beta_slow, "yarn: turns below which angles are divided"),
      NEW_MEMBER(layer.rotary.whole_pairs,
                 "yarn: the range between beta_fast and beta_slow ends at whole pairs"),
      NEW_MEMBER(layer.rotary.attention_factor,
                 "yarn, longrope: factor of cosines and sines; 0: default"),
      NEW_MEMBER(layer.rotary.short_factors, "longrope: divisors of the angles"),
      NEW_MEMBER(layer.rotary.long_factors, "longrope: divisors in texts beyond trained_context"),
      NEW_MEMBER(
          layer.rotary.sections,
          "channel pairs that turn by time, row and column in a picture within a text; none: "
          "all turn by the place in the text"),
      NEW_MEMBER(layer.rotary.sections_in_turns, "the pairs of the sections take turns"),
      MEMBER("scale", layer.scores.scale,
             "factor of the scores q·k: head_width^-1/2, width^-1/2, none (1) or a number"),
      MEMBER("scale_by_layer", layer.scores.scale_by_layer,
             "scores are divided by the layer's number, from 1"),
      NEW_MEMBER(layer.scores.soft_cap, "c: scores become c·tanh(score/c); 0: none"),
      NEW_MEMBER(layer.scores.causal, "tokens attend only to themselves and earlier tokens"),
      NEW_MEMBER(layer.scores.picture_both_ways,
                 "tokens of a picture in a causal text attend to all of the picture"),
      NEW_MEMBER(layer.scores.window, "W, number of keys that a query sees; 0: all"),
      NEW_MEMBER(layer.scores.window_form,
                 "keys in the window: the last W (before), W/2 on both sides (around), or those of "
                 "its chunk of W (chunk)"),
      NEW_MEMBER(
          layer.scores.window_filling,
          "when Swin's grids are padded with zeros to whole windows: before_shift or after_shift; "
          "cut: tiles at the last edges are smaller"),
      NEW_MEMBER(layer.scores.bias, "bias of the scores by the positions of query and key"),
      NEW_MEMBER(layer.scores.buckets, "number of buckets of distances, if biases have buckets"),
      NEW_MEMBER(layer.scores.bucket_distance, "distance from which all are in the last bucket"),
      NEW_MEMBER(layer.scores.alibi_maximum, "m of head h is 2^(−maximum·h/H)"),
      MEMBER("mlp_form", layer.mlp.form,
             "form of the MLP: plain, or with a gate on the hidden layer"),
      MEMBER("mlp_width", layer.mlp.width, "width of the hidden layer of each block's MLP"),
      MEMBER("activation", layer.mlp.activation, "activation of the MLP"),
      NEW_MEMBER(layer.mlp.clip,
                 "c: the gate is at most c, and 1 + the hidden layer from −c to c replaces it; 0: "
                 "neither"),
      NEW_MEMBER(layer.mlp.experts,
                 "number of MLPs of which a router chooses some for each token; 0: one MLP"),
      NEW_MEMBER(layer.mlp.active_experts, "k, number of experts that a token passes through"),
      NEW_MEMBER(layer.mlp.sums_to_one,
                 "the weights of a token's experts are divided by their sum"),
      NEW_MEMBER(layer.mlp.expert_score, "scores of experts, from the router's logits"),
      NEW_MEMBER(layer.mlp.expert_scale, "factor of the weights of a token's experts"),
      NEW_MEMBER(layer.mlp.expert_groups, "number of groups of experts"),
      NEW_MEMBER(layer.mlp.active_groups, "number of groups from which a token's experts come"),
      NEW_MEMBER(layer.mlp.group_best, "number of best scores of a group whose sum ranks it"),
      NEW_MEMBER(layer.mlp.shared_width,
                 "width of an MLP next to the experts, for all tokens; 0: none"),
      NEW_MEMBER(layer.mlp.alternating,
                 "gates and hidden layers of experts alternate in the rows of their weight"),
      MEMBER("importance_scale", layer.importance_scale, "greatest logit of fastformer_rescaled"),
      NEW_MEMBER(differences, "layers that differ, as JSON"),
      NEW_MEMBER(tail.kind, "layers with other names that come after the others"),
      NEW_MEMBER(tail.blocks, "number of blocks in the tail; each of a decoder is two layers"),
      NEW_MEMBER(tail.heads, "number of heads in the tail's layers; 0: as in the others"),
      NEW_MEMBER(tail.mlp_width, "hidden channels of the tail's MLPs; 0: as in the others"),
      NEW_MEMBER(tail.vocabulary, "number of tokens in a decoder's vocabulary; 0: as the encoder"),
      NEW_MEMBER(tail.context, "greatest number of tokens in a decoder's text; 0: any number"),
      NEW_MEMBER(tail.start_token,
                 "id of the token that a decoder's texts begin with; -1: not known"),
      MEMBER("arithmetic", arithmetic, "arithmetic of the linear layers"),
      MEMBER("final_norm", readout.final_norm, "a norm after the last block"),
      MEMBER("readout", readout.kind, "tokens that the head reads"),
      NEW_MEMBER(readout.end_token,
                 "id of the end token, at which a text is read; -1: the greatest id in the text"),
      MEMBER("head_activation", readout.head_activation,
             "activation between the layers of a deep head"),
      MEMBER("logit_scale", readout.logit_scale,
             "factor of a language model's logits; 0: 1/√width"),
      NEW_MEMBER(readout.soft_cap, "c: logits become c·tanh(logit/c); 0: none"),
      MEMBER("mechanism", mechanism, "mechanism in training"),
      MEMBER("layer_mechanisms", layer_mechanisms,
             "mechanism of each layer if they differ, as JSON"),
      MEMBER("multiplicative_layers", multiplicative_layers,
             "adder arithmetic: layers whose linear layers stay multiplicative"),
      MEMBER("stages", stages, "stages of a pyramid, as JSON"),
      MEMBER("labels", labels, "names of the classes; in a language model, text of each token"),
  };
  return list;
}

#undef NEW_MEMBER
#undef MEMBER

const SpecMember* find_spec_member(std::string_view name_or_path) {
  const auto& list = spec_members();
  const auto found = std::find_if(list.begin(), list.end(), [&](const SpecMember& member) {
    return member.name == name_or_path || member.path == name_or_path;
  });
  return found == list.end() ? nullptr : &*found;
}

std::string spec_member_names() { return name_list(spec_members(), &SpecMember::name); }

}  // namespace attnscope
