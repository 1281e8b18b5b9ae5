// Every trainable mechanism compared with its naive twin: outputs equal those of the mechanism, and
// gradients equal central differences of the twin's maps in double.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <ostream>

#include "core/attention/mechanism.h"
#include "core/attention/random_parameters.h"
#include "core/training/attention/trained_attention.h"
#include "core/training/kernels/products.h"
#include "tests/support/naive_twins.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

/// A layer to train. Its tokens are [rows, columns] cells of a grid after `prefix` others, or a
/// sequence.
struct TrainedCase {
  std::string name;
  MechanismChoice mechanism;
  bool causal = false;
  std::int64_t prefix = 0, rows = 3, columns = 4;
  std::int64_t heads = 2, width = 3;  ///< width of a head, d
  float key_scale = 1;                ///< factor of the keys
  std::int64_t shorter = 0;           ///< number of tokens fewer than the parameters allow
  bool learned_importances = false;
  std::int64_t key_channels = 0;  ///< channels of narrow keys; 0: as many as values

  [[nodiscard]] std::int64_t tokens() const { return prefix + rows * columns - shorter; }
};

void PrintTo(const TrainedCase& one, std::ostream* stream) { *stream << one.name; }

/// All numbers of a case: queries, keys and values [N, H·d], and the gradient of the output.
class TrainedLayer {
 public:
  explicit TrainedLayer(const TrainedCase& one) : case_(one) {
    const std::int64_t n = one.tokens(), most = n + one.shorter;
    form_ = {.mechanism = make_mechanism(one.mechanism)->choice(),
             .causal = one.causal,
             .learned_importances = one.learned_importances,
             .shape = {most, most, one.heads, one.width, one.width},
             .layer = 3};
    if (one.rows > 1) form_.layout = {one.prefix, one.rows, one.columns};
    attention_ = make_trained_attention(form_);
    for (unsigned part = 0; part < 4; ++part) {
      const bool narrow = part == 1 && one.key_channels > 0;
      parts_[part] = raw_uniform({n, narrow ? one.key_channels : one.heads * one.width}, 11 + part);
    }
    // The scale is a power of two, so that steps of the numbers stay exact.
    for (float& key : parts_[1].values()) key *= one.key_scale;
    unsigned seed = 31;
    for (const OwnParameter& own : attention_->own_parameters()) {
      own_names_.push_back(own.name);
      tensors_.emplace(own.name, raw_uniform(own.shape, seed++));
    }
  }

  /// The tensor that is varied: 0 to 2 are queries, keys and values; the own parameters follow.
  [[nodiscard]] Tensor& tensor(std::size_t which) {
    return which < 3 ? parts_[which] : tensors_.find(own_names_[which - 3])->second;
  }
  [[nodiscard]] std::size_t tensors() const { return 3 + own_names_.size(); }
  [[nodiscard]] std::string name_of(std::size_t which) const {
    return which < 3 ? std::vector<std::string>{"queries", "keys", "values"}[which]
                     : own_names_[which - 3];
  }

  [[nodiscard]] Tensor forward() {
    Tensor output(parts_[0].shape());
    AttentionRoom room;
    const std::vector<const float*> own = places();
    attention_->forward(inputs(own), rows(output), room);
    return output;
  }

  /// The output of the mechanism itself with the parameters of this case.
  [[nodiscard]] Tensor forward_of_mechanism() const {
    const NamedTensors given = tensors_;
    AttentionInput input = this->input();
    input.parameters = &given;
    return make_mechanism(case_.mechanism)->forward(input);
  }

  [[nodiscard]] std::vector<Tensor> gradients() {
    std::vector<Tensor> made;
    for (std::size_t i = 0; i < tensors(); ++i) made.emplace_back(tensor(i).shape());
    std::vector<float*> of_own;
    for (std::size_t i = 3; i < made.size(); ++i) of_own.push_back(made[i].data());
    AttentionRoom room;
    const std::vector<const float*> own = places();
    attention_->backward(inputs(own), seen(rows(parts_[3])),
                         {rows(made[0]), rows(made[1]), rows(made[2]), of_own}, room);
    return made;
  }

