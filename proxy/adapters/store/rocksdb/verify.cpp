// `opid store verify`: reads everything and compares everything that is told twice.
#include <map>

#include <fmt/format.h>

#include "adapters/store/rocksdb/database.hpp"
#include "adapters/store/rocksdb/directory.hpp"
#include "adapters/store/rocksdb/store_files.hpp"
#include "base/encoding.hpp"
#include "core/operation/record_codec.hpp"

namespace opid {
namespace {

constexpr std::size_t problems_kept_max = 1000;

std::string name_of(const OperationKey& key) { return hex(bytes_of(key)); }

class Verifier {
public:
    Verifier(Database& database, VerifyReport& report) : database_(database), report_(report) {
        read_.fill_cache = false;
        read_.verify_checksums = true;
    }

    void run() {
        note(database_.db().VerifyChecksum(), "block checksums");
        each(Family::operations, [this](auto key, auto value) { final_entry(key, value); });
        each(Family::open, [this](auto key, auto value) { open_entry(key, value); });
        each(Family::by_time, [this](auto key, auto value) { by_time_entry(key, value); });
        each(Family::expiry, [this](auto key, auto) { expiry_entry(key); });
        each(Family::bodies, [this](auto key, auto value) { body_entry(key, value.size()); });
        each(Family::history, [this](auto key, auto value) { history_entry(key, value); });
        each(Family::steps, [this](auto key, auto value) { step_entry(key, value); });
    }

    void problem(std::string text) {
        ++report_.problem_count;
        if (report_.problems.size() < problems_kept_max) report_.problems.push_back(std::move(text));
    }

private:
    void note(const rocksdb::Status& status, std::string_view what) {
        if (!status.ok()) problem(fmt::format("{}: {}", what, status.ToString()));
    }

    template <class Visit>
    void each(Family family, Visit visit) {
        const std::unique_ptr<rocksdb::Iterator> at(database_.db().NewIterator(read_, database_.family(family)));
        for (at->SeekToFirst(); at->Valid(); at->Next()) visit(view(at->key()), view(at->value()));
        note(at->status(), family_names[static_cast<std::size_t>(family)]);
    }

    bool get(Family family, std::string_view key, std::string& value) {
        const rocksdb::Status status = database_.db().Get(read_, database_.family(family), slice(key), &value);
        if (!status.ok() && !status.IsNotFound()) note(status, family_names[static_cast<std::size_t>(family)]);
        return status.ok();
    }

    void check_body(const OperationKey& key, BodyPart part, const Payload& payload) {
        if (!payload.kept) return;
        const char* name = part == BodyPart::request ? "request" : "response";
        std::string beside;
        if (payload.external && !get(Family::bodies, body_key(key, part), beside)) {
            return problem(fmt::format("{}: its {} body is missing", name_of(key), name));
        }
        const std::string& bytes = payload.external ? beside : payload.bytes;
        if (bytes.size() != payload.size) {
            problem(fmt::format("{}: its {} body has {} bytes, {} were stored", name_of(key), name, bytes.size(),
                                payload.size));
        } else if (payload.digest != Digest{} && sha256(bytes) != payload.digest) {
            problem(fmt::format("{}: its {} body has another digest than the record says", name_of(key), name));
        }
    }

    void check_history(const Operation& operation) {
        std::uint64_t expected = 1;
        const std::string last = history_key(operation.key, ~std::uint64_t{0});
        const rocksdb::Slice upper(last);
        rocksdb::ReadOptions read = read_;
        read.iterate_upper_bound = &upper;
        const std::unique_ptr<rocksdb::Iterator> at(
            database_.db().NewIterator(read, database_.family(Family::history)));
        for (at->Seek(slice(bytes_of(operation.key))); at->Valid(); at->Next()) {
            const auto chunk = decode_history(view(at->value()));
            if (!chunk) continue;  // reported with its family
            for (const HistoryEvent& event : *chunk) expected += event.sequence == expected ? 1 : 0;
        }
        for (const HistoryEvent& event : operation.history) expected += event.sequence == expected ? 1 : 0;
        if (expected != operation.history_length + 1) {
            problem(fmt::format("{}: its history has gaps: {} events in order of {}", name_of(operation.key),
                                expected - 1, operation.history_length));
        }
    }

    void check_record(std::string_view key_bytes, std::string_view bytes, bool final_family) {
        const Result<Operation> operation = decode_operation(bytes);
        if (!operation) return problem(fmt::format("{}: {}", hex(key_bytes), operation.error().what()));
        ++(final_family ? report_.final_records : report_.open_records);
        if (bytes_of(operation->key) != key_bytes) problem(hex(key_bytes) + ": the record is of another operation");
        if (operation->key != operation_key(operation->tenant, operation->scope, operation->id)) {
            problem(hex(key_bytes) + ": the key is not that of its tenant, scope and ID");
        }
        if (is_final(operation->status) != final_family) {
            problem(fmt::format("{}: status {} in the wrong family", hex(key_bytes), to_word(operation->status)));
        }
        check_body(operation->key, BodyPart::request, operation->intent.body);
        if (operation->response) check_body(operation->key, BodyPart::response, operation->response->body);
        check_history(*operation);
        if (!final_family) return;
        std::string value;
        const TimedKey place = timed_key(operation->created, operation->key);
        const FinalFacts facts = final_facts(facts_of(*operation));
        if (!get(Family::by_time, view_of(place), value) || value != view_of(facts)) {
            problem(hex(key_bytes) + ": its entry in by_time is missing or differs");
        }
    }

