// The plug-in libattnscope-mpi.so: a team of the processes that mpirun or srun started. It is
// separate from the program, which does not need MPI.
#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mpi.h>
#include <optional>
#include <utility>

#include "analysis/sweep/process_team.h"

namespace attnscope {

namespace {

constexpr int kTag = 1;
// Size of a message's pieces, because MPI counts bytes in an int. A shorter piece, which may be
// empty, ends a message.
constexpr std::size_t kPieceBytes = std::size_t{16} << 20;

class MpiTeam final : public ProcessTeam {
 public:
  MpiTeam() {
    int granted = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &granted);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiTeam() override {
    for (Sent& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
    MPI_Finalize();
  }
  MpiTeam(const MpiTeam&) = delete;
  MpiTeam& operator=(const MpiTeam&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void send(int to, Message message) override {
    const auto whole = std::make_shared<const Message>(std::move(message));
    for (std::size_t at = 0; at <= whole->size(); at += kPieceBytes) {
      const std::size_t bytes = std::min(kPieceBytes, whole->size() - at);
      Sent& sent = sent_.emplace_back(Sent{whole, MPI_REQUEST_NULL});
      MPI_Isend(whole->data() + at, static_cast<int>(bytes), MPI_BYTE, to, kTag, MPI_COMM_WORLD,
                &sent.request);
    }
  }

  [[nodiscard]] std::size_t under_way() override {
    std::erase_if(sent_, [](Sent& sent) {
      int done = 0;
      MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    return sent_.size();
  }

  [[nodiscard]] std::optional<Message> receive(int from) override {
    Message& message = begun_[from];
    for (std::size_t bytes = kPieceBytes; bytes == kPieceBytes;) {
      int there = 0;
      MPI_Status status;
      MPI_Iprobe(from, kTag, MPI_COMM_WORLD, &there, &status);
      if (there == 0) return std::nullopt;
      int size = 0;
      MPI_Get_count(&status, MPI_BYTE, &size);
      bytes = static_cast<std::size_t>(size);
      const std::size_t at = message.size();
      message.resize(at + bytes);
      MPI_Recv(message.data() + at, size, MPI_BYTE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return std::exchange(message, {});
  }

 private:
  struct Sent {
    std::shared_ptr<const Message> message;  ///< the message that the request sends a piece of
    MPI_Request request;
  };
  int rank_ = 0, size_ = 1;
  std::list<Sent> sent_;          ///< a list, because requests must not move
  std::map<int, Message> begun_;  ///< unfinished message from each process
};

}  // namespace

}  // namespace attnscope

/// Entry point of the plug-in, called once: makes the team of this process.
extern "C" attnscope::ProcessTeam* attnscope_make_team() {
  return std::make_unique<attnscope::MpiTeam>().release();
}
