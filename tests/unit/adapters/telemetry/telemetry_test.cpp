#include <catch2/catch.hpp>

#include "adapters/telemetry/fan_out.hpp"
#include "adapters/telemetry/log.hpp"
#include "adapters/telemetry/log_observer.hpp"
#include "adapters/telemetry/metrics.hpp"

using namespace opid;

namespace {

class FixedTime final : public Timers {
public:
    Instant now() const override { return at; }
    Task<> sleep_for(Millis) override { co_return; }  // tidy: allow(test sleep) a port that does not sleep
    std::shared_ptr<void> after(Executor, Millis, std::function<void()>) override { return nullptr; }
    Instant at = from_unix_ms(1'000'000);
};

HistoryEvent event(std::string what, OperationStatus from, OperationStatus to) {
    HistoryEvent made;
    made.what = std::move(what);
    made.actor = "caller";
    made.from = from;
    made.to = to;
    return made;
}

struct Lines {
    std::vector<std::string> all;
    LogOptions options(LogSeverity least, bool json) {
        LogOptions made;
        made.least = least;
        made.json = json;
        made.sink = [this](std::string_view line) { all.emplace_back(line); };
        return made;
    }
};

}  // namespace

TEST_CASE("a log line keeps hostile bytes out of the terminal and of the JSON") {
    CHECK(format_log_line(true, LogSeverity::info, "started", {{"port", "8080"}}) ==
          R"("level":"info","event":"started","port":"8080")");
    CHECK(format_log_line(true, LogSeverity::error, "x", {{"v", "a\n\x1b[2J\"\\"}}) ==
          R"("level":"error","event":"x","v":"a\n\u001b[2J\"\\")");
    CHECK(format_log_line(true, LogSeverity::error, "x", {{"v", "\xff\xfe"}}) ==
          R"("level":"error","event":"x","v":"\\xff\\xfe")");
    CHECK(format_log_line(false, LogSeverity::warning, "x", {{"plain", "a-b"}, {"v", "a b\r\n\x7f"}, {"empty", ""}}) ==
          R"(warning x plain=a-b v="a b\x0d\x0a\x7f" empty="")");
    CHECK(format_log_line(false, LogSeverity::debug, "x", {{"v", std::string(5000, 'a')}}).size() ==
          std::string("debug x v=").size() + Log::value_bytes_max);
}

TEST_CASE("everyday transitions are debug, doubt and people's words are info") {
    using enum OperationStatus;
    CHECK(LogObserver::severity_of(event("claimed", prepared, in_progress)) == LogSeverity::debug);
    CHECK(LogObserver::severity_of(event("answered", in_progress, succeeded)) == LogSeverity::debug);
    CHECK(LogObserver::severity_of(event("not_sent", in_progress, prepared)) == LogSeverity::debug);
    CHECK(LogObserver::severity_of(event("answered", in_progress, unknown)) == LogSeverity::info);
    CHECK(LogObserver::severity_of(event("lost", in_progress, unknown)) == LogSeverity::info);
    CHECK(LogObserver::severity_of(event("owner_lost", in_progress, unknown)) == LogSeverity::info);
    CHECK(LogObserver::severity_of(event("resolved", needs_review, succeeded)) == LogSeverity::info);
}

TEST_CASE("trouble is bounded and what was withheld is told") {
    Lines lines;
    Log log(lines.options(LogSeverity::info, false));
    FixedTime time;
    LogObserver observer(log, time);
    for (int i = 0; i < 50; ++i) observer.trouble("store", "full");
    CHECK(lines.all.size() == 20);
    time.at += Millis{1000};
    observer.trouble("store", "full");
    REQUIRE(lines.all.size() == 21);
    CHECK(lines.all.back() == "warning trouble where=store what=full lines_withheld=30");
}

TEST_CASE("metrics count transitions and answers") {
    using enum OperationStatus;
    Metrics metrics;
    Lines lines;
    Log log(lines.options(LogSeverity::info, true));
    FixedTime time;
    LogObserver log_observer(log, time);
    FanOut all({&metrics, &log_observer});
    const Operation operation;
    all.moved(operation, event("claimed", prepared, in_progress));
    all.moved(operation, event("claimed", prepared, in_progress));
    all.moved(operation, event("lost", in_progress, unknown));
    all.answered("stripe", "replay");
    all.answered("stripe", "needs-review");
    all.answered("stripe", "never heard of");
    all.trouble("store", "full");
    CHECK(lines.all.size() == 2);

    MetricSample further;
    further.name = "opid_store_commits_total";
    further.help = "Commits to the ledger";
    further.labels = {{"odd", "a\"b\n"}};
    further.value = 7;
    const std::string text = metrics.text({further});
    for (const char* line : {"# TYPE opid_operation_transitions_total counter",
                             "opid_operation_transitions_total{from=\"prepared\",to=\"in_progress\"} 2",
                             "opid_operation_transitions_total{from=\"in_progress\",to=\"unknown\"} 1",
                             "opid_answers_total{kind=\"replay\"} 1", "opid_answers_total{kind=\"needs-review\"} 1",
                             "opid_answers_total{kind=\"other\"} 1", "opid_answers_total{kind=\"joined\"} 0",
                             "opid_troubles_total 1", "opid_store_commits_total{odd=\"a\\\"b\\n\"} 7"}) {
        INFO(text);
        CHECK(text.find(line) != std::string::npos);
    }
}
