// Labelled images in a new order every epoch, varied as the recipe says.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/input/item_choice.h"
#include "core/model/preprocessing/preprocessing.h"
#include "core/training/augmentation/mixing.h"
#include "core/training/augmentation/random_augment.h"
#include "core/training/augmentation/random_erasing.h"
#include "core/training/data/random_order.h"
#include "core/training/data/training_data.h"

namespace attnscope {

namespace {

// Number of images used for the mean and deviation of the pixels.
constexpr std::int64_t kMeasured = 1000;

const Image& image_of(const Input& input) {
  if (const auto* const image = std::get_if<Image>(&input.content)) return *image;
  throw Error(ErrorKind::unsupported, "training needs images of 8 bits per channel")
      .about(input.label);
}

/// Measures mean and deviation of the pixels of a sample of images, scaled to [0, 1].
void measure(const DataSet& images, std::int64_t count, InputSpec& input) {
  const auto channels = static_cast<std::size_t>(input.channels);
  std::vector<double> sum(channels), squares(channels);
  double pixels = 0;
  for (const std::int64_t index : chosen_items(count, {.count = kMeasured, .seed = 0})) {
    const Input item = images.item(index);
    const Image& image = image_of(item);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      const double value = image.pixels[i] / 255.0;
      sum[i % channels] += value;
      squares[i % channels] += value * value;
    }
    pixels += static_cast<double>(image.width * image.height);
  }
  input.mean.clear();
  input.std.clear();
  const auto rounded = [](double value) { return std::round(value * 1e4) / 1e4; };
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double mean = sum[channel] / pixels;
    input.mean.push_back(rounded(mean));
    const double deviation = std::sqrt(squares[channel] / pixels - mean * mean);
    input.std.push_back(std::max(rounded(deviation), 1e-4));
  }
}

/// Shifts the image by whole pixels and optionally mirrors it; the margin is filled with black.
Tensor varied(const Tensor& image, std::int64_t down, std::int64_t right, bool mirrored,
              const InputSpec& input) {
  Tensor moved(image.shape());
  const std::int64_t rows = image.extent(1), columns = image.extent(2);
  for (std::int64_t channel = 0; channel < image.extent(0); ++channel) {
    const auto at = static_cast<std::size_t>(input.mean.size() > 1 ? channel : 0);
    const auto black = static_cast<float>(-input.mean[at] / input.std[at]);
    const ConstMatrixMap from = image.slice(channel);
    MatrixMap to = moved.slice(channel);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        const std::int64_t y = row - down, shifted = column - right;
        const std::int64_t x = mirrored ? columns - 1 - shifted : shifted;
        const bool inside = y >= 0 && y < rows && x >= 0 && x < columns;
        to(row, column) = inside ? from(y, x) : black;
      }
    }
  }
  return moved;
}

/// Enlarges a crop, whose width and height are the share `side` of the image's, to the whole size.
/// `down` and `right`, from 0 to 1, give its position. Interpolates bilinearly between pixel
/// centres.
Tensor cropped(const Tensor& image, double side, double down, double right) {
  Tensor enlarged(image.shape());
  const auto place = [side](std::int64_t index, std::int64_t extent, double start) {
    const auto all = static_cast<double>(extent);
    const double at = start * (1 - side) * all + (static_cast<double>(index) + 0.5) * side - 0.5;
    return std::clamp(at, 0.0, all - 1);
  };
  for (std::int64_t channel = 0; channel < image.extent(0); ++channel) {
    const ConstMatrixMap from = image.slice(channel);
    MatrixMap to = enlarged.slice(channel);
    for (std::int64_t row = 0; row < to.rows(); ++row) {
      const double y = place(row, to.rows(), down);
      const auto above = static_cast<std::int64_t>(y), below = std::min(above + 1, to.rows() - 1);
      const auto v = static_cast<float>(y - static_cast<double>(above));
      for (std::int64_t column = 0; column < to.cols(); ++column) {
        const double x = place(column, to.cols(), right);
        const auto left = static_cast<std::int64_t>(x), next = std::min(left + 1, to.cols() - 1);
        const auto u = static_cast<float>(x - static_cast<double>(left));
        to(row, column) = (1 - v) * ((1 - u) * from(above, left) + u * from(above, next)) +
                          v * ((1 - u) * from(below, left) + u * from(below, next));
      }
    }
  }
  return enlarged;
}

class TrainingImages final : public TrainingData {
 public:
  TrainingImages(const DataSettings& settings, std::shared_ptr<const DataSet> images,
                 std::shared_ptr<const DataSet> test)
      : settings_(settings), images_(std::move(images)), test_(std::move(test)) {
    size_ = limited(images_->size(), settings.items);
    test_size_ = test_ ? limited(test_->size(), settings.test_items) : 0;
    if (size_ == 0) throw Error(ErrorKind::usage, "the data set is empty").about("dataset");
  }

