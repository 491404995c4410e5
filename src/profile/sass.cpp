#include "profile/sass.h"

#include "util/text.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sweep::profile {
namespace {

constexpr std::size_t kMostSymbolBytes = 4096;
constexpr std::size_t kMostOpcodeBytes = 64;

struct Word {
  std::string_view text;
  SassClass kind;
};

// First parts of opcodes, exact. NVIDIA's "CUDA Binary Utilities" lists those of each
// architecture.
constexpr std::array kWords = {
    Word{"LDGSTS", SassClass::async_copy},
    Word{"LDGDEPBAR", SassClass::async_copy},
    Word{"DEPBAR", SassClass::async_copy},
    Word{"ARRIVES", SassClass::async_copy},
    Word{"LDSM", SassClass::matrix_shared},
    Word{"STSM", SassClass::matrix_shared},
    Word{"MOVM", SassClass::matrix_shared},
    Word{"SYNCS", SassClass::barrier},
    Word{"BAR", SassClass::barrier},
    Word{"B2R", SassClass::barrier},
    Word{"MEMBAR", SassClass::barrier},
    Word{"ERRBAR", SassClass::barrier},
    Word{"FENCE", SassClass::barrier},
    Word{"CCTL", SassClass::barrier},
    Word{"WARPSYNC", SassClass::barrier},
    Word{"WARPGROUP", SassClass::barrier},
    Word{"UCGABAR_ARV", SassClass::barrier},
    Word{"UCGABAR_WAIT", SassClass::barrier},
    Word{"NANOSLEEP", SassClass::barrier},
    Word{"ACQBULK", SassClass::barrier},
    Word{"ACQSHMINIT", SassClass::barrier},
    Word{"ENDCOLLECTIVE", SassClass::barrier},
    Word{"WARPGROUPSET", SassClass::barrier},
    Word{"LDG", SassClass::global},
    Word{"STG", SassClass::global},
    Word{"LDS", SassClass::shared},
    Word{"STS", SassClass::shared},
    Word{"STAS", SassClass::shared},
    Word{"LDL", SassClass::local},
    Word{"STL", SassClass::local},
    Word{"LD", SassClass::generic},
    Word{"ST", SassClass::generic},
    Word{"QSPC", SassClass::generic},
    Word{"LDC", SassClass::constant},
    Word{"ULDC", SassClass::constant},
    Word{"LDCU", SassClass::constant},
    Word{"TEX", SassClass::texture},
    Word{"TLD", SassClass::texture},
    Word{"TLD4", SassClass::texture},
    Word{"TXD", SassClass::texture},
    Word{"TXQ", SassClass::texture},
    Word{"TMML", SassClass::texture},
    Word{"SULD", SassClass::texture},
    Word{"SUST", SassClass::texture},
    Word{"FFMA", SassClass::fp32},
    Word{"FFMA32I", SassClass::fp32},
    Word{"FADD", SassClass::fp32},
    Word{"FADD32I", SassClass::fp32},
    Word{"FMUL", SassClass::fp32},
    Word{"FMUL32I", SassClass::fp32},
    Word{"FMNMX", SassClass::fp32},
    Word{"FSET", SassClass::fp32},
    Word{"FSETP", SassClass::fp32},
    Word{"FSEL", SassClass::fp32},
    Word{"FCHK", SassClass::fp32},
    Word{"FSWZADD", SassClass::fp32},
    Word{"FFMA2", SassClass::fp32},
    Word{"FADD2", SassClass::fp32},
    Word{"FMUL2", SassClass::fp32},
    Word{"MUFU", SassClass::special},
    Word{"DFMA", SassClass::fp64},
    Word{"DADD", SassClass::fp64},
    Word{"DMUL", SassClass::fp64},
    Word{"DSETP", SassClass::fp64},
    Word{"DMNMX", SassClass::fp64},
    Word{"HFMA2", SassClass::fp16},
    Word{"HADD2", SassClass::fp16},
    Word{"HMUL2", SassClass::fp16},
    Word{"HMNMX2", SassClass::fp16},
    Word{"VHMNMX", SassClass::fp16},
    Word{"HSET2", SassClass::fp16},
    Word{"HSETP2", SassClass::fp16},
    Word{"HADD2_32I", SassClass::fp16},
    Word{"HFMA2_32I", SassClass::fp16},
    Word{"HMUL2_32I", SassClass::fp16},
    Word{"IMAD", SassClass::integer},
    Word{"IADD", SassClass::integer},
    Word{"IADD3", SassClass::integer},
    Word{"IADD32I", SassClass::integer},
    Word{"LOP", SassClass::integer},
    Word{"LOP3", SassClass::integer},
    Word{"LOP32I", SassClass::integer},
    Word{"LEA", SassClass::integer},
    Word{"SHF", SassClass::integer},
    Word{"SHL", SassClass::integer},
    Word{"SHR", SassClass::integer},
    Word{"ISETP", SassClass::integer},
    Word{"IABS", SassClass::integer},
    Word{"IMNMX", SassClass::integer},
    Word{"IMUL", SassClass::integer},
    Word{"POPC", SassClass::integer},
    Word{"FLO", SassClass::integer},
    Word{"BREV", SassClass::integer},
    Word{"BMSK", SassClass::integer},
    Word{"SGXT", SassClass::integer},
    Word{"ISCADD", SassClass::integer},
    Word{"IDP", SassClass::integer},
    Word{"IDP4A", SassClass::integer},
    Word{"VABSDIFF", SassClass::integer},
    Word{"VABSDIFF4", SassClass::integer},
    Word{"VIADD", SassClass::integer},
    Word{"VIADDMNMX", SassClass::integer},
    Word{"VIMNMX", SassClass::integer},
    Word{"VIMNMX3", SassClass::integer},
    Word{"REDUX", SassClass::integer},
    Word{"CREDUX", SassClass::integer},
    Word{"I2F", SassClass::conversion},
    Word{"I2FP", SassClass::conversion},
    Word{"F2I", SassClass::conversion},
    Word{"F2IP", SassClass::conversion},
    Word{"F2F", SassClass::conversion},
    Word{"F2FP", SassClass::conversion},
    Word{"I2I", SassClass::conversion},
    Word{"I2IP", SassClass::conversion},
    Word{"FRND", SassClass::conversion},
    Word{"BRA", SassClass::control},
    Word{"BRX", SassClass::control},
    Word{"BRXU", SassClass::control},
    Word{"JMP", SassClass::control},
    Word{"JMX", SassClass::control},
    Word{"JMXU", SassClass::control},
    Word{"CALL", SassClass::control},
    Word{"RET", SassClass::control},
    Word{"EXIT", SassClass::control},
    Word{"BSSY", SassClass::control},
    Word{"BSYNC", SassClass::control},
    Word{"BREAK", SassClass::control},
    Word{"BMOV", SassClass::control},
    Word{"BPT", SassClass::control},
    Word{"KILL", SassClass::control},
    Word{"YIELD", SassClass::control},
    Word{"RPCMOV", SassClass::control},
    Word{"PREEXIT", SassClass::control},
    Word{"MOV", SassClass::move},
    Word{"MOV32I", SassClass::move},
    Word{"SEL", SassClass::move},
    Word{"PRMT", SassClass::move},
    Word{"SHFL", SassClass::move},
    Word{"VOTE", SassClass::move},
    Word{"VOTEU", SassClass::move},
    Word{"MATCH", SassClass::move},
    Word{"PLOP3", SassClass::move},
    Word{"PSETP", SassClass::move},
    Word{"P2R", SassClass::move},
    Word{"R2P", SassClass::move},
    Word{"R2B", SassClass::move},
    Word{"S2R", SassClass::move},
    Word{"S2UR", SassClass::move},
    Word{"CS2R", SassClass::move},
    Word{"CS2UR", SassClass::move},
    Word{"R2UR", SassClass::move},
    Word{"ELECT", SassClass::move},
    Word{"USETMAXREG", SassClass::move},
    Word{"SETCTAID", SassClass::move},
    Word{"LEPC", SassClass::move},
    Word{"GETLMEMBASE", SassClass::move},
    Word{"SETLMEMBASE", SassClass::move},
    Word{"PMTRIG", SassClass::move},
};

// Families, tried before the words.
constexpr std::array kFamilies = {
    Word{"UTC", SassClass::tcgen05},
    Word{"LDTM", SassClass::tcgen05},
    Word{"STTM", SassClass::tcgen05},
    Word{"UTMA", SassClass::tma},
    Word{"UBLK", SassClass::tma},
    Word{"ATOM", SassClass::atomic},
    Word{"SUATOM", SassClass::atomic},
    Word{"SURED", SassClass::atomic},
};

SassClass of_word(std::string_view word) {
  const auto found = std::ranges::find(kWords, word, &Word::text);
  return found == kWords.end() ? SassClass::other : found->kind;
}

bool is_opcode_char(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0 ||
         std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view first_part(std::string_view opcode) {
  return opcode.substr(0, std::min(opcode.find('.'), opcode.size()));
}

// "/*0a10*/" at the front of an instruction's line; what follows it, else nothing.
std::string_view after_offset(std::string_view line) {
  if (!line.starts_with("/*")) {
    return {};
  }
  const std::size_t end = line.find("*/");
  if (end == std::string_view::npos || end == 2 || end > 2 + 8) {
    return {};
  }
  const std::string_view digits = line.substr(2, end - 2);
  const bool hex = std::ranges::all_of(
      digits, [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
  return hex ? util::trim(line.substr(end + 2)) : std::string_view();
}

// The opcode of an instruction's line with its suffixes; empty for any other line.
std::string_view opcode_of(std::string_view line) {
  std::string_view rest = after_offset(line);
  if (rest.starts_with('{')) {
    rest = util::trim(rest.substr(1));
  }
  if (rest.starts_with('@')) {
    const std::size_t blank = rest.find(' ');
    rest = blank == std::string_view::npos ? std::string_view() : util::trim(rest.substr(blank));
  }
  const std::size_t end = rest.find_first_of(" ;");
  if (end == std::string_view::npos || end == 0 || end > kMostOpcodeBytes ||
      rest.find(';') == std::string_view::npos) {
    return {};
  }
  const std::string_view opcode = rest.substr(0, end);
  const std::string_view word = first_part(opcode);
  return !word.empty() && std::isupper(static_cast<unsigned char>(word.front())) != 0 &&
                 std::ranges::all_of(word, is_opcode_char)
             ? opcode
             : std::string_view();
}

// The function that a line begins, as either tool writes it.
std::string_view function_of(std::string_view line) {
  constexpr std::string_view kCuobjdump = "Function : ";
  constexpr std::string_view kNvdisasm = ".text.";
  if (line.starts_with(kCuobjdump)) {
    return util::trim(line.substr(kCuobjdump.size()));
  }
  if (line.starts_with(kNvdisasm) && line.ends_with(':')) {
    return line.substr(kNvdisasm.size(), line.size() - kNvdisasm.size() - 1);
  }
  return {};
}

void count(SassFunction& function, std::string_view opcode, bool& complete) {
  const std::string_view word = first_part(opcode);
  ++function.instructions;
  ++function.mix[classify(opcode)];
  const auto found = function.opcodes.find(word);
  if (found != function.opcodes.end()) {
    ++found->second;
  } else if (function.opcodes.size() < kMostSassOpcodes) {
    function.opcodes.emplace(word, 1);
  } else {
    complete = false;
  }
}

}  // namespace

std::string_view name(SassClass kind) {
  constexpr std::array<std::string_view, 23> kNames = {
      "wgmma",    "tcgen05",    "mma",     "tma",     "async copy", "matrix shared",
      "barrier",  "atomic",     "global",  "shared",  "local",      "generic",
      "constant", "texture",    "fp32",    "special", "fp64",       "fp16",
      "integer",  "conversion", "control", "move",    "other"};
  return kNames.at(static_cast<std::size_t>(kind));
}

SassClass classify(std::string_view opcode) {
  const std::string_view word = first_part(opcode);
  for (const Word& family : kFamilies) {
    if (word.starts_with(family.text)) {
      return family.kind;
    }
  }
  if (word.ends_with("GMMA")) {
    return SassClass::wgmma;
  }
  if (word.ends_with("MMA")) {
    return SassClass::mma;
  }
  if (word == "RED" || word == "REDG" || word == "REDS" || word == "REDAS") {
    return SassClass::atomic;
  }
  const SassClass kind = of_word(word);
  // The uniform datapath has the same instructions with a U in front.
  return kind == SassClass::other && word.starts_with('U') ? of_word(word.substr(1)) : kind;
}

SassListing parse_sass(std::string_view text) {
  SassListing listing;
  SassFunction* current = nullptr;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = util::trim(text.substr(begin, end - begin));
    begin = end + 1;
    if (const std::string_view symbol = function_of(line); !symbol.empty()) {
      current = nullptr;
      if (listing.functions.size() == kMostSassFunctions) {
        listing.complete = false;
        continue;
      }
      current = &listing.functions.emplace_back();
      current->symbol = symbol.substr(0, kMostSymbolBytes);
      continue;
    }
    const std::string_view opcode = opcode_of(line);
    if (current != nullptr && !opcode.empty() && opcode != "NOP") {
      count(*current, opcode, listing.complete);
    }
  }
  return listing;
}

}  // namespace sweep::profile
