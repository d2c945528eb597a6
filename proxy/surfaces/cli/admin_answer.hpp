#pragma once
// What the admin API answered, as the commands tell it.
#include <ostream>
#include <string>
#include <string_view>

#include "surfaces/cli/admin_client.hpp"

namespace opid {

// A member of the answer's object: a text as it is, anything else as JSON; nothing for null and what is not there.
std::string member_of(const AdminAnswer& answer, std::string_view name);

// Tells people why it was refused; returns exit_problem.
int tell_refusal(const AdminAnswer& answer, std::ostream& err);

}  // namespace opid
