#pragma once

#include <cmark-gfm.h>
#include <cmark-gfm-core-extensions.h>
// Installed with the library, whose soname carries the full version: what was compiled against is what is loaded.
#include <cmark-gfm/parser.h>
