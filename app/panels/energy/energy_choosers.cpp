#include "app/panels/energy/energy_choosers.h"

#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QMenu>
#include <QMessageBox>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <QToolButton>

#include "analysis/energy/architecture.h"
#include "analysis/energy/constants.h"
#include "app/widgets/elided_combo_box.h"
#include "core/attention/mechanism.h"
#include "core/error.h"

namespace attnscope {

namespace {

QComboBox* list_of(const char* name, const QString& what) {
  auto* list = new ElidedComboBox;
  list->setObjectName(name);
  list->setAccessibleName(what);
  list->setToolTip(what);
  // Keeps long names from widening the dock.
  return list;
}

}  // namespace

EnergyChoosers::EnergyChoosers(QWidget* parent) : QWidget(parent) {
  network_ = list_of("energy_network", tr("Counted network"));
  network_->addItem(tr("Open models"), QString());
  for (const NamedNetwork& named : named_architectures()) {
    network_->addItem(QString::fromUtf8(named.title), QString::fromUtf8(named.name));
    network_->setItemData(network_->count() - 1, QString::fromUtf8(named.source), Qt::ToolTipRole);
  }

  mechanism_button_ = new QToolButton;
  mechanism_button_->setObjectName("energy_mechanisms");
  mechanism_button_->setAccessibleName(tr("Mechanisms"));
  mechanism_button_->setToolTip(tr("Mechanisms for which every network is counted"));
  mechanism_button_->setPopupMode(QToolButton::InstantPopup);
  mechanism_button_->setProperty("opens", "menu");
  mechanism_button_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  mechanism_menu_ = new QMenu(this);
  mechanism_menu_->installEventFilter(this);
  for (const MechanismEntry& mechanism : counted_mechanisms()) {
    QAction* const action = mechanism_menu_->addAction(QString::fromUtf8(mechanism.title));
    action->setObjectName("energy_mechanism_" + QString::fromUtf8(mechanism.name));
    action->setCheckable(true);
    action->setData(QString::fromUtf8(mechanism.name));
    action->setToolTip(QString::fromUtf8(mechanism.source));
    connect(action, &QAction::toggled, this, &EnergyChoosers::take_mechanisms);
  }
  mechanism_menu_->addSeparator();
  QAction* const own = mechanism_menu_->addAction(tr("Each model's own attention"));
  own->setObjectName("energy_own_mechanisms");
  connect(own, &QAction::triggered, this, [this] {
    for (QAction* action : mechanism_menu_->actions()) {
      if (action->isCheckable()) action->setChecked(false);
    }
  });
  mechanism_button_->setMenu(mechanism_menu_);

  convention_ = list_of("energy_convention", tr("Accounting"));
  convention_->addItem(tr("All operations"), "complete");
  convention_->addItem(tr("As Adder counts"), "adder");
  convention_->addItem(tr("As EcoFormer counts"), "ecoformer");
  constants_ = list_of("energy_constants", tr("Energy per operation"));
  for (const EnergyConstants& table : energy_tables()) {
    constants_->addItem(QString::fromStdString(table.name + ", 45 nm"),
                        QString::fromStdString(table.name));
    constants_->setItemData(constants_->count() - 1, QString::fromStdString(table.title),
                            Qt::ToolTipRole);
  }
  constants_->addItem(tr("Own table…"), QString());
  reference_ = list_of("energy_reference", tr("Absolute, or relative to a pinned network"));
  reference_->addItem(tr("Absolute"));

  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(6);
  grid->addWidget(network_, 0, 0, 1, 3);
  grid->addWidget(mechanism_button_, 0, 3, 1, 3);
  grid->addWidget(convention_, 1, 0, 1, 2);
  grid->addWidget(constants_, 1, 2, 1, 2);
  grid->addWidget(reference_, 1, 4, 1, 2);
  for (int column = 0; column < 6; ++column) grid->setColumnStretch(column, 1);

  connect(network_, &QComboBox::currentIndexChanged, this, &EnergyChoosers::changed);
  connect(convention_, &QComboBox::currentIndexChanged, this, &EnergyChoosers::changed);
  connect(reference_, &QComboBox::currentIndexChanged, this, &EnergyChoosers::changed);
  connect(constants_, &QComboBox::activated, this, &EnergyChoosers::choose_constants);
  take_mechanisms();
}

std::string EnergyChoosers::network() const {
  return network_->currentData().toString().toStdString();
}
std::string EnergyChoosers::convention() const {
  return convention_->currentData().toString().toStdString();
}
std::string EnergyChoosers::constants() const {
  return constants_->itemData(last_constants_).toString().toStdString();
}
int EnergyChoosers::reference() const { return reference_->currentIndex(); }

void EnergyChoosers::set_models_open(bool open) {
  network_->setItemText(0, open ? tr("Open models") : tr("Examples of the papers"));
}

void EnergyChoosers::set_references(const QStringList& labels) {
  QStringList items{tr("Absolute")};
  for (const QString& label : labels) items << tr("Relative to %1").arg(label);
  QStringList now;
  for (int i = 0; i < reference_->count(); ++i) now << reference_->itemText(i);
  if (items == now) return;
  const int before = reference_->currentIndex();
  const QString pinned = reference_->currentText();
  {
    const QSignalBlocker quiet(reference_);
    reference_->clear();
    reference_->addItems(items);
    reference_->setCurrentIndex(std::max(0, static_cast<int>(items.indexOf(pinned))));
  }
  if (reference_->currentIndex() != before) emit changed();
}

void EnergyChoosers::show_lists(bool mechanisms, bool accounting, bool references) {
  mechanism_button_->setEnabled(mechanisms);
  convention_->setEnabled(accounting);
  reference_->setEnabled(references);
}

void EnergyChoosers::choose_constants(int index) {
  if (!constants_->itemData(index).toString().isEmpty()) {
    last_constants_ = index;
    emit changed();
    return;
  }
  const QString file = QFileDialog::getOpenFileName(this, tr("Energy per operation"), QString(),
                                                    tr("Energy tables (*.json);;All files (*)"));
  try {
    if (!file.isEmpty()) {
      const EnergyConstants own = find_energy_constants(file.toStdString());
      const int at = constants_->count() - 1;
      constants_->insertItem(at, QString::fromStdString(own.name), file);
      constants_->setItemData(at, QString::fromStdString(own.title), Qt::ToolTipRole);
      last_constants_ = at;
    }
  } catch (const Error& error) {
    QMessageBox::warning(this, tr("The energy table cannot be used"),
                         QString::fromStdString(error.in_window()));
  }
  constants_->setCurrentIndex(last_constants_);
  emit changed();
}

void EnergyChoosers::take_mechanisms() {
  mechanisms_.clear();
  QStringList names;
  for (const QAction* action : mechanism_menu_->actions()) {
    if (!action->isChecked()) continue;
    mechanisms_.push_back(action->data().toString().toStdString());
    names << action->data().toString();
  }
  QString text = tr("Each model's own attention");
  if (names.size() == 1) text = names.front();
  if (names.size() > 1) text = tr("%1 mechanisms").arg(names.size());
  mechanism_button_->setText(text);
  mechanism_button_->setAccessibleDescription(names.join(", "));
  emit changed();
}

bool EnergyChoosers::eventFilter(QObject* watched, QEvent* event) {
  if (watched == mechanism_menu_ && event->type() == QEvent::MouseButtonRelease) {
    QAction* const action =
        mechanism_menu_->actionAt(static_cast<QMouseEvent*>(event)->position().toPoint());
    if (action != nullptr && action->isCheckable()) {
      action->trigger();
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace attnscope
