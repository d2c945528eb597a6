// Reads of the open store. A record is in `open` or in `operations`, and only ever moves from the first to the
// second: looking in that order finds it without a snapshot.
#include <iterator>
#include <map>

#include "adapters/store/rocksdb/rocks_impl.hpp"
#include "core/operation/record_codec.hpp"

namespace opid {
namespace {

// A page ends after so many index entries even when few of them matched; its cursor goes on from there.
constexpr std::size_t entries_a_page_max = 100'000;

Error read_error(const rocksdb::Status& status) {
    return {ErrorKind::unavailable, "the store can't be read: " + status.ToString()};
}

Result<Loaded> decoded_record(std::string_view bytes) {
    Result<Operation> operation = decode_operation(bytes);
    if (!operation) return operation.error();
    return Loaded{std::move(*operation)};
}

Result<Loaded> decoded_final(std::string_view bytes) {
    if (bytes.empty()) return Error(ErrorKind::invalid, "stored record: empty");
    if (bytes[0] == tag_record) return decoded_record(bytes.substr(1));
    const Result<Tombstone> tombstone = decode_tombstone(bytes.substr(1));
    if (!tombstone) return tombstone.error();
    return Loaded{*tombstone};
}

}  // namespace

std::optional<Result<Loaded>> RocksStore::Impl::load_final(const OperationKey& key, const rocksdb::ReadOptions& read) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = database->db().Get(read, database->family(Family::operations), slice(bytes_of(key)),
                                                      &value);
    if (gave_up(read, status, value)) return std::nullopt;
    if (status.IsNotFound()) return Result<Loaded>(Loaded{Absent{}});
    if (!status.ok()) return Result<Loaded>(read_error(status));
    return decoded_final(view(value));
}

std::optional<Result<Loaded>> RocksStore::Impl::load(const OperationKey& key, rocksdb::ReadTier tier) {
    rocksdb::ReadOptions read;
    read.read_tier = tier;
    if (index.contains(key)) {
        rocksdb::PinnableSlice value;
        const rocksdb::Status status = database->db().Get(read, database->family(Family::open), slice(bytes_of(key)),
                                                          &value);
        if (gave_up(read, status, value)) return std::nullopt;
        if (status.ok()) return decoded_record(view(value));
        if (!status.IsNotFound()) return Result<Loaded>(read_error(status));
    }
    return load_final(key, read);
}

Result<std::optional<Operation>> RocksStore::Impl::load_record(const OperationKey& key) {
    std::optional<Result<Loaded>> loaded = load(key, rocksdb::kReadAllTier);
    if (!loaded) return Error(ErrorKind::internal, "the store gave no answer");
    if (!*loaded) return loaded->error();
    auto* operation = std::get_if<Operation>(&**loaded);
    if (operation == nullptr) return std::optional<Operation>{};
    return std::optional<Operation>{std::move(*operation)};
}

Result<std::vector<Operation>> RocksStore::Impl::load_open_records(const std::vector<OperationKey>& keys) {
    std::vector<Operation> operations;
    operations.reserve(keys.size());
    for (const OperationKey& key : keys) {
        Result<std::optional<Operation>> operation = load_record(key);
        if (!operation) return operation.error();
        if (*operation && !is_final((*operation)->status)) operations.push_back(std::move(**operation));
    }
    return operations;
}

Result<std::string> RocksStore::Impl::load_body(const OperationKey& key, BodyPart part) {
    std::string bytes;
    const rocksdb::Status status = database->db().Get(rocksdb::ReadOptions(), database->family(Family::bodies),
                                                      body_key(key, part), &bytes);
    if (status.IsNotFound()) return Error(ErrorKind::not_found, "no such body is kept");
    if (!status.ok()) return read_error(status);
    return bytes;
}

