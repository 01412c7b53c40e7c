// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include "child.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace outsize::bsp::mpi {

process::header* shared = nullptr;
process::rank_control* control = nullptr;
std::uint32_t rank_in_world = 0;

namespace {

using process::rank_control;

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t lone_arena_bytes = std::size_t{1} << 38;
constexpr std::size_t startup_bytes = std::size_t{8} << 20;
constexpr std::size_t least_globals = std::size_t{64} << 10;  // fewer stay where they are

/// Globals of the program whose frames are those of a block of the arena.
struct moved_globals {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::byte* frames = nullptr;  ///< The block.
};

int frames_descriptor = -1;
moved_globals globals;
std::byte* arena = nullptr;
std::byte* startup = nullptr;  // for allocations before there is an arena
std::size_t startup_used = 0;
alignas(detail::arena_heap) std::byte heap_place[sizeof(detail::arena_heap)];
detail::arena_heap* heap = nullptr;

void* reserve(std::size_t bytes, int protection, std::size_t alignment = huge_page) {
  void* const got = ::mmap(nullptr, bytes + alignment, protection,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) refuse("no addresses for its memory");
  auto const address = reinterpret_cast<std::uintptr_t>(got);
  return reinterpret_cast<void*>((address + alignment - 1) & ~(alignment - 1));
}

// ---- turns ----

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr,
            0);
}

/// Maps a run of pieces of the arena to frames, or to nothing. Those of globals are mapped there.
void map(std::uint64_t piece, std::uint64_t count, std::uint32_t frame) {
  std::uint64_t const bytes = shared->piece_bytes;
  std::byte* place = arena + piece * bytes;
  std::size_t length = count * bytes;
  auto const offset = static_cast<std::size_t>(place - globals.frames);
  if (globals.frames != nullptr && offset < globals.bytes) {
    place = globals.begin + offset;
    if (length > globals.bytes - offset) length = globals.bytes - offset;
  }
  int const populate = shared->frames_are_on_disk != 0 ? 0 : MAP_POPULATE;
  void* const got =
      frame != 0 ? ::mmap(place, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | populate,
                          frames_descriptor, static_cast<off_t>((frame - 1) * bytes))
                 : ::mmap(place, length, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (got == MAP_FAILED) refuse("cannot map its memory");
  if (frame != 0 && shared->reads_ahead == 0) ::madvise(place, length, MADV_RANDOM);
}

/// Returns true if two pieces are both of globals, or both not: these lie apart.
bool are_alike(std::uint64_t first, std::uint64_t second) {
  if (globals.frames == nullptr) return true;
  auto const is_global = [](std::uint64_t piece) {
    std::byte const* const place = arena + piece * shared->piece_bytes;
    return static_cast<std::size_t>(place - globals.frames) < globals.bytes;
  };
  return is_global(first) == is_global(second);
}

/// Brings the arena's mapping to the frames that the engine has put behind it.
void map_frames() {
  if (control->frames_changed == 0) return;
  control->frames_changed = 0;
  std::uint32_t const* const frames = process::frames_of(*shared, rank_in_world);
  std::uint32_t* const mapped = process::mapped_of(*shared, rank_in_world);
  std::uint32_t const end = control->piece_end;
  for (std::uint32_t piece = 0; piece < end;) {
    if (frames[piece] == mapped[piece]) {
      ++piece;
      continue;
    }
    std::uint32_t const first = piece;
    std::uint32_t const frame = frames[first];
    while (piece < end && frames[piece] != mapped[piece] && are_alike(first, piece) &&
           frames[piece] == (frame != 0 ? frame + (piece - first) : 0)) {
      mapped[piece] = frames[piece];
      ++piece;
    }
    map(first, piece - first, frame);
  }
}

void wait_for_turn() {
  while (control->turn.load() == rank_control::engine_turn) {
    futex(control->turn, FUTEX_WAIT, rank_control::engine_turn);
  }
  map_frames();
}

}  // namespace

