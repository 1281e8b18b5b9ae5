#include "core/input/sound.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <sndfile.h>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

/// Bytes in memory that libsndfile reads as a file.
struct SoundBytes {
  std::span<const std::byte> bytes;
  sf_count_t at = 0;

  [[nodiscard]] sf_count_t size() const { return static_cast<sf_count_t>(bytes.size()); }
};

SoundBytes& bytes_of(void* user) { return *static_cast<SoundBytes*>(user); }

sf_count_t seek_bytes(sf_count_t offset, int whence, void* user) {
  SoundBytes& file = bytes_of(user);
  const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : file.size();
  if (offset < -from || offset > file.size() - from) return -1;
  file.at = from + offset;
  return file.at;
}

sf_count_t read_bytes(void* target, sf_count_t count, void* user) {
  SoundBytes& file = bytes_of(user);
  const sf_count_t taken = std::clamp<sf_count_t>(count, 0, file.size() - file.at);
  std::memcpy(target, file.bytes.data() + file.at, static_cast<std::size_t>(taken));
  file.at += taken;
  return taken;
}

SF_VIRTUAL_IO reader_of_bytes() {
  SF_VIRTUAL_IO io = {};
  io.get_filelen = [](void* user) { return bytes_of(user).size(); };
  io.seek = seek_bytes;
  io.read = read_bytes;
  io.write = [](const void*, sf_count_t, void*) { return sf_count_t{0}; };
  io.tell = [](void* user) { return bytes_of(user).at; };
  return io;
}

Error broken_sound(const char* problem) {
  return Error(ErrorKind::damaged, "the WAV file is broken").found(problem);
}

void check_header(const SF_INFO& info) {
  constexpr int most_channels = 64, most_rate = 768'000;
  if (info.channels < 1 || info.channels > most_channels || info.samplerate < 1 ||
      info.samplerate > most_rate) {
    throw broken_sound("an absurd number of channels or an absurd sample rate");
  }
  if (info.frames < 1) throw broken_sound("no samples");
  if (info.frames / info.samplerate < longest_sound) return;
  throw Error(ErrorKind::unsupported, "the sound is too long")
      .expected("less than " + std::to_string(longest_sound) + " s")
      .found(std::to_string(info.frames / info.samplerate) + " s")
      .remedy("cut it: sox LONG.wav SHORT.wav trim 0 30");
}

}  // namespace

bool is_wav(std::span<const std::byte> bytes) {
  return bytes.size() >= 12 && std::memcmp(bytes.data(), "RIFF", 4) == 0 &&
         std::memcmp(bytes.data() + 8, "WAVE", 4) == 0;
}

Sound decode_wav(std::span<const std::byte> bytes) {
  SoundBytes file{bytes};
  SF_VIRTUAL_IO io = reader_of_bytes();
  SF_INFO info = {};
  const std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> opened(
      sf_open_virtual(&io, SFM_READ, &info, &file), sf_close);
  if (!opened) throw broken_sound(sf_strerror(nullptr));
  check_header(info);
  Sound sound{info.samplerate, {}};
  const auto channels = static_cast<std::size_t>(info.channels);
  constexpr std::size_t at_once = 4096;
  std::vector<float> block(at_once * channels);
  // The header may claim more frames than the file has.
  for (sf_count_t count = 1; count > 0 && std::ssize(sound.samples) < info.frames;) {
    count = sf_readf_float(opened.get(), block.data(), at_once);
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::max<sf_count_t>(count, 0)); ++i) {
      float sum = 0;
      for (std::size_t channel = 0; channel < channels; ++channel)
        sum += block[i * channels + channel];
      sound.samples.push_back(sum / static_cast<float>(channels));
    }
  }
  if (sf_error(opened.get()) != SF_ERR_NO_ERROR) throw broken_sound(sf_strerror(opened.get()));
  if (std::ssize(sound.samples) != info.frames)
    throw broken_sound("fewer samples than its header gives");
  return sound;
}

Sound part_of_sound(const Sound& sound, std::int64_t first, std::int64_t last) {
  const std::int64_t count = std::ssize(sound.samples);
  const auto sample = [&](std::int64_t second) {
    return second > count / sound.rate ? count : std::min(second * sound.rate, count);
  };
  if (first < 0 || last <= first || sample(first) >= count) {
    throw Error(ErrorKind::usage, "the sound has no such part")
        .expected("seconds within 0 to " + std::to_string((count + sound.rate - 1) / sound.rate))
        .found(std::to_string(first) + " to " + std::to_string(last));
  }
  const auto begin = sound.samples.begin();
  return {sound.rate, {begin + sample(first), begin + sample(last)}};
}

}  // namespace attnscope
