// Cumulative curves of maps whose rank can be thought out, drawn one by one, without and with I.
#include "analysis/baselines/known_maps.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/singular_values.h"
#include "app/look/theme.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/map_thumbnail.h"

namespace attnscope {

namespace {

constexpr std::int64_t kKnownTokens = 197;  // 14 × 14 patches and a class token
constexpr double kKnownThreshold = 0.9;

struct KnownTitle {
  KnownMap map;
  const char* title;
};
constexpr KnownTitle kKnownTitles[] = {
    {KnownMap::identity, QT_TR_NOOP("the identity: each at itself")},
    {KnownMap::uniform, QT_TR_NOOP("uniform: all weights equal")},
    {KnownMap::sink, QT_TR_NOOP("one sink: all at one token")},
    {KnownMap::permutation, QT_TR_NOOP("a permutation: each at another one")},
    {KnownMap::causal, QT_TR_NOOP("causal uniform: all before, equally")},
    {KnownMap::random, QT_TR_NOOP("random rows")}};

/// Curves f(r) from 0 to 1 over r, with the threshold as a line and a dot where each reaches it.
class ShareCurves : public QWidget {
 public:
  struct Curve {
    QString title;
    std::vector<double> share;
    std::int64_t rank = 0;
  };

  ShareCurves() {
    setAccessibleName(QObject::tr("Cumulative curves"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  }
  [[nodiscard]] QSize sizeHint() const override {
    return {20 * fontMetrics().height(), 11 * fontMetrics().height()};
  }
  [[nodiscard]] QSize minimumSizeHint() const override {
    return {10 * fontMetrics().height(), 11 * fontMetrics().height()};
  }
  void set_curves(std::vector<Curve> curves) {
    curves_ = std::move(curves);
    QStringList said;
    for (const Curve& each : curves_) said << QString("%1: %2").arg(each.title).arg(each.rank);
    setAccessibleDescription(said.join("; "));
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const WindowColours& colours = colours_of(*this);
    const int line = fontMetrics().height();
    const QRectF area = QRectF(rect()).adjusted(2.5 * line, 0.5 * line, -0.5 * line, -1.6 * line);
    painter.fillRect(area, colours.sunken);
    painter.setPen(colours.muted);
    const auto label = [&](const QString& text, QRectF at, int align) {
      painter.drawText(at, align | Qt::AlignVCenter, text);
    };
    for (const double share : {0.0, kKnownThreshold, 1.0}) {
      const double y = area.bottom() - share * area.height();
      label(QString::number(share), {0, y - 0.5 * line, 2.2 * line, 1.0 * line}, Qt::AlignRight);
      painter.setPen(
          QPen(colours.border, 1, share == kKnownThreshold ? Qt::DashLine : Qt::SolidLine));
      painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
      painter.setPen(colours.muted);
    }
    label(QObject::tr("number of singular values r, of %1").arg(kKnownTokens),
          {area.left(), area.bottom() + 0.2 * line, area.width(), 1.2 * line}, Qt::AlignHCenter);
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      const bool last = i + 1 == curves_.size();
      QPolygonF points{QPointF(area.left(), area.bottom())};
      const auto at = [&](std::size_t r) {
        return QPointF(area.left() + static_cast<double>(r) / kKnownTokens * area.width(),
                       area.bottom() - curves_[i].share[r - 1] * area.height());
      };
      for (std::size_t r = 1; r <= curves_[i].share.size(); ++r) points << at(r);
      painter.setPen(QPen(last ? colours.accent : colours.muted, last ? 2.5 : 1.2));
      painter.drawPolyline(points);
      painter.setBrush(painter.pen().color());
      if (curves_[i].rank > 0) {
        painter.drawEllipse(at(static_cast<std::size_t>(curves_[i].rank)), 3.0, 3.0);
      }
      painter.setBrush(Qt::NoBrush);
    }
  }

 private:
  std::vector<Curve> curves_;
};

class KnownMapsExperiment : public QWidget {
 public:
  KnownMapsExperiment() {
    setObjectName("experiment_known_maps");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    source_ = new ElidedComboBox;
    source_->setObjectName("known_map");
    source_->setAccessibleName(tr("Map"));
    for (const KnownTitle& each : kKnownTitles) source_->addItem(tr(each.title));
    identity_ = new QCheckBox(tr("Add I"));
    identity_->setObjectName("known_identity");
    auto* draw = new QPushButton(tr("Draw its curve"));
    draw->setObjectName("known_draw");
    auto* clear = new QPushButton(tr("Clear"));
    clear->setObjectName("known_clear");
    clear->setAccessibleName(tr("Clear the curves"));
    auto* row = new QHBoxLayout;
    row->addWidget(identity_);
    row->addWidget(draw);
    row->addWidget(clear);
    row->addStretch(1);
    map_ = new MapThumbnail(tr("the map"));
    curves_ = new ShareCurves;
    words_ = new QLabel;
    words_->setObjectName("known_words");
    words_->setTextFormat(Qt::RichText);
    words_->setWordWrap(true);
    column->addWidget(source_);
    column->addLayout(row);
    column->addWidget(map_, 0, Qt::AlignLeft);
    column->addWidget(curves_);
    column->addWidget(words_);
    connect(draw, &QPushButton::clicked, this, [this] { add(); });
    connect(clear, &QPushButton::clicked, this, [this] {
      drawn_.clear();
      refresh();
    });
    connect(source_, &QComboBox::currentIndexChanged, this, [this] { show_map(); });
    connect(identity_, &QCheckBox::toggled, this, [this] { show_map(); });
    show_map();
    refresh();
  }

