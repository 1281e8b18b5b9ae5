#include "app/panels/picture.h"

#include <QObject>
#include <algorithm>
#include <limits>

namespace attnscope {

namespace {

QPixmap fitted(const QImage& image, int side, double pixel_ratio) {
  if (image.isNull()) return {};
  const int pixels = static_cast<int>(side * pixel_ratio);
  const bool small = std::max(image.width(), image.height()) <= pixels;
  QPixmap pixmap =
      QPixmap::fromImage(image.scaled(pixels, pixels, Qt::KeepAspectRatio,
                                      small ? Qt::FastTransformation : Qt::SmoothTransformation));
  pixmap.setDevicePixelRatio(pixel_ratio);
  return pixmap;
}

// A normalised array as a picture: its range is stretched over the greys, as no mean is known.
QImage from_array(const Tensor& tensor) {
  if (tensor.rank() != 3 || (tensor.extent(0) != 1 && tensor.extent(0) != 3)) return {};
  const std::int64_t channels = tensor.extent(0), height = tensor.extent(1),
                     width = tensor.extent(2);
  float low = std::numeric_limits<float>::max(), high = std::numeric_limits<float>::lowest();
  for (const float value : tensor.values()) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const float scale = high > low ? 255.0F / (high - low) : 0.0F;
  Image image{width, height, channels, {}};
  image.pixels.resize(static_cast<std::size_t>(width * height * channels));
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t i = 0; i < width * height; ++i) {
      const float value = (tensor.data()[c * width * height + i] - low) * scale;
      image.pixels[static_cast<std::size_t>(i * channels + c)] = static_cast<std::uint8_t>(value);
    }
  }
  return to_qimage(image);
}

}  // namespace

QImage to_qimage(const Image& image) {
  if (image.width <= 0 || image.height <= 0) return {};
  const QImage::Format format =
      image.channels == 1 ? QImage::Format_Grayscale8 : QImage::Format_RGB888;
  // Copied: the QImage must outlive the pixels it was made from.
  return QImage(image.pixels.data(), static_cast<int>(image.width), static_cast<int>(image.height),
                static_cast<qsizetype>(image.width * image.channels), format)
      .copy();
}

QPixmap picture_of(const Input& input, int side, double pixel_ratio) {
  if (const Image* image = std::get_if<Image>(&input.content)) {
    return fitted(to_qimage(*image), side, pixel_ratio);
  }
  const Tensor* array = std::get_if<Tensor>(&input.content);
  return array ? fitted(from_array(*array), side, pixel_ratio) : QPixmap();
}

QPixmap thumbnail_of(const std::filesystem::path& file, int side, double pixel_ratio) {
  return fitted(QImage(QString::fromStdString(file.string())), side, pixel_ratio);
}

QString describe_input(const Input& input) {
  QString text;
  if (const Image* image = std::get_if<Image>(&input.content)) {
    text = QObject::tr("%1 × %2 pixels, %3")
               .arg(image->width)
               .arg(image->height)
               .arg(image->channels == 1 ? QObject::tr("grey") : QObject::tr("colour"));
  } else if (const Text* words = std::get_if<Text>(&input.content)) {
    text =
        words->ids.empty()
            ? QObject::tr("text of %n bytes", nullptr, static_cast<int>(words->characters.size()))
            : QObject::tr("%n token ids", nullptr, static_cast<int>(words->ids.size()));
  } else {
    text = QObject::tr("array %1, taken as normalised")
               .arg(QString::fromStdString(to_string(std::get<Tensor>(input.content).shape())));
  }
  if (input.class_index >= 0) text += QObject::tr("; class %1").arg(input.class_index);
  return text;
}

}  // namespace attnscope
