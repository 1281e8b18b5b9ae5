// Six tokens with colours as values: what comes out of a map whose rows become alike.
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "analysis/baselines/known_maps.h"
#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/singular_values.h"
#include "app/look/theme.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/widgets/map_thumbnail.h"
#include "app/widgets/number_slider.h"

namespace attnscope {

namespace {

constexpr std::int64_t kColouredTokens = 6;
constexpr double kSameColour = 1e-6;  // distance of two outputs that count as one

/// One colour per token: hues around the circle, in red, green and blue from 0 to 1.
MatrixD token_colours() {
  MatrixD colours(kColouredTokens, 3);
  for (Eigen::Index i = 0; i < kColouredTokens; ++i) {
    const QColor colour =
        QColor::fromHsvF(static_cast<float>(i) / static_cast<float>(kColouredTokens), 0.9F, 0.95F);
    colours.row(i) << colour.redF(), colour.greenF(), colour.blueF();
  }
  return colours;
}

/// Two rows of colours: the tokens' values, and below them their outputs.
class ColourRows : public QWidget {
 public:
  ColourRows() { setAccessibleName(QObject::tr("Values of the tokens, and their outputs")); }
  [[nodiscard]] QSize sizeHint() const override {
    return {14 * fontMetrics().height(), 5 * fontMetrics().height()};
  }
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }
  void set_outputs(MatrixD outputs) {
    outputs_ = std::move(outputs);
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const int line = fontMetrics().height(), aside = 6 * line;
    const double wide =
        std::min(2.0 * line, (width() - aside) / static_cast<double>(kColouredTokens));
    const auto draw = [&](const QString& title, int top, const MatrixD& colours) {
      painter.setPen(colours_of(*this).text);
      painter.drawText(QRect(0, top, aside, 2 * line), Qt::AlignLeft | Qt::AlignVCenter, title);
      for (Eigen::Index i = 0; i < colours.rows(); ++i) {
        const auto part = [&](Eigen::Index at) {
          return static_cast<float>(std::clamp(colours(i, at), 0.0, 1.0));
        };
        painter.fillRect(QRectF(aside + static_cast<double>(i) * wide, top, wide - 2, 2.0 * line),
                         QColor::fromRgbF(part(0), part(1), part(2)));
      }
    };
    draw(QObject::tr("values"), 0, token_colours());
    draw(QObject::tr("outputs"), 5 * line / 2, outputs_);
  }

 private:
  MatrixD outputs_;
};

class EqualRowsExperiment : public QWidget {
 public:
  EqualRowsExperiment() {
    setObjectName("experiment_equal_rows");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    share_ = new NumberSlider(tr("Mix towards equal weights"), {0, 1, 0.05}, 0);
    share_->setObjectName("equal_rows_share");
    share_->stack();
    map_ = new MapThumbnail(tr("the map"));
    rows_ = new ColourRows;
    words_ = new QLabel;
    words_->setObjectName("equal_rows_words");
    words_->setTextFormat(Qt::RichText);
    words_->setWordWrap(true);
    column->addWidget(share_);
    column->addWidget(map_, 0, Qt::AlignLeft);
    column->addWidget(rows_);
    column->addWidget(words_);
    connect(share_, &NumberSlider::value_changed, this, [this] { refresh(); });
    refresh();
  }

 private:
  void refresh() {
    const double share = share_->value();
    // Sharp rows of their own: each token takes half of its weight from one other.
    MatrixD map = 0.5 * known_map(KnownMap::permutation, kColouredTokens) +
                  0.5 * known_map(KnownMap::random, kColouredTokens);
    map = (1 - share) * map + share * known_map(KnownMap::uniform, kColouredTokens);
    const MatrixD outputs = map * token_colours();
    std::int64_t different = 0;
    for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
      bool is_new = true;
      for (Eigen::Index j = 0; j < i; ++j) {
        is_new &= (outputs.row(i) - outputs.row(j)).norm() > kSameColour;
      }
      different += is_new ? 1 : 0;
    }
    MatrixD scratch = map;
    const SingularValues found = singular_values(scratch, SpectrumAccuracy::every_value);
    map_->set_map(map.cast<float>(), {});
    rows_->set_outputs(outputs);
    words_->setText(tr("<table><tr><td>different outputs&nbsp;&nbsp;</td><td align=right><b>%1</b> "
                       "of %2</td></tr><tr><td>rank at τ = 0.9&nbsp;&nbsp;</td><td "
                       "align=right>%3</td></tr></table>")
                        .arg(different)
                        .arg(kColouredTokens)
                        .arg(equivalent_rank(found.values, 0.9)));
    if (share == 1) publish_reading(*this, "outputs", QString::number(different));
  }

  NumberSlider* share_;
  MapThumbnail* map_;
  ColourRows* rows_;
  QLabel* words_;
};

}  // namespace

ExperimentEntry equal_rows_experiment() {
  return {"equal-rows",
          {},
          [](const ExperimentContext&) -> QWidget* { return new EqualRowsExperiment; },
          {"outputs"}};
}

}  // namespace attnscope
