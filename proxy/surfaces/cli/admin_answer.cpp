#include "surfaces/cli/admin_answer.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "surfaces/cli/cli_host.hpp"
#include "surfaces/cli/cli_output.hpp"

namespace opid {

namespace json = boost::json;

std::string member_of(const AdminAnswer& answer, std::string_view name) {
    boost::system::error_code error;
    const json::value body = json::parse(answer.body, error);
    const json::value* member = !error && body.is_object() ? body.as_object().if_contains(name) : nullptr;
    if (member == nullptr || member->is_null()) return "";
    if (member->is_string()) return std::string(member->as_string());
    return json::serialize(*member);
}

int tell_refusal(const AdminAnswer& answer, std::ostream& err) {
    const std::string title = member_of(answer, "title");
    const std::string what = title.empty() ? "refused" : title;
    tell_problem(fmt::format("{} ({}). {}", what, answer.status, member_of(answer, "detail")), exit_problem, err);
    const std::string candidates = member_of(answer, "candidates");
    if (!candidates.empty()) err << printable(candidates) << "\n";
    return exit_problem;
}

}  // namespace opid
