#include "core/model/preprocessing/preprocessing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/model/preprocessing/image_resize.h"
#include "core/model/preprocessing/log_mel.h"
#include "core/model/preprocessing/picture_tiles.h"

namespace attnscope {

namespace {

double of_channel(const std::vector<double>& values, std::int64_t channel) {
  return values.size() == 1 ? values.front() : values.at(static_cast<std::size_t>(channel));
}

Image fit_to_model(const Image& original, const ModelSpec& spec) {
  if (original.width <= 0 || original.height <= 0) {
    throw Error(ErrorKind::usage, "the image is empty");
  }
  Image image = with_channels(original, spec.input.channels);
  if (spec.input.keeps_sizes()) {
    const ImageSize size = size_in_steps(image.width, image.height, spec.input);
    return resize(image, size.width, size.height, spec.input.resize_filter);
  }
  if (spec.input.longest_edge > 0) image = with_longest_edge(image, spec.input);
  if (spec.input.resize_mode == ResizeMode::padded) {
    std::vector<std::uint8_t> colour;
    for (std::int64_t channel = 0; channel < image.channels; ++channel) {
      const double mean = std::clamp(of_channel(spec.input.mean, channel), 0.0, 1.0);
      colour.push_back(static_cast<std::uint8_t>(mean * 255));  // rounded down, as upstream
    }
    image = padded_to_square(image, colour);
  }
  if (image.width == spec.input.image_width && image.height == spec.input.image_height &&
      spec.input.crop_fraction == 1.0) {
    return image;
  }
  const auto enlarged = [&](std::int64_t extent) {
    return static_cast<std::int64_t>(
        std::floor(static_cast<double>(extent) / spec.input.crop_fraction));
  };
  std::int64_t width = enlarged(spec.input.image_width), height = enlarged(spec.input.image_height);
  if (spec.input.resize_mode == ResizeMode::shorter_side) {
    // The relatively shorter side takes its target size; the other keeps the aspect ratio.
    if (image.height * width <= image.width * height) {
      width = std::max(width, height * image.width / image.height);
    } else {
      height = std::max(height, width * image.height / image.width);
    }
  }
  constexpr std::int64_t most_pixels = std::int64_t{1} << 28;
  if (width > most_pixels / height) {
    throw Error(ErrorKind::usage, "the image is too long and narrow for the model")
        .found(std::to_string(original.width) + " × " + std::to_string(original.height));
  }
  image = resize(image, width, height, spec.input.resize_filter);
  // Half a pixel is rounded to even, as in the training libraries.
  const auto margin = [](std::int64_t whole, std::int64_t part) {
    return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(whole - part) / 2));
  };
  return crop(image, margin(width, spec.input.image_width), margin(height, spec.input.image_height),
              spec.input.image_width, spec.input.image_height);
}

/// The image that a normalised array [C, H, W] was made from, for overlays.
std::optional<Image> picture_of(const Tensor& values, const ModelSpec& spec) {
  if (spec.input.channels != 1 && spec.input.channels != 3) return std::nullopt;
  Image image{values.extent(2), values.extent(1), spec.input.channels, {}};
  image.pixels.resize(static_cast<std::size_t>(values.size()));
  const std::int64_t pixels = image.width * image.height;
  for (std::int64_t channel = 0; channel < spec.input.channels; ++channel) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      const double value =
          values.data()[channel * pixels + pixel] * of_channel(spec.input.std, channel) +
          of_channel(spec.input.mean, channel);
      // NaN is drawn black; the model still sees it.
      const double byte = value > 0 ? std::min(value * 255, 255.0) : 0.0;
      image.pixels[static_cast<std::size_t>(pixel * spec.input.channels + channel)] =
          static_cast<std::uint8_t>(std::lround(byte));
    }
  }
  return image;
}

