#pragma once
// One pass-through exchange: request to the origin, answer to the client, both streaming and at the same time.
// Nothing is kept, nothing waits for the whole; only a bodyless read is sent a second time, when a connection that
// was used before turns out to be dead.
#include <optional>
#include <string>

#include "adapters/http/io_shard.hpp"

namespace opid {

// The answer of opid's own for a connection that couldn't be had.
Problem problem_of(const DialFailure& failure);

struct RelayPlan {
    const Origin* origin = nullptr;    // outlives the exchange
    std::string_view target;           // empty: origin form of the head's target
    std::string_view host;             // empty: as received
    std::string_view forwarded_for;    // reverse mode
    std::string_view credential_name;  // put in by opid; empty: none
    std::string_view credential_value;
    std::string_view max_forwards;         // empty: as received
    std::optional<std::string_view> body;  // the whole body, when it was read before; else it streams
};

struct RelayEnd {
    bool keep = false;               // the client connection can serve another request
    std::optional<Problem> problem;  // nothing was written to the client: this is the answer
    bool body_unread = false;        // the client may still be sending
};

class Relay {
public:
    // The head in `scratch` has been taken off scratch.in; its body has not, apart from plan.body.
    Relay(IoShard& shard, Stream& client, Scratch& scratch, RelayPlan plan);
    Task<RelayEnd> run();

private:
    enum class Step : std::uint8_t { go_on, again, over };

    void write_head();
    bool take_buffered_body();
    bool reuse_connection();
    Task<bool> dial();
    Task<Step> read_head();
    Task<Step> handle_head(std::size_t head_bytes);
    Task<Step> relay_interim(std::size_t head_bytes);
    void write_answer_head(std::size_t head_bytes);
    Task<> relay_body();
    Task<> switch_protocols(std::size_t head_bytes);
    void start_pump();
    Task<> pump();
    Task<> pump_body();
    Task<> pump_buffered_body();
    Task<> stop_pump();
    Task<bool> write_rest();
    Task<> finish();
    bool request_sent() const;
    bool stopped() const { return client_gone_ || bad_body_ || body_stalled_ || origin_stalled_; }
    Step interrupted();
    Step lost(std::string_view what);
    void cut_answer();
    void watch() noexcept;
    void client_left() noexcept;
    void refuse(ProblemKind kind, std::string detail);

    IoShard& shard_;
    Stream& client_;
    Scratch& s_;
    RelayPlan plan_;
    Stream upstream_;
    std::optional<TaskGroup> pumping_;
    RelayEnd end_;
    Deadline watch_;
    Deadline expect_;
    Deadline given_up_;
    std::uint64_t generation_;  // of the profiles when this began: what it dials may rest under no later one

    // Of the request: its head is gone once the body streams through the same buffer.
    std::string method_;
    std::uint8_t minor_ = 1;
    bool keep_alive_ = true;
    bool expects_ = false;
    bool repeatable_ = false;  // a bodyless read
    bool websocket_ = false;
    bool chunked_ = false;

    std::size_t sent_ = 0;  // bytes of the request written upstream
    bool reused_ = false;   // the connection served others before
    bool whole_ = false;    // the request lies in s_.out from end to end
    bool pump_done_ = true;
    bool pump_stop_ = false;
    bool client_gone_ = false;
    bool bad_body_ = false;  // the request body is malformed
    bool body_stalled_ = false;
    bool origin_stalled_ = false;  // it took no more of the request, and then had its time to answer
    bool answered_ = false;        // a byte of the final answer was written to the client
    bool continued_ = false;       // a 100 went to the client
    bool answer_whole_ = false;
    std::uint32_t interim_ = 0;
    Millis keep_upstream_{0};  // how long the connection may rest in the pool
    http::BodyKind answer_kind_ = http::BodyKind::none;
};

}  // namespace opid
