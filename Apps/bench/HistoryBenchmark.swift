import Capabilities
import ChatHistory
import Glibc
import HTTPTesting
import StorageKit

/// A hundred thousand conversations of ten messages each: the first page of their list, and searches in their million
/// messages for the newest 20.
enum HistoryBenchmark {
    private static let conversations = 100_000
    private static let length = 10
    private static let rounds = 1000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            var words = MessageWords(seed: 21)
            let path = "\(folder)/chat.db"
            let filling = try await fill(History(path, now: { now() }), &words)
            // What was just written is not measured while it is still in order for that.
            let history = History(path, now: { now() })
            guard
                try await history.database.read({ try $0.first("SELECT count(*) FROM messages") { try $0[0] } })
                    == conversations * length
            else { throw BenchmarkError("not all messages are stored") }
            let list = try await measure {
                let page = try await history.list()
                guard page.items.count == 50, page.next != nil else { throw BenchmarkError("the page is not full") }
            }
            let filtered = try await measure {
                let page = try await history.list(HistoryFilter(model: "model 3"))
                guard page.items.count == 50 else { throw BenchmarkError("the filtered page is not full") }
            }
            let search = try await search(history, &words)
            await history.close()
            return [
                Figure(
                    "newest 20 of a search in 1,000,000 messages, p99", search[rounds * 99 / 100], "ms", .atMost(10)),
                Figure("first page of 100,000 conversations, p99", list[rounds * 99 / 100], "ms", .atMost(5)),
                Figure("newest 20 of a search, median", search[rounds / 2], "ms"),
                Figure("first page, median", list[rounds / 2], "ms"),
                Figure("first page of one model's, p99", filtered[rounds * 99 / 100], "ms"),
                Figure("bringing conversations in", Double(conversations * length) / filling, "messages/s"),
            ]
        }
    }

    /// The seconds that bringing all of it in takes.
    private static func fill(_ history: History, _ words: inout MessageWords) async throws -> Double {
        let start = ContinuousClock.now
        for number in 0..<conversations {
            let messages = (0..<length).map { place in
                Message(place.isMultiple(of: 2) ? .user : .assistant, words.message())
            }
            let setup = ConversationSetup(provider: "provider", model: "model \(number % 7)", server: "server")
            try await history.add(Transcript(title: words.word(), setup: setup, messages: messages))
        }
        await history.close()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// Milliseconds in rising order: single words of all frequencies, pairs of words, beginnings of words.
    private static func search(_ history: History, _ words: inout MessageWords) async throws -> [Double] {
        var times: [Double] = []
        for number in 0..<rounds {
            let typed =
                switch number % 4 {
                case 0: "\(words.word()) \(words.word())"
                case 1: "\(words.word().prefix(4))*"
                default: words.word()
                }
            let start = ContinuousClock.now
            let found = try await history.search(typed)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            // Two rare words may stand together nowhere.
            guard !found.isEmpty || number % 4 == 0 else { throw BenchmarkError("nothing was found for \(typed)") }
        }
        return times.sorted()
    }

    private static func measure(_ body: () async throws -> Void) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<rounds {
            let start = ContinuousClock.now
            try await body()
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        return times.sorted()
    }

    private static func now() -> Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