Result<std::vector<HistoryEvent>> RocksStore::Impl::load_history(const OperationKey& key) {
    // The record and its older events must be of one moment: a commit may move events from one to the other.
    rocksdb::ManagedSnapshot snapshot(&database->db());
    rocksdb::ReadOptions read;
    read.snapshot = snapshot.snapshot();
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = database->db().Get(read, database->family(Family::open), slice(bytes_of(key)),
                                                      &value);
    std::optional<Result<Loaded>> loaded = status.ok() ? decoded_record(view(value)) : load_final(key, read);
    if (!loaded || !*loaded) return loaded ? loaded->error() : read_error(status);
    auto* operation = std::get_if<Operation>(&**loaded);
    if (operation == nullptr) return Error(ErrorKind::not_found, "no such operation");

    std::vector<HistoryEvent> events;
    const std::string last = history_key(key, ~std::uint64_t{0});
    const rocksdb::Slice upper(last);
    read.iterate_upper_bound = &upper;
    const std::unique_ptr<rocksdb::Iterator> at(database->db().NewIterator(read, database->family(Family::history)));
    for (at->Seek(slice(bytes_of(key))); at->Valid(); at->Next()) {
        Result<std::vector<HistoryEvent>> chunk = decode_history(view(at->value()));
        if (!chunk) return chunk.error();
        std::move(chunk->begin(), chunk->end(), std::back_inserter(events));
    }
    if (!at->status().ok()) return read_error(at->status());
    std::move(operation->history.begin(), operation->history.end(), std::back_inserter(events));
    return events;
}

namespace {

// Open operations (from memory) and final ones (from by_time), merged newest first.
class Candidates {
public:
    Candidates(rocksdb::Iterator& finals, std::vector<ListPlace> open, bool open_cut, const ListQuery& query,
               const std::optional<ListPlace>& cursor)
        : finals_(finals),
          open_(std::move(open)),
          open_cut_(open_cut),
          query_(query) {
        if (cursor) {
            const TimedKey from = timed_key(cursor->created, cursor->key);
            finals_.SeekForPrev(slice(view_of(from)));
            if (finals_.Valid() && view(finals_.key()) == view_of(from)) finals_.Prev();
        } else {
            finals_.SeekToLast();
        }
    }

    // The next place that may match; nullopt at the end, or where cut() says that the page has to end here.
    std::optional<ListPlace> next() {
        for (;;) {
            const std::optional<ListPlace> final_place = current_final();
            if (next_open_ == open_.size() && open_cut_) {
                cut_ = true;
                return std::nullopt;
            }
            if (next_open_ < open_.size() && (!final_place || open_[next_open_] >= *final_place)) {
                if (final_place && open_[next_open_] == *final_place) finals_.Prev();  // became final just now
                last_ = open_[next_open_];
                return open_[next_open_++];
            }
            if (!final_place) return std::nullopt;
            if (++scanned_ > entries_a_page_max) {
                cut_ = true;
                return std::nullopt;
            }
            const std::optional<RecordFacts> facts = parse_final_facts(final_place->created, view(finals_.value()));
            finals_.Prev();
            last_ = *final_place;
            if (facts && may_match(query_, final_place->key, *facts)) return final_place;
        }
    }

    bool cut() const { return cut_; }
    const std::optional<ListPlace>& last() const { return last_; }

private:
    std::optional<ListPlace> current_final() const {
        if (!finals_.Valid() || (query_.status && !is_final(*query_.status))) return std::nullopt;
        const std::optional<ListPlace> place = parse_timed_key(view(finals_.key()));
        if (!place || (query_.since && place->created < *query_.since)) return std::nullopt;
        return place;
    }

    rocksdb::Iterator& finals_;
    std::vector<ListPlace> open_;
    bool open_cut_;
    const ListQuery& query_;
    std::size_t next_open_ = 0;
    std::size_t scanned_ = 0;
    bool cut_ = false;
    std::optional<ListPlace> last_;
};

}  // namespace

Result<ListPage> RocksStore::Impl::list(const ListQuery& query) {
    const Result<std::optional<ListPlace>> cursor = decode_cursor(query.cursor);
    if (!cursor) return cursor.error();
    if (!query.id.empty()) return list_by_id(query, *cursor);
    const std::size_t limit = list_limit(query);
    // The open ones first: what becomes final in between is then met in by_time, and not missed.
    std::vector<ListPlace> open = index.places(query, *cursor, limit + 1);
    const bool open_cut = open.size() == limit + 1;
    const std::unique_ptr<rocksdb::Iterator> finals(
        database->db().NewIterator(rocksdb::ReadOptions(), database->family(Family::by_time)));
    Candidates candidates(*finals, std::move(open), open_cut, query, *cursor);
    ListPage page;
    std::optional<ListPlace> last_shown;
    while (const std::optional<ListPlace> place = candidates.next()) {
        Result<std::optional<Operation>> operation = load_record(place->key);
        if (!operation) return operation.error();
        if (!*operation || !matches(query, **operation)) continue;
        if (page.operations.size() == limit) {
            page.next_cursor = encode_cursor(*last_shown);
            return page;
        }
        page.operations.push_back(std::move(**operation));
        last_shown = place;
    }
    if (!finals->status().ok()) return read_error(finals->status());
    if (candidates.cut() && candidates.last()) page.next_cursor = encode_cursor(*candidates.last());
    return page;
}

