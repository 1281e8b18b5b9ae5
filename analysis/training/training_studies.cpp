// The studies that can be trained, with their variants.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/training/training_study.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

TrainingVariant variant(const char* name, const char* label, const char* arithmetic,
                        const char* mechanism) {
  return {name,
          label,
          {{"arithmetic", std::string(arithmetic)}, {"mechanism", std::string(mechanism)}}};
}

/// Adder layers and attention with the given gradients with respect to layer inputs and scores.
TrainingVariant adder_gradients(const char* name, const char* label, const char* inputs,
                                const char* scores, const char* mechanism = "adder") {
  TrainingVariant made = variant(name, label, "adder", mechanism);
  made.changes["input_gradient"] = std::string(inputs);
  made.changes["score_gradient"] = std::string(scores);
  return made;
}

/// Head widths at a total width of 64 and with one head, × linear layers × attention. All
/// attentions of a width follow each other, first with multiplicative layers, so that widths can be
/// compared early.
std::vector<TrainingVariant> widths_of_heads() {
  constexpr std::int64_t kTotalWidth = 64;
  struct Attention {
    const char *name, *label, *mechanism;
  };
  constexpr Attention attentions[] = {{"softmax", "softmax", "softmax"},
                                      {"adder", "adder", "adder"},
                                      {"adder-identity", "adder + I", "adder,identity=true"}};
  std::vector<TrainingVariant> variants;
  const auto add = [&](const char* arithmetic, std::int64_t width, std::int64_t heads) {
    const bool adder = std::string_view(arithmetic) == "adder";
    const std::string shape = std::to_string(width) + "x" + std::to_string(heads);
    const std::string words = "d = " + std::to_string(width) + ", H = " + std::to_string(heads);
    for (const Attention& one : attentions) {
      const std::string name = shape + "-" + arithmetic + "-" + one.name;
      const std::string label = words + (adder ? ", adder layers, " : ", ") + one.label;
      TrainingVariant made = variant(name.c_str(), label.c_str(), arithmetic, one.mechanism);
      made.changes["width"] = width * heads;
      made.changes["model_heads"] = heads;
      variants.push_back(std::move(made));
    }
  };
  for (const char* const arithmetic : {"multiplicative", "adder"}) {
    for (const std::int64_t width : {64, 32, 16, 8}) add(arithmetic, width, kTotalWidth / width);
    for (const std::int64_t width : {32, 16, 8}) add(arithmetic, width, 1);
  }
  return variants;
}

/// A study's variant with one mechanism.
TrainingVariant of_mechanism(const std::string& name, const std::string& label,
                             const std::string& mechanism) {
  return {name, label, {{"mechanism", mechanism}}};
}

/// Softmax, signs, random kernel weights, and learned codes of some numbers of bits and supports.
std::vector<TrainingVariant> kinds_of_codes() {
  std::vector<TrainingVariant> variants = {
      of_mechanism("softmax", "softmax", "softmax"),
      of_mechanism("signs", "signs of the channels", "hash,codes=sign"),
      of_mechanism("klsh", "KLSH, b = 16, m = 25", "hash,codes=learned,bits=16,supports=25")};
  variants.back().changes["code_weights"] = std::string("random");
  struct Codes {
    std::int64_t bits, supports;
  };
  constexpr std::array kCodes = {Codes{16, 25}, Codes{16, 20}, Codes{16, 15},
                                 Codes{16, 10}, Codes{8, 25},  Codes{32, 25}};
  for (const auto& [bits, supports] : kCodes) {
    const std::string b = std::to_string(bits), m = std::to_string(supports);
    const std::string name = "learned-" + b + "x" + m;
    const std::string label = "learned, b = " + b + ", m = " + m;
    const std::string mechanism = "hash,codes=learned,bits=" + b + ",supports=" + m;
    variants.push_back(of_mechanism(name, label, mechanism));
  }
  return variants;
}

// Keys with one channel for each of four heads of biases, as in DAFT, Section 3.2: four divides the
// usual widths.
constexpr const char* kStudiedConv = "daft-conv,conv_heads=4";

/// Windows of 3 to 11 patches with and without tokens outside them (DAFT, Fig. 2).
std::vector<TrainingVariant> daft_windows() {
  std::vector<TrainingVariant> variants;
  for (const char* const kind : {"conv", "local"}) {
    for (const char* const kernel : {"3", "5", "7", "11"}) {
      const std::string name = std::string(kind) + "-" + kernel;
      variants.push_back(of_mechanism(
          name, "DAFT-" + std::string(kind) + ", window " + kernel,
          "daft-" + std::string(kind) + ",conv_heads=4,kernel=" + std::string(kernel)));
    }
  }
  return variants;
}

/// DAFT-conv and softmax at three widths; heads stay 16 wide (DAFT, Fig. 7).
std::vector<TrainingVariant> daft_sizes() {
  std::vector<TrainingVariant> variants;
  for (const std::int64_t width : {32, 48, 96}) {
    for (const auto& [name, mechanism] :
         {std::pair{"softmax", "softmax"}, std::pair{"daft-conv", kStudiedConv}}) {
      const std::string words = std::to_string(width);
      TrainingVariant made = of_mechanism(std::string(name) + "-" + words,
                                          std::string(name) + ", D = " + words, mechanism);
      made.changes["width"] = width;
      made.changes["model_heads"] = width / 16;
      variants.push_back(std::move(made));
    }
  }
  return variants;
}

