#include "app/panels/steps/steps_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/look/theme.h"

namespace attnscope {

namespace {

constexpr int kGapBetween = 6, kNextToMatrix = 12;  // pixels
constexpr double kUnseen = 0.28;                    // opacity of later steps

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

QString plain_number(double value) {
  if (std::isnan(value)) return QStringLiteral("NaN");
  if (std::isinf(value)) return value < 0 ? QStringLiteral("−∞") : QStringLiteral("∞");
  QString text = QString::number(value, 'g', 4);
  return text.replace('-', QStringLiteral("−"));
}

std::vector<double> as_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

/// Blue below 0, orange above, stronger for larger magnitudes; negative cells also get a minus
/// sign, for greyscale.
QColor signed_colour(double value, double largest, const WindowColours& colours) {
  const double share = largest > 0 ? std::clamp(std::abs(value) / largest, 0.0, 1.0) : 0;
  const QColor end = value < 0 ? QColor(74, 134, 214) : QColor(226, 132, 46);
  const QColor ground = colours.sunken;
  const auto mixed = [share](int from, int to) {
    return static_cast<int>(std::lround(from + share * (to - from)));
  };
  return {mixed(ground.red(), end.red()), mixed(ground.green(), end.green()),
          mixed(ground.blue(), end.blue())};
}

}  // namespace

StepsView::StepsView(QWidget* parent) : QWidget(parent) {
  setObjectName("steps_view");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  setAccessibleName(tr("One head, step by step"));
}

QSize StepsView::sizeHint() const { return {400, 430}; }

void StepsView::set_content(Content content) {
  content_ = std::move(content);
  const auto keys = std::ssize(content_->steps.weights);
  if (key_ >= keys) key_ = 0;
  setAccessibleDescription(words());
  update();
}

void StepsView::clear() {
  content_.reset();
  update();
}

void StepsView::set_step(Step step) {
  if (step == step_) return;
  step_ = step;
  setAccessibleDescription(words());
  update();
  emit stepped();
}

void StepsView::set_key(std::int64_t key) {
  if (!content_ || key == key_ || key < 0 || key >= std::ssize(content_->steps.weights)) return;
  key_ = key;
  setAccessibleDescription(words());
  update();
  emit stepped();
}

std::vector<StepsView::Row> StepsView::rows() const {
  if (!content_) return {};
  const HeadSteps& steps = content_->steps;
  std::vector<Row> rows;
  const bool channels = !steps.query.empty();
  const bool codes = steps.score_of == ScoreOf::codes;
  if (channels) {
    rows.push_back({Step::vectors, codes ? tr("code of q") : tr("query q"), 1});
    rows.push_back({Step::vectors, codes ? tr("code of k") : tr("key k"), 1});
    rows.push_back(
        {Step::score, steps.score_of == ScoreOf::distance ? tr("|q − k|") : tr("q · k"), 2});
  }
  if (!steps.scores.empty()) {
    rows.push_back({Step::scale, channels ? tr("scores") : tr("logits"), 2});
  }
  rows.push_back({Step::weights,
                  steps.scores.empty() ? tr("weights")
                  : steps.softmax      ? tr("softmax")
                                       : tr("÷ sum"),
                  2});
  if (steps.identity) rows.push_back({Step::identity, tr("+ I"), 2});
  if (!steps.output.empty()) {
    rows.push_back({Step::values, tr("a · v"), 1});
    rows.push_back({Step::output, tr("output"), 1});
  }
  return rows;
}

QRectF StepsView::row_rect(std::size_t row) const {
  const std::vector<Row> all = rows();
  double sum = 0, before = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < row) before += all[i].height;
    sum += all[i].height;
  }
  const double gaps = kGapBetween * static_cast<double>(all.size());
  const double unit = std::max(6.0, (height() - gaps) / std::max(1.0, sum));
  return {0, before * unit + kGapBetween * static_cast<double>(row), static_cast<double>(width()),
          all[row].height * unit};
}

