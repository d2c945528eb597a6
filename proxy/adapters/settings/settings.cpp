#include "adapters/settings/settings.hpp"

#include <fmt/format.h>

namespace opid {

std::string HostPort::to_string() const {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::string_view to_word(StoreEngine engine) {
    switch (engine) {
        case StoreEngine::rocksdb: return "rocksdb";
        case StoreEngine::postgres: return "postgres";
    }
    return "?";
}

std::string_view to_word(AdminRole role) {
    switch (role) {
        case AdminRole::viewer: return "viewer";
        case AdminRole::approver: return "approver";
        case AdminRole::operator_: return "operator";
    }
    return "?";
}

std::string_view to_word(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warning: return "warning";
        case LogLevel::error: return "error";
    }
    return "?";
}

std::string_view to_word(LogFormat format) {
    switch (format) {
        case LogFormat::json: return "json";
        case LogFormat::text: return "text";
    }
    return "?";
}

}  // namespace opid
