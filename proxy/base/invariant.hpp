#pragma once
// Programmer errors end the process, in release builds too. Bad input is never an invariant.
namespace opid {

[[noreturn]] void invariant_broken(const char* condition, const char* file, int line);

}  // namespace opid

#define OPID_INVARIANT(condition) \
    ((condition) ? static_cast<void>(0) : ::opid::invariant_broken(#condition, __FILE__, __LINE__))
