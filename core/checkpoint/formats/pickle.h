// Python pickles as torch.save writes them, read by an interpreter that can only build numbers,
// text, containers, and descriptions of tensors. It never calls anything: a global is looked up in
// a fixed table (pickle_globals.cpp), and what one makes that is not there stays an opaque value,
// with the attributes the pickle gives it.
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

#include "core/memory/budget.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace attnscope {

/// Elements in the file that tensors are views of, or one such view.
struct PickledTensor {
  std::string storage;  ///< its key
  DType storage_dtype = DType::f32;
  std::int64_t storage_count = 0;  ///< elements of storage_dtype
  DType dtype = DType::f32;        ///< of the view; differs for untyped storages
  std::int64_t offset = 0;         ///< of the view's first element, in elements of dtype
  Shape shape;
  std::vector<std::int64_t> strides;  ///< in elements; none negative
  std::size_t place = 0;  ///< of its elements in the file, where the pickle holds them; else 0
};

struct PickleNode {
  enum class Kind {
    none,
    boolean,
    integer,
    large_integer,  ///< more than 64 bits: `text` holds it little-endian
    real,
    text,
    bytes,  ///< of more than a few only where they are: `place`, `integer` of them
    list,
    tuple,
    set,
    dict,     ///< `items` are keys and values in turn
    record,   ///< attributes by name, in `items` as those of a dict
    opaque,   ///< what the global `text` would make; attributes in `items` as those of a record
    global,   ///< `text` is "module.name"
    storage,  ///< `tensor` without shape
    tensor
  };

  Kind kind = Kind::none;
  std::int64_t integer = 0;  ///< also of booleans
  std::size_t place = 0;     ///< of bytes, in the file
  double real = 0;
  std::string text;
  std::vector<PickleNode*> items;
  std::unique_ptr<PickledTensor> tensor;
  bool made_of_tensors = false;  ///< opaque: a tensor or storage is among what it is made of

  [[nodiscard]] bool is_mapping() const {
    return kind == Kind::dict || kind == Kind::record || kind == Kind::opaque;
  }
};

/// Owns all nodes of the pickles it read: containers may hold themselves, so they are not counted.
class PickleReader {
 public:
  /// `start`: of the bytes in the file.
  explicit PickleReader(std::span<const std::byte> bytes, std::size_t start = 0);

  /// Reads one pickle and stands behind it afterwards. Throws Error(damaged), or Error(unsupported)
  /// naming a global that only serves to run something (os.system).
  [[nodiscard]] const PickleNode& read();

  /// Calls visit(const PickledTensor&) for every storage the pickles referred to.
  template <class Visit>
  void for_each_storage(Visit&& visit) const {
    for (const PickleNode& node : nodes_) {
      if (node.kind == PickleNode::Kind::storage) visit(*node.tensor);
    }
  }

  /// Bytes read so far.
  [[nodiscard]] std::size_t position() const { return position_; }

  /// Reads what begins torch.save's legacy container: a magic number, its protocol, the machine.
  /// False, behind what it read, if it is no such container; that is then `first`. Throws
  /// Error(unsupported) for another protocol or byte order.
  [[nodiscard]] bool read_legacy_head(const PickleNode*& first);

 private:
  friend class PickleGlobals;
  using Kind = PickleNode::Kind;

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
  /// Pays for items and characters that are copied by reference to them: a few bytes of pickle
  /// could otherwise copy megabytes, again and again.
  void charge(std::size_t count);
  void build();
  /// False at the end of the pickle.
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

/// The table of what a pickle may name, and what a "call" of it builds.
class PickleGlobals {
 public:
  /// Whether loading the pickle in Python would run something that no data need.
  [[nodiscard]] static bool runs_something(std::string_view name);
  /// What `callee(arguments...)` stands for: a container, a described tensor, or an opaque value.
  /// Throws Error(damaged) for arguments that do not fit.
  [[nodiscard]] static PickleNode& build(PickleReader& reader, PickleNode& callee,
                                         PickleNode& arguments);
  /// What a persistent id stands for: a storage, ('storage', type, key, location, elements[,
  /// view]), or the class of a module, ('module', class, file, source).
  [[nodiscard]] static PickleNode& persistent(PickleReader& reader, const PickleNode& id);
};

}  // namespace attnscope
