// Arrangements of the docks: those for a kind of work, those the user has named, and the one of
// last time.
#pragma once

#include <QByteArray>
#include <QKeySequence>
#include <QObject>
#include <QStringList>
#include <span>

class QMainWindow;
class QMenu;

namespace attnscope {

/// An arrangement for a kind of work.
struct WorkLayout {
  const char* name;
  const char* purpose;           ///< what stands where, in words
  const char* key;               ///< "Ctrl+1"
  const char* open;              ///< the docks, by their names, with spaces between
  const char* in_front;          ///< of those that are tabs
  int percent_right;             ///< of the window's width for the right column; 0: as usual
  const char* beside = nullptr;  ///< the dock beside the atlases, and its share of the width
  int percent_beside = 0;
};
[[nodiscard]] std::span<const WorkLayout> work_layouts();

class Layouts : public QObject {
  Q_OBJECT
 public:
  /// `menu` lists all layouts whenever it opens.
  Layouts(QMainWindow& window, QMenu& menu);

  /// Takes the docks as they stand for what "Reset" goes back to.
  void set_default();
  void reset();
  void go_to(const WorkLayout& layout);
  void save_as(const QString& name);
  void go_to(const QString& name);
  /// The user's own, in order of their names, from 0; nothing where there are not so many.
  void go_to_own(int place);
  void remove(const QString& name);
  [[nodiscard]] QStringList names() const;
  /// Of the user's own layout at that place, from 0; empty past the ninth of all.
  [[nodiscard]] static QKeySequence key_of_own(int place);

  /// What the window looked like when it was last closed.
  void remember_last() const;
  void restore_last();

 signals:
  void changing();  ///< another one is about to be taken
  void changed();

 private:
  void fill(QMenu& menu);
  void restore(const QByteArray& state);

  QMainWindow& window_;
  QByteArray default_;
};

}  // namespace attnscope
