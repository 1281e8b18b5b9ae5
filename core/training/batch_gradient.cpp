#include "core/training/batch_gradient.h"

#include <algorithm>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <utility>

namespace attnscope {

namespace {

// Tokens per pass: its values fit the caches, and products still run at full speed.
constexpr std::int64_t kTokens = 256;
constexpr std::int64_t kLanes = 16;

}  // namespace

/// Assignment of `count` examples, in pieces of `piece`, to `lanes` in turn.
struct BatchGradient::Lanes {
  std::int64_t count = 0, piece = 1, lanes = 1;
};

/// A temporarily borrowed room. Any one will do, because every pass overwrites its contents.
class BatchGradient::BorrowedRoom {
 public:
  explicit BorrowedRoom(BatchGradient& owner) : owner_(owner) {
    const std::lock_guard lock(owner_.rooms_);
    if (owner_.free_rooms_.empty()) {
      room_ = std::make_unique<TrainedNetwork::Room>();
    } else {
      room_ = std::move(owner_.free_rooms_.back());
      owner_.free_rooms_.pop_back();
    }
  }
  ~BorrowedRoom() {
    const std::lock_guard lock(owner_.rooms_);
    owner_.free_rooms_.push_back(std::move(room_));
  }
  BorrowedRoom(const BorrowedRoom&) = delete;
  BorrowedRoom& operator=(const BorrowedRoom&) = delete;

  [[nodiscard]] TrainedNetwork::Room& room() const { return *room_; }

 private:
  BatchGradient& owner_;
  std::unique_ptr<TrainedNetwork::Room> room_;
};

BatchGradient::Lanes BatchGradient::lanes_of(std::int64_t count) const {
  const ModelSpec& spec = network_.spec();
  const std::int64_t tokens = spec.reads_texts() ? spec.input.context : spec.tokens();
  const std::int64_t piece = std::max<std::int64_t>(kTokens / tokens, 1);
  return {count, piece, std::min(kLanes, (count + piece - 1) / piece)};
}

LossSum BatchGradient::run(const std::vector<float>& values, float weight, const Lanes& lanes,
                           const MakeExamples& make) {
  const auto pieces = static_cast<std::size_t>((lanes.count + lanes.piece - 1) / lanes.piece);
  std::vector<LossSum> losses(pieces);
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, static_cast<std::size_t>(lanes.lanes), 1),
      [&](const tbb::blocked_range<std::size_t>& range) {
        const BorrowedRoom borrowed(*this);
        for (std::size_t lane = range.begin(); lane < range.end(); ++lane) {
          float* const gradients = weight != 0 ? lane_gradients_[lane].data() : nullptr;
          for (std::size_t piece = lane; piece < pieces;
               piece += static_cast<std::size_t>(lanes.lanes)) {
            const std::int64_t first = static_cast<std::int64_t>(piece) * lanes.piece;
            const Examples examples = make(first, std::min(lanes.piece, lanes.count - first));
            losses[piece] =
                network_.run(values.data(), gradients, weight, examples, borrowed.room());
          }
        }
      },
      tbb::simple_partitioner());
  LossSum sum;
  for (const LossSum& loss : losses) sum += loss;
  return sum;
}

void BatchGradient::add_up(const Lanes& lanes, std::vector<float>& gradients) const {
  gradients.resize(static_cast<std::size_t>(network_.parameters().size()));
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, gradients.size(), 1 << 14),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      for (std::size_t i = range.begin(); i < range.end(); ++i) {
                        float sum = 0;
                        for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes.lanes);
                             ++lane) {
                          sum += lane_gradients_[lane][i];
                        }
                        gradients[i] = sum;
                      }
                    });
}

LossSum BatchGradient::gradient(const std::vector<float>& values, std::int64_t count,
                                const MakeExamples& make, std::vector<float>& gradients) {
  const Lanes lanes = lanes_of(count);
  lane_gradients_.resize(
      static_cast<std::size_t>(std::max<std::int64_t>(lanes.lanes, std::ssize(lane_gradients_))));
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes.lanes); ++lane) {
    lane_gradients_[lane].assign(values.size(), 0.0F);
  }
  const ModelSpec& spec = network_.spec();
  const std::int64_t told = count * (spec.is_language_model() ? spec.input.context : 1);
  const LossSum sum = run(values, static_cast<float>(1.0 / static_cast<double>(told)), lanes, make);
  add_up(lanes, gradients);
  return sum;
}

LossSum BatchGradient::loss(const std::vector<float>& values, std::int64_t count,
                            const MakeExamples& make) {
  return run(values, 0, lanes_of(count), make);
}

}  // namespace attnscope
