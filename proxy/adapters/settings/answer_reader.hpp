#pragma once
// What a profile says about answers and about ending doubt: verdicts, references, the ladder.
#include <optional>
#include <string>
#include <vector>

#include "adapters/settings/map_reader.hpp"
#include "core/profile/profile.hpp"

namespace opid {

StatusSet read_statuses(const YamlNode& node, const std::string& path, FileReading& reading);

// The keys status, body and header of a map that may have others.
AnswerMatcher read_answer(MapReader& map);

std::vector<VerdictRule> read_verdicts(const YamlNode& node, const std::string& path, FileReading& reading);

// header:NAME or body:/pointer (a bare /pointer too).
std::optional<ReferenceSource> read_reference(const YamlNode& node, const std::string& path, FileReading& reading);

struct Ladder {
    std::vector<LadderStep> steps;
    std::optional<LookUpTemplate> look_up;
    std::vector<std::string> captures;  // that the look-up's templates take from the path
};
Ladder read_ladder(const YamlNode& node, const std::string& path, FileReading& reading);

}  // namespace opid