Result<ListPage> RocksStore::Impl::list_by_id(const ListQuery& query, const std::optional<ListPlace>& cursor) {
    std::map<ListPlace, Operation, std::greater<>> found;
    for (const auto& [tenant, scope] : scopes.all()) {
        if (!query.tenant.empty() && tenant != query.tenant) continue;
        Result<std::optional<Operation>> operation = load_record(operation_key(tenant, scope, query.id));
        if (!operation) return operation.error();
        if (!*operation || !matches(query, **operation)) continue;
        const ListPlace place{(*operation)->created, (*operation)->key};
        if (!cursor || place < *cursor) found.emplace(place, std::move(**operation));
    }
    ListPage page;
    std::optional<ListPlace> last;
    for (auto& [place, operation] : found) {
        if (page.operations.size() == list_limit(query)) {
            page.next_cursor = encode_cursor(*last);
            break;
        }
        page.operations.push_back(std::move(operation));
        last = place;
    }
    return page;
}

std::optional<Result<Loaded>> RocksStore::load_now(const OperationKey& key) {
    return impl_->load(key, rocksdb::kBlockCacheTier);
}

Task<Result<Loaded>> RocksStore::load(OperationKey key) {
    std::optional<Result<Loaded>> cached = load_now(key);
    if (cached) co_return std::move(*cached);
    Impl& impl = *impl_;
    Task<Result<Loaded>> work = offload<Result<Loaded>>(*impl.readers, [&impl, key]() -> Result<Loaded> {
        std::optional<Result<Loaded>> read = impl.load(key, rocksdb::kReadAllTier);
        if (!read) return Error(ErrorKind::internal, "the store gave no answer");
        return std::move(*read);
    });
    Result<Loaded> loaded = co_await std::move(work);
    co_return loaded;
}

Task<Result<std::string>> RocksStore::load_body(OperationKey key, BodyPart part) {
    Impl& impl = *impl_;
    Task<Result<std::string>> work = offload<Result<std::string>>(
        *impl.readers, [&impl, key, part] { return impl.load_body(key, part); });
    Result<std::string> body = co_await std::move(work);
    co_return body;
}

Task<Result<std::vector<HistoryEvent>>> RocksStore::load_history(OperationKey key) {
    Impl& impl = *impl_;
    Task<Result<std::vector<HistoryEvent>>> work = offload<Result<std::vector<HistoryEvent>>>(
        *impl.readers, [&impl, key] { return impl.load_history(key); });
    Result<std::vector<HistoryEvent>> events = co_await std::move(work);
    co_return events;
}

Task<Result<ListPage>> RocksStore::list(ListQuery query) {
    Impl& impl = *impl_;
    Task<Result<ListPage>> work = offload<Result<ListPage>>(
        *impl.readers, [&impl, query = std::move(query)] { return impl.list(query); });
    Result<ListPage> page = co_await std::move(work);
    co_return page;
}

Task<Result<std::vector<Operation>>> RocksStore::due(Instant until, DuePlace after, std::size_t limit) {
    Impl& impl = *impl_;
    Task<Result<std::vector<Operation>>> work = offload<Result<std::vector<Operation>>>(
        *impl.readers, [&impl, until, after = std::move(after), limit] {
            return impl.load_open_records(impl.index.due(until, after, limit));
        });
    Result<std::vector<Operation>> operations = co_await std::move(work);
    co_return operations;
}

Task<Result<std::vector<Operation>>> RocksStore::in_progress() {
    Impl& impl = *impl_;
    Task<Result<std::vector<Operation>>> work = offload<Result<std::vector<Operation>>>(
        *impl.readers, [&impl] { return impl.load_open_records(impl.index.in_progress()); });
    Result<std::vector<Operation>> operations = co_await std::move(work);
    co_return operations;
}

}  // namespace opid
