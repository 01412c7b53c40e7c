// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include "folding.hpp"

#include <limits.h>
#include <string.h>

#include "pmpi_aliases.inc"

namespace outsize::bsp::mpi {

namespace {

using detail::fold_operation;

struct known_operation {
  MPI_Op handle;
  fold_operation operation;
};

known_operation const known_operations[] = {
    {MPI_SUM, fold_operation::sum},          {MPI_MIN, fold_operation::min},
    {MPI_MAX, fold_operation::max},          {MPI_PROD, fold_operation::product},
    {MPI_BAND, fold_operation::bit_and},     {MPI_BOR, fold_operation::bit_or},
    {MPI_BXOR, fold_operation::bit_xor},     {MPI_LAND, fold_operation::logical_and},
    {MPI_LOR, fold_operation::logical_or},   {MPI_LXOR, fold_operation::logical_xor},
    {MPI_MINLOC, fold_operation::min_place}, {MPI_MAXLOC, fold_operation::max_place},
};

handle_table<user_operation, MPI_Op, handle_kind::operation> operations;

known_operation const* known(MPI_Op operation) {
  for (known_operation const& one : known_operations) {
    if (one.handle == operation) return &one;
  }
  return nullptr;
}

detail::fold_function function_of(known_operation const& operation, datatype const& type,
                                  char const* call) {
  detail::fold_function const found =
      type.has_number ? detail::fold_of(operation.operation, type.number) : nullptr;
  if (found != nullptr) return found;
  refuse("%s: operation %p is not defined for type %p", call, static_cast<void*>(operation.handle),
         static_cast<void*>(type.handle));
}

user_operation& user_operation_of(MPI_Op operation, char const* call) {
  user_operation* const found = operations.find(operation);
  if (found == nullptr) {
    refuse("%s: %p is not an operation", call, static_cast<void*>(operation));
  }
  return *found;
}

int add_operation(MPI_User_function* small, MPI_User_function_c* large, int commute, MPI_Op* op,
                  char const* call) {
  check_started(call);
  if (small == nullptr && large == nullptr) refuse("%s: there is no function", call);
  user_operation& made = make<user_operation>();
  made.small = small;
  made.large = large;
  made.commutes = commute != 0;
  *op = operations.add(made);
  return MPI_SUCCESS;
}

}  // namespace

// ---- memory ----

item_memory::item_memory(std::int64_t count, datatype const& type, char const* call) {
  if (count == 0) return;
  constexpr std::int64_t alignment = 16;
  std::int64_t const way = (count - 1) * type.extent;
  std::int64_t const low = type.true_lb + (way < 0 ? way : 0);
  std::int64_t const bytes = sum(type.true_extent, way < 0 ? -way : way, call);
  // The address of the first item is aligned, not that of its first byte of data.
  std::int64_t const shift = ((low % alignment) + alignment) % alignment;
  memory_ = ::calloc(1, static_cast<std::size_t>(bytes + shift + 1));
  if (memory_ == nullptr) refuse("%s: no memory for %ld bytes", call, bytes);
  buffer_ = reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(memory_) + shift - low);
}

// ---- folding ----

folding::folding(MPI_Op operation, MPI_Datatype type, std::int64_t count, void* result,
                 char const* call)
    : call_(call), type_(committed_type(type, call)), count_(count), result_(result) {
  if (count < 0) refuse("%s: a count of %ld", call, count);
  product(count, type_->size, call);
  product(count, type_->extent, call);
  if (known_operation const* const found = known(operation)) {
    fold_ = function_of(*found, *type_, call);
    identity_ = reinterpret_cast<std::uint64_t>(operation);
  } else {
    user_ = kept<user_operation>(user_operation_of(operation, call));
    identity_ = process::user_operation;
  }
  bool const can_be_there = fold_ != nullptr && type_->is_dense && result != nullptr;
  if (can_be_there) sum_ = items_of(result, count, type, call).buffer;
}

void folding::add_packed(std::byte const* more) {
  if (count_ == 0) return;
  if (has_begun_ && fold_ != nullptr && type_->is_dense) return combine(more);
  if (has_begun_) {
    if (next_.buffer() == nullptr) next_ = item_memory(count_, *type_, call_);
    unpack(more, bytes(), {.buffer = next_.buffer(), .count = count_, .type = &*type_});
    return combine(next_.buffer());
  }
  begin();
  unpack(more, bytes(), folded());
}

/// The place of the first items.
void* folding::begin() {
  has_begun_ = true;
  if (sum_ == nullptr) {
    own_sum_ = item_memory(count_, *type_, call_);
    sum_ = own_sum_.buffer();
  }
  return sum_;
}

void folding::add(items const& more) {
  if (count_ == 0) return;
  if (has_begun_ && fold_ != nullptr) return combine(more.buffer);
  if (!has_begun_) return copy(more, begin());
  if (next_.buffer() == nullptr) next_ = item_memory(count_, *type_, call_);
  copy(more, next_.buffer());
  combine(next_.buffer());
}

/// Folds items that are laid out as the type says; those of next_, if a function of the program
/// does it.
void folding::combine(void const* with) {
  if (fold_ != nullptr) return fold_(sum_, with, static_cast<std::uint64_t>(count_));
  call_user();
  own_sum_.swap(next_);
  sum_ = own_sum_.buffer();
}

void folding::call_user() {
  // The function gets the type's handle, which the program may have freed meanwhile.
  bool const needs_handle = type_->handle == MPI_DATATYPE_NULL;
  if (needs_handle) {
    ++type_->references;
    add_type(*type_);
  }
  MPI_Datatype handle = type_->handle;
  items const left = folded();
  items const right{.buffer = next_.buffer(), .count = count_, .type = &*type_};
  if (user_->large != nullptr) {
    MPI_Count count = count_;
    user_->large(left.buffer, right.buffer, &count, &handle);
  } else {
    for (std::int64_t first = 0; first < count_; first += INT_MAX) {
      int count = static_cast<int>(count_ - first < INT_MAX ? count_ - first : INT_MAX);
      user_->small(left.at(first), right.at(first), &count, &handle);
    }
  }
  if (needs_handle) remove_type(*type_);
}

void folding::finish() {
  if (count_ != 0 && sum_ != result_) copy(folded(), result_);
}

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

int PMPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  return add_operation(user_fn, nullptr, commute, op, "MPI_Op_create");
}
int PMPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return add_operation(nullptr, user_fn, commute, op, "MPI_Op_create_c");
}
OUTSIZE_MPI_WEAK(Op_create)

int PMPI_Op_free(MPI_Op* op) {
  check_started("MPI_Op_free");
  if (known(*op) != nullptr) refuse("MPI_Op_free: a predefined operation");
  user_operation_of(*op, "MPI_Op_free");
  release(operations.remove(*op));
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Op_free)

int PMPI_Op_commutative(MPI_Op op, int* commute) {
  check_started("MPI_Op_commutative");
  bool const commutes =
      known(op) != nullptr || user_operation_of(op, "MPI_Op_commutative").commutes;
  *commute = commutes ? 1 : 0;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Op_commutative)

}  // extern "C"
