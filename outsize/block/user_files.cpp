// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/user_files.hpp>

#include <utility>

namespace outsize::block {

std::unique_ptr<io::input_stream> open_input(storage& store, std::string const& path, grant& memory,
                                             io::input_stream_options options) {
  store.refuse_disk(path);
  options.counter = &store.file_statistics();
  options.on_growth = store.options().on_growth;
  options.codec_memory = &store.codec_memory();
  return io::open_input(path, store.file_queue(), memory, options);
}

std::unique_ptr<io::output_stream> open_output(storage& store, std::string const& path,
                                               io::output_stream_options options) {
  store.refuse_disk(path);
  options.counter = &store.file_statistics();
  options.codec_memory = &store.codec_memory();
  return io::open_output(path, store.file_queue(), options);
}

io::file_ptr open_file(storage& store, std::string const& path, io::open_options const& options) {
  store.refuse_disk(path);
  auto opened = io::open_file(path, store.file_queue(), options);
  opened->count_into(&store.file_statistics());
  return opened;
}

io::output_file make_output_file(storage& store, std::string const& path, std::uint64_t room_bytes,
                                 bool direct) {
  store.refuse_disk(path);
  return {path, room_bytes, store.file_queue(), direct};
}

}  // namespace outsize::block
