#pragma once

#include "evaluate/evaluation.h"
#include "problem/catalog.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::cli {

// Commit of the git checkout that the build was configured in, "-dirty" behind it if files
// differed; empty: the source was no checkout.
[[nodiscard]] std::string source_commit();

// The program's own file, by /proc/self/exe.
[[nodiscard]] std::filesystem::path program_path();

// The folder with problems/, seeds/, include/ and configs/: beside the program or up to three
// folders above it. UsageError when there is none (the program was moved without them).
[[nodiscard]] std::filesystem::path data_root();

// The folder with exploits/, honest/ and data/problems/: tests/ beside problems/. It need not
// exist.
[[nodiscard]] std::filesystem::path corpus_folder();

// Problems of `extra` folders (--problem DIR), $SWEEP_PROBLEMS and the built-in folder.
[[nodiscard]] problem::Catalog open_catalog(const std::vector<std::filesystem::path>& extra = {});

// What evaluate needs of this installation: built-in problems and seeds, $SWEEP_PROBLEMS, the
// program. UsageError as data_root().
[[nodiscard]] evaluate::Services evaluation_services();

}  // namespace sweep::cli
