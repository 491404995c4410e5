#include "evaluate/image_wire.h"

#include "util/error.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

namespace sweep::evaluate {
namespace {

constexpr off_t kMaxImageBytes = off_t{1} << 30U;

}  // namespace

nlohmann::json kernels_to_json(const device::Image& image) {
  nlohmann::json list = nlohmann::json::array();
  for (const device::Kernel& kernel : image.kernels) {
    list.push_back({{"name", kernel.name}, {"lowered", kernel.lowered}});
  }
  return list;
}

util::Fd image_fd(const device::Image& image, const std::string& what) {
  util::Fd fd = util::make_memfd("sweep-image");
  util::write_all(fd.get(),
                  {reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()},
                  "image of " + what);
  return fd;
}

device::Image image_from(const nlohmann::json& kernels, const util::Fd& bytes) {
  const off_t size = ::lseek(bytes.get(), 0, SEEK_END);
  if (size < 0) {
    util::throw_errno("lseek", "image");
  }
  if (size > kMaxImageBytes) {
    throw util::InfraError({"image", "is larger than 1 GiB", ""}, "E_IMAGE");
  }
  device::Image image;
  image.bytes.resize(static_cast<std::size_t>(size));
  std::size_t done = 0;
  while (done < image.bytes.size()) {
    const ssize_t got = ::pread(bytes.get(),
                                image.bytes.data() + done,
                                image.bytes.size() - done,
                                static_cast<off_t>(done));
    if (got <= 0) {
      util::throw_errno("pread", "image");
    }
    done += static_cast<std::size_t>(got);
  }
  for (const nlohmann::json& kernel : kernels) {
    image.kernels.push_back(
        {wire::field<std::string>(kernel, "name"), wire::field<std::string>(kernel, "lowered")});
  }
  return image;
}

}  // namespace sweep::evaluate
