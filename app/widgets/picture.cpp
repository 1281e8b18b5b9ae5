#include "app/widgets/picture.h"

#include <QFile>
#include <QObject>
#include <QPainter>
#include <algorithm>
#include <limits>

#include "core/input/text.h"

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

/// Pictures next to each other, each in an equal part of the width.
QPixmap side_by_side(const std::vector<std::shared_ptr<const Image>>& pictures, int side,
                     double pixel_ratio) {
  const auto count = static_cast<int>(pictures.size());
  if (count == 1) return fitted(to_qimage(*pictures.front()), side, pixel_ratio);
  const int pixels = static_cast<int>(side * pixel_ratio), each = std::max(pixels / count, 1);
  QPixmap pixmap(pixels, pixels);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  for (int i = 0; i < count; ++i) {
    const QPixmap one = fitted(to_qimage(*pictures[static_cast<std::size_t>(i)]), each, 1);
    painter.drawPixmap(i * each + (each - one.width()) / 2, (pixels - one.height()) / 2, one);
  }
  painter.end();
  pixmap.setDevicePixelRatio(pixel_ratio);
  return pixmap;
}

// A normalised array as a picture: its range is stretched over the greys, because the mean is
// unknown.
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

/// The beginning of a text on a sheet.
QPixmap sheet_of(const QString& text, int side, double pixel_ratio) {
  QPixmap pixmap(static_cast<int>(side * pixel_ratio), static_cast<int>(side * pixel_ratio));
  pixmap.setDevicePixelRatio(pixel_ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF sheet(side * 0.08, 1, side * 0.84, side - 2);
  painter.setPen(QPen(QColor(150, 150, 150), 1));
  painter.setBrush(QColor(250, 250, 247));
  painter.drawRoundedRect(sheet, 2, 2);
  QFont font("DejaVu Serif");
  font.setPixelSize(std::max(6, side / 8));
  painter.setFont(font);
  painter.setPen(QColor(40, 40, 40));
  painter.drawText(sheet.adjusted(3, 2, -2, -2), Qt::AlignLeft | Qt::TextWrapAnywhere,
                   text.left(200));
  return pixmap;
}

/// The waveform: minimum and maximum samples per pixel column.
QPixmap wave_of(const Sound& sound, int side, double pixel_ratio) {
  const int pixels = static_cast<int>(side * pixel_ratio);
  QPixmap pixmap(pixels, pixels);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setPen(QColor(110, 130, 160));
  const auto samples = sound.samples.begin();
  const auto count = std::ssize(sound.samples);
  for (int x = 0; x < pixels && count > 0; ++x) {
    const auto first = samples + std::min(count * x / pixels, count - 1);
    const auto last = std::max(samples + count * (x + 1) / pixels, first + 1);
    const auto [least, greatest] = std::minmax_element(first, last);
    const auto y = [&](float value) {
      return (1 - static_cast<double>(std::clamp(value, -1.0F, 1.0F))) * 0.5 * pixels;
    };
    painter.drawLine(QPointF(x, y(*greatest)), QPointF(x, y(*least)));
  }
  painter.end();
  pixmap.setDevicePixelRatio(pixel_ratio);
  return pixmap;
}

}  // namespace

QImage to_qimage(const Image& image) {
  if (image.width <= 0 || image.height <= 0) return {};
  const QImage::Format format =
      image.channels == 1 ? QImage::Format_Grayscale8 : QImage::Format_RGB888;
  // A copy, because the QImage must outlive the pixels it was made from.
  return QImage(image.pixels.data(), static_cast<int>(image.width), static_cast<int>(image.height),
                static_cast<qsizetype>(image.width * image.channels), format)
      .copy();
}