    void final_entry(std::string_view key, std::string_view value) {
        if (key.size() != 32 || value.empty()) return problem(hex(key) + ": malformed entry in operations");
        if (value[0] == tag_record) return check_record(key, value.substr(1), true);
        const Result<Tombstone> tombstone = decode_tombstone(value.substr(1));
        if (value[0] != tag_tombstone || !tombstone) return problem(hex(key) + ": a tombstone can't be read");
        ++report_.tombstones;
        std::string unused;
        const TimedKey place = timed_key(tombstone->retired, *parse_operation_key(key));
        if (!get(Family::expiry, view_of(place), unused)) problem(hex(key) + ": its entry in expiry is missing");
    }

    void open_entry(std::string_view key, std::string_view value) {
        if (key.size() != 32) return problem(hex(key) + ": malformed entry in open");
        check_record(key, value, false);
        std::string unused;
        if (get(Family::operations, key, unused)) problem(hex(key) + ": is both open and final");
    }

    void by_time_entry(std::string_view key, std::string_view value) {
        const std::optional<ListPlace> place = parse_timed_key(key);
        if (!place || !parse_final_facts(place->created, value)) {
            return problem(hex(key) + ": malformed entry in by_time");
        }
        std::string record;
        const bool there = get(Family::operations, bytes_of(place->key), record);
        if (!there || record.empty() || record[0] != tag_record) {
            problem(name_of(place->key) + ": in by_time, but there is no final record");
        }
    }

    void expiry_entry(std::string_view key) {
        const std::optional<ListPlace> place = parse_timed_key(key);
        if (!place) return problem(hex(key) + ": malformed entry in expiry");
        std::string value;
        const bool there = get(Family::operations, bytes_of(place->key), value);
        if (!there || value.empty() || value[0] != tag_tombstone) {
            problem(name_of(place->key) + ": in expiry, but there is no tombstone");
        }
    }

    bool record_exists(std::string_view key) {
        std::string value;
        if (get(Family::open, key, value)) return true;
        return get(Family::operations, key, value) && !value.empty() && value[0] == tag_record;
    }

    void body_entry(std::string_view key, std::size_t size) {
        ++report_.bodies;
        report_.body_bytes += size;
        if (key.size() != 33) return problem(hex(key) + ": malformed entry in bodies");
        if (!record_exists(key.substr(0, 32))) problem(hex(key) + ": a body without a record");
    }

    void history_entry(std::string_view key, std::string_view value) {
        ++report_.history_chunks;
        if (key.size() != 40) return problem(hex(key) + ": malformed entry in history");
        const auto chunk = decode_history(value);
        if (!chunk) return problem(hex(key) + ": " + chunk.error().what());
        if (!record_exists(key.substr(0, 32))) problem(hex(key) + ": history without a record");
    }

    void step_entry(std::string_view key, std::string_view value) {
        if (key.size() == 64 && value.empty()) {
            std::string named;
            if (!get(Family::steps, key.substr(32), named)) problem(hex(key) + ": owner of a step that is not there");
            return;
        }
        ++report_.steps;
        if (key.size() != 32 || value.empty() || value.size() > step_named_bytes_max)
            problem(hex(key) + ": malformed entry in steps");
    }

    Database& database_;
    VerifyReport& report_;
    rocksdb::ReadOptions read_;
};

}  // namespace

Result<VerifyReport> verify_store(const std::string& directory) {
    const StorePaths paths(directory);
    if (!database_exists(paths)) return Error(ErrorKind::not_found, "there is no store in " + directory);
    const Result<DirectoryLock> lock = DirectoryLock::take(paths);
    if (!lock) return lock.error();
    VerifyReport report;
    const auto problem = [&report](std::string text) {
        ++report.problem_count;
        report.problems.push_back(std::move(text));
    };
    const HighWaterFile high_water(paths.high_water);
    const Result<HighWater> mark = check_high_water(paths, high_water, false);
    if (!mark) problem(mark.error().what());
    Result<std::unique_ptr<Database>> database = Database::open_read_only(paths.db);
    if (!database) {
        problem(database.error().what());
        return report;
    }
    const std::uint64_t sequence = (*database)->db().GetLatestSequenceNumber();
    if (mark && sequence < mark->sequence) {
        problem(fmt::format("the database ends at sequence {}, but {} was committed", sequence, mark->sequence));
    }
    Verifier(**database, report).run();
    return report;
}

}  // namespace opid
