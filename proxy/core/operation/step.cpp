#include "core/operation/step.hpp"

#include <fmt/format.h>

#include <utility>

namespace opid {
namespace {

constexpr std::size_t detail_max = 1024;

std::string_view resolution_word(Resolution as) {
    switch (as) {
        case Resolution::succeeded: return "succeeded";
        case Resolution::failed: return "failed";
        case Resolution::not_executed: return "not-executed";
        case Resolution::cancelled: return "cancelled";
    }
    return "?";
}

std::string_view look_up_word(LookUpResult result) {
    switch (result) {
        case LookUpResult::found_once: return "found once";
        case LookUpResult::found_many: return "found more than once";
        case LookUpResult::absent_proven: return "proven absent";
        case LookUpResult::absent_unproven: return "not found, which proves nothing yet";
        case LookUpResult::failed: return "the look-up failed";
    }
    return "?";
}

std::string evidence_text(const Evidence& evidence) {
    std::string text = fmt::format("{} after {}", evidence.failure.empty() ? "ended" : evidence.failure,
                                   to_word(evidence.stage));
    if (evidence.http_status != 0) text += fmt::format(", status {}", evidence.http_status);
    return text;
}

// Applies one event to one operation. Each handler returns whether the event may meet the status.
class Stepper {
public:
    Stepper(Operation& operation, Instant now, std::string_view actor) : op_(operation), now_(now), actor_(actor) {}

    bool operator()(Claimed& event) {
        if (op_.status != OperationStatus::prepared && op_.status != OperationStatus::unknown) return false;
        if (op_.doubt && !same_key(op_, event.provider_key, event.key_carrier)) return false;
        op_.provider_key = std::move(event.provider_key);
        op_.key_carrier = std::move(event.key_carrier);
        op_.owner = std::move(event.owner);
        op_.retry_not_before.reset();
        ++op_.sends;
        if (!op_.first_sent) op_.first_sent = now_;
        std::string detail = "attempt " + event.attempt_id;
        Attempt attempt;
        attempt.id = std::move(event.attempt_id);
        attempt.started = now_;
        attempt.key_generation = op_.key_generation;
        add_attempt(std::move(attempt));
        move(OperationStatus::in_progress, "claimed", std::move(detail));
        return true;
    }

    bool operator()(const NotSent& event) {
        if (op_.status != OperationStatus::in_progress) return false;
        end_attempt(event.evidence, std::nullopt);
        --op_.sends;
        if (op_.sends == 0) op_.first_sent.reset();
        move(op_.doubt ? OperationStatus::unknown : OperationStatus::prepared, "not_sent",
             evidence_text(event.evidence));
        return true;
    }

    bool operator()(Answered& event) {
        if (op_.status != OperationStatus::in_progress) return false;
        end_attempt(event.evidence, event.verdict);
        op_.retry_not_before = event.retry_not_before;
        const std::string detail = fmt::format(
            "status {}: {}{}", event.evidence.http_status, to_word(event.verdict),
            event.evidence.provider_replayed ? ", the provider's stored answer" : "");
        switch (event.verdict) {
            case Verdict::succeeded: finish(OperationStatus::succeeded, event, detail); return true;
            case Verdict::failed: return answered_failed(event, detail);
            case Verdict::not_executed: return answered_not_executed(event, detail);
            case Verdict::duplicate: return answered_duplicate(event, detail);
            case Verdict::mismatch:
                op_.doubt = true;
                move(OperationStatus::needs_review, "answered", detail);
                return true;
            case Verdict::in_flight: in_doubt("answered", detail); return true;
            case Verdict::unknown:
            case Verdict::replayed:  // never arrives: classification resolves it; read with care if it does
                // A frozen answer is given again for ever: a second look at it tells nothing new.
                if (event.frozen && (op_.doubt || event.evidence.provider_replayed)) op_.keyed_retry_closed = true;
                in_doubt("answered", detail);
                return true;
        }
        return false;
    }

    bool operator()(const Lost& event) {
        if (op_.status != OperationStatus::in_progress) return false;
        end_attempt(event.evidence, Verdict::unknown);
        in_doubt("lost", evidence_text(event.evidence));
        return true;
    }

    bool operator()(const OwnerLost&) {
        if (op_.status != OperationStatus::in_progress) return false;
        Evidence evidence;
        if (!op_.attempts.empty()) evidence = op_.attempts.back().evidence;
        evidence.failure = "owner lost";
        end_attempt(evidence, Verdict::unknown);
        in_doubt("owner_lost", fmt::format("owner {} of epoch {} is gone", op_.owner.node, op_.owner.epoch));
        return true;
    }

