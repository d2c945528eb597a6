#pragma once
// The admin API: one table of routes, one handler each. No sockets here; admin_server carries it.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/operation/event.hpp"
#include "engine/ports/entropy.hpp"
#include "engine/ports/operation_store.hpp"
#include "engine/ports/timers.hpp"
#include "engine/profile_board.hpp"
#include "engine/write_coordinator.hpp"
#include "surfaces/admin/admin_auth.hpp"
#include "surfaces/admin/admin_query.hpp"
#include "surfaces/admin/admin_reply.hpp"
#include "surfaces/admin/event_feed.hpp"
#include "surfaces/admin/host_check.hpp"

namespace opid {

struct ReloadReport {
    bool changed = false;
    std::size_t profiles = 0;
    std::vector<std::string> problems;  // "file:line: …"; any: nothing changed
};

struct Readiness {
    bool ready = true;
    std::string reason;  // where not ready
};

// opid's certificate authority, its public side.
struct AuthorityView {
    std::string subject;
    std::string fingerprint;  // SHA-256
    std::string pem;
    Instant not_before{};
    Instant not_after{};
};

// What the API asks of the process that it runs in. Called on the admin thread.
class AdminHost {
public:
    virtual ~AdminHost() = default;
    virtual Readiness readiness() = 0;
    virtual std::string metrics_text() = 0;
    virtual ReloadReport reload_policies(std::string actor) = 0;
    // Open operations that are due, then retention.
    virtual Task<Result<SweepResult>> sweep() = 0;
    // A consistent copy into a folder on this machine; answers with plain words.
    virtual Task<Result<std::string>> backup(std::string folder) = 0;
    virtual AuthorityView authority() = 0;
    // A new one in the old one's place; clients have to trust it before they get through again.
    virtual Result<AuthorityView> rotate_authority(std::string actor) = 0;
    virtual std::string_view version() const = 0;
};

struct AdminParts {
    OperationStore& store;
    WriteCoordinator& engine;
    const ProfileBoard& profiles;
    Timers& timers;
    Entropy& entropy;
    EventFeed& events;
    AdminHost& host;
    std::vector<AdminIdentity> identities;
    std::vector<std::string> tenants;  // names; never empty
    // One pass of the ladder; not set: that is not built, and says so.
    std::function<Task<Result<Operation>>(OperationKey key, std::string actor)> recover;
};

class AdminApi {
public:
    // What a handler works with.
    struct Call {
        const AdminRequest& request;
        const AdminTarget& target;
        std::string id;     // decoded {id} of the path
        std::string actor;  // the token's name
    };
    using Handler = Task<AdminReply> (AdminApi::*)(const Call&);
    struct Route {
        std::string_view method;
        std::string_view pattern;  // "/v1/operations/{id}"
        Role role;
        Handler handler;
    };
    static std::span<const Route> routes();

    AdminApi(AdminParts parts, AdminAddress address) : parts_(std::move(parts)), address_(std::move(address)) {}
    // The address as bound, before the first request.
    void set_address(AdminAddress address) { address_ = std::move(address); }

    Task<AdminReply> handle(const AdminRequest& request);

private:
    Task<AdminReply> health(const Call& call);
    Task<AdminReply> ready(const Call& call);
    Task<AdminReply> metrics(const Call& call);
    Task<AdminReply> index(const Call& call);
    Task<AdminReply> openapi(const Call& call);
    Task<AdminReply> events(const Call& call);
    Task<AdminReply> reload(const Call& call);
    Task<AdminReply> sweep(const Call& call);
    Task<AdminReply> backup(const Call& call);
    Task<AdminReply> status(const Call& call);
    Task<AdminReply> show_authority(const Call& call);
    Task<AdminReply> rotate_authority(const Call& call);

    Task<AdminReply> list_operations(const Call& call);
    Task<AdminReply> show_operation(const Call& call);
    Task<AdminReply> show_history(const Call& call);

    Task<AdminReply> create_operation(const Call& call);
    Task<AdminReply> approve(const Call& call);
    Task<AdminReply> deny(const Call& call);
    Task<AdminReply> resolve(const Call& call);
    Task<AdminReply> cancel(const Call& call);
    Task<AdminReply> recover(const Call& call);
    template <typename GivenUp>
    Task<AdminReply> give_up(const Call& call);

    // The one operation that the call names; else `refusal` is what to answer.
    Task<std::optional<Operation>> find_one(const Call& call, AdminReply& refusal);
    Task<AdminReply> apply(OperationKey key, Event event, std::string actor);

    AdminParts parts_;
    AdminAddress address_;
};

}  // namespace opid