  /// Σ output ⊙ its gradient, computed with the maps of the twin.
  [[nodiscard]] double naive_objective() const {
    NamedTensors given = tensors_;
    if (case_.mechanism.name == "performer") given.emplace("features", drawn_features());
    if (case_.mechanism.name == "additive" && !case_.learned_importances) {
      Tensor first({case_.heads, case_.width});
      std::copy_n(parts_[0].data(), first.size(), first.data());
      given.emplace("importance", std::move(first));
    }
    AttentionInput input = this->input();
    input.parameters = &given;
    const bool by_channel = case_.mechanism.name.starts_with("daft") || tensors_.contains("dwc");
    double sum = 0;
    for (std::int64_t head = 0; head < case_.heads; ++head) {
      NaiveMap map;
      for (std::int64_t c = 0; c < case_.width; ++c) {
        if (by_channel) input.channel = c;
        if (by_channel || c == 0) map = naive_map(form_.mechanism, input, head);
        for (std::size_t i = 0; i < map.size(); ++i) {
          const double passed = at(3, i, head, c);
          for (std::size_t j = 0; j < map[i].size(); ++j)
            sum += map[i][j] * at(2, j, head, c) * passed;
        }
      }
    }
    return sum;
  }

 private:
  [[nodiscard]] double at(std::size_t part, std::size_t row, std::int64_t head,
                          std::int64_t channel) const {
    return static_cast<double>(
        parts_[part].matrix()(static_cast<Eigen::Index>(row), head * case_.width + channel));
  }

  static StridedMatrixMap rows(Tensor& tensor) {
    return rows_of(tensor.data(), tensor.extent(0), tensor.extent(1));
  }

  [[nodiscard]] std::vector<const float*> places() const {
    std::vector<const float*> own;
    for (const std::string& name : own_names_) own.push_back(tensors_.find(name)->second.data());
    return own;
  }

  [[nodiscard]] AttentionTensors inputs(std::span<const float* const> own) {
    return {seen(rows(parts_[0])), seen(rows(parts_[1])), seen(rows(parts_[2])), case_.heads, own};
  }

  [[nodiscard]] AttentionInput input() const {
    const auto map = [&](std::size_t part) {
      return ConstMatrixMap(parts_[part].data(), parts_[part].extent(0), parts_[part].extent(1));
    };
    return {.queries = map(0),
            .keys = map(1),
            .values = map(2),
            .heads = case_.heads,
            .layout = &form_.layout,
            .causal = case_.causal,
            .layer = form_.layer};
  }

  [[nodiscard]] Tensor drawn_features() const {
    const std::int64_t count = std::get<std::int64_t>(form_.mechanism.parameters.at("features"));
    Tensor features({case_.heads, count, case_.width});
    for (std::int64_t head = 0; head < case_.heads; ++head) {
      NormalNumbers numbers(1, form_.layer, head);
      features.slice(head) = orthogonal_rows(numbers, count, case_.width).cast<float>();
    }
    return features;
  }

  TrainedCase case_;
  TrainedAttentionForm form_;
  std::unique_ptr<const TrainedAttention> attention_;
  Tensor parts_[4];
  std::vector<std::string> own_names_;
  NamedTensors tensors_;
};

class TrainedCaseTest : public testing::TestWithParam<TrainedCase> {};

TEST_P(TrainedCaseTest, ForwardEqualsTheMechanism) {
  TrainedLayer layer(GetParam());
  const Tensor expected = layer.forward_of_mechanism(), found = layer.forward();
  EXPECT_LT((found.matrix() - expected.matrix()).cwiseAbs().maxCoeff(), 1e-5);
}

