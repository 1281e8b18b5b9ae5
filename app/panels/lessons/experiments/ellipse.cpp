// Singular values to look at: a matrix of two rows turns the circle into an ellipse, whose half
// axes are the singular values.
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "app/look/theme.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/playground/plane_view.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

constexpr double kVanished = 1e-3;  // half axis that is drawn as none

/// The images of the unit circle's points under a matrix, with the half axes.
class EllipseView : public QWidget {
 public:
  EllipseView() { setAccessibleName(QObject::tr("Circle, and the ellipse that it becomes")); }
  [[nodiscard]] QSize sizeHint() const override {
    return {12 * fontMetrics().height(), 12 * fontMetrics().height()};
  }
  [[nodiscard]] QSize minimumSizeHint() const override {
    return {8 * fontMetrics().height(), 8 * fontMetrics().height()};
  }
  void set_matrix(const Eigen::Matrix2d& matrix, const Eigen::Matrix2d& half_axes) {
    matrix_ = matrix;
    half_axes_ = half_axes;
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const WindowColours& colours = colours_of(*this);
    const double side = std::min(width(), height());
    const double most = std::max(1.0, half_axes_.col(0).norm());
    const double scale = 0.46 * side / most;
    const auto pixel = [&](const Eigen::Vector2d& at) {
      return QPointF(width() / 2.0 + scale * at(0), height() / 2.0 - scale * at(1));
    };
    QPolygonF ellipse;
    constexpr int kPoints = 120;
    for (int i = 0; i <= kPoints; ++i) {
      const double turn = 2 * std::numbers::pi * i / kPoints;
      ellipse << pixel(matrix_ * Eigen::Vector2d(std::cos(turn), std::sin(turn)));
    }
    painter.fillRect(rect(), colours.sunken);
    painter.setPen(QPen(colours.muted, 1, Qt::DashLine));
    painter.drawEllipse(pixel(Eigen::Vector2d::Zero()), scale, scale);
    painter.setPen(QPen(colours.accent, 2));
    painter.drawPolyline(ellipse);
    painter.setPen(QPen(colours.text, 1.5));
    for (int axis = 0; axis < 2; ++axis) {
      painter.drawLine(pixel(-half_axes_.col(axis)), pixel(half_axes_.col(axis)));
    }
  }

 private:
  Eigen::Matrix2d matrix_ = Eigen::Matrix2d::Identity(), half_axes_ = matrix_;
};

class EllipseExperiment : public QWidget {
 public:
  EllipseExperiment() {
    setObjectName("experiment_ellipse");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    plane_ = new PlaneView;
    plane_->setObjectName("ellipse_rows");
    plane_->set_tied(true);
    plane_->setAccessibleName(tr("The two rows of the matrix, as points"));
    plane_->setToolTip(tr("Drag a row; or N for the next row, arrows to move it"));
    ellipse_ = new EllipseView;
    words_ = new QLabel;
    words_->setObjectName("ellipse_words");
    words_->setTextFormat(Qt::RichText);
    words_->setWordWrap(true);
    column->addWidget(plane_);
    column->addWidget(ellipse_);
    column->addWidget(words_);
    connect(plane_, &PlaneView::moved, this, [this] { refresh(); });
    const std::vector<QPointF> rows = {{2, 0.5}, {0.5, 1.5}};
    plane_->set_tokens({rows, rows});
  }

 private:
  void refresh() {
    const std::vector<QPointF>& rows = plane_->tokens().queries;
    Eigen::Matrix2d matrix;
    for (int i = 0; i < 2; ++i) {
      matrix.row(i) << rows[static_cast<std::size_t>(i)].x(), rows[static_cast<std::size_t>(i)].y();
    }
    const SingularVectors parts = singular_vectors(matrix);
    ellipse_->set_matrix(matrix, parts.left * parts.values.asDiagonal());
    const auto rank = (parts.values.array() > kVanished).count();
    words_->setText(tr("<table><tr><td>half axes, σ<sub>1</sub> and σ<sub>2</sub>&nbsp;&nbsp;</td>"
                       "<td align=right><b>%1</b> and <b>%2</b></td></tr><tr><td>rank</td><td "
                       "align=right><b>%3</b></td></tr></table>")
                        .arg(parts.values(0), 0, 'f', 2)
                        .arg(parts.values(1), 0, 'f', 2)
                        .arg(rank));
  }

  PlaneView* plane_;
  EllipseView* ellipse_;
  QLabel* words_;
};

}  // namespace

ExperimentEntry ellipse_experiment() {
  return {
      "ellipse", {}, [](const ExperimentContext&) -> QWidget* { return new EllipseExperiment; }};
}

}  // namespace attnscope
