#pragma once
#include <sweep/simt.h>