/// DAFT-conv without position embeddings and class token, from a trained model or from random
/// values (DAFT, Fig. 6 and Table 3).
std::vector<TrainingVariant> daft_conversion() {
  const auto conv = [](const char* name, const char* label) {
    TrainingVariant made = of_mechanism(name, label, kStudiedConv);
    made.changes["readout"] = std::string("mean");
    made.changes["positions"] = std::string("none");
    return made;
  };
  TrainingVariant converted = conv("converted", "from the trained model");
  converted.changes["from_without"] = std::string("positions,class_token,queries,keys");
  TrainingVariant random = conv("random", "from random values");
  random.changes["from"] = std::string();
  return {converted, random};
}

/// Six layers of Fastformer-LM with windows and without, and GPT-2's layers with softmax.
std::vector<TrainingVariant> language_models() {
  const auto model = [](const char* name, const char* label, const char* form,
                        const char* mechanism, const char* windows) {
    TrainingVariant made = of_mechanism(name, label, mechanism);
    made.changes["layer_form"] = std::string(form);
    made.changes["windows"] = std::string(windows);
    made.changes["depth"] = std::int64_t{6};
    return made;
  };
  return {model("windowed", "Fastformer, windows 4 to 64 and all", "fastformer",
                "additive,causal=true", "4,8,16,32,64,0"),
          model("global", "Fastformer, all tokens", "fastformer", "additive,causal=true", ""),
          model("softmax", "softmax", "transformer", "softmax", "")};
}

std::vector<TrainingStudy> all_studies() {
  return {
      {"adder-rank",
       "linear layers × attention: is it the scores or the layers that change the rank?",
       "Adder, Fig. 2, 3",
       {variant("multiplicative-softmax", "multiplicative, softmax", "multiplicative", "softmax"),
        variant("multiplicative-adder", "multiplicative, adder", "multiplicative", "adder"),
        variant("multiplicative-adder-identity", "multiplicative, adder + I", "multiplicative",
                "adder,identity=true"),
        variant("adder-softmax", "adder layers, softmax", "adder", "softmax"),
        variant("adder-adder", "adder layers, adder", "adder", "adder"),
        variant("adder-adder-identity", "adder layers, adder + I", "adder",
                "adder,identity=true")}},
      {"adder-width",
       "head width 8 to 64, at a total width of 64 and with one head × linear layers × attention",
       "Adder, Section 3.2.2", widths_of_heads()},
      {"adder-gradients",
       "gradients of adder layers × of adder scores, and identity",
       "Adder, Table 3",
       {adder_gradients("sign-sign", "layers sign, scores sign", "sign", "sign"),
        adder_gradients("sign-hardtanh", "layers sign, scores HardTanh", "sign", "hard_tanh"),
        adder_gradients("hardtanh-hardtanh", "layers HardTanh, scores HardTanh", "hard_tanh",
                        "hard_tanh"),
        adder_gradients("hardtanh-sign", "layers HardTanh, scores sign", "hard_tanh", "sign"),
        adder_gradients("hardtanh-sign-identity", "layers HardTanh, scores sign, + I", "hard_tanh",
                        "sign", "adder,identity=true")}},
      {"adder-parts",
       "linear layers {multiplicative, adder} × attention {dot product, adder}",
       "Adder, Table 4",
       {variant("multiplicative-softmax", "multiplicative, dot product", "multiplicative",
                "softmax"),
        variant("adder-softmax", "adder layers, dot product", "adder", "softmax"),
        variant("multiplicative-adder", "multiplicative, adder", "multiplicative",
                "adder,identity=true"),
        variant("adder-adder", "adder layers, adder", "adder", "adder,identity=true")}},
      {"daft-window", "side of the window × tokens outside it or none", "DAFT, Fig. 2",
       daft_windows()},
      {"daft-dynamics",
       "softmax, DAFT-full and DAFT-conv over training",
       "DAFT, Fig. 5",
       {of_mechanism("softmax", "softmax", "softmax"),
        of_mechanism("daft-full", "DAFT-full", "daft-full,factors=32"),
        of_mechanism("daft-conv", "DAFT-conv", kStudiedConv)}},
      {"daft-conversion", "DAFT-conv from a trained model or from random values", "DAFT, Fig. 6",
       daft_conversion(), "from"},
      {"daft-factors",
       "position biases of DAFT-full as a free matrix or as a product of two narrow ones",
       "DAFT, Table 6",
       {of_mechanism("free", "free matrix", "daft-full,factors=0"),
        of_mechanism("factorised", "product of 32 factors", "daft-full,factors=32")}},
      {"daft-parts",
       "DAFT-conv as it is, without the reparameterisation of its biases, without the gate",
       "DAFT, Tables 7, 8",
       {of_mechanism("whole", "DAFT-conv", kStudiedConv),
        of_mechanism("plain", "DAFT-conv, plain biases",
                     kStudiedConv + std::string(",reparameterised=false")),
        of_mechanism("ungated", "DAFT-conv, no gate", kStudiedConv + std::string(",gate=false"))}},
      {"daft-sizes", "softmax and DAFT-conv at three widths", "DAFT, Fig. 7", daft_sizes()},
      {"hash-codes",
       "softmax, signs of the channels, KLSH, learned hash codes of b bits and m supports",
       "EcoFormer, Tables 4, 5, 9", kinds_of_codes()},
      {"fastformer-lm", "language models of windowed, global and softmax attention",
       "Fastformer-LM, results", language_models()},
  };
}

}  // namespace

std::span<const TrainingStudy> training_studies() {
  static const std::vector<TrainingStudy> list = all_studies();
  return list;
}

const TrainingStudy& find_training_study(std::string_view name) {
  for (const TrainingStudy& study : training_studies()) {
    if (study.name == name) return study;
  }
  throw unknown_name("study", name, name_list(training_studies(), &TrainingStudy::name));
}

}  // namespace attnscope