TEST_P(TrainedCaseTest, GradientsAreCentralDifferencesOfTheNaiveTwin) {
  TrainedLayer layer(GetParam());
  const std::vector<Tensor> found = layer.gradients();
  // The gradient of a one-hot window is that of a soft one, as in PyTorch, and cannot be tested by
  // differences.
  const bool one_hot = GetParam().mechanism.name == "daft-one-hot";
  // The step is exact for numbers that are multiples of 2⁻²², and too small to cross the kink of a
  // relu.
  constexpr float kStep = 1.0F / (1 << 19);
  for (std::size_t which = 0; which < (one_hot ? 3 : layer.tensors()); ++which) {
    Tensor& tensor = layer.tensor(which);
    const std::int64_t stride = std::max<std::int64_t>(tensor.size() / 40, 1);
    double difference = 0, size = 0;
    for (std::int64_t i = 0; i < tensor.size(); i += stride) {
      float& number = tensor.data()[i];
      const float was = number;
      const float step = which == 1 ? kStep * GetParam().key_scale : kStep;
      number = was + step;
      const double above = layer.naive_objective();
      number = was - step;
      const double below = layer.naive_objective();
      number = was;
      const double expected = (above - below) / (2 * static_cast<double>(step));
      const double error = static_cast<double>(found[which].data()[i]) - expected;
      difference += error * error;
      size += expected * expected;
    }
    // The gradient is zero for keys that no query sees and for shifts that a softmax ignores.
    if (size < 1e-12) {
      EXPECT_LT(difference, 1e-10) << layer.name_of(which);
      continue;
    }
    EXPECT_LT(std::sqrt(difference / size), 1e-4) << layer.name_of(which);
  }
}

ParameterValues window_of(std::int64_t kernel, std::int64_t heads, std::int64_t dimensions) {
  return {
      {"kernel", kernel}, {"conv_heads", heads}, {"dimensions", dimensions}, {"full_keys", true}};
}

ParameterValues narrow_window_of(std::int64_t kernel, std::int64_t heads, std::int64_t dimensions) {
  ParameterValues values = window_of(kernel, heads, dimensions);
  values["full_keys"] = false;
  return values;
}

/// narrow_window_of with a setting that is false.
ParameterValues window_without(const char* setting, std::int64_t kernel, std::int64_t heads,
                               std::int64_t dimensions) {
  ParameterValues values = narrow_window_of(kernel, heads, dimensions);
  values[setting] = false;
  return values;
}

ParameterValues whole_of(const char* name, std::int64_t number) { return {{name, number}}; }

ParameterValues text_of(const char* name, const char* word) { return {{name, std::string(word)}}; }

