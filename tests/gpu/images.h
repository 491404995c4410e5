#pragma once

#include "evaluate/engine.h"

#include <string>

namespace sweep::gpu {

// The judge's device code, compiled in this process with the flags of evaluate::harness_images().
[[nodiscard]] evaluate::EngineImages engine_images(const std::string& arch);

}  // namespace sweep::gpu
