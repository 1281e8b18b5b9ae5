#include "app/window/map_menu.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QImage>
#include <QKeySequence>
#include <QMenu>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/figure/colour_map.h"
#include "app/canvas/atlas_link.h"
#include "app/panels/models/subject_dialogs.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "core/attention/mechanism.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// A weight in the fewest digits that give its float32.
QString digits_of(float value) { return QString::fromStdString(exact(value)); }

/// The map as CSV: one line per query, one column per key, both with names.
QString as_csv(const ShownMaps& maps, const MapCell& cell) {
  const MapExtent extent = maps.extent(cell.layer, cell.column);
  const auto quoted = [](const std::string& name) {
    return '"' + QString::fromStdString(name).replace('"', "\"\"") + '"';
  };
  QString text = "query";
  for (std::int64_t key = 0; key < extent.keys; ++key) {
    text += ',' + quoted(key_layout(maps.trace(), cell.layer).name(maps.key_of(cell.layer, key)));
  }
  std::vector<float> values(static_cast<std::size_t>(extent.keys));
  for (std::int64_t query = 0; query < extent.queries; ++query) {
    text += '\n' +
            quoted(query_layout(maps.trace(), cell.layer).name(maps.query_of(cell.layer, query)));
    maps.row(cell.layer, cell.column, query, 0, values);
    for (const float value : values) {
      text += ',' + digits_of(value);
    }
  }
  return text + '\n';
}

}  // namespace

ParameterValues shown_map_settings(const Session& session) {
  const MapBlock maps = block_of(session.selection());
  const ViewSettings& view = session.view();
  ParameterValues settings;
  settings["layers"] = IndexRanges{{maps.first_layer, maps.last_layer}};
  settings["heads"] = IndexRanges{{maps.first_head, maps.last_head}};
  settings["identity"] = std::string(name_of(identity_view_names, view.identity));
  set_threshold(view.rank_threshold, settings);
  settings["colour-map"] = view.colour_map;
  settings["norm"] = std::string(name_of(scale_norm_names, view.norm));
  if (view.range_minimum && view.range_maximum) {
    settings["range"] = std::vector<double>{*view.range_minimum, *view.range_maximum};
  }
  return settings;
}

MapMenu::MapMenu(Session& session, AtlasLink& link, QWidget& window)
    : QObject(&window), session_(session), link_(link), window_(window) {
  connect(&link_, &AtlasLink::menu_wanted, this, &MapMenu::open);
}

void MapMenu::open(SubjectId subject, const std::optional<MapCell>& cell, QPoint global) {
  QMenu menu(&window_);
  fill(menu, subject, cell);
  menu.exec(global);
}

QString MapMenu::copy_value() {
  const std::optional<HoveredCell>& hover = session_.selection().hover;
  const std::optional<MapCell> cell = hover ? link_.linked_cell(hover->subject) : std::nullopt;
  const std::shared_ptr<const ShownMaps> maps =
      cell ? link_.drawn(hover->subject).maps : std::shared_ptr<const ShownMaps>();
  if (!maps) return {};
  const MapExtent extent = maps->extent(cell->layer, cell->column);
  if (cell->query >= extent.queries || cell->key >= extent.keys) return {};
  QString value = digits_of(maps->value(*cell));
  QGuiApplication::clipboard()->setText(value);
  return value;
}

void MapMenu::fill(QMenu& menu, SubjectId subject, const std::optional<MapCell>& cell) {
  const bool in_map = cell && link_.maps(subject);
  if (in_map) {
    add_map_actions(menu, subject, *cell);
    if (session_.view().head_fusion == HeadFusion::none) {
      add_ablation_menu(menu, session_, subject, cell->layer, cell->column);
    }
    menu.addSeparator();
  }
  add_subject_actions(menu, subject);
}

