// attnscope serve --stdio FOLDER…: opens and runs models for a window on another machine.
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "app/bridge/answer.h"
#include "app/bridge/served_models.h"
#include "app/cli/command_table.h"
#include "app/cli/subcommand.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/text/failure.h"

namespace attnscope {

namespace {

void write_all(int to, const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(to, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw Error(ErrorKind::io, "the other program does not read the answers");
    next += written;
    count -= static_cast<std::size_t>(written);
  }
}

void send_reply(int to, const ServedModels::Reply& reply) {
  const auto bytes_of = [](const TraceArray& array) {
    return static_cast<std::size_t>(byte_count(array.shape, array.dtype));
  };
  std::uint64_t bytes = 0;
  for (const TraceArray& array : reply.arrays) bytes += bytes_of(array);
  const std::string head = frame_head(reply.header, bytes);
  write_all(to, head.data(), head.size());
  for (const TraceArray& array : reply.arrays) write_all(to, array.data, bytes_of(array));
}

/// Reads the next message; false at the end of the stream.
bool receive(int from, FrameReader& reader) {
  while (true) {
    const std::span<std::byte> into = reader.wanted();
    const ssize_t count = ::read(from, into.data(), into.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(ErrorKind::io, std::string("messages cannot be read: ") + std::strerror(errno));
    }
    if (count == 0) return false;
    if (reader.advance(static_cast<std::size_t>(count))) return true;
  }
}

int serve(const std::vector<std::string>& folders) {
  ServedModels models({folders.begin(), folders.end()});
  // Whatever else writes to standard output, as a library may, must not come between frames.
  const int to = ::dup(STDOUT_FILENO);
  if (to < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw Error(ErrorKind::io, "standard output cannot be used");
  }
  FrameReader reader;
  try {
    while (receive(STDIN_FILENO, reader)) send_reply(to, models.handle(reader.take()));
  } catch (const Error& error) {
    // Where the next frame begins is unknown.
    send_reply(to, {answer_of(error), {}});
    throw;
  }
  return 0;
}

}  // namespace

Action add_serve(CLI::App& parent, CLI::App*& added) {
  struct Arguments {
    std::vector<std::string> folders;
    bool stdio = false;
  };
  auto arguments = std::make_shared<Arguments>();
  added = parent.add_subcommand(
      "serve",
      "Open and run models for a window elsewhere\n"
      "attnscope gui ssh://HOST/PATH starts it on HOST by ssh. It answers messages on standard "
      "input (docs/protocol.md) and reads only files below the folders.");
  added->add_option("FOLDER", arguments->folders, "Folders whose models may be opened")
      ->required()
      ->type_name("FOLDER");
  added->add_flag("--stdio", arguments->stdio, "Use standard input and output")->required();
  set_examples(*added, {"attnscope serve --stdio ~/models"});
  return [arguments] { return serve(arguments->folders); };
}

}  // namespace attnscope
