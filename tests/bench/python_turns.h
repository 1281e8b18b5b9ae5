// Runs a Python script in alternation with our work; it answers every line with two or three
// numbers.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace attnscope {

/// Process of tests/bench/SCRIPT, which waits for its turn.
class PythonTurns {
 public:
  PythonTurns(const std::string& script, const std::vector<std::string>& arguments) {
    int to_child[2], from_child[2];
    if (pipe(to_child) != 0 || pipe(from_child) != 0) return;
    const std::string file = std::string(ATTNSCOPE_BENCH_DIR "/") + script;
    std::vector<char*> words;
    std::vector<std::string> all = {"python3", file};
    all.insert(all.end(), arguments.begin(), arguments.end());
    for (std::string& word : all) words.push_back(word.data());
    words.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      dup2(to_child[0], STDIN_FILENO);
      dup2(from_child[1], STDOUT_FILENO);
      close(to_child[1]);
      close(from_child[0]);
      execv("/usr/bin/python3", words.data());
      _exit(127);
    }
    close(to_child[0]);
    close(from_child[1]);
    requests_ = fdopen(to_child[1], "w");
    answers_ = fdopen(from_child[0], "r");
  }
  PythonTurns(const PythonTurns&) = delete;
  PythonTurns& operator=(const PythonTurns&) = delete;
  ~PythonTurns() {
    if (requests_ != nullptr) std::fclose(requests_);
    if (answers_ != nullptr) std::fclose(answers_);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }

  /// Wall and processor time of one turn in seconds; negative if the script cannot run.
  std::pair<double, double> pass() {
    char line[96];
    if (std::fputs("\n", requests_) < 0 || std::fflush(requests_) != 0 ||
        std::fgets(line, sizeof line, answers_) == nullptr) {
      return {-1, -1};
    }
    // Threads of the script's libraries spin for a while after their last work.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    char* rest = nullptr;
    const double wall = std::strtod(line, &rest), processor = std::strtod(rest, &rest);
    peak_ = std::strtod(rest, nullptr);
    return {wall, processor};
  }
  /// Peak memory in bytes, the third number of the last turn; 0 if the script does not print it.
  [[nodiscard]] double peak() const { return peak_; }

 private:
  pid_t child_ = -1;
  double peak_ = 0;
  std::FILE* requests_ = nullptr;
  std::FILE* answers_ = nullptr;
};

}  // namespace attnscope