void MapMenu::add_map_actions(QMenu& menu, SubjectId subject, const MapCell& cell) {
  const std::shared_ptr<const ShownMaps> maps = link_.drawn(subject).maps;
  if (!maps) return;
  const bool each_head = session_.view().head_fusion == HeadFusion::none;
  // A right click on one of several selected maps keeps the selection.
  const Selection& selection = session_.selection();
  const bool of_block = selection.to && selection.subject == subject && each_head &&
                        block_of(selection).contains(cell.layer, cell.column);
  if (!of_block) session_.select_map(subject, cell.layer, each_head ? cell.column : selection.head);
  const auto add = [&](const char* name, const QString& text, auto run) {
    menu.addAction(text, this, run)->setObjectName(name);
  };
  const QString value = digits_of(maps->value(cell));
  add("copy_value", tr("Copy %1").arg(value) + "\t" + QKeySequence("Ctrl+C").toString(),
      [value] { QGuiApplication::clipboard()->setText(value); });
  add("copy_csv", tr("Copy map as CSV"),
      [maps, cell] { QGuiApplication::clipboard()->setText(as_csv(*maps, cell)); });
  add("copy_figure", tr("Copy map as picture"), [this, maps, cell] { copy_picture(*maps, cell); });
  add("export_this", of_block ? tr("Export the selected maps…") : tr("Export this map…"),
      [this] { emit export_wanted("attention-maps", shown_map_settings(session_), {}); });
  menu.addSeparator();
  add("enlarge_map", tr("Enlarge (double click)"),
      [this, cell] { link_.show_map(cell.layer, cell.column); });
  add("open_spectrum", tr("Show spectrum"), [this] { emit panel_wanted("spectrum"); });
  add("open_steps", tr("Step through head"), [this, subject, cell, maps] {
    Selection row = session_.selection();
    row.subject = subject;
    row.query = maps->query_of(cell.layer, cell.query);
    session_.select(row);
    emit panel_wanted("steps");
  });
  add("open_query", tr("Show row on input"), [this, subject, cell, maps] {
    Selection row = session_.selection();
    row.subject = subject;
    row.query = maps->query_of(cell.layer, cell.query);
    session_.select(row);
    emit panel_wanted("row");
  });
}

void MapMenu::add_subject_actions(QMenu& menu, SubjectId subject) {
  const OpenSubject* const open = session_.find(subject);
  if (open == nullptr) return;
  menu.addAction(tr("Rename %1…").arg(QString::fromStdString(open->subject.label)), this,
                 [this, subject] { ask_for_name(&window_, session_, subject); })
      ->setObjectName("rename");
  if (session_.subjects().size() > 1) {
    const bool pinned = session_.reference() == subject;
    menu.addAction(
            pinned ? tr("No reference") : tr("Compare the others with it"), this,
            [this, subject, pinned] { session_.set_reference(pinned ? SubjectId::none : subject); })
        ->setObjectName("pin");
  }
  menu.addAction(tr("Close model"), this, [this, subject] { session_.close(subject); })
      ->setObjectName("close");
}

void MapMenu::copy_picture(const ShownMaps& maps, const MapCell& cell) {
  const MapExtent extent = maps.extent(cell.layer, cell.column);
  ColourScale scale = link_.scale(session_.selection().subject, maps.compared_with() != nullptr);
  const auto own = maps.compared_with() == nullptr
                       ? link_.range_of_map(session_.selection().subject, cell.layer, cell.column)
                       : std::nullopt;
  if (own) scale = colour_scale(*own, session_.view());
  const ScaleColours colours(scale);
  QImage picture(static_cast<int>(extent.keys), static_cast<int>(extent.queries),
                 QImage::Format_ARGB32);
  picture.fill(Qt::transparent);
  std::vector<float> values(static_cast<std::size_t>(extent.keys));
  for (int row = 0; row < picture.height(); ++row) {
    maps.row(cell.layer, cell.column, row, 0, values);
    for (int column = 0; column < picture.width(); ++column) {
      const auto fraction =
          fraction_of(scale, static_cast<double>(values[static_cast<std::size_t>(column)]));
      if (!fraction) continue;
      const Colour c = colours(*fraction);
      picture.setPixelColor(column, row, QColor(c.red, c.green, c.blue));
    }
  }
  // The picture is enlarged before copying, because other programs smooth small pictures.
  constexpr int kLeastSide = 600;
  const int larger = std::max(1, kLeastSide / std::max({1, picture.width(), picture.height()}));
  QGuiApplication::clipboard()->setImage(picture.scaled(picture.size() * larger));
}

