// A 3 × 3 matrix by hand: the user drags its entries and sees the rank-one matrices that it is the
// sum of.
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "app/look/theme.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/lessons/experiments/map_row.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/map_thumbnail.h"
#include "app/widgets/number_slider.h"

// oneTBB has a function with the name of Qt's keyword.
#pragma push_macro("emit")
#undef emit
#include "analysis/components/components.h"
#pragma pop_macro("emit")

namespace attnscope {

namespace {

constexpr int kSideOfMatrix = 3;
constexpr double kMostEntry = 9;

using SmallMatrix = std::array<std::array<double, kSideOfMatrix>, kSideOfMatrix>;

/// Entries of a matrix, dragged up and down or moved with the arrow keys.
class NumberGrid : public QWidget {
 public:
  explicit NumberGrid(std::function<void()> changed) : changed_(std::move(changed)) {
    setObjectName("matrix_grid");
    setAccessibleName(QObject::tr("Entries of the matrix"));
    setToolTip(
        QObject::tr("Drag a number up or down; or the arrows choose, + and − change by a half"));
    setFocusPolicy(Qt::StrongFocus);
    fit();
  }

  [[nodiscard]] const SmallMatrix& entries() const { return entries_; }
  void set_entries(const SmallMatrix& entries) {
    entries_ = entries;
    tell();
  }

 protected:
  void changeEvent(QEvent* event) override {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) fit();
  }

  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const WindowColours& colours = colours_of(*this);
    for (int row = 0; row < kSideOfMatrix; ++row) {
      for (int column = 0; column < kSideOfMatrix; ++column) {
        const QRect cell = cell_at(row, column).adjusted(1, 1, -1, -1);
        painter.fillRect(cell, colours.sunken);
        const bool chosen = row == row_ && column == column_;
        painter.setPen(chosen && hasFocus() ? colours.accent : colours.border);
        painter.drawRect(cell);
        painter.setPen(colours.text);
        painter.drawText(cell, Qt::AlignCenter, text_of(entry(row, column)));
      }
    }
  }

  void mousePressEvent(QMouseEvent* event) override {
    const QPoint at = event->position().toPoint();
    row_ = std::clamp(at.y() * kSideOfMatrix / std::max(1, height()), 0, kSideOfMatrix - 1);
    column_ = std::clamp(at.x() * kSideOfMatrix / std::max(1, width()), 0, kSideOfMatrix - 1);
    grabbed_at_ = at.y();
    grabbed_ = entry(row_, column_);
    update();
  }
  void mouseMoveEvent(QMouseEvent* event) override {
    const double per_pixel = 6.0 / height();
    set(grabbed_ + (grabbed_at_ - event->position().y()) * per_pixel, 0.1);
  }
  void keyPressEvent(QKeyEvent* event) override {
    const auto move = [this](int rows, int columns) {
      row_ = std::clamp(row_ + rows, 0, kSideOfMatrix - 1);
      column_ = std::clamp(column_ + columns, 0, kSideOfMatrix - 1);
      update();
    };
    switch (event->key()) {
      case Qt::Key_Left:
        return move(0, -1);
      case Qt::Key_Right:
        return move(0, 1);
      case Qt::Key_Up:
        return move(-1, 0);
      case Qt::Key_Down:
        return move(1, 0);
      case Qt::Key_Plus:
        return set(entry(row_, column_) + 0.5, 0.5);
      case Qt::Key_Minus:
        return set(entry(row_, column_) - 0.5, 0.5);
      default:
        QWidget::keyPressEvent(event);
    }
  }

 private:
  static QString text_of(double value) {
    return QString::number(value, 'f', 1).replace('-', QChar(0x2212));
  }
  void fit() {
    const int side = 11 * fontMetrics().height() / 2;
    setFixedSize(side, side);
  }
  [[nodiscard]] QRect cell_at(int row, int column) const {
    const int tall = height() / kSideOfMatrix, wide = width() / kSideOfMatrix;
    return {column * wide, row * tall, wide, tall};
  }
  [[nodiscard]] double& entry(int row, int column) {
    return entries_.at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(column));
  }
  void set(double value, double step) {
    entry(row_, column_) = std::clamp(std::round(value / step) * step, -kMostEntry, kMostEntry);
    tell();
  }
  void tell() {
    update();
    changed_();
  }

  SmallMatrix entries_{};
  std::function<void()> changed_;
  int row_ = 0, column_ = 0;
  double grabbed_at_ = 0, grabbed_ = 0;
};

struct NamedMatrix {
  const char* name;
  SmallMatrix entries;
};