void ask(call what) {
  if (reachable(__builtin_frame_address(0)) != 0) {
    refuse(
        "a call on a stack in memory of malloc() or in a global variable, which may be on disk "
        "while the rank waits: allocate stacks by mmap()");
  }
  int const error = errno;  // free() promises to leave it
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  control->what = what;
  control->turn.store(rank_control::engine_turn);
  futex(control->turn, FUTEX_WAKE, INT_MAX);
  wait_for_turn();
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
}

void refuse(char const* format, ...) {
  char text[process::most_text];
  va_list arguments;
  va_start(arguments, format);
  ::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  end_run(1, text);
}

/// Needs neither the turn nor the engine. A program that was started by itself, or by an
/// outsize-run that it does not understand, prints the message.
void end_run(int code, char const* reason) {
  if (control != nullptr) {
    ::strncpy(control->text, reason, process::most_text - 1);
    control->text[process::most_text - 1] = '\0';
    control->now.store(process::life::failed);
  } else if (rank_in_world == 0) {
    char text[process::most_text + 16];
    int const length = ::snprintf(text, sizeof text, "outsize: %s\n", reason);
    if (length > 0 && ::write(2, text, static_cast<std::size_t>(length)) < 0) ::_exit(code);
  }
  ::_exit(code);
}

// ---- memory ----

namespace {

bool enter_pages(void* /*context*/, std::uint64_t first, std::uint64_t pages) noexcept {
  return ask(call::enter, first, pages) != 0;
}
void leave_pages(void* /*context*/, std::uint64_t first, std::uint64_t pages) noexcept {
  ask(call::leave, first, pages);
}
bool enter_alone(void* /*context*/, std::uint64_t /*first*/, std::uint64_t /*pages*/) noexcept {
  return true;
}
void leave_alone(void* /*context*/, std::uint64_t first, std::uint64_t pages) noexcept {
  ::madvise(arena + first * detail::arena_heap::page_bytes, pages * detail::arena_heap::page_bytes,
            MADV_DONTNEED);
}
void wrong_pointer(void* /*context*/, char const* reason) noexcept { refuse("%s", reason); }

/// Memory that stays: for allocations before the first turn.
void* startup_memory(std::size_t bytes, std::size_t alignment) {
  if (startup == nullptr) {
    startup = static_cast<std::byte*>(reserve(startup_bytes, PROT_READ | PROT_WRITE));
  }
  std::size_t const at = (startup_used + 16 + alignment - 1) & ~(alignment - 1);
  if (at + bytes > startup_bytes) return nullptr;
  ::memcpy(startup + at - 16, &bytes, sizeof bytes);
  startup_used = at + bytes;
  return startup + at;
}

bool is_startup(void const* memory) {
  auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(memory) - startup);
  return startup != nullptr && offset < startup_bytes;
}

std::size_t startup_length(void const* memory) {
  std::size_t bytes = 0;
  ::memcpy(&bytes, static_cast<std::byte const*>(memory) - 16, sizeof bytes);
  return bytes;
}

/// A rank that asks for more memory than it may have ends the run: few programs look.
void* checked(void* memory, std::size_t bytes) {
  if (memory == nullptr) {
    if (control != nullptr) {
      refuse(
          "malloc: cannot allocate %lu bytes beside the %lu in use: a rank may have %lu "
          "(--context, or more --memory)",
          bytes, heap->used_bytes(), shared->context_bytes);
    }
    errno = ENOMEM;
  }
  return memory;
}

void* allocated(std::size_t bytes, std::size_t alignment) {
  if (heap == nullptr) return startup_memory(bytes, alignment < 16 ? 16 : alignment);
  return checked(heap->allocate(bytes, alignment), bytes);
}

void make_heap(std::uint64_t bytes, std::byte* tables, detail::arena_owner const& owner) {
  heap = ::new (static_cast<void*>(heap_place)) detail::arena_heap(arena, bytes, tables, owner);
}

void begin_alone() {
  arena = static_cast<std::byte*>(reserve(lone_arena_bytes, PROT_READ | PROT_WRITE));
  auto* const tables = static_cast<std::byte*>(
      reserve(detail::arena_heap::table_bytes(lone_arena_bytes), PROT_READ | PROT_WRITE));
  make_heap(
      lone_arena_bytes, tables,
      {.context = nullptr, .enter = enter_alone, .leave = leave_alone, .fail = wrong_pointer});
}

