// Python pickles as torch.save writes them, read by an interpreter that can only build numbers,
// text, containers, and descriptions of tensors. It never calls anything: a global is looked up in
// a fixed table (pickle_globals.cpp). The result of an unknown global stays an opaque value with
// the attributes that the pickle sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/budget.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace attnscope {

/// A storage in the file, or a tensor as a view of a storage.
struct PickledTensor {
  std::string storage;  ///< key of the storage
  DType storage_dtype = DType::f32;
  std::int64_t storage_count = 0;  ///< elements of storage_dtype
  DType dtype = DType::f32;  ///< dtype of the view; differs from storage_dtype for untyped storages
  std::int64_t offset = 0;   ///< offset of the view's first element, in elements of dtype
  Shape shape;
  std::vector<std::int64_t> strides;  ///< in elements, ≥ 0
  std::size_t place = 0;  ///< file offset of the elements if the pickle holds them, else 0
};

struct PickleNode {
  enum class Kind {
    none,
    boolean,
    integer,
    large_integer,  ///< more than 64 bits, little-endian in `text`
    real,
    text,
    bytes,  ///< short ones in `text`; long ones at `place`, `integer` bytes
    list,
    tuple,
    set,
    dict,     ///< `items` alternate between keys and values
    record,   ///< attributes by name, in `items` like a dict
    opaque,   ///< result of the unknown global `text`; `items` like a record
    global,   ///< `text` is "module.name"
    storage,  ///< `tensor` without shape
    tensor
  };

  Kind kind = Kind::none;
  std::int64_t integer = 0;  ///< also the value of booleans
  std::size_t place = 0;     ///< file offset of bytes
  double real = 0;
  std::string text;
  std::vector<PickleNode*> items;
  std::unique_ptr<PickledTensor> tensor;
  bool made_of_tensors = false;  ///< opaque values: made from a tensor or storage

  [[nodiscard]] bool is_mapping() const {
    return kind == Kind::dict || kind == Kind::record || kind == Kind::opaque;
  }
};
using NodeKind = PickleNode::Kind;

/// Reads pickles and owns all their nodes. Nodes are not reference-counted because containers may
/// contain themselves.
class PickleReader {
 public:
  /// `start`: offset of `bytes` in the file.
  explicit PickleReader(std::span<const std::byte> bytes, std::size_t start = 0);

  /// Reads one pickle; position() is then its end. Throws Error(damaged), or Error(unsupported)
  /// naming a global whose only purpose is to run code (os.system).
  [[nodiscard]] const PickleNode& read();

  /// Calls visit(const PickledTensor&) for every storage that the pickles refer to.
  template <class Visit>
  void for_each_storage(Visit&& visit) const {
    for (const PickleNode& node : nodes_) {
      if (node.kind == PickleNode::Kind::storage) visit(*node.tensor);
    }
  }

  /// Number of bytes read so far.
  [[nodiscard]] std::size_t position() const { return position_; }

  /// Reads the start of torch.save's legacy container: a magic number, the protocol and the
  /// machine. Returns false if the bytes are not such a container; `first` is then the pickle that
  /// was read instead. Throws Error(unsupported) for another protocol or byte order.
  [[nodiscard]] bool read_legacy_head(const PickleNode*& first);

 private:
  friend class PickleGlobals;
  using Kind = NodeKind;

  PickleNode& make(Kind kind);
  std::uint64_t number(std::size_t width);
  std::string text(std::uint64_t size);
  std::string line();
  void push(PickleNode& node) { stack_.push_back(&node); }
  void push_text(Kind kind, std::string text);
  void push_bytes(std::uint64_t size);
  void push_integer(std::int64_t integer, Kind kind = Kind::integer);
  void push_long(std::uint64_t size);
  void push_real();
  PickleNode& pop();
  PickleNode& top();
  std::vector<PickleNode*> pop_to_mark();
  void push_collected(Kind kind, std::vector<PickleNode*> items);
  void append(std::vector<PickleNode*> items);
  void set_items(std::vector<PickleNode*> items);
  void remember(std::uint64_t place);
  void recall(std::uint64_t place);
  void global(const std::string& module, const std::string& name);
  /// Charges the budget for `count` copied items or characters. Without it, a few bytes of pickle
  /// could copy megabytes repeatedly.
  void charge(std::size_t count);
  void build();
  /// Executes one opcode. Returns false at the end of the pickle.
  bool step(unsigned opcode);
  bool push_constant(unsigned opcode);
  bool push_scalar(unsigned opcode);
  bool change_container(unsigned opcode);

  std::span<const std::byte> bytes_;
  std::size_t start_ = 0;
  std::size_t position_ = 0;
  Budget budget_;
  std::deque<PickleNode> nodes_;
  std::vector<PickleNode*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleNode*> memo_;
};

/// The table of globals that a pickle may name, and the nodes that "calls" of them build.
class PickleGlobals {
 public:
  /// True if the global `name` runs code that data never need.
  [[nodiscard]] static bool runs_something(std::string_view name);
  /// The result of `callee(arguments...)`: a container, a description of a tensor, or an opaque
  /// value. Throws Error(damaged) for arguments that do not fit.
  [[nodiscard]] static PickleNode& build(PickleReader& reader, PickleNode& callee,
                                         PickleNode& arguments);
  /// The value of a persistent id: a storage, ('storage', type, key, location, elements[, view]),
  /// or the class of a module, ('module', class, file, source).
  [[nodiscard]] static PickleNode& persistent(PickleReader& reader, const PickleNode& id);
};

/// Reads tensor elements written by pickle.dump, a legacy torch.save file inside a pickle: the
/// single storage held by `node`, with its file offset. `bytes` are the file's bytes from `start`
/// on, and `node` is a node of kind bytes among them. Throws Error(damaged, unsupported).
[[nodiscard]] PickledTensor read_saved_storage(std::span<const std::byte> bytes, std::size_t start,
                                               const PickleNode& node);

}  // namespace attnscope
