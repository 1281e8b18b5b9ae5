// The one exception type of the program.
#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

namespace attnscope {

/// Kind of failure; decides the exit status and whether another reader may try.
enum class ErrorKind {
  usage,            ///< invalid request; exit status 2
  not_this_format,  ///< the file has another format; another reader may try
  damaged,          ///< the file has the format, but is broken or hostile
  unsupported,      ///< well-formed, but not supported by the program
  io                ///< an operation of the operating system failed
};

/// An error with message, location, expected and found values, and a remedy. Thrown anywhere and
/// caught once, by the command line (one line on stderr) or the window (a dialog).
///
///     throw Error(ErrorKind::damaged, "the tensor does not fit its data")
///         .in_file(path).about("blocks.0.attn.qkv.weight")
///         .expected("[576, 192]").found("[576, 191]")
///         .remedy("save the checkpoint again");
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string what_went_wrong);

  Error& in_file(const std::filesystem::path& file) &;
  Error& about(std::string subject) &;  ///< the tensor, option, key or token concerned
  Error& expected(std::string expected) &;
  Error& found(std::string found) &;
  Error& remedy(std::string remedy) &;
  Error&& in_file(const std::filesystem::path& file) && { return std::move(in_file(file)); }
  Error&& about(std::string subject) && { return std::move(about(std::move(subject))); }
  Error&& expected(std::string text) && { return std::move(expected(std::move(text))); }
  Error&& found(std::string text) && { return std::move(found(std::move(text))); }
  Error&& remedy(std::string text) && { return std::move(remedy(std::move(text))); }

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] const std::string& subject() const { return subject_; }
  [[nodiscard]] const std::string& expected_text() const { return expected_; }
  [[nodiscard]] const std::string& found_text() const { return found_; }
  [[nodiscard]] const std::string& remedy_text() const { return remedy_; }

  /// The whole error in one line: "FILE: SUBJECT: MESSAGE (expected X, found Y); REMEDY".
  [[nodiscard]] const char* what() const noexcept override { return line_.c_str(); }

  /// The error in one line for a window, which has no command line: "--option K=V" is called "the
  /// option K=V", which a dialog sets; a remedy, subject or expectation that names other options or
  /// commands is left out.
  [[nodiscard]] std::string in_window() const;

 private:
  void compose();

  ErrorKind kind_;
  std::string message_;
  std::filesystem::path file_;
  std::string subject_;
  std::string expected_;
  std::string found_;
  std::string remedy_;
  std::string line_;
};

/// Returns `read()`. An Error that it throws without a file gets `file`.
///
///     const json object = with_file(path, [&] { return parse_json(text); });
template <class Read>
auto with_file(const std::filesystem::path& file, Read&& read) {
  try {
    return read();
  } catch (Error& error) {
    if (error.file().empty()) error.in_file(file);
    throw;
  }
}

/// An error for an unknown name that lists the known ones: "unknown mechanism 'adde'; known: …".
Error unknown_name(std::string_view kind_of_thing, std::string_view name,
                   const std::string& known_names);

}  // namespace attnscope