QRectF StepsView::plot_rect(const QRectF& row) const {
  return row.adjusted(title_room(), 0, -number_room(), 0);
}

double StepsView::title_room() const {
  QFont bold = font();
  bold.setBold(true);
  const QFontMetricsF metrics(bold);
  double widest = 0;
  for (const Row& row : rows()) widest = std::max(widest, metrics.horizontalAdvance(row.title));
  return widest + kNextToMatrix;
}

double StepsView::number_room() const {
  // The widest number of four digits, so that bars keep their size from key to key.
  const QFontMetricsF metrics(number_font(font()));
  return metrics.horizontalAdvance(QStringLiteral("−0.0008654")) + kNextToMatrix;
}

QRectF StepsView::bar_of(std::int64_t key) const {
  if (!content_) return {};
  const std::vector<Row> all = rows();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].step != Step::weights) continue;
    const QRectF plot = plot_rect(row_rect(i));
    const double wide = plot.width() / static_cast<double>(content_->steps.weights.size());
    return {plot.left() + wide * static_cast<double>(key), plot.top(), wide, plot.height()};
  }
  return {};
}

std::vector<double> StepsView::key_vector() const {
  const Matrix& keys = content_->steps.keys;
  const auto row = keys.row(key_).cast<double>().eval();
  return {row.data(), row.data() + row.size()};
}

std::vector<double> StepsView::with_identity() const {
  std::vector<double> weights = content_->steps.weights;
  if (content_->steps.identity) weights[static_cast<std::size_t>(content_->query)] += 1;
  return weights;
}

void StepsView::paint_strip(QPainter& painter, const QRectF& place,
                            const std::vector<double>& values, double largest) const {
  const WindowColours& colours = colours_of(*this);
  const double wide = place.width() / static_cast<double>(std::max<std::size_t>(values.size(), 1));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const QRectF cell(place.left() + wide * static_cast<double>(i), place.top(), wide,
                      place.height());
    painter.fillRect(cell, signed_colour(values[i], largest, colours));
    if (wide >= 7 && values[i] < 0) {
      painter.setPen(QPen(colours.text, 1));
      painter.drawLine(QPointF(cell.center().x() - 2, cell.center().y()),
                       QPointF(cell.center().x() + 2, cell.center().y()));
    }
  }
  painter.setPen(colours.border);
  painter.drawRect(place);
}

/// Draws products as bars from zero, and distances as bars between the two components.
void StepsView::paint_terms(QPainter& painter, const QRectF& place) const {
  const WindowColours& colours = colours_of(*this);
  const HeadSteps& steps = content_->steps;
  const std::vector<double> terms = steps.terms(key_), query = as_doubles(steps.query),
                            key = key_vector();
  const bool distance = steps.score_of == ScoreOf::distance;
  const double largest =
      distance ? std::max(largest_of(query), largest_of(key)) : largest_of(terms);
  painter.fillRect(place, colours.sunken);
  const double wide = place.width() / static_cast<double>(std::max<std::size_t>(terms.size(), 1));
  const auto y = [&](double value) {
    return place.center().y() - (largest > 0 ? value / largest : 0) * (place.height() / 2 - 2);
  };
  painter.setPen(colours.border);
  painter.drawLine(QPointF(place.left(), y(0)), QPointF(place.right(), y(0)));
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double x = place.left() + wide * static_cast<double>(i);
    const double from = distance ? query[i] : 0, to = distance ? key[i] : terms[i];
    const QRectF bar(x + wide * 0.15, std::min(y(from), y(to)), wide * 0.7,
                     std::max(1.0, std::abs(y(to) - y(from))));
    painter.fillRect(bar, distance ? colours.muted : signed_colour(terms[i], largest, colours));
    if (!distance) continue;
    painter.setPen(QPen(colours.accent, 2));  // component of q
    painter.drawLine(QPointF(bar.left(), y(from)), QPointF(bar.right(), y(from)));
    painter.setPen(QPen(colours.text, 2));  // component of k
    painter.drawLine(QPointF(bar.left(), y(to)), QPointF(bar.right(), y(to)));
  }
}

