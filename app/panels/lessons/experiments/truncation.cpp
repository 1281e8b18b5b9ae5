// A picture or the selected map from its first r singular values: their share, and the remainder.
#include <QComboBox>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/lessons/experiments/map_row.h"
#include "app/panels/lessons/steps/step_runner.h"
#include "app/session/session.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/map_thumbnail.h"
#include "app/widgets/number_slider.h"
#include "core/input/image.h"

// oneTBB has a function with the name of Qt's keyword.
#pragma push_macro("emit")
#undef emit
#include "analysis/components/components.h"
#pragma pop_macro("emit")

namespace attnscope {

namespace {

constexpr std::int64_t kLargestTruncated = 400;  // larger maps make every step slow

/// Brightness of a picture, 0 to 1.
MatrixD brightness_of(const Image& image) {
  MatrixD matrix(image.height, image.width);
  for (std::int64_t row = 0; row < image.height; ++row) {
    for (std::int64_t column = 0; column < image.width; ++column) {
      double sum = 0;
      for (std::int64_t channel = 0; channel < image.channels; ++channel) {
        sum += image.pixels[static_cast<std::size_t>((row * image.width + column) * image.channels +
                                                     channel)];
      }
      matrix(row, column) = sum / static_cast<double>(255 * image.channels);
    }
  }
  return matrix;
}

/// Brightness of a sample picture; empty if the sample data is not installed, where only maps can
/// be truncated.
MatrixD picture_named(const std::string& name) {
  const std::filesystem::path file = sample_file("inputs", name);
  if (!file.is_absolute()) return {};
  return brightness_of(read_image(file));
}

class TruncationExperiment : public QWidget {
 public:
  TruncationExperiment(Session& session, MatrixD picture)
      : session_(session), picture_(std::move(picture)) {
    setObjectName("experiment_truncation");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    source_ = new ElidedComboBox;
    source_->setObjectName("truncation_source");
    source_->setAccessibleName(tr("Truncated matrix"));
    source_->addItems({tr("the picture of a boot"), tr("the selected map")});
    rank_ = new NumberSlider(tr("Rank r"), {1, 2, 1}, 1);
    rank_->setObjectName("truncation_rank");
    whole_ = new MapThumbnail(tr("the whole"));
    kept_ = new MapThumbnail(tr("its first r"));
    left_ = new MapThumbnail(tr("left out"));
    words_ = new QLabel;
    words_->setObjectName("truncation_words");
    words_->setTextFormat(Qt::RichText);
    words_->setWordWrap(true);
    column->addWidget(source_);
    column->addWidget(rank_);
    column->addWidget(new MapRow({whole_, kept_, left_}));
    column->addWidget(words_);
    connect(source_, &QComboBox::currentIndexChanged, this, [this] { take(); });
    connect(rank_, &NumberSlider::value_changed, this, [this] { refresh(); });
    connect(&session_, &Session::selection_changed, this, [this] { follow(); });
    connect(&session_, &Session::trace_ready, this, [this] { follow(); });
    take();
  }

 private:
  void follow() {
    const Selection& now = session_.selection();
    const bool same = taken_.subject == now.subject && taken_.layer == now.layer &&
                      taken_.head == now.head && matrix_.size() > 0;
    if (source_->currentIndex() == 1 && !same) take();
  }

  [[nodiscard]] MatrixD selected() const {
    const auto trace = session_.trace(session_.selection().subject);
    const auto layer = static_cast<std::size_t>(session_.selection().layer);
    if (!trace || layer >= trace->layers.size()) return {};
    if (trace->layers[layer].implied_map.empty()) return {};
    const ImpliedMaps maps = maps_seen(*trace, session_.selection().layer, IdentityView::without);
    const Matrix map = maps.head(session_.selection().head);
    if (std::max(map.rows(), map.cols()) > kLargestTruncated) return {};
    return map.cast<double>();
  }

  void take() {
    taken_ = session_.selection();
    matrix_ = source_->currentIndex() == 0 ? picture_ : selected();
    components_.clear();
    const bool usable = matrix_.size() > 0 && matrix_.allFinite() && !matrix_.isZero();
    if (usable) {
      components_ = leading_components(matrix_, std::min(matrix_.rows(), matrix_.cols()));
    }
    rank_->setEnabled(usable);
    if (!usable) {
      for (MapThumbnail* each : {whole_, kept_, left_}) each->set_problem(tr("no map"));
      words_->setText(source_->currentIndex() == 0
                          ? tr("The picture is of the sample data, which is not installed.")
                          : tr("No map of at most %1 tokens is selected.").arg(kLargestTruncated));
      return;
    }
    rank_->set_range({1, static_cast<double>(components_.size()), 1, true});
    refresh();
  }

  void refresh() {
    if (components_.empty()) return;
    const auto rank = static_cast<std::size_t>(std::lround(rank_->value()));
    const std::vector<Component> first(
        components_.begin(),
        components_.begin() + static_cast<std::ptrdiff_t>(std::min(rank, components_.size())));
    const MatrixD kept = sum_of(first), left = (matrix_ - kept).cwiseAbs();
    std::vector<double> values;
    for (const Component& each : components_) values.push_back(each.value);
    const double held = cumulative_share(values, RankShare::values)[first.size() - 1];
    const RankThreshold& threshold = session_.view().rank_threshold;
    const auto numbers = static_cast<qlonglong>(matrix_.size());
    const auto stored =
        static_cast<qlonglong>(rank) * static_cast<qlonglong>(matrix_.rows() + matrix_.cols() + 1);
    whole_->set_map(matrix_.cast<float>(), tr("%1 × %2").arg(matrix_.rows()).arg(matrix_.cols()));
    kept_->set_map(kept.cast<float>(), tr("rank %1").arg(rank));
    left_->set_map(left.cast<float>(), tr("at most %1").arg(left.maxCoeff(), 0, 'g', 2));
    words_->setText(tr("<table><tr><td>of Σσ are held&nbsp;&nbsp;</td><td align=right><b>%1 "
                       "%</b></td></tr><tr><td>equivalent rank (%2)&nbsp;&nbsp;</td><td "
                       "align=right>%3</td></tr><tr><td>numbers to keep&nbsp;&nbsp;</td><td "
                       "align=right>%4 for %5</td></tr></table>")
                        .arg(100 * held, 0, 'f', 1)
                        .arg(QString::fromStdString(to_string(threshold)))
                        .arg(equivalent_rank(values, threshold))
                        .arg(stored)
                        .arg(numbers));
  }

  Session& session_;
  MatrixD picture_, matrix_;
  std::vector<Component> components_;
  Selection taken_;
  QComboBox* source_;
  NumberSlider* rank_;
  MapThumbnail *whole_, *kept_, *left_;
  QLabel* words_;
};

}  // namespace

ExperimentEntry truncation_experiment() {
  return {"truncation", {"picture"}, [](const ExperimentContext& context) -> QWidget* {
            const auto picture = context.settings.find("picture");
            const std::string name =
                picture == context.settings.end() ? "09_ankle_boot.png" : picture->second;
            return new TruncationExperiment(context.session, picture_named(name));
          }};
}

}  // namespace attnscope
