// Layouts of the docks: one per kind of work, the user's own, and the last one.
#pragma once

#include <QByteArray>
#include <QKeySequence>
#include <QObject>
#include <QStringList>
#include <span>

class QMainWindow;
class QMenu;

namespace attnscope {

/// A layout for a kind of work.
struct WorkLayout {
  const char* name;
  const char* purpose;   ///< description of the layout
  const char* key;       ///< "Ctrl+1"
  const char* open;      ///< object names of the open docks, separated by spaces
  const char* in_front;  ///< the front docks among tabs
  int percent_right;     ///< width of the right column in percent of the window; 0: the default
  const char* beside = nullptr;  ///< the dock next to the atlases, and its percentage of the width
  int percent_beside = 0;
};
[[nodiscard]] std::span<const WorkLayout> work_layouts();

class Layouts : public QObject {
  Q_OBJECT
 public:
  /// `menu` lists all layouts whenever it opens.
  Layouts(QMainWindow& window, QMenu& menu);

  /// Stores the present layout as the one that "Reset" restores.
  void set_default();
  void reset();
  void go_to(const WorkLayout& layout);
  void save_as(const QString& name);
  void go_to(const QString& name);
  /// Applies the user's layout at index `place` in order of names, from 0; ignored if there is
  /// none.
  void go_to_own(int place);
  void remove(const QString& name);
  [[nodiscard]] QStringList names() const;
  /// Shortcut of the user's layout at index `place`, from 0; empty if it would exceed Ctrl+9.
  [[nodiscard]] static QKeySequence key_of_own(int place);

  /// Stores the layout for restore_last() in the next run.
  void remember_last() const;
  void restore_last();

 signals:
  void changing();  ///< the layout is about to change
  void changed();

 private:
  void fill(QMenu& menu);
  void restore(const QByteArray& state);

  QMainWindow& window_;
  QByteArray default_;
};

}  // namespace attnscope