/// Reads a number, and the character behind it.
bool parse(char const*& text, char end, std::uint32_t& number) {
  if (*text < '0' || *text > '9') return false;
  number = 0;
  while (*text >= '0' && *text <= '9')
    number = number * 10 + static_cast<std::uint32_t>(*text++ - '0');
  return *text++ == end;
}

/// The value of our variable, "CONTROL:FRAMES:RANK"; nullptr: there is none. The library of C does
/// not know the environment yet. The name is changed, as programs that this one starts are not
/// ranks.
char const* value_in(char** environment) {
  std::size_t const length = ::strlen(process::environment_name);
  for (; *environment != nullptr; ++environment) {
    char* const entry = *environment;
    if (::strncmp(entry, process::environment_name, length) != 0 || entry[length] != '=') continue;
    entry[0] = '_';
    return entry + length + 1;
  }
  return nullptr;
}

/// The data of the program that it may write, and that the dynamic linker leaves alone by now:
/// whole pages.
moved_globals find_globals() {
  auto const* const headers = reinterpret_cast<ElfW(Phdr) const*>(::getauxval(AT_PHDR));
  std::size_t const count = ::getauxval(AT_PHNUM);
  std::uintptr_t base = 0;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_PHDR) continue;
    base = reinterpret_cast<std::uintptr_t>(headers) - headers[i].p_vaddr;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_LOAD || (headers[i].p_flags & PF_W) == 0) continue;
    begin = base + headers[i].p_vaddr;
    end = begin + headers[i].p_memsz;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uintptr_t const behind = base + headers[i].p_vaddr + headers[i].p_memsz;
    if (headers[i].p_type == PT_GNU_RELRO && begin < behind && behind <= end) begin = behind;
  }
  constexpr std::uintptr_t page = detail::arena_heap::page_bytes;
  begin = (begin + page - 1) & ~(page - 1);
  end = (end + page - 1) & ~(page - 1);
  moved_globals found;
  if (begin < end) {
    found.begin = reinterpret_cast<std::byte*>(begin);
    found.bytes = end - begin;
  }
  return found;
}

/// Moves large globals to frames of the arena, which are mapped in their place from now on: so they
/// count, and go to disk. No constructor of the program has run.
void move_globals() {
  moved_globals found = find_globals();
  if (found.bytes < least_globals) return;
  std::uint64_t const bytes = shared->piece_bytes;
  std::size_t const whole = (found.bytes + bytes - 1) / bytes * bytes;
  found.frames = static_cast<std::byte*>(heap->allocate(whole, bytes));
  if (found.frames == nullptr) {
    refuse(
        "global variables of %lu bytes do not fit: a rank may have %lu (--context, or more "
        "--memory)",
        found.bytes, shared->context_bytes);
  }
  ::memcpy(found.frames, found.begin, found.bytes);
  globals = found;
  std::uint32_t const* const frames = process::frames_of(*shared, rank_in_world);
  auto const first = static_cast<std::uint64_t>(found.frames - arena) / bytes;
  for (std::uint64_t piece = first; piece < first + whole / bytes; ++piece) {
    map(piece, 1, frames[piece]);
  }
  ::mmap(found.frames, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1, 0);
}

/// Another malloc() in front of ours gives memory that the engine cannot reach. Before there is a
/// heap, ours gives memory for the startup; addresses of functions would not tell, as the program
/// may have one of its own for malloc().
void check_malloc() {
  using function = void*(std::size_t);
  auto* const found = reinterpret_cast<function*>(::dlsym(RTLD_DEFAULT, "malloc"));
  if (found == nullptr || is_startup(found(1))) return;
  Dl_info info = {};
  ::dladdr(reinterpret_cast<void const*>(found), &info);
  refuse(
      "another malloc() stands in front of that of outsize, in '%s': link and preload neither "
      "allocators nor sanitizers",
      info.dli_fname != nullptr ? info.dli_fname : "?");
}

