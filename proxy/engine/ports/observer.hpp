#pragma once
// Hears each fact once. Log lines, metrics and the event stream are listeners of the same calls. Called on I/O
// threads: quick, never throwing, and never given a secret or a body.
#include <string_view>

#include "core/operation/operation.hpp"

namespace opid {

class Observer {
public:
    virtual ~Observer() = default;
    // A transition that is durable now. event is the newest history event.
    virtual void moved(const Operation& operation, const HistoryEvent& event) noexcept = 0;
    // An answer of opid's own or a stored one: "replay", "joined", or a problem slug.
    virtual void answered(std::string_view provider, std::string_view kind) noexcept = 0;
    virtual void trouble(std::string_view where, std::string_view what) noexcept = 0;
};

}  // namespace opid
