// Every mechanism that can be trained: a run learns, and its saved model computes the same.
#include <gtest/gtest.h>
#include <numeric>
#include <ostream>
#include <tbb/global_control.h>

#include "analysis/training/run_folder.h"
#include "core/model/model.h"
#include "tests/support/small_data_set.h"
#include "tests/support/small_recipe.h"

namespace attnscope {
namespace {

/// One training: its mechanism, its data and the form of its layers.
struct MechanismRun {
  const char* name;
  const char* mechanism;
  bool texts = false;
  const char* layer_form = "transformer";
  const char* windows = "";
  const char* readout = "class";
};

void PrintTo(const MechanismRun& one, std::ostream* stream) { *stream << one.name; }

class TrainedMechanismsTest : public testing::TestWithParam<MechanismRun> {
 protected:
  [[nodiscard]] RunFolder begun(const char* name) const {
    const ParameterValues values{
        {"mechanism", std::string(GetParam().mechanism)},
        {"layer_form", std::string(GetParam().layer_form)},
        {"windows", std::string(GetParam().windows)},
        {"readout", std::string(GetParam().readout)},
        {"dataset",
         (GetParam().texts ? write_small_text(sources_) : write_small_data_set(sources_)).string()},
        {"steps", std::int64_t{40}},
        {"rate", 0.01},
        {"checkpoints", std::int64_t{2}}};
    const RunFolder folder{folder_ / name};
    begin_run_folder(folder, Recipe(small_recipe(values)));
    return folder;
  }

