#include "core/checkpoint/hdf5/reading_child.h"

#include <cstdint>
#include <new>
#include <span>

#include "core/checkpoint/hdf5/hdf5_library.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::uint64_t kResult = 0, kError = 1;

Error failed(const std::string& how) {
  return Error(ErrorKind::damaged, "the HDF5 library failed on this file: " + how)
      .remedy("the file is damaged, or too large to be read: fetch it again, or save it again");
}

std::string as_answer(const Error& error) {
  std::string answer;
  put_number(answer, kError);
  put_number(answer, static_cast<std::uint64_t>(error.kind()));
  for (const std::string& part : {error.message(), error.file().string(), error.subject(),
                                  error.expected_text(), error.found_text(), error.remedy_text()}) {
    put_text(answer, part);
  }
  return answer;
}

Error error_in(ByteCursor& answer) {
  const std::uint64_t kind = take_number(answer);
  if (kind > static_cast<std::uint64_t>(ErrorKind::io)) return failed("an unknown error");
  Error error(static_cast<ErrorKind>(kind), take_text(answer));
  error.in_file(take_text(answer));
  error.about(take_text(answer));
  error.expected(take_text(answer));
  error.found(take_text(answer));
  error.remedy(take_text(answer));
  return error;
}

/// Runs in the child.
std::string answer_to(const std::function<std::string()>& read) {
  std::string answer;
  try {
    put_number(answer, kResult);
    put_text(answer, read());
    return answer;
  } catch (const Error& error) {
    return as_answer(error);
  } catch (const std::bad_alloc&) {
    return as_answer(failed("it needs more memory than is allowed"));
  } catch (const std::exception& error) {
    return as_answer(failed(error.what()));
  }
}

}  // namespace

std::string read_in_child(const std::function<std::string()>& read, const ChildLimits& limits) {
  const auto start = [&] {
    const QuietHdf5 alone;  // no thread is in the library, no other child inherits the pipe
    return LimitedChild([&] { return answer_to(read); }, limits);
  };
  LimitedChild child = start();
  const LimitedChild::Answer answered = child.answer();
  if (!answered.failure.empty()) throw failed(answered.failure);
  ByteCursor answer(std::as_bytes(std::span(answered.text)));
  const std::uint64_t sort = take_number(answer);
  if (sort == kError) throw error_in(answer);
  if (sort != kResult) throw failed("an unknown answer");
  return take_text(answer);
}

}  // namespace attnscope
