// Sounds, made by tests/data/input/make_sounds.py.
#include "core/input/sound.h"

#include <cmath>
#include <gtest/gtest.h>

#include "core/input/input.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::string sound_file(const std::string& name) { return test_data("input/" + name).string(); }

Sound open_sound(const std::string& locator) {
  return std::get<Sound>(open_input(locator).content);
}

TEST(Sounds, AreReadWithOneChannelAndWithTwo) {
  const Input input = open_input(sound_file("whistle.wav"));
  EXPECT_EQ(input.label, "whistle.wav");
  const Sound& whistle = std::get<Sound>(input.content);
  EXPECT_EQ(whistle.rate, 16'000);
  ASSERT_EQ(whistle.samples.size(), 8000U);
  float greatest = 0;
  for (const float sample : whistle.samples) greatest = std::max(greatest, std::abs(sample));
  EXPECT_NEAR(greatest, 9400.0 / 32768, 0.02);
  const Sound stereo = open_sound(sound_file("quiet_stereo.wav"));
  EXPECT_EQ(stereo.rate, 8000);
  ASSERT_EQ(stereo.samples.size(), 100U);
  EXPECT_EQ(stereo.samples[7], (7.0F - 21.0F) / 2 / 32768);
}

TEST(Sounds, AreCutToSomeOfTheirSeconds) {
  Sound sound{10, std::vector<float>(25)};
  for (std::size_t i = 0; i < sound.samples.size(); ++i) sound.samples[i] = static_cast<float>(i);
  EXPECT_EQ(part_of_sound(sound, 1, 2).samples.front(), 10);
  EXPECT_EQ(part_of_sound(sound, 1, 2).samples.size(), 10U);
  EXPECT_EQ(part_of_sound(sound, 2, 9).samples.size(), 5U);
  for (const auto& [first, last] : {std::pair(1, 1), {2, 1}, {3, 4}, {-1, 2}}) {
    EXPECT_THROW((void)part_of_sound(sound, first, last), Error) << first << " to " << last;
  }
  const std::string locator = sound_file("whistle.wav") + "#0-30";
  EXPECT_EQ(open_input(locator).label, "whistle.wav[0–30 s]");
  EXPECT_EQ(open_input(locator).locator, locator);
  EXPECT_EQ(open_sound(locator).samples.size(), 8000U);
  expect_refusal([&] { return open_input(sound_file("whistle.wav") + "#1-2"); }, ErrorKind::usage,
                 "no such part", "whistle.wav");
}

TEST(Sounds, BrokenOnesAreRefused) {
  const TemporaryFolder folder;
  const std::string whole = read_bytes(sound_file("whistle.wav"));
  const auto refused = [&](std::string bytes, ErrorKind kind, const std::string& part) {
    const auto file = folder.write("broken.wav", bytes);
    expect_refusal([&] { return open_input(file.string()); }, kind, part, file);
  };
  refused(whole.substr(0, 30), ErrorKind::damaged, "the WAV file is broken");
  refused(whole.substr(0, 44), ErrorKind::damaged, "no samples");
  std::string no_rate = whole;
  no_rate.replace(24, 4, std::string(4, '\0'));
  refused(no_rate, ErrorKind::damaged, "the WAV file is broken");
  std::string slow = whole;  // two samples per second: 4000 s
  slow.replace(24, 4, std::string("\x02\x00\x00\x00", 4));
  refused(slow, ErrorKind::unsupported, "the sound is too long");
  const auto none = folder.write("no.wav", "To be");
  expect_refusal([&] { return open_input(none.string() + "#0-2"); }, ErrorKind::not_this_format,
                 "not a WAV file", none);
}

}  // namespace
}  // namespace attnscope