void StepsView::paint_bars(QPainter& painter, const QRectF& place,
                           const std::vector<double>& values) const {
  const WindowColours& colours = colours_of(*this);
  painter.fillRect(place, colours.sunken);
  double low = 0, high = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (high <= low) high = low + 1;
  const auto y = [&](double value) {
    return place.bottom() - 1 - (value - low) / (high - low) * (place.height() - 2);
  };
  const double wide = place.width() / static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const double x = place.left() + wide * static_cast<double>(i);
    const bool chosen = static_cast<std::int64_t>(i) == key_;
    const QRectF bar(x, std::min(y(0), y(values[i])), std::max(1.0, wide * 0.8),
                     std::max(1.0, std::abs(y(values[i]) - y(0))));
    painter.fillRect(bar, chosen ? colours.accent : colours.muted);
  }
  const double at = place.left() + wide * (static_cast<double>(key_) + 0.4);
  painter.setPen(QPen(colours.accent, 1, Qt::DotLine));
  painter.drawLine(QPointF(at, place.top()), QPointF(at, place.bottom()));
}

QString StepsView::number_of(const Row& row) const {
  const HeadSteps& steps = content_->steps;
  const auto key = static_cast<std::size_t>(key_);
  switch (row.step) {
    case Step::vectors:
      return {};
    case Step::score:
      return plain_number(steps.raw[key]);
    case Step::scale:
      return plain_number(steps.scores[key]);
    case Step::weights:
      return plain_number(steps.weights[key]);
    case Step::identity:
      return plain_number(with_identity()[key]);
    case Step::values:
    case Step::output:
      return tr("%1 ch.").arg(steps.output.size());
  }
  return {};
}

void StepsView::paint_row(QPainter& painter, const Row& row, const QRectF& place) const {
  const WindowColours& colours = colours_of(*this);
  const HeadSteps& steps = content_->steps;
  painter.setOpacity(row.step > step_ ? kUnseen : 1);
  QFont bold = font();
  bold.setBold(row.step == step_);
  painter.setFont(bold);
  painter.setPen(row.step == step_ ? colours.accent : colours.text);
  painter.drawText(
      QRectF(place.left(), place.top(), title_room() - kNextToMatrix / 2.0, place.height()),
      Qt::AlignVCenter | Qt::AlignRight, row.title);
  painter.setFont(number_font(font()));
  painter.setPen(colours.text);
  const double beside = number_room() - kNextToMatrix / 2.0;
  painter.drawText(QRectF(place.right() - beside, place.top(), beside, place.height()),
                   Qt::AlignVCenter | Qt::AlignLeft, number_of(row));
  const QRectF plot = plot_rect(place);
  switch (row.step) {
    case Step::vectors: {
      const std::vector<double> query = as_doubles(steps.query), key = key_vector();
      const double largest = std::max(largest_of(query), largest_of(key));
      const bool first = row.title.endsWith('q');
      return paint_strip(painter, plot, first ? query : key, largest);
    }
    case Step::score:
      return paint_terms(painter, plot);
    case Step::scale:
      return paint_bars(painter, plot, steps.scores);
    case Step::weights:
      return paint_bars(painter, plot, steps.weights);
    case Step::identity:
      return paint_bars(painter, plot, with_identity());
    case Step::values: {
      std::vector<double> part;
      const double weight = with_identity()[static_cast<std::size_t>(key_)];
      for (Eigen::Index channel = 0; channel < steps.values.cols(); ++channel) {
        part.push_back(weight * static_cast<double>(steps.values(key_, channel)));
      }
      return paint_strip(painter, plot, part, largest_of(steps.output));
    }
    case Step::output:
      return paint_strip(painter, plot, steps.output, largest_of(steps.output));
  }
}

