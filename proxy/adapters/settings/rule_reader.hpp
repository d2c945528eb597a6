#pragma once
// One rule of a profile, on top of what the profile says for all its rules.
#include <optional>
#include <string>
#include <vector>

#include "adapters/settings/answer_reader.hpp"
#include "adapters/settings/map_reader.hpp"
#include "core/profile/profile.hpp"

namespace opid {

struct RuleDefaults {
    IdentityRule identity;
    KeyRule key;
    IntentRules intent;
    std::vector<VerdictRule> verdicts;
    std::optional<Ladder> ladder;
    std::optional<ReferenceSource> reference;
    ProblemDialect problems = ProblemDialect::problem;
    bool verified = true;
};

bool read_dialect(MapReader& map, ProblemDialect& out);

// The rule for requests that no other one matches.
Rule make_default_rule(const RuleDefaults& defaults);
Rule read_rule(const YamlNode& node, const std::string& path, FileReading& reading, const RuleDefaults& defaults);

}  // namespace opid
