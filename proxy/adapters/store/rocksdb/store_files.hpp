#pragma once
// What is done with a store directory that no process has open: verify and restore. Blocking; for the CLI.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace opid {

struct BackupInfo {
    std::uint32_t id = 0;
    Instant known_until{};  // every commit acknowledged before is in the backup
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
};

struct VerifyReport {
    std::uint64_t open_records = 0;
    std::uint64_t final_records = 0;
    std::uint64_t tombstones = 0;
    std::uint64_t bodies = 0;
    std::uint64_t body_bytes = 0;
    std::uint64_t history_chunks = 0;
    std::uint64_t steps = 0;
    std::uint64_t problem_count = 0;
    std::vector<std::string> problems;  // plain words, the first 1000
    bool sound() const { return problem_count == 0; }
};

// Reads everything: block checksums, every record, bodies against their digests, indexes against records,
// the high-water file. Changes nothing. An error only where the directory can't be examined at all
// (missing, or in use by a running opid); whatever else is wrong is a problem in the report.
Result<VerifyReport> verify_store(const std::string& directory);

// Puts the latest backup in `backup` into `directory`, and a horizon file beside it that the next start has
// to acknowledge. A directory that already holds a database is refused unless force; then the old database
// is kept as db.before-restore until the next restore.
Result<BackupInfo> restore_store(const std::string& backup, const std::string& directory, bool force);

}  // namespace opid
