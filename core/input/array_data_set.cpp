// HDF5 and NPZ files with `images` and `labels`. Images of bytes are pictures; floating-point
// images are already normalised.
#include <cstring>
#include <utility>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/input/data_set_kinds.h"

namespace attnscope {

namespace {

bool is_channel_count(std::int64_t extent) { return extent == 1 || extent == 3; }

class ArrayDataSet : public DataSet {
 public:
  ArrayDataSet(std::filesystem::path path, TensorView images, std::vector<std::int64_t> labels,
               std::size_t channel_axis)
      : path_(std::move(path)),
        images_(std::move(images)),
        labels_(std::move(labels)),
        channel_axis_(channel_axis) {}

  [[nodiscard]] std::int64_t size() const override { return images_.shape[0]; }

  [[nodiscard]] Input item(std::int64_t index) const override {
    check_index(path_, index, size());
    const auto place = static_cast<std::size_t>(index);
    const int label = labels_.empty() ? -1 : static_cast<int>(labels_[place]);
    Input input{Image{}, item_label(path_, index), item_locator(path_, index), label};
    if (is_floating(images_.dtype)) {
      input.content = channels_first(index).to_float();
    } else {
      input.content = picture(index);
    }
    return input;
  }

  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return class_names_;
  }

  [[nodiscard]] std::vector<std::filesystem::path> files() const override { return {path_}; }

 private:
  /// Image `index` as [C, H, W] for any order of the file's axes.
  [[nodiscard]] TensorView channels_first(std::int64_t index) const {
    const auto width = static_cast<std::int64_t>(size_of(images_.dtype));
    TensorView view = images_;
    if (element_count(view.shape) != 0) view.data += index * images_.strides[0] * width;
    const auto axis = [&](std::size_t from) {
      return std::pair(images_.shape[from], images_.strides[from]);
    };
    const auto [channels, channel_stride] =
        channel_axis_ == 0 ? std::pair(std::int64_t{1}, std::int64_t{1}) : axis(channel_axis_);
    const auto [rows, row_stride] = axis(channel_axis_ == 1 ? 2 : 1);
    const auto [columns, column_stride] = axis(channel_axis_ == 1 ? 3 : 2);
    view.shape = {channels, rows, columns};
    view.strides = {channel_stride, row_stride, column_stride};
    return view;
  }

  [[nodiscard]] Image picture(std::int64_t index) const {
    TensorView view = channels_first(index);
    Image image{view.shape[2], view.shape[1], view.shape[0], {}};
    view.shape = {view.shape[1], view.shape[2], view.shape[0]};
    view.strides = {view.strides[1], view.strides[2], view.strides[0]};
    const Tensor values = view.to_float();
    for (const float value : values.values()) {
      image.pixels.push_back(static_cast<std::uint8_t>(value));
    }
    return image;
  }

  std::filesystem::path path_;
  TensorView images_;
  std::vector<std::int64_t> labels_;
  std::size_t channel_axis_;  ///< 0: no channel axis
  std::vector<std::string> class_names_;
};

/// The axis C of [n, H, W, C] or [n, C, H, W]; 0 for [n, H, W].
std::size_t channel_axis(const StoredTensor& images) {
  const Shape& shape = images.shape;
  if (shape.size() == 3) return 0;
  if (shape.size() == 4 && is_channel_count(shape[3])) return 3;
  if (shape.size() == 4 && is_channel_count(shape[1])) return 1;
  throw Error(ErrorKind::unsupported, "the array does not hold images")
      .about(images.name)
      .expected("[n, H, W], [n, H, W, C] or [n, C, H, W] with 1 or 3 channels")
      .found(to_string(shape));
}

std::shared_ptr<const DataSet> read(const std::filesystem::path& path) {
  const Checkpoint file = open_checkpoint(path);
  const StoredTensor* const images = file.find("images");
  if (images == nullptr) {
    throw Error(ErrorKind::not_this_format, "the file has no 'images'");
  }
  const std::size_t axis = channel_axis(*images);
  if (!is_floating(images->dtype) && images->dtype != DType::u8) {
    throw Error(ErrorKind::unsupported, "images are bytes or floating-point numbers")
        .about("images")
        .found(std::string(name_of(images->dtype)));
  }
  if (images->shape[0] > 0 && element_count(images->shape) == 0) {
    throw Error(ErrorKind::damaged, "the images have no pixels")
        .about("images")
        .found(to_string(images->shape));
  }
  std::vector<std::int64_t> labels;
  if (const StoredTensor* const stored = file.find("labels")) {
    if (element_count(stored->shape) != images->shape[0]) {
      throw Error(ErrorKind::damaged, "the number of labels differs from the number of images")
          .about("labels")
          .expected(std::to_string(images->shape[0]))
          .found(to_string(stored->shape));
    }
    labels = stored->view().to_int64();
    for (const std::int64_t label : labels) {
      if (label < 0 || label > (1 << 24)) {
        throw Error(ErrorKind::damaged, "a label is not a class index")
            .about("labels")
            .found(std::to_string(label));
      }
    }
  }
  return std::make_shared<ArrayDataSet>(path, images->view(), std::move(labels), axis);
}

}  // namespace

std::shared_ptr<const DataSet> open_array_data_set(const std::filesystem::path& path) {
  return with_file(path, [&] { return read(path); });
}

}  // namespace attnscope