void add_ablation_menu(QMenu& menu, Session& session, SubjectId subject, std::int64_t layer,
                       std::int64_t head) {
  const OpenSubject* const open = session.find(subject);
  if (!open || !open->subject.model || !open->subject.trace) return;
  QMenu* const without = menu.addMenu(QObject::tr("Without this head"));
  without->setObjectName("without_head");
  const auto replaced = std::ranges::find_if(open->what_if.heads, [&](const ReplacedHead& one) {
    return one.layer == layer && one.head == head;
  });
  const bool is_replaced = replaced != open->what_if.heads.end();
  const auto add = [&](const QString& text, const char* name, const ReplacedHead& next,
                       QMenu* into = nullptr) {
    QAction* const action =
        (into ? into : without)->addAction(text, &session, [&session, subject, next] {
          if (const OpenSubject* const now = session.find(subject)) {
            session.set_what_if(subject, with_head(now->what_if, next));
          }
        });
    action->setObjectName(name);
    action->setCheckable(true);
    action->setChecked(is_replaced && *replaced == next);
  };
  add(QObject::tr("Zero"), "without_zero", {layer, head});
  add(QObject::tr("Equal weights"), "without_uniform", {layer, head, HeadReplacement::uniform});
  add(QObject::tr("Mean row of this map"), "without_mean",
      {layer, head, HeadReplacement::mean_row});
  for (std::int64_t other = 0; other < open->subject.trace->heads(layer); ++other) {
    if (other == head) continue;
    add(QObject::tr("Map of head %1").arg(other), "without_other",
        {layer, head, HeadReplacement::other_head, other});
  }
  without->addSeparator();
  QMenu* const mechanisms_menu =
      without->addMenu(QObject::tr("Map of another mechanism on the same Q, K"));
  mechanisms_menu->setObjectName("without_attention");
  for (const MechanismEntry& entry : mechanisms()) {
    const bool hides = entry.causal || !open->subject.trace->causal;
    if (entry.name == open->subject.mechanism.name || !hides) continue;
    ReplacedHead next{layer, head, HeadReplacement::other_attention};
    next.mechanism = make_mechanism({std::string(entry.name), {}})->choice();
    add(QString::fromUtf8(entry.name.data(), static_cast<qsizetype>(entry.name.size())),
        "without_as", next, mechanisms_menu);
  }
  const auto over = [&session, subject, layer, head](const QString& path) {
    const OpenSubject* const now = session.find(subject);
    if (!now || path.isEmpty()) return;
    ReplacedHead next{layer, head, HeadReplacement::mean_over_data};
    next.data_set = path.toStdString();
    session.set_what_if(subject, with_head(now->what_if, next));
  };
  without
      ->addAction(
          QObject::tr("Mean map over a data set…"), &session,
          [over, window = menu.parentWidget()] {
            over(QFileDialog::getOpenFileName(
                window, QObject::tr("Choose a data set"), {},
                QObject::tr("Data sets (*.gz *.h5 *.hdf5 *.npz *ubyte *.txt);;All files (*)")));
          })
      ->setObjectName("without_data");
  without
      ->addAction(QObject::tr("Mean map over class folders…"), &session,
                  [over, window = menu.parentWidget()] {
                    over(QFileDialog::getExistingDirectory(
                        window, QObject::tr("Choose a folder with one folder a class")));
                  })
      ->setObjectName("without_folders");
  if (!is_replaced) return;
  without->addSeparator();
  without
      ->addAction(QObject::tr("Restore map"), &session,
                  [&session, subject, layer, head] {
                    if (const OpenSubject* const now = session.find(subject)) {
                      session.set_what_if(subject, without_replacement(now->what_if, layer, head));
                    }
                  })
      ->setObjectName("put_back");
}

}  // namespace attnscope