void StepsView::paintEvent(QPaintEvent*) {
  if (!content_) return;
  QPainter painter(this);
  const std::vector<Row> all = rows();
  for (std::size_t i = 0; i < all.size(); ++i) paint_row(painter, all[i], row_rect(i));
  painter.setOpacity(1);
  if (hasFocus()) {
    painter.setPen(QPen(colours_of(*this).accent, 1));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

QString StepsView::words() const {
  if (!content_) return {};
  const HeadSteps& steps = content_->steps;
  const auto at = static_cast<std::size_t>(key_);
  const QString own = content_->query_name, other = content_->names.at(at);
  const bool codes = steps.score_of == ScoreOf::codes;
  switch (step_) {
    case Step::vectors:
      if (steps.query.empty()) return tr("Query %1 and its keys; now %2.").arg(own, other);
      return codes ? tr("The codes of %1 and of %2: %3 bits, +1 and −1.")
                         .arg(own, other)
                         .arg(steps.query.size())
                   : tr("The query of %1, the key of %2: %3 channels each.")
                         .arg(own, other)
                         .arg(steps.query.size());
    case Step::score:
      if (steps.raw.empty()) break;
      if (steps.score_of == ScoreOf::distance) {
        return tr("−‖q − k‖₁ = %1: the ways from q (blue-green) to k (plain), added up. No "
                  "product.")
            .arg(plain_number(steps.raw[at]));
      }
      if (steps.query.empty()) break;
      return tr("Σ q k = %1: channel by channel, added up.").arg(plain_number(steps.raw[at]));
    case Step::scale: {
      if (steps.scores.empty()) break;
      if (std::isinf(steps.scores[at])) return tr("%1 comes later: it is not seen.").arg(other);
      QString text = tr("score %1").arg(plain_number(steps.scores[at]));
      if (!steps.factor_words.empty()) {
        text = tr("%1 × %2 = %3: scaled by %4.")
                   .arg(plain_number(steps.raw[at]), plain_number(steps.factor),
                        plain_number(steps.scores[at]), QString::fromStdString(steps.factor_words));
      } else if (steps.offset != 0) {
        text = tr("%1 + %2 = %3: 2^c is added, so that nothing is negative.")
                   .arg(plain_number(steps.raw[at]), plain_number(steps.offset),
                        plain_number(steps.scores[at]));
      } else if (steps.score_of == ScoreOf::importance) {
        text = tr("w · k/√d = %1: depends on the key only and is the same for every query.")
                   .arg(plain_number(steps.scores[at]));
      } else if (steps.score_of == ScoreOf::key_logits) {
        text = tr("K + w = %1, of channel %2: no query is compared.")
                   .arg(plain_number(steps.scores[at]))
                   .arg(steps.channel);
      }
      return text;
    }
    case Step::weights: {
      QString text = tr("a = %1 for %2").arg(plain_number(steps.weights[at]), other);
      if (steps.gate) text += tr(", gated by σ(Q) = %1").arg(plain_number(*steps.gate));
      if (steps.scores.empty()) {
        return text + tr(". Scores are not shown for %1, only the resulting weights.")
                          .arg(content_->mechanism);
      }
      if (steps.agrees())
        return text + (steps.softmax ? tr(": e^score / Σ e^score.") : tr(": score / Σ scores."));
      return text + tr(". By themselves the scores give %1: the model adds terms to them, the map "
                       "is a mean "
                       "over channels, or it is changed.")
                        .arg(plain_number(steps.recomputed[at]));
    }
    case Step::identity:
      return steps.identity ? tr("I adds 1 to the query's own key: %1 for %2.")
                                  .arg(plain_number(with_identity()[at]), other)
                            : tr("No I is added here.");
    case Step::values:
      return tr("%1 × v of %2: what this key gives to the output.")
          .arg(plain_number(with_identity()[at]), other);
    case Step::output:
      return tr("The sum over all %1 keys: the head's output for %2.")
          .arg(steps.weights.size())
          .arg(own);
  }
  return tr("Nothing is computed here: the next step shows what is.");
}

std::optional<std::int64_t> StepsView::key_at(QPointF position) const {
  if (!content_) return std::nullopt;
  const std::vector<Row> all = rows();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Step step = all[i].step;
    const bool of_keys = step == Step::scale || step == Step::weights || step == Step::identity;
    const QRectF plot = plot_rect(row_rect(i));
    if (!of_keys || !plot.contains(position)) continue;
    const auto keys = static_cast<double>(content_->steps.weights.size());
    return std::min(static_cast<std::int64_t>((position.x() - plot.left()) / plot.width() * keys),
                    static_cast<std::int64_t>(keys) - 1);
  }
  return std::nullopt;
}

QString StepsView::tip_at(QPointF position) const {
  if (!content_) return {};
  const HeadSteps& steps = content_->steps;
  if (const auto key = key_at(position)) {
    const auto at = static_cast<std::size_t>(*key);
    QString text = content_->names.at(at);
    if (!steps.scores.empty()) text += tr("\nscore %1").arg(plain_number(steps.scores[at]));
    return text + tr("\nweight %1").arg(plain_number(steps.weights[at]));
  }
  const std::vector<Row> all = rows();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const QRectF plot = plot_rect(row_rect(i));
    if (!plot.contains(position)) continue;
    const double share = (position.x() - plot.left()) / plot.width();
    if (all[i].step == Step::vectors || all[i].step == Step::score) {
      const auto count = static_cast<double>(steps.query.size());
      const auto channel = static_cast<std::size_t>(std::min(share * count, count - 1));
      return tr("channel %1: q = %2, k = %3\n%4")
          .arg(channel)
          .arg(plain_number(static_cast<double>(steps.query[channel])),
               plain_number(key_vector()[channel]), plain_number(steps.terms(key_)[channel]));
    }
    const auto count = static_cast<double>(steps.output.size());
    const auto channel = static_cast<std::size_t>(std::min(share * count, count - 1));
    return tr("channel %1: v = %2, output %3")
        .arg(channel)
        .arg(plain_number(
                 static_cast<double>(steps.values(key_, static_cast<Eigen::Index>(channel)))),
             plain_number(steps.output[channel]));
  }
  return {};
}

