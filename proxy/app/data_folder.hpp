#pragma once
// What lives in the data folder beside the store: the epoch, the node's name, the admin token, the spool.
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"
#include "engine/ports/entropy.hpp"

namespace opid {

// Makes <folder> and <folder>/spool, 0700.
Status make_data_folder(const std::string& folder);

// Larger than every epoch of an earlier start on this folder, durable when it returns. Taken from <folder>/epoch and,
// should that file be lost, from the clock.
Result<std::uint64_t> next_epoch(const std::string& folder, Instant now);

// The name under which this folder's claims are made: `wanted`, or the one of the first start. A store that moves to
// another machine keeps its name, so its claims stay its own.
Result<std::string> node_name(const std::string& folder, const std::string& wanted);

// The operator's token of the first start, in <folder>/admin.token (0600).
Result<Secret> admin_token(const std::string& folder, Entropy& entropy);

// Where the admin API listens, for commands on this machine: <folder>/admin.address.
Status note_admin_address(const std::string& folder, const std::string& address);

// Where the proxy listens, likewise: <folder>/proxy.address.
Status note_proxy_address(const std::string& folder, const std::string& address);

// Where opid's certificate authority lives, and the files that clients trust it by.
std::string authority_folder(const std::string& folder);

}  // namespace opid
