// Theorem 1 of the Adder paper: the variance of a dot product and of an L1 distance, sampled and
// predicted.
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>

#include "analysis/spectrum/score_variance.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/widgets/number_slider.h"

namespace attnscope {

namespace {

constexpr std::int64_t kPairs = 4000;

class VarianceExperiment : public QWidget {
 public:
  VarianceExperiment() {
    setObjectName("experiment_variance");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    width_ = new NumberSlider(tr("Head width d"), {2, 256, 1, true}, 64);
    width_->setObjectName("variance_width");
    numbers_ = new QLabel;
    numbers_->setTextFormat(Qt::RichText);
    numbers_->setObjectName("variance_numbers");
    auto* again = new QPushButton(tr("Draw again"));
    column->addWidget(width_);
    column->addWidget(numbers_);
    column->addWidget(again, 0, Qt::AlignLeft);
    connect(width_, &NumberSlider::value_changed, this, [this] { refresh(); });
    connect(again, &QPushButton::clicked, this, [this] {
      ++seed_;
      refresh();
    });
    refresh();
  }

 private:
  void refresh() {
    const ScoreVariance drawn = score_variance(std::lround(width_->value()), kPairs, seed_);
    const auto row = [](const QString& name, double measured, double predicted) {
      return QString(
                 "<tr><td>%1&nbsp;&nbsp;</td><td align=right><b>%2</b>&nbsp;&nbsp;</td><td "
                 "align=right>%3</td></tr>")
          .arg(name)
          .arg(measured, 0, 'f', 1)
          .arg(predicted, 0, 'f', 1);
    };
    numbers_->setText(
        tr("<table><tr><td></td><td align=right>drawn&nbsp;&nbsp;</td><td "
           "align=right>Theorem 1</td></tr>%1%2</table>")
            .arg(row(tr("Var(q · k)"), drawn.dot_product, drawn.dot_product_predicted),
                 row(tr("Var(−‖q − k‖₁)"), drawn.distance, drawn.distance_predicted)));
  }

  NumberSlider* width_;
  QLabel* numbers_;
  unsigned seed_ = 1;
};

}  // namespace

ExperimentEntry variance_experiment() {
  return {
      "variance", {}, [](const ExperimentContext&) -> QWidget* { return new VarianceExperiment; }};
}

}  // namespace attnscope