constexpr NamedMatrix kMatrices[] = {
    {QT_TR_NOOP("two rows, and a third that is their mean"), {{{3, 0, 0}, {0, 2, 0}, {1.5, 1, 0}}}},
    {QT_TR_NOOP("all rows alike"), {{{2, 1, 1}, {2, 1, 1}, {2, 1, 1}}}},
    {QT_TR_NOOP("multiples of one row"), {{{2, 1, 0}, {4, 2, 0}, {-2, -1, 0}}}},
    {QT_TR_NOOP("each row its own: I"), {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {QT_TR_NOOP("nearly alike: one strong, two faint"), {{{2, 1, 1}, {2, 1.2, 1}, {2, 1, 0.7}}}},
};

Matrix in_floats(const MatrixD& matrix) { return matrix.cast<float>(); }

class MatrixExperiment : public QWidget {
 public:
  MatrixExperiment() {
    setObjectName("experiment_matrix");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    examples_ = new ElidedComboBox;
    examples_->setObjectName("matrix_examples");
    examples_->setAccessibleName(tr("Example matrix"));
    examples_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    for (const NamedMatrix& each : kMatrices) examples_->addItem(tr(each.name));
    grid_ = new NumberGrid([this] { refresh(); });
    rank_ = new NumberSlider(tr("Keep the first r"), {1, kSideOfMatrix, 1}, 1);
    rank_->setObjectName("matrix_rank");
    words_ = new QLabel;
    words_->setObjectName("matrix_words");
    words_->setTextFormat(Qt::RichText);
    words_->setWordWrap(true);
    auto* top = new QHBoxLayout;
    top->setSpacing(14);
    top->addWidget(grid_, 0, Qt::AlignTop);
    top->addWidget(words_, 1);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      pieces_[i] = new MapThumbnail(tr("piece %1").arg(i + 1));
    }
    kept_ = new MapThumbnail(tr("first r together"));
    left_ = new MapThumbnail(tr("remainder"));
    column->addWidget(examples_);
    column->addLayout(top);
    column->addWidget(new MapRow({pieces_.begin(), pieces_.end()}));
    column->addWidget(rank_);
    column->addWidget(new MapRow({kept_, left_}));
    connect(rank_, &NumberSlider::value_changed, this, [this] { refresh(); });
    connect(examples_, &QComboBox::currentIndexChanged, this,
            [this](int index) { grid_->set_entries(kMatrices[index].entries); });
    grid_->set_entries(kMatrices[0].entries);
  }

 private:
  void refresh() {
    if (left_ == nullptr) return;  // the grid emits before the rest exists
    MatrixD matrix(kSideOfMatrix, kSideOfMatrix);
    for (int row = 0; row < kSideOfMatrix; ++row) {
      for (int at = 0; at < kSideOfMatrix; ++at) {
        matrix(row, at) =
            grid_->entries().at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(at));
      }
    }
    if (matrix.isZero()) {
      for (MapThumbnail* each : pieces_) each->set_problem(tr("nothing"));
      kept_->set_problem(tr("nothing"));
      left_->set_problem(tr("nothing"));
      words_->setText(tr("All zero: no singular value."));
      return;
    }
    const std::vector<Component> all = leading_components(matrix, kSideOfMatrix);
    double sum = 0;
    for (const Component& each : all) sum += each.value;
    QString rows;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const double value = i < all.size() ? all[i].value : 0;
      const bool there = value > 1e-9 * all.front().value;
      if (there) {
        pieces_[i]->set_map(in_floats(sum_of({all[i]})), tr("σ = %1").arg(value, 0, 'f', 2));
      } else {
        pieces_[i]->set_problem(tr("σ = 0:\nnothing"));
      }
      rows += QString(
                  "<tr><td>σ<sub>%1</sub>&nbsp;&nbsp;</td><td align=right><b>%2</b>"
                  "&nbsp;&nbsp;</td><td align=right>%3 %</td></tr>")
                  .arg(i + 1)
                  .arg(there ? value : 0, 0, 'f', 2)
                  .arg(there ? 100 * value / sum : 0, 0, 'f', 0);
    }
    const auto rank = static_cast<std::size_t>(std::lround(rank_->value()));
    const std::vector<Component> first(
        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(rank, all.size())));
    const MatrixD kept = sum_of(first), left = matrix - kept;
    kept_->set_map(in_floats(kept), tr("A with r = %1").arg(rank));
    left_->set_map(in_floats(left), tr("at most %1").arg(left.cwiseAbs().maxCoeff(), 0, 'f', 2));
    words_->setText(tr("<table>%1</table>Off by %2 at r = %3.")
                        .arg(rows)
                        .arg(left.norm(), 0, 'f', 2)
                        .arg(rank));
  }

  QComboBox* examples_;
  NumberGrid* grid_;
  NumberSlider* rank_;
  QLabel* words_;
  std::array<MapThumbnail*, kSideOfMatrix> pieces_{};
  MapThumbnail *kept_ = nullptr, *left_ = nullptr;
};

}  // namespace

ExperimentEntry matrix_experiment() {
  return {"matrix", {}, [](const ExperimentContext&) -> QWidget* { return new MatrixExperiment; }};
}

}  // namespace attnscope
