// Energy of one attention layer under every mechanism, over the number of tokens.
#include <QEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "analysis/energy/growth.h"
#include "app/look/theme.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/widgets/number_slider.h"

namespace attnscope {

namespace {

constexpr std::int64_t kNetworkWidth = 384, kCostHeads = 6;

struct MechanismEnergy {
  QString name;
  double energy_pj = 0;
};

/// Horizontal bars on a logarithmic scale, smallest first.
class EnergyBars : public QWidget {
 public:
  EnergyBars() {
    setObjectName("energy_bars");
    setAccessibleName(tr("Energy of one layer, by mechanism"));
  }
  void set_energies(std::vector<MechanismEnergy> energies) {
    energies_ = std::move(energies);
    std::ranges::sort(energies_, {}, &MechanismEnergy::energy_pj);
    fit();
    QStringList spoken;
    for (const MechanismEnergy& each : energies_) spoken << each.name + " " + words(each);
    setAccessibleDescription(spoken.join(", "));
    update();
  }

 protected:
  void changeEvent(QEvent* event) override {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) fit();
  }
  void paintEvent(QPaintEvent*) override {
    if (energies_.empty()) return;
    QPainter painter(this);
    const WindowColours& colours = colours_of(*this);
    const double low = std::log10(energies_.front().energy_pj) - 0.3;
    const double high = std::log10(energies_.back().energy_pj);
    const int names = 16 * fontMetrics().averageCharWidth();
    const int numbers = 12 * fontMetrics().averageCharWidth();
    const double room = std::max(10, width() - names - numbers);
    for (std::size_t i = 0; i < energies_.size(); ++i) {
      const int top = static_cast<int>(i) * line();
      const double share = (std::log10(energies_[i].energy_pj) - low) / (high - low);
      painter.setPen(colours.text);
      painter.drawText(QRect(0, top, names - 6, line()), Qt::AlignLeft | Qt::AlignVCenter,
                       fontMetrics().elidedText(energies_[i].name, Qt::ElideRight, names - 6));
      const QRectF bar(names, top + 4, share * room, line() - 8);
      painter.fillRect(bar, energies_[i].name == "softmax" ? colours.warning : colours.accent);
      painter.drawText(QRectF(bar.right() + 6, top, numbers, line()),
                       Qt::AlignLeft | Qt::AlignVCenter, words(energies_[i]));
    }
  }

 private:
  void fit() { setFixedHeight(static_cast<int>(energies_.size()) * line()); }
  [[nodiscard]] int line() const { return fontMetrics().height() + 6; }
  static QString words(const MechanismEnergy& energy) {
    return energy.energy_pj < 1e9 ? QString("%1 µJ").arg(energy.energy_pj / 1e6, 0, 'g', 3)
                                  : QString("%1 mJ").arg(energy.energy_pj / 1e9, 0, 'g', 3);
  }

  std::vector<MechanismEnergy> energies_;
};

class CostExperiment : public QWidget {
 public:
  CostExperiment() {
    setObjectName("experiment_cost");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    tokens_ = new NumberSlider(tr("Tokens N"), {64, 65536, 1, true}, 197);
    tokens_->setObjectName("cost_tokens");
    bars_ = new EnergyBars;
    column->addWidget(tokens_);
    column->addWidget(bars_);
    connect(tokens_, &NumberSlider::value_changed, this, [this] { refresh(); });
    refresh();
  }

 private:
  void refresh() {
    GrowthOptions options;
    options.width = kNetworkWidth;
    options.heads = kCostHeads;
    options.constants = energy_tables().front();
    options.least_tokens = static_cast<std::int64_t>(std::lround(tokens_->value()));
    options.most_tokens = options.least_tokens + 1;
    std::vector<MechanismEnergy> energies;
    for (const GrowthCurve& curve :
         energy_growth(mechanisms_for_growth(kNetworkWidth), options).curves) {
      energies.push_back({QString::fromStdString(curve.mechanism.name), curve.energy_pj.front()});
    }
    bars_->set_energies(std::move(energies));
  }

  NumberSlider* tokens_;
  EnergyBars* bars_;
};

}  // namespace

ExperimentEntry cost_experiment() {
  return {"cost", {}, [](const ExperimentContext&) -> QWidget* { return new CostExperiment; }};
}

}  // namespace attnscope
