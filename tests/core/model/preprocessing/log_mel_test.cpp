// Log-mel spectrograms compared with PyTorch: tests/data/input/make_sounds.py.
#include "core/model/preprocessing/log_mel.h"

#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/model/preprocessing/preprocessing.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

const std::string kInputs = source_folder() + "/tests/data/input/";

ModelSpec hearing(std::int64_t bands, std::int64_t tokens) {
  ModelSpec spec;
  spec.input.kind = InputKind::audio;
  spec.input.channels = bands;
  spec.input.context = tokens;
  return spec;
}

TEST(LogMel, AgreesWithPyTorch) {
  const Checkpoint expected = open_checkpoint(kInputs + "whistle_mel.npz");
  const Input input = open_input(kInputs + "whistle.wav");
  for (const std::int64_t bands : {80, 128}) {
    const PreparedInput prepared = prepare_input(input, hearing(bands, 30));
    const Tensor reference = expected.at("mel_" + std::to_string(bands)).view().to_float();
    ASSERT_EQ(prepared.values.shape(), reference.shape());
    for (std::int64_t i = 0; i < reference.size(); ++i) {
      ASSERT_NEAR(prepared.values.data()[i], reference.data()[i], 1e-5) << bands << ", " << i;
    }
    ASSERT_EQ(prepared.texts.size(), 30U);
    EXPECT_EQ(prepared.texts[0], "0.00\u00A0s");
    EXPECT_EQ(prepared.texts[29], "0.58\u00A0s");
    EXPECT_FALSE(prepared.image);
  }
}

TEST(LogMel, SilenceIsFlat) {
  const Tensor silence = log_mel({kSoundRate, {}}, 4, 6);
  for (const float value : silence.values()) EXPECT_FLOAT_EQ(value, (-10.0F + 4) / 4);
}

TEST(LogMel, RefusesSoundsTheModelCannotRead) {
  const auto refused = [](const Input& input, const ModelSpec& spec, const std::string& part) {
    const Error error = refusal_of([&] { (void)prepare_input(input, spec); },
                                   testing::Message() << "not refused: " << part);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  };
  const Input whistle = open_input(kInputs + "whistle.wav");
  refused(open_input(kInputs + "quiet_stereo.wav"), hearing(80, 30), "16000 samples a second");
  refused(whistle, hearing(80, 20), "at most 0.4 s");
  refused(whistle, ModelSpec(), "cannot read a sound");
  refused(open_input(kInputs + "rgb.png"), hearing(80, 30), "neither images nor texts");
  Input array;
  array.content = Tensor({80, 59});
  refused(array, hearing(80, 30), "[80, 60]");
  array.content = Tensor({1, 80, 60});
  EXPECT_EQ(prepare_input(array, hearing(80, 30)).values.shape(), (Shape{80, 60}));
}

}  // namespace
}  // namespace attnscope
