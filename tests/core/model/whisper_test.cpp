// A Whisper file as OpenAI saves it (tests/data/models/make_whisper.py): its settings, and runs on
// sounds.
#include <algorithm>
#include <gtest/gtest.h>

#include "core/model/model.h"
#include "core/model/preprocessing/log_mel.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

const std::string kWhisperFile = source_folder() + "/tests/data/models/whisper.pt";

TEST(Whisper, ReadsHeadsAndReportsThatTheDecoderIsLeftOut) {
  const auto model = load_model(kWhisperFile);
  EXPECT_EQ(model->architecture(), "OpenAI Whisper encoder");
  const ModelSpec& spec = model->spec();
  EXPECT_EQ(spec.layer.attention.heads, 2);
  EXPECT_EQ(spec.input.channels, 4);
  EXPECT_EQ(spec.tokens(), 5);
  const auto& assumed = model->assumptions();
  EXPECT_TRUE(std::any_of(assumed.begin(), assumed.end(), [](const Assumption& each) {
    return each.value == "decoder.*" && each.reason.find("2 tensors") != std::string::npos;
  }));
  EXPECT_FALSE(std::any_of(assumed.begin(), assumed.end(),
                           [](const Assumption& each) { return each.option == "heads"; }));
}

TEST(Whisper, ReadsASoundAsItsSpectrum) {
  const auto model = load_model(kWhisperFile);
  Sound sound{kSoundRate, {}};
  for (int i = 0; i < 900; ++i) sound.samples.push_back(0.01F * static_cast<float>(i % 37));
  Input heard, seen;
  seen.content = log_mel(sound, 4, 10);
  heard.content = std::move(sound);
  const Trace of_sound = model->run(heard, model->spec().mechanism, {}, {});
  const Trace of_spectrum = model->run(seen, model->spec().mechanism, {}, {});
  EXPECT_EQ(of_sound.layout.texts,
            (std::vector<std::string>{"0.00\u00A0s", "0.02\u00A0s", "0.04\u00A0s", "0.06\u00A0s",
                                      "0.08\u00A0s"}));
  EXPECT_FALSE(of_sound.layout.has_grid());
  const Tensor& map = of_sound.layers.front().implied_map.whole();
  ASSERT_EQ(map.shape(), (Shape{2, 5, 5}));
  EXPECT_TRUE(std::equal(map.values().begin(), map.values().end(),
                         of_spectrum.layers.front().implied_map.values().begin()));
}

}  // namespace
}  // namespace attnscope