QPixmap picture_of(const Input& input, int side, double pixel_ratio) {
  if (const Image* image = std::get_if<Image>(&input.content)) {
    return fitted(to_qimage(*image), side, pixel_ratio);
  }
  if (const Text* text = std::get_if<Text>(&input.content)) {
    if (!text->pictures.empty()) return side_by_side(text->pictures, side, pixel_ratio);
    QString shown = QString::fromStdString(text->characters);
    if (text->second) shown += '\n' + QString::fromStdString(*text->second);
    for (std::size_t i = 0; i < std::min<std::size_t>(text->ids.size(), 40); ++i) {
      shown += QString::number(text->ids[i]) + ' ';
    }
    return sheet_of(shown, side, pixel_ratio);
  }
  if (const Sound* sound = std::get_if<Sound>(&input.content)) {
    return wave_of(*sound, side, pixel_ratio);
  }
  const Tensor* array = std::get_if<Tensor>(&input.content);
  return array ? fitted(from_array(*array), side, pixel_ratio) : QPixmap();
}

QPixmap thumbnail_of(const std::filesystem::path& file, int side, double pixel_ratio) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return {};  // a pipe would never end
  if (is_text_file_name(file)) {
    QFile text(QString::fromStdString(file.string()));
    if (!text.open(QIODevice::ReadOnly)) return {};
    return sheet_of(QString::fromUtf8(text.read(400)), side, pixel_ratio);
  }
  return fitted(QImage(QString::fromStdString(file.string())), side, pixel_ratio);
}

QRectF place_of_picture(const QRectF& room, const QImage& picture, const TokenCells& cells) {
  double aspect = static_cast<double>(cells.columns) / static_cast<double>(cells.rows);
  if (!picture.isNull()) aspect = static_cast<double>(picture.width()) / picture.height();
  const double wide = std::min(room.width(), room.height() * aspect);
  return {room.topLeft(), QSizeF(wide, wide / aspect)};
}

QRectF place_of_cells(const QRectF& picture, const TokenCells& cells, std::int64_t token) {
  const std::optional<CellBlock> block = cells.block_of(token);
  if (!block) return {};
  const double wide = picture.width() / static_cast<double>(cells.columns);
  const double high = picture.height() / static_cast<double>(cells.rows);
  return {picture.left() + static_cast<double>(block->column) * wide,
          picture.top() + static_cast<double>(block->row) * high,
          static_cast<double>(block->columns) * wide, static_cast<double>(block->rows) * high};
}

QString describe_input(const Input& input) {
  QString text;
  if (const Image* image = std::get_if<Image>(&input.content)) {
    text = QObject::tr("%1 × %2 pixels, %3")
               .arg(image->width)
               .arg(image->height)
               .arg(image->channels == 1 ? QObject::tr("grey") : QObject::tr("colour"));
  } else if (const Text* words = std::get_if<Text>(&input.content)) {
    const auto characters = [](const std::string& of) { return character_starts(of).size() - 1; };
    if (!words->pictures.empty()) {
      QStringList sizes;
      for (const std::shared_ptr<const Image>& picture : words->pictures) {
        sizes << QObject::tr("%1 × %2").arg(picture->width).arg(picture->height);
      }
      text = QObject::tr("%1 pixels, and a text of %2 characters")
                 .arg(sizes.join(", "))
                 .arg(characters(words->characters));
    } else if (!words->ids.empty()) {
      text = QObject::tr("%1 token ids").arg(words->ids.size());
    } else if (words->second) {
      text = QObject::tr("texts of %1 and %2 characters")
                 .arg(characters(words->characters))
                 .arg(characters(*words->second));
    } else {
      text = QObject::tr("text of %1 characters").arg(characters(words->characters));
    }
  } else if (const Sound* sound = std::get_if<Sound>(&input.content)) {
    const double seconds =
        static_cast<double>(sound->samples.size()) / static_cast<double>(sound->rate);
    text =
        QObject::tr("sound of %1 s, %2 samples a second").arg(seconds, 0, 'f', 1).arg(sound->rate);
  } else {
    text = QObject::tr("array %1, taken as normalised")
               .arg(QString::fromStdString(to_string(std::get<Tensor>(input.content).shape())));
  }
  if (input.class_index >= 0) text += QObject::tr("; class %1").arg(input.class_index);
  return text;
}

}  // namespace attnscope
