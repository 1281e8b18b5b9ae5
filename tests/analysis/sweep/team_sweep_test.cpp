#include "analysis/sweep/team_sweep.h"

#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

#include "analysis/sweep/sweep.h"
#include "core/error.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

const std::string kSweepData = source_folder() + "/tests/data/sweep/";

/// Message queues between threads that stand for processes. A message is under way until it is
/// received.
class Post {
 public:
  explicit Post(int size) : queues_(static_cast<std::size_t>(size * size)), size_(size) {}

  void put(int from, int to, ProcessTeam::Message message) {
    const std::scoped_lock lock(mutex_);
    queue(from, to).push_back(std::move(message));
  }
  std::optional<ProcessTeam::Message> take(int from, int to) {
    const std::scoped_lock lock(mutex_);
    auto& waiting = queue(from, to);
    if (waiting.empty()) return std::nullopt;
    ProcessTeam::Message message = std::move(waiting.front());
    waiting.pop_front();
    return message;
  }
  std::size_t waiting_from(int from) {
    const std::scoped_lock lock(mutex_);
    std::size_t count = 0;
    for (int to = 0; to < size_; ++to) count += queue(from, to).size();
    return count;
  }
  [[nodiscard]] int size() const { return size_; }

 private:
  std::deque<ProcessTeam::Message>& queue(int from, int to) {
    return queues_[static_cast<std::size_t>(from * size_ + to)];
  }
  std::mutex mutex_;
  std::vector<std::deque<ProcessTeam::Message>> queues_;
  int size_;
};

class ThreadTeam final : public ProcessTeam {
 public:
  ThreadTeam(Post& post, int rank) : post_(post), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return post_.size(); }
  void send(int to, Message message) override { post_.put(rank_, to, std::move(message)); }
  [[nodiscard]] std::size_t under_way() override { return post_.waiting_from(rank_); }
  [[nodiscard]] std::optional<Message> receive(int from) override {
    return post_.take(from, rank_);
  }

 private:
  Post& post_;
  int rank_;
};

class TeamSweep : public testing::Test {
 protected:
  SweepRequest request(const std::string& out) {
    static const auto model =
        load_model(kSweepData + "model.npz", {{{"heads", "2"}, {"crop_fraction", "1"}}, {}});
    SweepRequest wanted;
    wanted.subjects = {{"tiny", model, {}, nullptr, nullptr}};
    wanted.data_set = open_data_set(kSweepData + "images.npz");
    wanted.data_set_path = kSweepData + "images.npz";
    wanted.choice.count = 60;
    wanted.views = {IdentityView::without, IdentityView::with};
    wanted.numbers.baselines = true;
    wanted.out = folder_.path() / out;
    wanted.checkpoint_seconds = 0;
    return wanted;
  }

  /// Calls `lead(team)` on this thread while each of the other threads calls `assist(team)`.
  template <class Lead, class Assist>
  static void with_team(int size, const Lead& lead, const Assist& assist) {
    Post post(size);
    std::vector<std::jthread> others;
    for (int rank = 1; rank < size; ++rank) {
      others.emplace_back([&post, &assist, rank] {
        ThreadTeam team(post, rank);
        assist(team);
      });
    }
    ThreadTeam team(post, 0);
    lead(team);
  }

  /// Sweeps with `size` processes. The first is cancelled once at least `stop_after` inputs are
  /// done.
  void sweep(const SweepRequest& wanted, int size, std::int64_t stop_after = -1) {
    std::stop_source stop;
    const Progress progress({}, stop.get_token());
    with_team(
        size,
        [&](ProcessTeam& team) {
          try {
            (void)lead_sweep(team, wanted, progress, [&](const SweepResult& so_far) {
              if (stop_after >= 0 && so_far.done >= stop_after) stop.request_stop();
            });
          } catch (const Cancelled&) {
            EXPECT_GE(stop_after, 0) << "nobody asked for it";
          }
        },
        [&](ProcessTeam& team) { assist_sweep(team, wanted); });
  }

  [[nodiscard]] std::string bytes(const std::string& name) const {
    return read_bytes(folder_.path() / name);
  }

  TemporaryFolder folder_;
};