  TemporaryFolder folder_, sources_;
};

TEST_P(TrainedMechanismsTest, LearnsAndRunsTheSameFromItsFile) {
  const RunFolder folder = begun("run");
  const auto run = train(folder, {});
  const std::vector<double>& losses = run->log().tables().at("steps/loss").numbers;
  const auto mean = [](auto from, auto to) { return std::accumulate(from, to, 0.0) / 5; };
  EXPECT_LT(mean(losses.end() - 5, losses.end()), 0.9 * mean(losses.begin(), losses.begin() + 5));
  const auto model = load_model(folder.model(40));
  EXPECT_EQ(model->spec().mechanism, run->network().spec().mechanism);
  const Examples examples = run->data().test_examples(run->network().spec(), 3, 1);
  TrainedNetwork::Room room;
  (void)run->network().run(run->values().data(), nullptr, 0, examples, room);
  TraceRequest request;
  request.token_logits = (run->data().kind() == ExampleKind::chunks);
  const Trace trace = model->run(run->data().test_input(3), model->spec().mechanism, request, {});
  const Tensor& logits =
      (run->data().kind() == ExampleKind::chunks) ? trace.token_logits : trace.logits;
  const ConstMatrixMap found(logits.data(), room.readout.logits.rows(), room.readout.logits.cols());
  ASSERT_EQ(logits.size(), room.readout.logits.size());
  EXPECT_LT((found - room.readout.logits).cwiseAbs().maxCoeff(), 5e-5);
  ASSERT_EQ(trace.layers.size(), 2U);
  EXPECT_EQ(trace.layers[0].implied_map.extent(0), 2) << "maps of each head";
}

TEST_P(TrainedMechanismsTest, BytesDoNotDependOnTheThreads) {
  const auto bytes = [&](const char* name, std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const RunFolder folder = begun(name);
    const auto run = train(folder, {});
    return run->values();
  };
  EXPECT_EQ(bytes("alone", 1), bytes("many", 5));
}

INSTANTIATE_TEST_SUITE_P(
    All, TrainedMechanismsTest,
    testing::Values(
        MechanismRun{"DaftConv", "daft-conv,full_keys=true,kernel=3,conv_heads=4"},
        MechanismRun{"DaftConvOfFewKeys", "daft-conv,kernel=3,conv_heads=4"},
        MechanismRun{"DaftConvOfPlainBiases",
                     "daft-conv,kernel=3,conv_heads=4,reparameterised=false"},
        MechanismRun{"DaftConvWithoutGate", "daft-conv,kernel=3,conv_heads=4,gate=false"},
        MechanismRun{"DaftLocal", "daft-local,full_keys=true,kernel=3,conv_heads=2"},
        MechanismRun{"DaftLocalOfFewKeys", "daft-local,kernel=3,conv_heads=2"},
        MechanismRun{"DaftOneHot", "daft-one-hot,full_keys=true,kernel=3,conv_heads=4"},
        MechanismRun{"DaftFullOfTexts", "daft-full,factors=4", true},
        MechanismRun{"DaftFullFreeOfTexts", "daft-full,factors=0", true},
        MechanismRun{"DaftConvOfTexts",
                     "daft-conv,full_keys=true,kernel=5,conv_heads=4,dimensions=1", true},
        MechanismRun{"DaftLocalOfTexts", "daft-local,full_keys=true,kernel=5,conv_heads=4", true},
        MechanismRun{"Performer", "performer,features=16"},
        MechanismRun{"PerformerOfTexts", "performer,features=16,kernel=relu", true},
        MechanismRun{"HashLearned", "hash,codes=learned,bits=6,supports=7"},
        MechanismRun{"HashLearnedUpstream", "hash,codes=learned,bits=5,supports=10,mode=upstream"},
        MechanismRun{"Linformer", "linformer"}, MechanismRun{"CosFormer", "cosformer"},
        MechanismRun{"CosFormerOfTexts", "cosformer", true},
        MechanismRun{"Synthesizer", "synthesizer"},
        MechanismRun{"SynthesizerRandomOfTexts", "synthesizer,scores=random", true},
        MechanismRun{"SynthesizerFactorised", "synthesizer,scores=factorised,factors=3"},
        MechanismRun{"SynthesizerOfTexts", "synthesizer", true},
        MechanismRun{"AdditiveWindow", "additive,causal=true,window=4", true},
        MechanismRun{"AdditiveWindows", "additive,causal=true", true, "transformer", "3,0"},
        MechanismRun{"Fastformer", "additive", true, "fastformer"},
        MechanismRun{"FastformerWindows", "additive,causal=true", true, "fastformer", "4,0"},
        MechanismRun{"SoftmaxSink", "softmax-sink,sink=1"},
        MechanismRun{"SoftmaxSinkOfTexts", "softmax-sink", true},
        MechanismRun{.name = "Forgetting", .mechanism = "forgetting,rate=0.1", .readout = "mean"},
        MechanismRun{"ForgettingOfTexts", "forgetting,rate=0.1", true},
        MechanismRun{"Retention", "retention,exponent=2"},
        MechanismRun{"RetentionOfTexts", "retention,exponent=2", true},
        MechanismRun{"Focused", "focused"}, MechanismRun{"InLine", "inline"},
        MechanismRun{"SimA", "sima"}, MechanismRun{"Differential", "differential"},
        MechanismRun{"DifferentialOfTexts", "differential", true},
        MechanismRun{"FocusedWithTerm", "focused,term=true"},
        MechanismRun{"InLineWithTerm", "inline,term=true"},
        MechanismRun{"AgentWithTerm", "agent,agents=4,term=true"}, MechanismRun{"Rala", "rala"},
        MechanismRun{"MllaWithTerm", "mlla,term=true"},
        MechanismRun{.name = "Gla", .mechanism = "gla", .readout = "mean"},
        MechanismRun{"GlaOfTexts", "gla", true},
        MechanismRun{.name = "Mamba2", .mechanism = "mamba2,step=0.1", .readout = "mean"},
        MechanismRun{"GatedDeltaOfTexts", "gated-delta", true},
        MechanismRun{.name = "Kda", .mechanism = "kda", .readout = "mean"},
        MechanismRun{"SoftWithTerm", "soft,landmarks=4,term=true"},
        MechanismRun{"Nystrom", "nystrom,landmarks=4"},
        MechanismRun{"TalkingHeads", "talking-heads"},
        MechanismRun{"TalkingHeadsOfTexts", "talking-heads", true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace attnscope