PreparedInput prepare_array(const Tensor& array, const ModelSpec& spec) {
  Shape shape = array.shape();
  if (spec.input.patch_height == 0) {
    if (shape.size() == 3 && shape[0] == 1) shape.erase(shape.begin());
    if (shape.size() != 2 || shape[1] != spec.embedding_width() || shape[0] < 1) {
      throw Error(ErrorKind::usage, "the array does not fit the encoder")
          .expected("tokens [N, " + std::to_string(spec.embedding_width()) + "]")
          .found(to_string(array.shape()));
    }
    if (spec.input.context > 0 && shape[0] > spec.input.context) {
      throw Error(ErrorKind::usage, "there are more tokens than positions")
          .expected("at most " + std::to_string(spec.input.context))
          .found(std::to_string(shape[0]));
    }
    return {array.reshaped(shape), std::nullopt};
  }
  const InputSpec& input = spec.input;
  Shape wanted = {input.channels, input.image_height, input.image_width};
  if (shape.size() == 4 && shape[0] == 1) shape.erase(shape.begin());
  if (shape.size() == 2 && input.channels == 1) shape.insert(shape.begin(), 1);
  const bool whole = shape.size() == 3 && shape[1] > 0 && shape[2] > 0 &&
                     shape[1] % input.size_step == 0 && shape[2] % input.size_step == 0;
  if (input.keeps_sizes() && whole) wanted = {input.channels, shape[1], shape[2]};
  if (shape != wanted) {
    throw Error(ErrorKind::usage, "the array does not fit the model")
        .expected(to_string(wanted) + (input.keeps_sizes()
                                           ? " or another size in steps of " +
                                                 std::to_string(input.size_step) + ", normalised"
                                           : ", normalised"))
        .found(to_string(array.shape()));
  }
  Tensor values = array.reshaped(wanted);
  std::optional<Image> image = picture_of(values, spec);
  return {std::move(values), std::move(image)};
}

/// Number of frames of 10 ms; two make a token.
std::int64_t frames_of(const ModelSpec& spec) { return 2 * spec.input.context; }

/// Start times of the tokens of a sound, such as "0.02 s". Each token covers two frames. The
/// no-break space is not shown as a visible mark, unlike spaces in texts.
std::vector<std::string> times_of(const ModelSpec& spec) {
  std::vector<std::string> times;
  for (std::int64_t i = 0; i < spec.input.context; ++i) {
    const std::int64_t hundredths = i * 2 * kSamplesOfFrame * 100 / kSoundRate;
    const std::string rest = std::to_string(hundredths % 100);
    times.push_back(std::to_string(hundredths / 100) + (rest.size() < 2 ? ".0" : ".") + rest +
                    "\u00A0s");
  }
  return times;
}

PreparedInput prepare_sound(const Sound& sound, const ModelSpec& spec) {
  if (sound.rate != kSoundRate) {
    throw Error(ErrorKind::usage, "the sound does not have the model's sample rate")
        .expected(std::to_string(kSoundRate) + " samples a second")
        .found(std::to_string(sound.rate))
        .remedy("resample it: sox SOUND.wav -r 16000 -c 1 NEW.wav");
  }
  const std::int64_t frames = frames_of(spec), most = frames * kSamplesOfFrame;
  const auto seconds = [](std::int64_t samples) {
    const std::int64_t tenths = samples * 10 / kSoundRate;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  };
  if (std::ssize(sound.samples) > most) {
    throw Error(ErrorKind::usage, "the sound is longer than the model's input")
        .expected("at most " + seconds(most))
        .found(seconds(std::ssize(sound.samples)))
        .remedy("give a part of it: SOUND.wav#0-30 is its first 30 seconds");
  }
  return {log_mel(sound, spec.input.channels, frames), std::nullopt, times_of(spec)};
}

PreparedInput prepare_sound(const Input& input, const ModelSpec& spec) {
  if (const auto* sound = std::get_if<Sound>(&input.content)) return prepare_sound(*sound, spec);
  const Shape wanted = {spec.input.channels, frames_of(spec)};
  const auto* array = std::get_if<Tensor>(&input.content);
  if (!array) {
    throw Error(ErrorKind::usage, "a model of sounds reads neither images nor texts")
        .expected("a WAV file, or a .npy array of its spectrum " + to_string(wanted));
  }
  Shape shape = array->shape();
  if (shape.size() == 3 && shape[0] == 1) shape.erase(shape.begin());
  if (shape != wanted) {
    throw Error(ErrorKind::usage, "the spectrum does not fit the model")
        .expected("[bands, frames] " + to_string(wanted))
        .found(to_string(array->shape()));
  }
  return {array->reshaped(wanted), std::nullopt, times_of(spec)};
}

