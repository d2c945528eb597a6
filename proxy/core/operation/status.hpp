#pragma once
// The eight statuses of an operation. Words and meaning: ARCHITECTURE.md, "States".
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace opid {

// Stored in every record. Never renumber or reuse.
enum class OperationStatus : std::uint8_t {
    prepared = 1,           // nothing was sent, or it is proven that nothing took effect
    awaiting_approval = 2,  // policy wants an approval that is not there yet
    in_progress = 3,        // claimed by one owner; a request may be on the wire
    succeeded = 4,          // evidence of success; response stored
    failed = 5,             // evidence that it ended without effect; response stored
    unknown = 6,            // it may have happened
    needs_review = 7,       // unknown, and no automatic step is left or allowed
    cancelled = 8,          // given up before anything was sent, or closed by an operator
};

inline constexpr std::array all_statuses{OperationStatus::prepared,     OperationStatus::awaiting_approval,
                                         OperationStatus::in_progress,  OperationStatus::succeeded,
                                         OperationStatus::failed,       OperationStatus::unknown,
                                         OperationStatus::needs_review, OperationStatus::cancelled};

constexpr bool is_final(OperationStatus status) {
    return status == OperationStatus::succeeded || status == OperationStatus::failed ||
           status == OperationStatus::cancelled;
}

constexpr std::string_view to_word(OperationStatus status) {
    switch (status) {
        case OperationStatus::prepared: return "prepared";
        case OperationStatus::awaiting_approval: return "awaiting_approval";
        case OperationStatus::in_progress: return "in_progress";
        case OperationStatus::succeeded: return "succeeded";
        case OperationStatus::failed: return "failed";
        case OperationStatus::unknown: return "unknown";
        case OperationStatus::needs_review: return "needs_review";
        case OperationStatus::cancelled: return "cancelled";
    }
    return "?";
}

constexpr std::optional<OperationStatus> status_from_word(std::string_view word) {
    for (const OperationStatus status : all_statuses) {
        if (to_word(status) == word) return status;
    }
    return std::nullopt;
}

}  // namespace opid