 private:
  [[nodiscard]] MatrixD chosen() const {
    MatrixD map = known_map(kKnownTitles[source_->currentIndex()].map, kKnownTokens);
    if (identity_->isChecked()) map.diagonal().array() += 1;
    return map;
  }

  void show_map() { map_->set_map(chosen().cast<float>(), {}); }

  void add() {
    const KnownTitle& of = kKnownTitles[source_->currentIndex()];
    const bool with = identity_->isChecked();
    const QString title = with ? tr("%1, + I").arg(tr(of.title)) : tr(of.title);
    MatrixD map = chosen();
    const SingularValues found = singular_values(map, SpectrumAccuracy::every_value);
    const std::int64_t rank = equivalent_rank(found.values, kKnownThreshold);
    std::erase_if(drawn_, [&](const ShareCurves::Curve& each) { return each.title == title; });
    drawn_.push_back({title, cumulative_share(found.values, RankShare::values), rank});
    const std::string_view name = name_of(known_map_names, of.map);
    publish_reading(*this, QString::fromUtf8(name.data(), std::ssize(name)) + (with ? "+I" : ""),
                    QString::number(rank));
    refresh();
  }

  void refresh() {
    curves_->set_curves(drawn_);
    QString rows;
    for (const ShareCurves::Curve& each : drawn_) {
      rows += QString("<tr><td>%1&nbsp;&nbsp;</td><td align=right><b>%2</b></td></tr>")
                  .arg(each.title.toHtmlEscaped())
                  .arg(each.rank);
    }
    words_->setText(rows.isEmpty() ? tr("No curve is drawn yet.")
                                   : tr("<p>Equivalent rank at τ = %1, of %2 tokens:</p>"
                                        "<table>%3</table>")
                                         .arg(kKnownThreshold)
                                         .arg(kKnownTokens)
                                         .arg(rows));
  }

  QComboBox* source_;
  QCheckBox* identity_;
  MapThumbnail* map_;
  ShareCurves* curves_;
  QLabel* words_;
  std::vector<ShareCurves::Curve> drawn_;
};

}  // namespace

ExperimentEntry known_maps_experiment() {
  return {"known-maps",
          {},
          [](const ExperimentContext&) -> QWidget* { return new KnownMapsExperiment; },
          {"identity", "uniform", "sink", "permutation", "causal", "random", "identity+I",
           "uniform+I", "sink+I", "permutation+I", "causal+I", "random+I"}};
}

}  // namespace attnscope