/// Copies `count` pixels of one row of [C, H, W] from column `first` on to `out`, with zeros
/// outside the image; returns the end.
float* copy_row(const Tensor& image, std::int64_t channel, std::int64_t row, std::int64_t first,
                std::int64_t count, float* out) {
  const std::int64_t height = image.extent(1), width = image.extent(2);
  const bool outside = row < 0 || row >= height;
  const std::int64_t left = outside ? count : std::clamp<std::int64_t>(-first, 0, count);
  const std::int64_t inside =
      outside ? 0 : std::clamp<std::int64_t>(width - first, left, count) - left;
  out = std::fill_n(out, left, 0.0F);
  if (inside > 0) {
    const std::int64_t from = (channel * height + row) * width + first + left;
    out = std::copy_n(image.data() + from, inside, out);
  }
  return std::fill_n(out, count - left - inside, 0.0F);
}

}  // namespace

Tensor normalised_pixels(const Image& image, const ModelSpec& spec) {
  Tensor values({image.channels, image.height, image.width});
  const std::int64_t pixels = image.width * image.height;
  for (std::int64_t channel = 0; channel < image.channels; ++channel) {
    const auto mean = static_cast<float>(of_channel(spec.input.mean, channel));
    const auto deviation = static_cast<float>(of_channel(spec.input.std, channel));
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      const auto byte = image.pixels[static_cast<std::size_t>(pixel * image.channels + channel)];
      values.data()[channel * pixels + pixel] =
          (static_cast<float>(byte) / 255.0F - mean) / deviation;
    }
  }
  return values;
}

PreparedInput prepare_input(const Input& input, const ModelSpec& spec) {
  try {
    if (spec.is_audio()) return prepare_sound(input, spec);
    const bool sound = std::holds_alternative<Sound>(input.content);
    const Text* const text = std::get_if<Text>(&input.content);
    if (sound || (text && text->pictures.empty())) {
      throw Error(ErrorKind::usage, sound ? "a model of images cannot read a sound"
                                          : "a model of images cannot read a text")
          .expected("an image, or an array of pixels");
    }
    if (const auto* array = std::get_if<Tensor>(&input.content)) return prepare_array(*array, spec);
    if (spec.input.patch_height == 0) {
      throw Error(ErrorKind::usage, "an encoder of tokens cannot read an image")
          .expected("a .npy array of tokens [N, " + std::to_string(spec.embedding_width()) + "]");
    }
    if (text && text->pictures.size() > 1) {
      throw Error(ErrorKind::usage, "a model of images reads one picture at a time")
          .expected("one picture")
          .found(std::to_string(text->pictures.size()));
    }
    Image image =
        fit_to_model(text ? *text->pictures.front() : std::get<Image>(input.content), spec);
    Tensor values = normalised_pixels(image, spec);
    return {std::move(values), std::move(image)};
  } catch (Error& error) {
    if (error.subject().empty()) error.about(input.label);
    throw;
  }
}

Tensor to_patches(const Tensor& image, const ModelSpec& spec) {
  const std::int64_t height = spec.input.patch_height, width = spec.input.patch_width;
  const std::int64_t down = spec.input.patch_stride ? spec.input.patch_stride : height;
  const std::int64_t across = spec.input.patch_stride ? spec.input.patch_stride : width;
  const auto along = [&](std::int64_t axis, std::int64_t patch, std::int64_t stride) {
    return (image.extent(axis) + 2 * spec.input.patch_padding - patch) / stride + 1;
  };
  const std::int64_t rows = along(1, height, down), columns = along(2, width, across);
  Tensor patches({rows * columns, image.extent(0) * height * width});
  float* out = patches.data();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      for (std::int64_t channel = 0; channel < image.extent(0); ++channel) {
        for (std::int64_t y = 0; y < height; ++y) {
          out = copy_row(image, channel, row * down - spec.input.patch_padding + y,
                         column * across - spec.input.patch_padding, width, out);
        }
      }
    }
  }
  return patches;
}

}  // namespace attnscope