    bool operator()(LookedUp& event) {
        if (op_.status != OperationStatus::unknown && op_.status != OperationStatus::needs_review) return false;
        Attempt attempt;
        attempt.id = event.attempt_id;
        attempt.kind = AttemptKind::look_up;
        attempt.started = now_;
        attempt.ended = now_;
        attempt.key_generation = op_.key_generation;
        attempt.evidence = event.evidence;
        add_attempt(std::move(attempt));
        ++op_.look_ups;
        const std::string detail(look_up_word(event.result));
        switch (event.result) {
            case LookUpResult::found_once:
                op_.response = std::move(event.response);
                op_.response->recovered = true;
                op_.provider_ref = event.provider_ref;
                settle_doubt();
                move(OperationStatus::succeeded, "looked_up", detail);
                return true;
            case LookUpResult::found_many: move(OperationStatus::needs_review, "looked_up", detail); return true;
            case LookUpResult::absent_proven:
                nothing_took_effect(op_.keyed_retry_closed);
                move(OperationStatus::prepared, "looked_up", detail);
                return true;
            case LookUpResult::absent_unproven:
            case LookUpResult::failed:
                move(op_.status, "looked_up", detail);
                if (op_.status == OperationStatus::unknown) op_.next_step = event.next;
                return true;
        }
        return false;
    }

    bool operator()(const LadderEnded& event) {
        if (op_.status != OperationStatus::unknown) return false;
        move(OperationStatus::needs_review, "ladder_ended", event.reason);
        return true;
    }

    bool operator()(const Approved& event) {
        if (op_.status != OperationStatus::awaiting_approval) return false;
        op_.approval = event.approval;
        move(OperationStatus::prepared, "approved", fmt::format("by {}", event.approval.approver));
        return true;
    }

    bool operator()(const Denied& event) {
        if (op_.status != OperationStatus::awaiting_approval && op_.status != OperationStatus::prepared) return false;
        op_.approval.reset();
        move(OperationStatus::cancelled, "denied", event.reason);
        return true;
    }

    bool operator()(const ApprovalExpired&) {
        if (op_.status != OperationStatus::prepared || !op_.approval) return false;
        op_.approval.reset();
        move(OperationStatus::awaiting_approval, "approval_expired", "");
        return true;
    }

    bool operator()(Resolved& event) {
        const bool in_doubt_now = op_.status == OperationStatus::unknown || op_.status == OperationStatus::needs_review;
        if (!in_doubt_now) return false;
        const std::string detail = fmt::format("as {}: {}", resolution_word(event.as), event.reason);
        if (!event.provider_ref.empty()) op_.provider_ref = event.provider_ref;
        switch (event.as) {
            case Resolution::not_executed:
                nothing_took_effect(op_.keyed_retry_closed);
                move(OperationStatus::prepared, "resolved", detail);
                return true;
            case Resolution::cancelled: move(OperationStatus::cancelled, "resolved", detail); return true;
            case Resolution::succeeded:
            case Resolution::failed:
                op_.response = std::move(event.response);
                settle_doubt();
                move(event.as == Resolution::succeeded ? OperationStatus::succeeded : OperationStatus::failed,
                     "resolved", detail);
                return true;
        }
        return false;
    }

    bool operator()(const Cancelled& event) {
        if (op_.status != OperationStatus::prepared && op_.status != OperationStatus::awaiting_approval) return false;
        move(OperationStatus::cancelled, "cancelled", event.reason);
        return true;
    }

private:
    bool answered_failed(Answered& event, const std::string& detail) {
        // After an ambiguous attempt a refusal speaks of this attempt alone, unless the provider would have
        // given the first answer again under the key.
        if (op_.doubt && !event.frozen) {
            op_.keyed_retry_closed = true;
            in_doubt("answered", detail);
        } else {
            finish(OperationStatus::failed, event, detail);
        }
        return true;
    }

    bool answered_not_executed(Answered& event, const std::string& detail) {
        if (op_.doubt && !event.frozen) {
            in_doubt("answered", detail);
        } else {
            nothing_took_effect(event.frozen);
            move(OperationStatus::prepared, "answered", detail);
        }
        return true;
    }

    bool answered_duplicate(Answered& event, const std::string& detail) {
        if (!op_.doubt) {
            finish(OperationStatus::failed, event, detail);
        } else if (event.names_object) {
            finish(OperationStatus::succeeded, event, detail);
        } else {
            op_.keyed_retry_closed = true;
            in_doubt("answered", detail);
        }
        return true;
    }

