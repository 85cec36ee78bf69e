import Capabilities
import CoreTesting
import Testing

@testable import GatewayStore

@Suite("Ids, days and pages")
struct ValueTests {
    @Test("An id is a UUID of version 7 that starts with its time, so that ids sort by it")
    func ids() throws {
        var random = SeededGenerator(seed: 7)
        // The time of RFC 9562, A.6: "February 22, 2022 2:22:22.00 PM GMT-05:00", 017F22E2-79B0 …
        let time = try #require(Timestamp(iso8601: "2022-02-22T14:22:22-05:00"))
        let id = Identifier.make(at: time, using: &random)
        #expect(id.hasPrefix("017f22e2-79b0-7") && id.count == 36)
        #expect(id.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        let variant = try #require(id.split(separator: "-")[3].first)
        #expect("89ab".contains(variant))
        let later = Identifier.make(at: Timestamp(microseconds: time.microseconds + 1000), using: &random)
        #expect(id < later)
        #expect(Set((0..<1000).map { _ in Identifier.make(at: time, using: &random) }).count == 1000)
        #expect(Identifier.make(at: Timestamp(microseconds: .min), using: &random).hasPrefix("00000000-0000-7"))
    }

    @Test("A day includes its first and its last microsecond", arguments: ["1969-12-31", "1970-01-01", "2024-02-29"])
    func days(text: String) throws {
        let day = try #require(Day(text))
        #expect(day.description == text)
        let start = try #require(Timestamp(iso8601: "\(text)T00:00:00Z"))
        #expect(Day(start) == day && Day(Timestamp(microseconds: start.microseconds - 1)) < day)
        #expect(Day(Timestamp(microseconds: start.microseconds + 86_399_999_999)) == day)
        #expect(Day(Timestamp(microseconds: start.microseconds + 86_400_000_000)).number == day.number + 1)
        #expect(Day.rest(after: start) == .seconds(86_400))
        #expect(Day.rest(after: Timestamp(microseconds: start.microseconds + 86_399_999_999)) == .microseconds(1))
    }

    @Test(
        "An invalid day is refused",
        arguments: ["", "2023-02-29", "2026-1-01", "2026-11-21T", "2026-11-21Z", "tomorrow"])
    func noDay(text: String) {
        #expect(Day(text) == nil)
    }

    @Test("Any timestamp has a day, and any day number has a text")
    func extremes() {
        #expect(Day(Timestamp(microseconds: .min)).number == -106_751_992)
        #expect(Day(Timestamp(microseconds: .max)).number == 106_751_991)
        #expect(!Day(number: .max).description.isEmpty && !Day(number: .min).description.isEmpty)
    }

    @Test("Pages know their position, and requests stay within their limits")
    func pages() {
        #expect(PageRequest(number: 0, size: 0) == PageRequest(number: 1, size: 1))
        #expect(PageRequest(number: -5, size: 1000).size == 100)
        #expect(PageRequest(number: .max, size: .max).offset > 0)
        let page = Page(items: [1, 2], request: PageRequest(number: 2, size: 2), total: 5)
        #expect(page.pages == 3 && page.hasNext && page.hasPrevious)
        #expect(page.map { String($0) } == Page(items: ["1", "2"], request: page.request, total: 5))
        let empty = Page<Int>(items: [], request: PageRequest(), total: 0)
        #expect(empty.pages == 0 && !empty.hasNext && !empty.hasPrevious)
        let last = Page(items: [5, 6], request: PageRequest(number: 3, size: 2), total: 6)
        #expect(last.pages == 3 && !last.hasNext)
    }
}
