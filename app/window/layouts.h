// Arrangements of the docks: remembered from run to run, and by name.
#pragma once

#include <QByteArray>
#include <QObject>

class QMainWindow;
class QMenu;

namespace attnscope {

class Layouts : public QObject {
  Q_OBJECT
 public:
  /// `menu` lists the named layouts whenever it opens.
  Layouts(QMainWindow& window, QMenu& menu);

  /// Takes the docks as they stand for what "Reset" goes back to.
  void set_default();
  void reset();
  void save_as(const QString& name);
  void go_to(const QString& name);
  void remove(const QString& name);
  [[nodiscard]] QStringList names() const;

  /// What the window looked like when it was last closed.
  void remember_last() const;
  void restore_last();

 signals:
  void changing();  ///< another one is about to be taken

 private:
  void fill(QMenu& menu);

  QMainWindow& window_;
  QByteArray default_;
};

}  // namespace attnscope
