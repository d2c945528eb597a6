#pragma once
// Owners for what a C library hands out: Owned<X509, X509_free>. Names no library, so that headers stay free of them.
#include <memory>

namespace opid {

template <auto Free>
struct FreeWith {
    template <class T>
    void operator()(T* thing) const noexcept {
        Free(thing);
    }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, FreeWith<Free>>;

}  // namespace opid