TEST_F(TeamSweep, HasTheBytesOfOneProcess) {
  (void)run_sweep(request("alone.h5"));
  ASSERT_FALSE(bytes("alone.h5").empty());
  for (const int size : {1, 2, 3, 7}) {
    const std::string name = std::to_string(size) + ".h5";
    sweep(request(name), size);
    EXPECT_EQ(bytes(name), bytes("alone.h5")) << size << " processes";
  }
}

TEST_F(TeamSweep, ResumesWithAnotherNumberOfProcesses) {
  (void)run_sweep(request("alone.h5"));
  const SweepRequest wanted = request("parts.h5");
  sweep(wanted, 3, 10);
  const std::int64_t first = read_sweep(sweep_checkpoint(wanted.out)).done;
  EXPECT_GE(first, 10);
  EXPECT_LT(first, 60);
  sweep(wanted, 2, first + 10);
  EXPECT_GT(read_sweep(sweep_checkpoint(wanted.out)).done, first);
  sweep(wanted, 5);
  EXPECT_EQ(bytes("parts.h5"), bytes("alone.h5"));
}

TEST_F(TeamSweep, KeepsFinishedWorkWhenAnotherProcessIsCancelled) {
  (void)run_sweep(request("alone.h5"));
  const SweepRequest wanted = request("r.h5");
  std::stop_source stop;
  bool cancelled = false;
  with_team(
      3,
      [&](ProcessTeam& team) {
        try {
          (void)lead_sweep(team, wanted, {}, [&](const SweepResult& so_far) {
            if (so_far.done >= 20) stop.request_stop();
          });
        } catch (const Cancelled&) {
          cancelled = true;
        }
      },
      [&](ProcessTeam& team) {
        const bool is_stopped = team.rank() == 2;
        assist_sweep(team, wanted, is_stopped ? Progress({}, stop.get_token()) : Progress());
      });
  EXPECT_TRUE(cancelled);
  const std::int64_t done = read_sweep(sweep_checkpoint(wanted.out)).done;
  EXPECT_GE(done, 20);
  EXPECT_LT(done, 60);
  (void)run_sweep(wanted);
  EXPECT_EQ(bytes("r.h5"), bytes("alone.h5")) << "nothing was left out or counted twice";
}

TEST_F(TeamSweep, ReportsTheErrorOfAnotherProcess) {
  const auto led = [&](const auto& assist) {
    std::string what;
    with_team(
        3,
        [&](ProcessTeam& team) {
          try {
            (void)lead_sweep(team, request("r.h5"));
          } catch (const Error& error) {
            what = error.what();
          }
        },
        assist);
    return what;
  };
  EXPECT_THAT(led([&](ProcessTeam& team) {
                if (team.rank() == 1) return assist_sweep(team, request("r.h5"));
                refuse_to_assist(
                    team,
                    Error(ErrorKind::io, "the file cannot be opened").in_file("/there/model.npz"));
              }),
              testing::AllOf(testing::HasSubstr("process 2: the file cannot be opened"),
                             testing::HasSubstr("/there/model.npz")));
  EXPECT_THAT(led([&](ProcessTeam& team) {
                SweepRequest other = request("r.h5");
                if (team.rank() == 1) other.thresholds = {0.5};
                assist_sweep(team, other);
              }),
              testing::HasSubstr("process 1: the processes run different sweeps"));
}

TEST_F(TeamSweep, EndsWhenTheFirstProcessHasNothingToDo) {
  const SweepRequest wanted = request("r.h5");
  sweep(wanted, 2);
  bool again = false;
  with_team(
      3,
      [&](ProcessTeam& team) {
        (void)lead_sweep(team, wanted, {}, [&](const SweepResult&) { again = true; });
      },
      [&](ProcessTeam& team) { assist_sweep(team, wanted); });
  EXPECT_FALSE(again) << "it was done before";
  with_team(
      3, [](ProcessTeam& team) { dismiss_team(team); },
      [&](ProcessTeam& team) { assist_sweep(team, wanted); });
}

TEST(TeamBlocks, AreSmallEnoughForSeveralPerProcess) {
  EXPECT_EQ(team_block_size(10'000, 2), 16);
  EXPECT_EQ(team_block_size(10'000, 1024), 1);
  EXPECT_EQ(team_block_size(10'000, 256), 4);
  EXPECT_EQ(team_block_size(0, 3), 1);
}

}  // namespace
}  // namespace attnscope
