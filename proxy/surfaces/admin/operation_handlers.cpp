// Looking at operations.
#include <charconv>

#include "core/operation/status.hpp"
#include "surfaces/admin/admin_api.hpp"
#include "surfaces/admin/operation_json.hpp"

namespace opid {
namespace {

constexpr std::size_t page_max = 500;

AdminReply bad_query(std::string_view detail) {
    return problem_reply(400, "invalid", "The query is not usable", detail);
}

std::optional<std::int64_t> number_from(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

bool all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "2026-11-30T10:00:00Z", with or without the time and fractions of it; or milliseconds since 1970.
std::optional<Instant> instant_from(std::string_view text) {
    if (all_digits(text)) {
        const auto ms = number_from(text);
        return ms ? std::optional(from_unix_ms(*ms)) : std::nullopt;
    }
    const bool with_time = text.size() >= 20 && text[10] == 'T' && text.back() == 'Z';
    if ((text.size() != 10 && !with_time) || text[4] != '-' || text[7] != '-') return std::nullopt;
    const auto part = [text](std::size_t at, std::size_t length) {
        return all_digits(text.substr(at, length)) ? number_from(text.substr(at, length)) : std::nullopt;
    };
    const auto year = part(0, 4);
    const auto month = part(5, 2);
    const auto day = part(8, 2);
    if (!year || !month || !day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok()) return std::nullopt;
    const Instant midnight = std::chrono::time_point_cast<Millis>(std::chrono::sys_days{date});
    if (!with_time) return midnight;
    const auto hours = part(11, 2);
    const auto minutes = part(14, 2);
    const auto seconds = part(17, 2);
    if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
    return midnight + std::chrono::hours{*hours} + std::chrono::minutes{*minutes} + std::chrono::seconds{*seconds};
}

}  // namespace

Task<AdminReply> AdminApi::list_operations(const Call& call) {
    ListQuery query;
    query.provider = std::string(call.target.value("provider"));
    query.tenant = std::string(call.target.value("tenant"));
    query.id = std::string(call.target.value("id"));
    query.cursor = std::string(call.target.value("cursor"));
    if (const auto word = call.target.value("status"); !word.empty()) {
        query.status = status_from_word(word);
        if (!query.status) co_return bad_query("'status' has to be one of the eight statuses, such as needs_review.");
    }
    if (const auto word = call.target.value("since"); !word.empty()) {
        query.since = instant_from(word);
        if (!query.since) co_return bad_query("'since' has to be a UTC time such as 2026-11-30T10:00:00Z.");
    }
    if (const auto word = call.target.value("limit"); !word.empty()) {
        const auto limit = number_from(word);
        if (!limit || *limit < 1) co_return bad_query("'limit' has to be a number from 1 on.");
        query.limit = std::min(page_max, static_cast<std::size_t>(*limit));
    }
    Result<ListPage> page = co_await parts_.store.list(std::move(query));
    if (!page && page.error().kind() == ErrorKind::invalid) co_return bad_query(page.error().what());
    if (!page) co_return error_reply(page.error());
    std::string json = "{\"operations\":[";
    for (const Operation& operation : page->operations) {
        if (json.back() != '[') json += ',';
        json += operation_summary_json(operation);
    }
    json += "],\"cursor\":" + (page->next_cursor.empty() ? "null" : json_text(page->next_cursor)) + "}";
    co_return json_reply(std::move(json));
}

Task<AdminReply> AdminApi::show_operation(const Call& call) {
    AdminReply refusal;
    const std::optional<Operation> operation = co_await find_one(call, refusal);
    if (!operation) co_return refusal;
    co_return json_reply(operation_json(*operation));
}

Task<AdminReply> AdminApi::show_history(const Call& call) {
    AdminReply refusal;
    const std::optional<Operation> operation = co_await find_one(call, refusal);
    if (!operation) co_return refusal;
    Result<std::vector<HistoryEvent>> events = co_await parts_.store.load_history(operation->key);
    if (!events) co_return error_reply(events.error());
    co_return json_reply(history_json(*events));
}

}  // namespace opid
