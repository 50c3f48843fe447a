#include "results/gzip.h"

#include <zlib.h>

#include <memory>
#include <new>

#include "results/clean_text.h"
#include "results/fail.h"

namespace fathom {
namespace {

/// zlib's window of 32 KiB, with the header of a gzip file around it.
constexpr int gzip_window_bits = MAX_WBITS + 16;
constexpr int usual_memory = 8;

Bytef* input(std::string_view bytes) {  // zlib reads only, but has no const
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

}  // namespace

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window_bits, usual_memory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, deflateEnd);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = input(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);  // ends at once: there is room for all
  bytes.resize(stream.total_out);
  return bytes;
}

std::string gunzip(std::string_view bytes, std::size_t limit, const std::string& origin) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  stream.next_in = input(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    const std::size_t before = text.size();
    text.resize(before + (std::size_t{1} << 20));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(text.size() - before);
    state = inflate(&stream, Z_NO_FLUSH);
    text.resize(stream.total_out);
    const bool whole = state == Z_OK || (state == Z_STREAM_END && stream.avail_in == 0);
    if (!whole || text.size() > limit)
      fail(ExitCode::document_malformed,
           "{} is no whole gzip file, or unpacks to more than {} bytes.", clean(origin), limit);
  }
  return text;
}

}  // namespace fathom
