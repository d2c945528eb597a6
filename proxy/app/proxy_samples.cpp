#include "app/proxy_samples.hpp"

#include <map>

namespace opid {
namespace {

MetricSample sample(std::string name, std::string help, bool counter, double value) {
    MetricSample made;
    made.name = std::move(name);
    made.help = std::move(help);
    made.counter = counter;
    made.value = value;
    return made;
}

struct Named {
    const char* name;
    const char* help;
    bool counter;
    Counter DataPlaneMetrics::*member;
};

constexpr Named plain_counters[] = {
    {"opid_connections_accepted_total", "Client connections", true, &DataPlaneMetrics::connections_accepted},
    {"opid_connections_open", "Client connections open now", false, &DataPlaneMetrics::connections_open},
    {"opid_connections_refused_total", "Client connections over the bound", true,
     &DataPlaneMetrics::connections_refused},
    {"opid_requests_total", "Requests of clients", true, &DataPlaneMetrics::requests},
    {"opid_guarded_requests_total", "Guarded writes", true, &DataPlaneMetrics::guarded},
    {"opid_passed_through_total", "Requests that were passed through", true, &DataPlaneMetrics::passed_through},
    {"opid_tunnels_opened_total", "CONNECT tunnels", true, &DataPlaneMetrics::tunnels_opened},
    {"opid_tunnels_open", "CONNECT tunnels open now", false, &DataPlaneMetrics::tunnels_open},
    {"opid_tls_intercepted_total", "TLS handshakes with clients of profiled hosts", true,
     &DataPlaneMetrics::tls_intercepted},
    {"opid_tls_handshakes_failed_total", "Handshakes that a client broke off; most often it does not trust the CA",
     true, &DataPlaneMetrics::tls_handshakes_failed},
    {"opid_tls_refused_total", "Tunnels to profiled hosts refused before a handshake", true,
     &DataPlaneMetrics::tls_refused},
    {"opid_profile_tunnels_blind_total", "Tunnels to profiled hosts relayed unseen: their writes are not guarded", true,
     &DataPlaneMetrics::profile_tunnels_blind},
    {"opid_upstream_connects_total", "Connections made to providers and other origins", true,
     &DataPlaneMetrics::upstream_connects},
    {"opid_upstream_connect_failures_total", "Connections that could not be made", true,
     &DataPlaneMetrics::upstream_connect_failures},
    {"opid_upstream_reuses_total", "Requests on a connection that was there", true, &DataPlaneMetrics::upstream_reuses},
    {"opid_upstream_retries_total", "Reads sent again after a stale connection", true,
     &DataPlaneMetrics::upstream_retries},
    {"opid_clients_gone_total", "Clients that left before their answer", true, &DataPlaneMetrics::clients_gone},
    {"opid_answers_cut_total", "Relayed answers that ended early", true, &DataPlaneMetrics::answers_cut},
};

double total(const std::vector<const DataPlaneMetrics*>& threads, Counter DataPlaneMetrics::*member) {
    double sum = 0;
    for (const DataPlaneMetrics* metrics : threads) sum += static_cast<double>((metrics->*member).value());
    return sum;
}

}  // namespace

MetricSample gauge(std::string name, std::string help, double value) {
    return sample(std::move(name), std::move(help), false, value);
}

std::vector<MetricSample> data_plane_samples(const std::vector<const DataPlaneMetrics*>& threads) {
    std::vector<MetricSample> samples;
    for (const Named& named : plain_counters) {
        samples.push_back(sample(named.name, named.help, named.counter, total(threads, named.member)));
    }
    const std::string bytes_help = "Bytes of pass-through and tunnels";
    MetricSample up = sample("opid_pass_through_bytes_total", bytes_help, true,
                             total(threads, &DataPlaneMetrics::bytes_to_upstream));
    up.labels.emplace_back("direction", "to_upstream");
    MetricSample down = sample("opid_pass_through_bytes_total", bytes_help, true,
                               total(threads, &DataPlaneMetrics::bytes_to_client));
    down.labels.emplace_back("direction", "to_client");
    samples.push_back(std::move(up));
    samples.push_back(std::move(down));
    std::map<std::string, double> problems;  // two kinds share a slug
    for (std::size_t kind = 0; kind < problem_kinds; ++kind) {
        double sum = 0;
        for (const DataPlaneMetrics* metrics : threads) sum += static_cast<double>(metrics->problems[kind].value());
        if (sum > 0) problems[std::string(traits(static_cast<ProblemKind>(kind)).slug)] += sum;
    }
    for (const auto& [slug, count] : problems) {
        MetricSample made = sample("opid_problems_total", "Answers of opid's own outside the engine, by slug", true,
                                   count);
        made.labels.emplace_back("slug", slug);
        samples.push_back(std::move(made));
    }
    return samples;
}

std::vector<MetricSample> guarded_upstream_samples(const UpstreamClient::Counts& counts) {
    const auto made = [](const char* name, const char* help, std::uint64_t value) {
        return sample(name, help, true, static_cast<double>(value));
    };
    return {made("opid_guarded_connects_total", "Connections made for guarded writes", counts.connects),
            made("opid_guarded_connect_failures_total", "Connections for guarded writes that could not be made",
                 counts.failures),
            made("opid_guarded_reuses_total", "Guarded writes on a connection that was there", counts.reuses)};
}

std::vector<MetricSample> interception_samples(const InterceptorCounts& counts) {
    return {sample("opid_certificates_minted_total", "Certificates minted for profiled hosts", true,
                   static_cast<double>(counts.minted)),
            sample("opid_certificates_from_cache_total", "Handshakes that found their certificate minted", true,
                   static_cast<double>(counts.from_cache)),
            sample("opid_certificates_evicted_total", "Certificates dropped for lack of room", true,
                   static_cast<double>(counts.evicted)),
            gauge("opid_certificates_kept", "Minted certificates kept", static_cast<double>(counts.kept))};
}

std::vector<MetricSample> store_samples(const StoreHealth& health) {
    std::vector<MetricSample> samples;
    samples.push_back(
        sample("opid_store_commits_total", "Commits to the ledger", true, static_cast<double>(health.commits)));
    samples.push_back(sample("opid_store_syncs_total", "Syncs of the ledger", true, static_cast<double>(health.syncs)));
    samples.push_back(gauge("opid_store_writable", "1 while the ledger takes commits", health.writable ? 1 : 0));
    samples.push_back(gauge("opid_store_latched", "1 after a failed sync, until a restart", health.latched ? 1 : 0));
    samples.push_back(
        gauge("opid_store_free_bytes", "Free space below the data folder", static_cast<double>(health.free_bytes)));
    samples.push_back(
        gauge("opid_operations_open", "Operations that are not final", static_cast<double>(health.open_operations)));
    return samples;
}

}  // namespace opid
