// Catch2's main is slow to compile: it is built once and linked into every test executable.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
