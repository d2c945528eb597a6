#pragma once
// One process at a time changes the files of a folder. The lock dies with its process, so a crash leaves none behind.
#include <string>

#include "base/result.hpp"

namespace opid {

class FolderLock {
public:
    enum class Kind : bool { shared, exclusive };

    // Waits for its turn; holders write a few small files and go. Error (unavailable, not_found) names the folder.
    static Result<FolderLock> take(const std::string& folder, Kind kind);
    Status sync() const;  // what was created, renamed and removed so far lasts
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    FolderLock(FolderLock&& other) noexcept;
    FolderLock& operator=(FolderLock&& other) = delete;

private:
    FolderLock(std::string folder, int descriptor);
    std::string folder_;
    int descriptor_;
};

}  // namespace opid
