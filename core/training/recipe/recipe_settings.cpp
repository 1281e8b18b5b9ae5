// The keys of a recipe, with their help texts, ranges and defaults.
#include <string>
#include <vector>

#include "core/text/name_list.h"
#include "core/training/recipe/recipe.h"

namespace attnscope {

namespace {

template <class Enum, std::size_t n>
std::vector<std::string> spellings(const EnumName<Enum> (&names)[n]) {
  std::vector<std::string> list;
  for (const EnumName<Enum>& one : names) list.emplace_back(one.name);
  return list;
}

std::vector<ParameterDescription> data_settings() {
  using namespace setting;
  return {
      text("dataset", "",
           "training data: IDX images, class folders of images or texts, NPZ or HDF5 with images "
           "and labels, a table of texts and labels (.tsv, .csv), or a text file; a folder of IDX "
           "files stands for its train-… files"),
      text("test_dataset", "",
           "test data; empty: t10k-… next to train-…, the last tenth of a text, every tenth of "
           "texts with classes"),
      whole("items", 0, {0, 1e9}, "number of training images or texts, from the first; 0: all"),
      whole("test_items", 0, {0, 1e9}, "number of test images, texts or chunks; 0: all"),
      text("labels", "",
           "names of the classes in the order of their numbers, with commas between, or MNIST, "
           "Fashion-MNIST, CIFAR-10, CIFAR-100 or ImageNet-1k; empty: the data set's, or numbers"),
      whole("shift", 0, {0, 64}, "greatest shift of an image to each side, in pixels"),
      flag("flip", false, "every other image is mirrored"),
      number("crop", 1, {0.01, 1},
             "squares of at least this share of an image's area fill all of it; 1: never"),
      whole("random_augment", 0, {0, 16}, "operations of RandAugment on each image; 0: none"),
      whole("random_augment_magnitude", 9, {0, 30}, "magnitude of RandAugment's operations"),
      number("random_erasing", 0, {0, 1}, "share of the images with an erased box; 0: none"),
      choice("random_erasing_fill", spellings(erased_fill_names), "noise",
             "content of erased boxes: normal noise in each pixel and channel, or the mean of the "
             "pixels"),
      whole("repeated_augmentation", 1, {1, 64},
            "examples of each image in a row, each varied anew; an epoch then has fewer images"),
      number("mixup", 0, {0, 4},
             "α of Beta(α, α), the share of an image that is mixed with another; 0: never"),
      number("cutmix", 0, {0, 4},
             "α of Beta(α, α), the share of an image outside a box of another; 0: never"),
  };
}

std::vector<ParameterDescription> model_settings() {
  using namespace setting;
  return {
      whole("patch", 4, {1, 1024}, "side of a patch, in pixels"),
      whole("coarse_patch", 0, {0, 1024},
            "side of the patches at the start of the training, a multiple of `patch`; 0: none"),
      whole("context", 64, {2, 65536},
            "characters that a language model sees, and bytes that a classifier of texts sees"),
      whole("width", 48, {1, 16384}, "D, channels of a token"),
      whole("depth", 6, {1, 512}, "number of layers"),
      whole("model_heads", 3, {1, 512}, "H, a divisor of the width"),
      text("stages", "",
           "stages of a pyramid, DEPTHxWIDTHxHEADS with commas between, in place of depth, width "
           "and model_heads; four patches become one from stage to stage"),
      whole("mlp_width", 0, {0, 65536}, "hidden channels of the MLPs; 0: four times the width"),
      choice("readout", spellings(image_readout_names), "class",
             "tokens of an image that the head reads: the class token, or the mean of all patches"),
      choice("positions", spellings(image_position_names), "learned",
             "position embeddings of images: learned, or none"),
      text("mechanism", "softmax",
           name_list(trained_attentions(), &TrainedAttentionEntry::name) +
               ", with parameters: adder,identity=true; hash,codes=learned; "
               "daft-conv,full_keys=true,conv_heads=3"),
      choice("layer_form", spellings(layer_form_names), "transformer",
             "layers of a language model: fastformer for layers and read-out of Fastformer-LM, "
             "whose mechanism is additive"),
      text("windows", "",
           "number of last tokens that each layer pools, with commas between, in a language model "
           "with mechanism=additive,causal=true; 0: all"),
      text("from", "",
           "a model file whose tensors it begins with, by name and shape; empty: random values"),
      text("from_without", "",
           "parts that begin with random values nevertheless, with commas between: positions, "
           "class_token, queries, keys, head"),
      whole("code_updates", 2, {0, 1000},
            "number of times that hash,codes=learned learns its codes from the network's own "
            "attention, first before step 1; 0: they stay those of `from`"),
      whole("code_inputs", 8, {1, 1000}, "number of images that the codes are learned from"),
      whole("code_pairs", 10, {1, 1e6},
            "l, number of most and of least attended keys of each query that the codes are learned "
            "from; at most half of the tokens are taken"),
      choice("code_weights", spellings(code_weights_names), "learned",
             "weights A of the codes: learned from the attention, or random, drawn once (KLSH)"),
      flag("learnt_importances", false,
           "importances of additive attention from the products of a vector per head with the "
           "keys, instead of from the first token's query"),
      choice(
          "arithmetic", spellings(arithmetic_names), "multiplicative",
          "arithmetic of the linear layers inside the blocks; each adder layer takes a LayerNorm"),
      text("multiplicative_layers", "",
           "blocks that stay multiplicative in adder arithmetic, with softmax for adder: 0,5"),
      choice(
          "score_gradient", spellings(difference_gradient_names), "sign",
          "gradient of adder attention with respect to queries and keys (Adder, Eq. 23, Table 3)"),
      choice("input_gradient", spellings(difference_gradient_names), "hard_tanh",
             "gradient of adder layers with respect to their inputs (Adder, Eq. 6, Table 3)"),
      choice("weight_gradient", spellings(difference_gradient_names), "full",
             "gradient of adder layers with respect to their weights (Adder, Eq. 5)"),
  };
}

std::vector<ParameterDescription> descent_settings() {
  using namespace setting;
  return {
      whole("steps", 1000, {1, 1e9}, "number of steps of the whole run"),
      whole("coarse_steps", 0, {0, 1e9}, "number of first steps on coarse patches"),
      whole("batch", 64, {1, 65536}, "examples per step"),
      choice("optimiser", spellings(optimiser_kind_names), "adamw",
             "update rule: AdamW, or stochastic gradient descent"),
      number("rate", 2e-3, {0, 1e3}, "greatest learning rate"),
      number("coarse_rate", 0, {0, 1e3}, "greatest learning rate on coarse patches; 0: `rate`"),
      choice("schedule", spellings(rate_schedule_names), "cosine",
             "course of the learning rate after the warm-up"),
      whole("warm_up", 100, {0, 1e9},
            "steps in which the learning rate rises, again on fine patches; at most all steps"),
      number("weight_decay", 0.05, {0, 10},
             "weight decay of matrices, not of norms, biases and positions"),
      number("momentum", 0.9, {0, 0.999999}, "momentum of sgd"),
      number("beta1", 0.9, {0, 0.999999}, "decay of AdamW's mean gradient"),
      number("beta2", 0.999, {0, 0.9999999}, "decay of AdamW's mean squared gradient"),
      number(
          "clip", 1, {0, 1e9},
          "greatest norm of all gradients together, to which longer ones are scaled; 0: no limit"),
      number("dropout", 0, {0, 0.99},
             "share of the embedding's and the branches' numbers that is set to 0 in training"),
      number("attention_dropout", 0, {0, 0.99},
             "share of the attention weights that is set to 0 in training, in mechanisms that "
             "compute a map of them"),
      number("drop_path", 0, {0, 0.99},
             "share of the last layer's branches that is left out in training (stochastic depth); "
             "linear from 0 in the first layer"),
      number("label_smoothing", 0, {0, 0.99},
             "share of the targets that is spread over all classes in training"),
      number("bias_entropy", 0, {0, 10},
             "weight in the loss of the entropy of DAFT's window biases (DAFT, Eq. 10)"),
      flag("gumbel_noise", false,
           "train daft-one-hot with samples of Gumbel softmax (DAFT, Eq. 11)"),
      number("average_decay", 0, {0, 0.9999999},
             "decay of the moving average of the weights, which is tested and written; 0: none"),
      flag("adder_rescaling", true, "scale gradients of adder weights to AdderNet's norm"),
      whole("seed", 1, {0, 4294967295.0},
            "seed of the initial values, the order of the examples and their variation"),
      whole("checkpoints", 12, {1, 1000}, "number of models that are kept, at logarithmic steps"),
      whole("save_every", 100, {1, 1e9},
            "number of steps between saved states, from which a run is resumed"),
      whole("probes", 8, {0, 10000}, "number of test images or texts whose maps are analysed"),
      whole("probe_every", 0, {0, 1e9},
            "number of steps between these analyses; 0: only at checkpoints"),
  };
}

}  // namespace

std::span<const ParameterDescription> recipe_settings() {
  static const std::vector<ParameterDescription> list = [] {
    std::vector<ParameterDescription> all = data_settings();
    for (auto& more : {model_settings(), descent_settings()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return list;
}

}  // namespace attnscope
