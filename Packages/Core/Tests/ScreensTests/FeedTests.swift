import Screens
import Testing

@Suite("Feed")
struct FeedTests {
    private func texts(_ feed: Feed<Log.Line>, from position: Int = 0, count: Int = .max) -> [String] {
        feed.entries(from: position, count: count).entries.map(\.text)
    }

    @Test("Entries are read by position, and positions stay the same while the feed grows")
    func positions() {
        let feed = Feed<Log.Line>()
        feed.append(["a", "b", "c"].map { Log.Line($0) })
        #expect(texts(feed) == ["a", "b", "c"] && texts(feed, from: 1, count: 1) == ["b"])
        feed.append(Log.Line("d"))
        #expect(texts(feed, from: 3) == ["d"] && texts(feed, from: 9).isEmpty && feed.end == 4)
    }

    @Test("Beyond its number of entries the oldest are dropped, and a reader sees how many")
    func ring() {
        let feed = Feed<Log.Line>(mostEntries: 100)
        for number in 0..<1_000 { feed.append(Log.Line("\(number)")) }
        #expect(feed.start == 900 && feed.end == 1_000)
        let (position, entries) = feed.entries(from: 0)
        #expect(position == 900 && entries.map(\.text) == (900..<1_000).map { "\($0)" })
        #expect(texts(feed, from: 998) == ["998", "999"])
    }

    @Test("Beyond its number of bytes the oldest are dropped, but never the newest")
    func bytes() {
        let feed = Feed<Log.Line>(mostBytes: 1_000)
        for _ in 0..<100 { feed.append(Log.Line(String(repeating: "x", count: 84))) }
        #expect(feed.end - feed.start == 10)
        feed.append(Log.Line(String(repeating: "y", count: 5_000)))
        #expect(feed.end == 101 && feed.start == 100)
        feed.append(Log.Line("z"))
        #expect(texts(feed) == ["z"])
    }

    @Test("The newest entry can be replaced while it is written")
    func replaced() {
        let feed = Feed<Transcript.Entry>()
        feed.replaceLast(with: Transcript.Entry("1", .model, "Hel", isOpen: true))
        let version = feed.version
        feed.replaceLast(with: Transcript.Entry("1", .model, "Hello"))
        #expect(feed.entries(from: 0).entries.map(\.text) == ["Hello"] && feed.end == 1 && feed.version > version)
    }
}
