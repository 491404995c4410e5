// A sweep's TOML.
#include "config/config.h"
#include "target.h"

namespace sweep::fuzz {

void fuzz(std::string_view input) {
  accepted([&] {
    const config::Loaded loaded = config::parse(input, "sweep.toml", "/nonexistent");
    must(!config::canonical_json(loaded.config).empty());
  });
}

}  // namespace sweep::fuzz
