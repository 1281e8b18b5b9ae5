// Fixture with a session and its window, and functions that wait for their work.
#pragma once

#include <QApplication>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "app/session/session.h"
#include "app/window/main_window.h"
#include "tests/app/support/session_fixture.h"

namespace attnscope {

class WindowTest : public testing::Test {
 protected:
  WindowTest();
  ~WindowTest() override;

  /// Writes a trace file into the folder of the test.
  [[nodiscard]] std::filesystem::path write_sample(const std::string& name, const Trace& trace);
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path().toStdString(); }
  [[nodiscard]] MainWindow& window() { return *window_; }
  [[nodiscard]] Session& session() { return *session_; }
  /// The model at that index, from 0; SubjectId::none if it does not exist.
  [[nodiscard]] SubjectId id(std::size_t place) const { return subject_at(*session_, place); }
  [[nodiscard]] bool wait_until_settled();
  /// Waits until the window is settled and no widget moves any more.
  [[nodiscard]] bool wait_until_still();
  /// The child with that class and object name.
  template <class Widget>
  [[nodiscard]] Widget* child(const char* name) {
    return window_->findChild<Widget*>(QLatin1String(name));
  }
  /// Presses a key while the window is active.
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
  /// Enters `file` into the next file dialog and presses Enter.
  void answer_file_dialog(const std::filesystem::path& file);
  /// Calls `act` with the next modal dialog.
  void on_dialog(std::function<void(QDialog&)> act);

 private:
  QTemporaryDir folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
};

}  // namespace attnscope