/// The first thing in the process, before the constructors of the program.
[[gnu::constructor]] void begin(int /*argc*/, char** /*argv*/, char** environment) {
  char const* text = value_in(environment);
  std::uint32_t control_descriptor = 0;
  std::uint32_t frames = 0;
  if (text == nullptr || !parse(text, ':', control_descriptor) || !parse(text, ':', frames) ||
      !parse(text, '\0', rank_in_world)) {
    return begin_alone();
  }
  frames_descriptor = static_cast<int>(frames);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct stat info;
  if (::fstat(static_cast<int>(control_descriptor), &info) != 0)
    refuse("OUTSIZE_BSP names no memory of a run");
  void* const got = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_NORESERVE, static_cast<int>(control_descriptor), 0);
  if (got == MAP_FAILED) refuse("cannot map the memory of the run");
  shared = static_cast<process::header*>(got);
  if (shared->magic_number != process::magic) refuse("outsize-run is of another version");
  ::close(static_cast<int>(control_descriptor));
  ::fcntl(frames_descriptor, F_SETFD, FD_CLOEXEC);
  control = &process::control_of(*shared, rank_in_world);
  check_malloc();
  arena = static_cast<std::byte*>(
      reserve(shared->arena_bytes, PROT_NONE,
              shared->piece_bytes < huge_page ? huge_page : shared->piece_bytes));
  control->arena_begin = reinterpret_cast<std::uint64_t>(arena);
  wait_for_turn();
  make_heap(
      shared->arena_bytes, process::heap_tables_of(*shared, rank_in_world),
      {.context = nullptr, .enter = enter_pages, .leave = leave_pages, .fail = wrong_pointer});
  move_globals();
}

}  // namespace

std::uint64_t reachable(void const* memory) noexcept {
  if (heap == nullptr) return 0;
  if (heap->owns(memory)) return reinterpret_cast<std::uint64_t>(memory);
  auto const offset =
      static_cast<std::size_t>(static_cast<std::byte const*>(memory) - globals.begin);
  if (offset >= globals.bytes) return 0;
  return reinterpret_cast<std::uint64_t>(globals.frames + offset);
}

void discard(std::byte* bytes, std::uint64_t length) noexcept {
  if (length == 0 || shared->moves_contents.load() == 0) return;
  std::uint64_t const grain = shared->grain_bytes;
  std::uint64_t const begin = reachable(bytes) - reinterpret_cast<std::uint64_t>(arena);
  std::uint64_t const first = (begin + grain - 1) / grain * grain;
  std::uint64_t const end = (begin + length) / grain * grain;
  if (first < end) ::memset(bytes + (first - begin), 0, end - first);
}

}  // namespace outsize::bsp::mpi

// ---- malloc() and its family ----

namespace mpi = outsize::bsp::mpi;

extern "C" {

void* malloc(std::size_t bytes) { return mpi::allocated(bytes, 16); }

void free(void* memory) {
  if (memory == nullptr || mpi::is_startup(memory)) return;
  mpi::heap->free(memory);
}

void* calloc(std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (mpi::heap != nullptr) return mpi::checked(mpi::heap->allocate_zeroed(count, bytes), all);
  return mpi::startup_memory(all, 16);  // zeros: used once
}

void* realloc(void* memory, std::size_t bytes) {
  if (memory == nullptr) return malloc(bytes);
  if (!mpi::is_startup(memory)) {
    return mpi::checked(mpi::heap->reallocate(memory, bytes), bytes);
  }
  void* const moved = malloc(bytes);
  std::size_t const before = mpi::startup_length(memory);
  if (moved != nullptr) memcpy(moved, memory, before < bytes ? before : bytes);
  return moved;
}

void* reallocarray(void* memory, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(memory, all);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  return mpi::allocated(bytes, alignment);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return mpi::allocated(bytes, alignment);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* const got = mpi::allocated(bytes, alignment);
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}
void* valloc(std::size_t bytes) { return mpi::allocated(bytes, 4096); }
void* pvalloc(std::size_t bytes) {
  return mpi::allocated((bytes + 4095) & ~std::size_t{4095}, 4096);
}

std::size_t malloc_usable_size(void* memory) {
  if (memory == nullptr) return 0;
  return mpi::is_startup(memory) ? mpi::startup_length(memory) : mpi::heap->usable_bytes(memory);
}

}  // extern "C"