    void finish(OperationStatus to, Answered& event, const std::string& detail) {
        op_.response = std::move(event.response);
        if (!event.provider_ref.empty()) op_.provider_ref = event.provider_ref;
        op_.retry_not_before.reset();
        settle_doubt();
        move(to, "answered", detail);
    }

    void settle_doubt() {
        op_.doubt = false;
        op_.keyed_retry_closed = false;
    }

    void in_doubt(std::string_view what, const std::string& detail) {
        op_.doubt = true;
        move(OperationStatus::unknown, what, detail);
    }

    // Proven: the next attempt starts afresh. It needs the next key only where the provider has frozen an answer
    // under the present one.
    void nothing_took_effect(bool answer_is_frozen) {
        settle_doubt();
        op_.sends = 0;
        op_.look_ups = 0;
        if (answer_is_frozen) {
            ++op_.key_generation;
            op_.provider_key.clear();
            op_.key_carrier.clear();
            op_.first_sent.reset();
        }
    }

    void add_attempt(Attempt attempt) {
        if (op_.attempts.size() >= attempts_max) op_.attempts.erase(op_.attempts.begin());
        op_.attempts.push_back(std::move(attempt));
    }

    void end_attempt(const Evidence& evidence, std::optional<Verdict> verdict) {
        if (op_.attempts.empty()) return;
        Attempt& attempt = op_.attempts.back();
        attempt.ended = now_;
        attempt.evidence = evidence;
        attempt.verdict = verdict;
    }

    static NextStep next_step_of(OperationStatus status, Instant now) {
        switch (status) {
            case OperationStatus::prepared: return {NextStepKind::caller_retry, now};
            case OperationStatus::awaiting_approval: return {NextStepKind::approval, now};
            case OperationStatus::unknown:  // replaced by the ladder's, in the same write
            case OperationStatus::needs_review: return {NextStepKind::review, now};
            case OperationStatus::in_progress:
            case OperationStatus::succeeded:
            case OperationStatus::failed:
            case OperationStatus::cancelled: return {};
        }
        return {};
    }

    void move(OperationStatus to, std::string_view what, std::string detail) {
        if (detail.size() > detail_max) detail.resize(detail_max);
        HistoryEvent event;
        event.sequence = ++op_.history_length;
        event.at = now_;
        event.what = what;
        event.actor = actor_;
        event.from = op_.status;
        event.to = to;
        event.detail = std::move(detail);
        op_.history.push_back(std::move(event));
        op_.status = to;
        op_.updated = now_;
        if (to != OperationStatus::in_progress) op_.owner = Owner{};
        op_.next_step = next_step_of(to, now_);
    }

    friend Operation opid::register_operation(Operation draft, bool needs_approval, Instant now,
                                              std::string_view actor);
    Operation& op_;
    Instant now_;
    std::string_view actor_;
};

}  // namespace

bool same_key(const Operation& operation, std::string_view key, std::string_view carrier) {
    return operation.provider_key == key && (key.empty() || operation.key_carrier == carrier);
}

bool advance(Operation& operation, Event& event, Instant now, std::string_view actor) {
    return std::visit(Stepper(operation, now, actor), event);
}

Transition step(Operation operation, Event event, Instant now, std::string_view actor) {
    Transition transition;
    transition.next = std::move(operation);
    transition.allowed = advance(transition.next, event, now, actor);
    return transition;
}

Operation register_operation(Operation draft, bool needs_approval, Instant now, std::string_view actor) {
    draft.created = now;
    draft.status = needs_approval ? OperationStatus::awaiting_approval : OperationStatus::prepared;
    Stepper(draft, now, actor).move(draft.status, "registered", "");
    return draft;
}

std::string_view to_word(const Event& event) {
    struct Words {
        std::string_view operator()(const Claimed&) const { return "claimed"; }
        std::string_view operator()(const NotSent&) const { return "not_sent"; }
        std::string_view operator()(const Answered&) const { return "answered"; }
        std::string_view operator()(const Lost&) const { return "lost"; }
        std::string_view operator()(const OwnerLost&) const { return "owner_lost"; }
        std::string_view operator()(const LookedUp&) const { return "looked_up"; }
        std::string_view operator()(const LadderEnded&) const { return "ladder_ended"; }
        std::string_view operator()(const Approved&) const { return "approved"; }
        std::string_view operator()(const Denied&) const { return "denied"; }
        std::string_view operator()(const ApprovalExpired&) const { return "approval_expired"; }
        std::string_view operator()(const Resolved&) const { return "resolved"; }
        std::string_view operator()(const Cancelled&) const { return "cancelled"; }
    };
    return std::visit(Words{}, event);
}

}  // namespace opid
