// The window's commands: the list for menus, shortcuts and the command palette.
#include <QMenuBar>
#include <string>
#include <utility>

#include "analysis/figure/recipe.h"
#include "app/canvas/atlas_link.h"
#include "app/panels/analyses/analyses_panel.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/history.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "app/window/cite_dialog.h"
#include "app/window/commands.h"
#include "app/window/enlargement.h"
#include "app/window/layouts.h"
#include "app/window/main_window.h"
#include "app/window/palette_dialog.h"
#include "app/window/panel_docks.h"
#include "app/window/view_menus.h"
#include "core/attention/mechanism.h"

namespace attnscope {

void MainWindow::add_panel_commands(QList<Command>& list) {
  const PanelEntry* before = nullptr;
  for (const PanelEntry& entry : panels()) {
    Command command;
    const bool is_study = entry.group == PanelGroup::experiments;
    command.menu = is_study                           ? tr("E&xperiments")
                   : entry.group == PanelGroup::learn ? tr("&Learn")
                                                      : tr("&View");
    if (command.menu == tr("&View")) {
      command.submenu = tr("Panels");
      command.separator_before = before != nullptr && before->group != entry.group;
    }
    const auto add = [&](const char* name, const char* title, bool in_menu) {
      Command one = command;
      one.id = name;
      one.text = QObject::tr(title);
      one.run = [this, name = std::string(name)] {
        name == "lessons" ? show_lessons() : show_panel(name);
      };
      one.in_menu = in_menu;
      list.push_back(std::move(one));
      command.separator_before = false;
    };
    add(entry.name, entry.title, true);
    if (*entry.key != '\0') list.back().keys = {QKeySequence(entry.key)};
    for (const PanelPage& page : entry.pages) add(page.name, page.title, page.in_menu);
    before = &entry;
  }
}

void MainWindow::enable_panel_commands() {
  for (const PanelDocks::PanelDock& one : docks_->all()) {
    const bool has_content = docks_->has_content(one);
    commands_->action(one.entry->name)->setEnabled(has_content);
    for (const PanelPage& page : one.entry->pages) {
      commands_->action(page.name)->setEnabled(
          page.has_content != nullptr ? page.has_content(session_) : has_content);
    }
  }
}

void MainWindow::make_commands() {
  const QString file = tr("&File"), edit = tr("&Edit"), view = tr("&View");
  const QString learn = tr("&Learn"), help = tr("&Help");
  QList<Command> list = {
      {"open_model",
       file,
       tr("&Open model…"),
       {QKeySequence::Open},
       "open",
       [this] { ask_for_model(); }},
      {"open_input",
       file,
       tr("Open &input…"),
       {QKeySequence("Ctrl+I")},
       "image",
       [this] { ask_for_input(); }},
      {"open_folder",
       file,
       tr("Open class &folder…"),
       {QKeySequence("Ctrl+Shift+I")},
       "",
       [this] { ask_for_folder(); }},
      {"watch_folder",
       file,
       tr("&Watch checkpoint folder…"),
       {},
       "",
       [this] { ask_for_watched_folder(); }},
      {"open_remote", file, tr("Ope&n on another machine…"), {}, "", [this] { ask_for_remote(); }},
      {"reload",
       file,
       tr("&Reload file"),
       {QKeySequence("Ctrl+R")},
       "",
       [this] { session_.reload(session_.selection().subject); }},
      {"save_session",
       file,
       tr("&Save session"),
       {QKeySequence::Save},
       "",
       [this] { save_session(false); }},
      {"save_session_as",
       file,
       tr("Save session &as…"),
       {QKeySequence("Ctrl+Shift+S")},
       "",
       [this] { save_session(true); }},
      {"restore_session",
       file,
       tr("&Restore session…"),
       {QKeySequence("Ctrl+Shift+O")},
       "",
       [this] { ask_for_session(); }},
      {"export",
       file,
       tr("&Export figure…"),
       {QKeySequence("Ctrl+E")},
       "export",
       [this] { export_figure(); },
       true},
      {"export_html",
       file,
       tr("Export as &HTML…"),
       {QKeySequence("Ctrl+Alt+E")},
       "",
       [this] { export_html(); }},
      {"compose_page",
       file,
       tr("Compose &page…"),
       {QKeySequence("Ctrl+Shift+E")},
       "",
       [this] { compose_page(); }},
      {"gallery",
       file,
       tr("Open figure &gallery…"),
       {QKeySequence("Ctrl+G")},
       "",
       [this] { show_gallery(); }},
      {"quit", file, tr("&Quit"), {QKeySequence::Quit}, "", [this] { close(); }, true},
      {"undo", edit, tr("&Undo"), {QKeySequence::Undo}, "", [this] { history_->undo(); }},
      {"redo", edit, tr("Re&do"), {QKeySequence::Redo}, "", [this] { history_->redo(); }},
      {"palette",
       edit,
       tr("&Commands…"),
       {QKeySequence("Ctrl+Shift+P")},
       "",
       [this] { ask_for_command(); },
       true},
      {"preferences",
       edit,
       tr("&Preferences…"),
       {QKeySequence("Ctrl+,")},
       "",
       [this] { ask_for_preferences(); }},
      {"fit", view, tr("&Fit all maps"), {QKeySequence("F")}, "fit", [this] { link_->fit(); }},
      {"reset",
       view,
       tr("&Reset zoom and lens"),
       {QKeySequence("R")},
       "",
       [this] {
         link_->fit();
         session_.reset_lens();
       }},
      {"lens",
       view,
       tr("&Lens"),
       {QKeySequence("L")},
       "lens",
       [this] { link_->set_lens_open(!link_->lens_open()); }},
      {"toggle_identity",
       view,
       tr("Toggle &identity mapping"),
       {QKeySequence("I")},
       "",
       [this] { toggle_identity(); },
       true},
      {"map_number",
       view,
       tr("Next map n&umber"),
       {QKeySequence("N")},
       "",
       [this] { next_map_number(); },
       false,
       {},
       false},
      {"sort_maps",
       view,
       tr("S&ort maps by number"),
       {QKeySequence("Shift+N")},
       "",
       [this] { toggle_sorted(); },
       false,
       {},
       false},
      {"class_token",
       view,
       tr("Select &class token"),
       {QKeySequence("C")},
       "",
       [this] { session_.select_class_token(); }},
      {"pin_reference",
       view,
       tr("&Pin model as reference"),
       {QKeySequence("P")},
       "pin",
       [this] { pin_selected(); },
       true},
      {"keep_on_input",
       view,
       tr("Duplicate &model on input"),
       {QKeySequence("K")},
       "",
       [this] { session_.keep_on_input(session_.selection().subject); }},
      {"toggle_difference",
       view,
       tr("&Difference from reference"),
       {QKeySequence("D")},
       "",
       [this] { toggle_difference(); }},
      {"toggle_theme",
       view,
       tr("Switch &theme"),
       {QKeySequence("Ctrl+T")},
       "theme",
       [this] { set_theme(preferences_.theme == Theme::dark ? Theme::light : Theme::dark); },
       true},
      {"enlarge",
       view,
       tr("Ma&ximise panel or model"),
       {QKeySequence("M")},
       "",
       [this] { enlargement_->toggle(); },
       true},
      {"left_side",
       view,
       tr("Left side &bar"),
       {QKeySequence("Ctrl+B")},
       "left_side",
       [this] { docks_->toggle(PanelDocks::Side::left); }},
      {"right_side",
       view,
       tr("Right &side bar"),
       {QKeySequence("Ctrl+J")},
       "right_side",
       [this] { docks_->toggle(PanelDocks::Side::right); }},
      {"present",
       view,
       tr("&Presentation"),
       {QKeySequence("F5")},
       "",
       [this] { toggle_presentation(); }},
  };
  add_panel_commands(list);
  list.push_back(
      {"first_minute", learn, tr("&First minute"), {}, "", [this] { show_first_minute(); }});
  list.push_back({"manual",
                  learn,
                  tr("&Manual"),
                  {QKeySequence("F1")},
                  "",
                  [this] { show_manual("first-minute"); },
                  true});
  list.push_back(
      {"keys", learn, tr("&Keys"), {QKeySequence("?")}, "help", [this] { show_keys(); }});
  list.push_back({"papers", learn, tr("The &papers"), {}, "", [this] { show_manual("papers"); }});
  list.push_back({"cite", help, tr("How to &cite…"), {}, "", [this] { CiteDialog(this).exec(); }});
  list.push_back({"about", help, tr("&About Attnscope"), {}, "", [this] { show_about(); }});
  for (const WorkLayout& layout : work_layouts()) {
    list.push_back({QString("layout_%1").arg(layout.name).toLower(),
                    "",
                    tr("Layout: %1").arg(tr(layout.name)),
                    {QKeySequence(layout.key)},
                    "",
                    [this, &layout] { layouts_->go_to(layout); }});
  }
  for (int place = 0; !Layouts::key_of_own(place).isEmpty(); ++place) {
    list.push_back({QString("own_layout_%1").arg(place),
                    "",
                    tr("Your layout %1").arg(place + 1),
                    {Layouts::key_of_own(place)},
                    "",
                    [this, place] { layouts_->go_to_own(place); }});
  }
  for (std::size_t number = 1; number <= 9; ++number) {
    list.push_back({QString("subject_%1").arg(number),
                    "",
                    tr("Select model %1").arg(number),
                    {QKeySequence(QString::number(number))},
                    "",
                    [this, number] { select_subject(number - 1); }});
  }
  commands_ = std::make_unique<Commands>(list, *menus_, *this);
}

void MainWindow::ask_for_command() {
  QList<PaletteEntry> entries = commands_->entries();
  entries += view_menus_->entries();
  for (const FigureRecipe& recipe : figure_recipes()) {
    if (recipe.has_panel || recipe.question == FigureQuestion::none) continue;
    entries.push_back({QString::fromUtf8(recipe.title), tr("Analyses"), {}, [this, &recipe] {
                         show_panel("analyses");
                         (void)findChild<AnalysesPanel*>()->show_page(std::string(recipe.name));
                       }});
  }
  const SubjectId subject = session_.selection().subject;
  const OpenSubject* const open = session_.find(subject);
  if (open && open->subject.model) {
    for (const MechanismEntry& mechanism : mechanisms()) {
      const std::string name(mechanism.name);
      entries.push_back({tr("Lay %1 over the selected model").arg(QString::fromStdString(name)),
                         tr("Mechanisms"),
                         {},
                         [this, subject, name] {
                           session_.overlay(subject, {name, {}});
                         }});
    }
  }
  for (const std::filesystem::path& model : sample_models()) {
    entries.push_back({tr("Open %1").arg(QString::fromStdString(model.stem().string())),
                       tr("Sample models"),
                       {},
                       [this, model] { session_.open(model); }});
  }
  PaletteDialog(std::move(entries), this).exec();
}

}  // namespace attnscope
