// A session and its window as a user meets them, and ways to wait for what they do.
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

  /// Writes a trace file into the test's folder.
  [[nodiscard]] std::filesystem::path write_sample(const std::string& name, const Trace& trace);
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path().toStdString(); }
  [[nodiscard]] MainWindow& window() { return *window_; }
  [[nodiscard]] Session& session() { return *session_; }
  /// The subject at that place, from 0; none if there are not so many.
  [[nodiscard]] SubjectId id(std::size_t place) const { return subject_at(*session_, place); }
  [[nodiscard]] bool wait_until_settled();
  /// The same, and until nothing in the window moves any more: layouts follow one another.
  [[nodiscard]] bool wait_until_still();
  /// The one child of that class and object name.
  template <class Widget>
  [[nodiscard]] Widget* child(const char* name) {
    return window_->findChild<Widget*>(QLatin1String(name));
  }
  /// Presses a key at the window, as a user who did not click anywhere before.
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
  /// Answers the next file dialog with `file`, as typing it and pressing Enter does.
  void answer_file_dialog(const std::filesystem::path& file);
  /// Lets `act` work on the next dialog that opens.
  void on_dialog(std::function<void(QDialog&)> act);

 private:
  QTemporaryDir folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
};

}  // namespace attnscope
