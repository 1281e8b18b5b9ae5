// The plug-in libattnscope-mpi.so: a team of the processes that mpirun or srun started. Apart from
// the program, which needs no MPI.
#include <list>
#include <memory>
#include <mpi.h>
#include <optional>

#include "analysis/sweep/process_team.h"

namespace attnscope {

namespace {

constexpr int kTag = 1;

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
    Sent& sent = sent_.emplace_back(Sent{std::move(message), MPI_REQUEST_NULL});
    // A count of MPI is an int; of 2 GiB no block of inputs comes near.
    MPI_Isend(sent.message.data(), static_cast<int>(sent.message.size()), MPI_BYTE, to, kTag,
              MPI_COMM_WORLD, &sent.request);
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
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(from, kTag, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Message message(static_cast<std::size_t>(size));
    MPI_Recv(message.data(), size, MPI_BYTE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return message;
  }

 private:
  struct Sent {
    Message message;
    MPI_Request request;
  };
  int rank_ = 0, size_ = 1;
  std::list<Sent> sent_;  ///< where messages lie stays the same
};

}  // namespace

}  // namespace attnscope

/// What the program looks up in the plug-in: the team of this process, made once.
extern "C" attnscope::ProcessTeam* attnscope_make_team() {
  return std::make_unique<attnscope::MpiTeam>().release();
}
