// Hashing of tokens: effect of bits and supports on codes, map and rank.
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <cmath>
#include <random>
#include <set>

#include "analysis/spectrum/spectrum.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/widgets/map_thumbnail.h"
#include "app/widgets/number_slider.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

constexpr std::int64_t kGroups = 6, kEach = 8, kTokens = kGroups * kEach, kTokenWidth = 8;

/// Tokens around a few random centres, one group after the other.
Tensor grouped_tokens(double spread) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  Tensor tokens({kTokens, kTokenWidth});
  for (std::int64_t group = 0; group < kGroups; ++group) {
    Vector middle(kTokenWidth);
    for (float& value : middle) value = 2 * normal(random);
    for (std::int64_t i = 0; i < kEach; ++i) {
      for (std::int64_t c = 0; c < kTokenWidth; ++c) {
        tokens.matrix()(group * kEach + i, c) =
            middle(c) + static_cast<float>(spread) * normal(random);
      }
    }
  }
  return tokens;
}

std::size_t distinct_codes(const Tensor& codes) {
  std::set<std::vector<float>> seen;
  for (std::int64_t i = 0; i < codes.extent(1); ++i) {
    const auto row = codes.slice(0).row(i);
    seen.emplace(row.begin(), row.end());
  }
  return seen.size();
}

class HashExperiment : public QWidget {
 public:
  HashExperiment() {
    setObjectName("experiment_hash");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    bits_ = new NumberSlider(tr("Bits b"), {1, 64, 1}, 8);
    supports_ = new NumberSlider(tr("Supports m"), {1, kTokens, 1}, 16);
    spread_ = new NumberSlider(tr("Spread of a group"), {0.05, 2, 0.05}, 0.4);
    bits_->setObjectName("experiment_bits");
    supports_->setObjectName("experiment_supports");
    spread_->setObjectName("experiment_spread");
    softmax_ = new MapThumbnail(tr("softmax"));
    hash_ = new MapThumbnail(tr("hash"));
    numbers_ = new QLabel;
    numbers_->setTextFormat(Qt::RichText);
    numbers_->setObjectName("hash_numbers");
    auto* maps = new QHBoxLayout;
    maps->setSpacing(14);
    maps->addWidget(softmax_);
    maps->addWidget(hash_);
    maps->addStretch(1);
    for (NumberSlider* slider : {bits_, supports_, spread_}) {
      column->addWidget(slider);
      connect(slider, &NumberSlider::value_changed, this, [this] { refresh(); });
    }
    column->addLayout(maps);
    column->addWidget(numbers_);
    refresh();
  }

 private:
  void refresh() {
    const Tensor tokens = grouped_tokens(spread_->value());
    const AttentionInput input{
        .queries = tokens.matrix(), .keys = tokens.matrix(), .values = tokens.matrix(), .heads = 1};
    const std::int64_t bits = std::lround(bits_->value());
    const auto hash = make_mechanism(
        {"hash", {{"bits", bits}, {"supports", std::int64_t{std::lround(supports_->value())}}}});
    const Tensor softmax_map = make_mechanism({"softmax", {}})->implied_map(input);
    const Tensor hash_map = hash->implied_map(input);
    const MapSpectrum exact = spectrum_of(softmax_map.slice(0));
    const MapSpectrum hashed = spectrum_of(hash_map.slice(0));
    const auto rank = [](const MapSpectrum& spectrum) {
      return tr("rank %1 of %2").arg(spectrum.equivalent_rank).arg(spectrum.tokens);
    };
    softmax_->set_map(softmax_map.slice(0), rank(exact));
    hash_->set_map(hash_map.slice(0), rank(hashed));
    numbers_->setText(
        tr("<table><tr><td>different codes&nbsp;&nbsp;</td><td align=right><b>%1</b> of %2 "
           "tokens</td></tr><tr><td>numerical rank</td><td align=right><b>%3</b>, at most b + 1 = "
           "%4</td></tr></table>")
            .arg(distinct_codes(hash->quantities(input).at("codes")))
            .arg(kTokens)
            .arg(hashed.numerical_rank)
            .arg(bits + 1));
  }

  NumberSlider *bits_, *supports_, *spread_;
  MapThumbnail *softmax_, *hash_;
  QLabel* numbers_;
};

}  // namespace

ExperimentEntry hash_experiment() {
  return {"hash", {}, [](const ExperimentContext&) -> QWidget* { return new HashExperiment; }};
}

}  // namespace attnscope