std::vector<TrainedCase> trained_cases() {
  const auto performer = [](const char* kernel) {
    return ParameterValues{{"kernel", std::string(kernel)}, {"features", std::int64_t{9}}};
  };
  const auto additive = [](std::int64_t window) {
    return ParameterValues{{"causal", true}, {"window", window}};
  };
  return {
      {"DaftFull", {"daft-full", whole_of("factors", 5)}},
      {"DaftFullFree", {"daft-full", whole_of("factors", 0)}},
      {"DaftFullCausal", {"daft-full", whole_of("factors", 5)}, true},
      {"DaftFullFreeCausal", {"daft-full", whole_of("factors", 0)}, true},
      {"DaftFullShorterText", {"daft-full", whole_of("factors", 0)}, true, 0, 1, 14, 2, 3, 1, 3},
      {"DaftFullOfBlocks", {"daft-full", whole_of("factors", 2)}, true, 0, 1, 150, 1, 2},
      {"DaftFullFarKeys", {"daft-full", whole_of("factors", 2)}, true, 0, 1, 9, 1, 3, 64},
      {"DaftConv", {"daft-conv", window_of(3, 3, 2)}},
      {"DaftConvWithPrefix", {"daft-conv", window_of(3, 2, 2)}, false, 2},
      {"DaftConvWide", {"daft-conv", window_of(9, 6, 2)}, false, 1},
      {"DaftConvLine", {"daft-conv", window_of(5, 3, 1)}, false, 1},
      {"DaftConvCausal", {"daft-conv", window_of(5, 2, 1)}, true, 0, 1, 12},
      {"DaftConvOfBlocks", {"daft-conv", window_of(7, 1, 1)}, true, 0, 1, 140, 1, 2},
      {"DaftLocal", {"daft-local", window_of(3, 2, 2)}, false, 1},
      {"DaftLocalCausal", {"daft-local", window_of(5, 6, 1)}, true, 0, 1, 12},
      {"DaftLocalFarKeys", {"daft-local", window_of(3, 3, 1)}, false, 0, 1, 12, 1, 3, 64},
      {"DaftConvNarrow",
       {"daft-conv", narrow_window_of(3, 3, 2)},
       false,
       1,
       3,
       4,
       2,
       3,
       1,
       0,
       false,
       3},
      {"DaftLocalNarrow",
       {"daft-local", narrow_window_of(5, 2, 1)},
       true,
       0,
       1,
       12,
       2,
       3,
       1,
       0,
       false,
       2},
      {"DaftNarrowFarKeys",
       {"daft-local", narrow_window_of(3, 1, 1)},
       false,
       0,
       1,
       12,
       1,
       3,
       64,
       0,
       false,
       1},
      {"DaftOneHot", {"daft-one-hot", window_of(3, 6, 2)}, false, 1},
      {"DaftOneHotCausal", {"daft-one-hot", window_of(5, 2, 1)}, true, 0, 1, 12},
      {.name = "DaftConvOfPlainBiases",
       .mechanism = {"daft-conv", window_without("reparameterised", 3, 2, 2)},
       .prefix = 2,
       .key_channels = 2},
      {.name = "DaftConvWithoutGate",
       .mechanism = {"daft-conv", window_without("gate", 3, 3, 2)},
       .prefix = 1,
       .key_channels = 3},
      {.name = "DaftLocalOfPlainBiasesCausal",
       .mechanism = {"daft-local", window_without("reparameterised", 5, 2, 1)},
       .causal = true,
       .rows = 1,
       .columns = 12,
       .key_channels = 2},
      {.name = "DaftLocalFarKeysWithoutGate",
       .mechanism = {"daft-local", window_without("gate", 3, 3, 1)},
       .rows = 1,
       .columns = 12,
       .key_scale = 64,
       .key_channels = 3},
      {.name = "DaftOneHotOfPlainBiases",
       .mechanism = {"daft-one-hot", window_without("reparameterised", 3, 2, 2)},
       .key_channels = 2},
      {"Performer", {"performer", performer("softmax")}},
      {"PerformerRelu", {"performer", performer("relu")}},
      {"PerformerCausal", {"performer", performer("softmax")}, true},
      {"PerformerReluCausal", {"performer", performer("relu")}, true},
      {"PerformerFarKeys", {"performer", performer("softmax")}, true, 0, 1, 12, 2, 3, 8},
      {"Linear", {"linear", {}}},
      {"LinearCausal", {"linear", {}}, true},
      {"Cosformer", {"cosformer", {}}},
      {"CosformerCausal", {"cosformer", whole_of("span", 15)}, true},
      {"Linformer", {"linformer", whole_of("landmarks", 5)}},
      {"LinformerByDefault", {"linformer", {}}, false, 1},
      {"Synthesizer", {"synthesizer", text_of("scores", "dense")}},
      {"SynthesizerCausal", {"synthesizer", text_of("scores", "dense")}, true},
      {"SynthesizerShorterText", {"synthesizer", {}}, true, 0, 1, 14, 2, 3, 1, 3},
      {"SynthesizerRandom", {"synthesizer", text_of("scores", "random")}},
      {"SynthesizerRandomShorterText",
       {"synthesizer", text_of("scores", "random")},
       true,
       0,
       1,
       14,
       2,
       3,
       1,
       3},
      {"SynthesizerFactorised", {"synthesizer", text_of("scores", "factorised")}},
      {"SynthesizerFactorisedShorterText",
       {"synthesizer", text_of("scores", "factorised")},
       true,
       0,
       1,
       14,
       2,
       3,
       1,
       3},
      {"SynthesizerOfBlocks", {"synthesizer", text_of("scores", "dense")}, true, 0, 1, 280, 1, 2},
      {"Additive", {"additive", {}}},
      {"AdditiveCausal", {"additive", {}}, true},
      {"AdditiveWindow", {"additive", additive(3)}, true},
      {"AdditiveWindowOfOne", {"additive", additive(1)}, true},
      {"AdditiveFarKeys", {"additive", additive(4)}, true, 0, 1, 30, 1, 3, 64},
      {"AdditiveLearned", {"additive", {}}, false, 0, 1, 12, 2, 3, 1, 0, true},
      {"AdditiveLearnedWindow", {"additive", additive(3)}, true, 0, 1, 12, 2, 3, 1, 0, true},
      {"AdditiveWideWindow", {"additive", additive(100)}, true},
      {"Sigmoid", {"sigmoid", {{"bias", 0.5}}}},
      {"SigmoidCausal", {"sigmoid", {}}, true},
      {"Relu", {"relu", {}}},
      {"ReluCausal", {"relu", {}}, true},
      {"Ssmax", {"ssmax", {{"factor", 0.75}, {"offset", 0.5}}}},
      {"SsmaxCausal", {"ssmax", {}}, true},
      {"Sparsemax", {"sparsemax", {}}},
      {"SparsemaxCausal", {"sparsemax", {}}, true},
      {"Entmax", {"entmax", {}}},
      {"EntmaxCausal", {"entmax", {}}, true},
      {"EntmaxOfBlocks", {"entmax", {}}, true, 0, 1, 280, 1, 2},
      {"SoftmaxSink", {"softmax-sink", {}}},
      {"SoftmaxSinkCausal", {"softmax-sink", {{"sink", 1.5}}}, true},
      {"SoftmaxSinkFarKeys", {"softmax-sink", {{"sink", -2.0}}}, true, 0, 1, 30, 1, 3, 64},
      {"Forgetting", {"forgetting", {{"rate", 0.25}}}},
      {"ForgettingCausal", {"forgetting", {}}, true},
      {"ForgettingOfBlocks", {"forgetting", {{"rate", 0.01}}}, true, 0, 1, 280, 1, 2},
      {"Retention", {"retention", {{"exponent", 1.0}}}},
      {"RetentionCausal", {"retention", {{"exponent", 2.0}}}, true, 0, 3, 4, 3},
      {"RetentionOfBlocks", {"retention", {}}, false, 0, 1, 280, 1, 2},
      {"RetentionOfBlocksCausal", {"retention", {}}, true, 0, 1, 280, 1, 2},
      {"Focused", {"focused", {}}},
      {"FocusedByLowPower", {"focused", {{"power", 1.5}}}, false, 1, 3, 4, 3, 2},
      {"FocusedSmallKeys", {"focused", {}}, false, 0, 3, 4, 2, 3, 1.0F / 1024},
      {"FocusedWithTerm", {"focused", {{"term", true}}}, false, 1},
      {"InLine", {"inline", {}}},
      {"InLineWithTerm", {"inline", {{"term", true}}}, false, 2, 4, 3},
      {"InLineWide", {"inline", {}}, false, 1, 3, 4, 1, 9},
      {"SimA", {"sima", {}}},
      {"SimAWide", {"sima", {}}, false, 1, 3, 4, 1, 9},
      {"Agent", {"agent", whole_of("agents", 4)}, false, 1},
      {"AgentOverlapping", {"agent", whole_of("agents", 9)}, false, 0, 4, 5},
      {"AgentOfLine", {"agent", whole_of("agents", 5)}, false, 0, 1, 12},
      {"AgentOfBlocks", {"agent", whole_of("agents", 3)}, false, 0, 1, 280, 1, 2},
      {"AgentWithTerm", {"agent", {{"agents", std::int64_t{4}}, {"term", true}}}, false, 1},
      {"Rala", {"rala", {}}, false, 1, 3, 4, 2, 9},
      {"RalaNarrow", {"rala", {}}},
      {"RalaOfLine", {"rala", {}}, false, 0, 1, 12, 2, 4},
      {"RalaWithTerm", {"rala", {{"term", true}}}, false, 1, 3, 4, 2, 4},
      {"Mlla", {"mlla", {}}, false, 1, 3, 4, 2, 9},
      {"MllaTurnsAcrossHeads", {"mlla", {}}, false, 0, 3, 4, 4, 3},
      {"MllaOfLine", {"mlla", {}}, false, 0, 1, 12, 2, 4},
      {"MllaWithTerm", {"mlla", {{"term", true}}}, false, 1, 3, 4, 2, 4},
      {"Gla", {"gla", {}}},
      {"GlaOfChunks", {"gla", {{"rate", 0.02}}}, true, 0, 1, 140, 1, 2},
      {"Mamba2", {"mamba2", {{"step", 0.1}}}, false, 0, 3, 4, 3},
      {"Mamba2OfChunks", {"mamba2", {}}, true, 0, 1, 140, 2, 2},
      {"GatedDelta", {"gated-delta", {{"rate", 0.2}, {"beta", 1.25}}}},
      {"GatedDeltaOfChunks", {"gated-delta", {}}, true, 0, 1, 140, 1, 3},
      {"DeltaNetOfChunks", {"gated-delta", {{"rate", 0.0}, {"beta", 1.0}}}, true, 0, 1, 140, 1, 3},
      {"Kda", {"kda", {}}, true},
      {"Soft", {"soft", whole_of("landmarks", 4)}, false, 1},
      {"SoftOfFewSteps",
       {"soft", {{"landmarks", std::int64_t{5}}, {"iterations", std::int64_t{3}}}},
       false,
       0,
       1,
       12},
      {"SoftWithTerm", {"soft", {{"landmarks", std::int64_t{4}}, {"term", true}}}, false, 1},
      {"Nystrom", {"nystrom", whole_of("landmarks", 5)}},
      {"NystromByHead",
       {"nystrom", {{"landmarks", std::int64_t{3}}, {"divisor", std::string("head")}}},
       false,
       1},
      {"NystromOfFewSteps",
       {"nystrom", {{"landmarks", std::int64_t{4}}, {"iterations", std::int64_t{0}}}},
       false,
       0,
       1,
       14},
      {"NystromOfAllTokens", {"nystrom", {}}},
      {"Differential", {"differential", {}}},
      {"DifferentialEvenWidth", {"differential", {}}, false, 1, 3, 4, 2, 4},
      {"DifferentialCausal", {"differential", {}}, true, 0, 3, 4, 3, 5},
      {"DifferentialOfOneChannel", {"differential", {}}, true, 0, 3, 4, 2, 1},
      {"DifferentialOfBlocks", {"differential", {}}, true, 0, 1, 280, 1, 4},
      {"TalkingHeads", {"talking-heads", {}}, false, 0, 3, 4, 3},
      {"TalkingHeadsCausal", {"talking-heads", {}}, true, 0, 3, 4, 3},
      {"TalkingHeadsOfBlocks", {"talking-heads", {}}, true, 0, 1, 40, 2, 2},
  };
}

INSTANTIATE_TEST_SUITE_P(All, TrainedCaseTest, testing::ValuesIn(trained_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace attnscope
