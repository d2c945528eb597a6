#pragma once
// An admin API over a store in memory, and a way to put operations into it.
#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <optional>

#include "adapters/store/memory/memory_store.hpp"
#include "adapters/system/system_entropy.hpp"
#include "adapters/system/system_timers.hpp"
#include "core/operation/step.hpp"
#include "surfaces/admin/admin_api.hpp"

namespace opid::test {

template <class T>
T run(Task<T> task) {
    boost::asio::io_context context{1};
    std::optional<T> result;
    boost::asio::co_spawn(context.get_executor(), std::move(task), [&result](std::exception_ptr error, T value) {
        if (error) std::rethrow_exception(error);
        result = std::move(value);
    });
    context.run();
    return std::move(*result);
}

class NoUpstream final : public Upstream {
public:
    Task<Exchange> send(const OutboundRequest&, ResponseSink*) override { co_return Exchange{}; }
    Task<Exchange> look_up(const LookUpRequest&) override { co_return Exchange{}; }
};

class FakeHost final : public AdminHost {
public:
    Readiness readiness() override { return ready; }
    std::string metrics_text() override { return "opid_ready 1\n"; }
    ReloadReport reload_policies(std::string actor) override {
        reloaded_by = std::move(actor);
        return reload;
    }
    Task<Result<SweepResult>> sweep() override {
        Result<SweepResult> result = SweepResult{3, 4};
        co_return result;
    }
    Task<Result<std::string>> backup(std::string folder) override {
        Result<std::string> result = "copied to " + folder;
        co_return result;
    }
    AuthorityView authority() override { return ca; }
    Result<AuthorityView> rotate_authority(std::string actor) override {
        rotated_by = std::move(actor);
        return ca;
    }
    std::string_view version() const override { return "9.9.9"; }

    Readiness ready;
    ReloadReport reload{true, 2, {}};
    std::string reloaded_by;
    AuthorityView ca{"CN=opid CA 0badcafe", "0B:AD", "-----BEGIN", Instant{}, Instant{}};
    std::string rotated_by;
};

inline AdminIdentity identity(std::string name, Role role) {
    AdminIdentity made;
    made.token = sha256("token-of-" + name);
    made.name = std::move(name);
    made.role = role;
    return made;
}

struct AdminWorld {
    MemoryStore store;
    SystemTimers timers;
    SystemEntropy entropy;
    NoUpstream upstream;
    EventFeed events;
    ProfileBoard profiles;
    FakeHost host;
    WriteCoordinator engine{
        EngineParts{store, upstream, timers, entropy, events, EngineLimits{}, NodeIdentity{"node", 1}}};
    AdminApi api{
        AdminParts{store,
                   engine,
                   profiles,
                   timers,
                   entropy,
                   events,
                   host,
                   {identity("vera", Role::viewer), identity("apo", Role::approver), identity("otto", Role::operator_)},
                   {"default", "other"},
                   {}},
        AdminAddress{"127.0.0.1", 8081}};

    Operation put(std::string_view id, OperationStatus status, std::string_view tenant = "default",
                  std::string_view scope = "") {
        Operation draft;
        draft.tenant = tenant;
        draft.scope = scope;
        draft.id = id;
        draft.key = operation_key(tenant, scope, id);
        draft.provider = scope.empty() ? "stripe" : std::string(scope);
        draft.rule = "refund";
        draft.digest = sha256("canonical");
        draft.intent.method = "POST";
        draft.intent.scheme_authority = "https://api.stripe.com";
        draft.intent.target = "/v1/refunds";
        Operation operation = register_operation(std::move(draft), status == OperationStatus::awaiting_approval,
                                                 from_unix_ms(1'000'000), "caller");
        operation.status = status;
        if (status == OperationStatus::unknown || status == OperationStatus::needs_review) operation.doubt = true;
        Commit commit;
        operation.version = 1;
        commit.operation = operation;
        const Status written = run(store.commit(std::move(commit)));
        if (!written) throw std::runtime_error(written.error().what());
        return operation;
    }

    AdminReply call(std::string method, std::string target, std::string body = {}, std::string_view who = "otto",
                    std::string host_field = "127.0.0.1:8081", std::string origin = {}) {
        AdminRequest request;
        request.method = std::move(method);
        request.target = std::move(target);
        request.body = std::move(body);
        request.host = std::move(host_field);
        request.origin = std::move(origin);
        if (!who.empty()) request.authorization = "Bearer token-of-" + std::string(who);
        return run(api.handle(request));
    }
};

}  // namespace opid::test
