#pragma once
// Calls the admin API of a running opid. Blocking, with a deadline.
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace opid {

struct AdminAnswer {
    int status = 0;
    std::string body;
    bool success() const { return status >= 200 && status <= 299; }
};

class AdminClient {
public:
    // address: "host:port"
    AdminClient(std::string address, Secret token) : address_(std::move(address)), token_(std::move(token)) {}

    // Error (unavailable): nobody answers there.
    Result<AdminAnswer> call(std::string_view method, const std::string& target, std::string body = {}) const;
    // Calls `take` for each data line of the event stream until it returns false or the stream ends.
    Result<AdminAnswer> events(const std::function<bool(std::string_view data)>& take) const;
    const std::string& address() const { return address_; }

private:
    std::string address_;
    Secret token_;
};

}  // namespace opid