bool StepsView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tip_at(QPointF(help->pos())), this);
    return true;
  }
  return QWidget::event(event);
}

void StepsView::keyPressEvent(QKeyEvent* event) {
  const int step = static_cast<int>(step_);
  const bool shift = event->modifiers().testFlag(Qt::ShiftModifier);
  switch (event->key()) {
    case Qt::Key_Right:
      return set_step(static_cast<Step>(std::min(step + 1, kSteps - 1)));
    case Qt::Key_Left:
      return set_step(static_cast<Step>(std::max(step - 1, 0)));
    case Qt::Key_Home:
      return set_step(Step::vectors);
    case Qt::Key_End:
      return set_step(Step::output);
    case Qt::Key_Down:
    case Qt::Key_Up: {
      const int by = event->key() == Qt::Key_Down ? 1 : -1;
      if (shift && content_) emit query_wanted(content_->query + by);
      if (!shift) set_key(key_ + by);
      return;
    }
    default:
      QWidget::keyPressEvent(event);
  }
}

void StepsView::mousePressEvent(QMouseEvent* event) {
  if (const auto key = key_at(event->position())) return set_key(*key);
  const std::vector<Row> all = rows();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (row_rect(i).contains(event->position())) return set_step(all[i].step);
  }
}

void StepsView::mouseMoveEvent(QMouseEvent* event) {
  emit key_hovered(key_at(event->position()).value_or(-1));
}

void StepsView::leaveEvent(QEvent*) { emit key_hovered(-1); }

}  // namespace attnscope