  [[nodiscard]] ExampleKind kind() const override { return ExampleKind::images; }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] std::int64_t test_size() const override { return test_size_; }

  [[nodiscard]] ModelSpec complete(ModelSpec spec) const override {
    const Input first = images_->item(0);
    const Image& image = image_of(first);
    spec.input.channels = image.channels;
    spec.input.image_height = image.height;
    spec.input.image_width = image.width;
    measure(*images_, size_, spec.input);
    spec.labels = settings_.labels.empty() ? images_->class_names() : settings_.labels;
    const bool unnamed = spec.labels.empty();
    for (std::int64_t i = 0; unnamed && i < size_; ++i) {
      const int number = class_of(images_->item(i));
      while (std::ssize(spec.labels) <= number) {
        spec.labels.push_back(std::to_string(spec.labels.size()));
      }
    }
    return spec;
  }

  [[nodiscard]] Examples examples(const ModelSpec& spec, std::int64_t step, std::int64_t first,
                                  std::int64_t count) const override {
    Examples made;
    const std::int64_t before = step * settings_.batch;
    for (std::int64_t i = first; i < first + count; ++i) add_varied(before + i, spec, made);
    if (!settings_.mixing) return made;
    const Mix how =
        random_mix(settings_.mixing,
                   RandomNumbers(settings_.seed).of("mixing").of(static_cast<std::uint64_t>(step)),
                   spec.input.image_height, spec.input.image_width);
    made.share = how.share;
    Examples others;
    for (std::int64_t i = 0; i < count; ++i) {
      add_varied(before + settings_.batch - 1 - (first + i), spec, others);
      mix(how, others.images.back(), made.images[static_cast<std::size_t>(i)]);
    }
    made.mixed_targets = std::move(others.targets);
    return made;
  }

  [[nodiscard]] Input training_input(std::int64_t index) const override {
    return images_->item(index);
  }

  [[nodiscard]] Examples test_examples(const ModelSpec& spec, std::int64_t first,
                                       std::int64_t count) const override {
    Examples made;
    for (std::int64_t i = first; i < first + count; ++i) add(test_->item(i), spec, made);
    return made;
  }

  [[nodiscard]] Input test_input(std::int64_t index) const override { return test_->item(index); }

 private:
  static std::int64_t limited(std::int64_t size, std::int64_t most) {
    return most > 0 ? std::min(size, most) : size;
  }

  static int class_of(const Input& input) {
    if (input.class_index >= 0) return input.class_index;
    throw Error(ErrorKind::usage, "an image of the data set has no class")
        .about(input.label)
        .remedy("give a data set with labels");
  }

  /// Adds the image at `place` in the order of all steps, varied as the recipe says. An epoch has
  /// as many places as there are images.
  void add_varied(std::int64_t place, const ModelSpec& spec, Examples& made) const {
    const RandomNumbers numbers(settings_.seed);
    const auto epoch = static_cast<std::uint64_t>(place / size_);
    const RandomOrder order(numbers.of("order").of(epoch), size_);
    const RandomNumbers own = numbers.of("variation").of(static_cast<std::uint64_t>(place));
    Input input = images_->item(order.at(place % size_ / settings_.repeats));
    if (settings_.random_augment.operations > 0) {
      Image image = image_of(input);
      augment_randomly(settings_.random_augment, own.of("random_augment"), image);
      input.content = std::move(image);
    }
    add(input, spec, made);
    Tensor& image = made.images.back();
    if (settings_.crop < 1) {
      const double area = settings_.crop + (1 - settings_.crop) * own.uniform(3);
      image = cropped(image, std::sqrt(area), own.uniform(4), own.uniform(5));
    }
    if (settings_.shift > 0 || settings_.flip) {
      const std::int64_t most = 2 * settings_.shift + 1;
      image =
          varied(image, own.below(most, 0) - settings_.shift, own.below(most, 1) - settings_.shift,
                 settings_.flip && own.below(2, 2) == 1, spec.input);
    }
    erase_randomly(settings_.erasing, own.of("random_erasing"), image);
  }

  static void add(const Input& input, const ModelSpec& spec, Examples& examples) {
    examples.targets.push_back(class_of(input));
    examples.images.push_back(prepare_input(input, spec).values);
  }

  DataSettings settings_;
  std::shared_ptr<const DataSet> images_, test_;
  std::int64_t size_ = 0, test_size_ = 0;
};

}  // namespace

std::shared_ptr<const TrainingData> make_training_images(const DataSettings& settings,
                                                         std::shared_ptr<const DataSet> images,
                                                         std::shared_ptr<const DataSet> test) {
  return std::make_shared<TrainingImages>(settings, std::move(images), std::move(test));
}

}  // namespace attnscope
