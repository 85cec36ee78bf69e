import Capabilities
import CoreTesting
import JSON
import Testing

@Suite("Duration words")
struct DurationTests {
    @Test(
        "Durations are read in every usual form",
        arguments: [
            ("250ms", .milliseconds(250)), ("30s", .seconds(30)), ("1m30s", .seconds(90)), ("2h", .seconds(7200)),
            ("1d", .seconds(86_400)), ("15min", .seconds(900)), ("7us", .microseconds(7)), ("7µs", .microseconds(7)),
            ("1.5h", .seconds(5400)), ("0", .zero), ("45", .seconds(45)), ("0.25", .milliseconds(250)),
            ("1h2m3s4ms", .milliseconds(3_723_004)),
        ] as [(String, Duration)])
    func reading(words: String, expected: Duration) {
        #expect(Duration(words: words) == expected)
    }

    @Test(
        "Text that is not a duration is refused",
        arguments: [
            "", " ", "s", "-5", "-5s", "5 s", "5parsec", "1m30", "1..5s", "nan", "inf", "1e13", "1e13s", "30S",
            "12000000d",
        ])
    func refusing(words: String) {
        #expect(Duration(words: words) == nil)
    }

    @Test("Durations do not overflow, however many parts they have")
    func manyParts() {
        #expect(Duration(words: String(repeating: "999999999999d", count: 3000)) == nil)
    }

    @Test(
        "Durations are written in the shortest usual form",
        arguments: [
            (.zero, "0s"), (.milliseconds(250), "250ms"), (.seconds(30), "30s"), (.seconds(90), "1m30s"),
            (.seconds(7200), "2h"), (.seconds(90_000), "25h"), (.microseconds(1500), "1500us"),
            (.milliseconds(1500), "1.5s"), (.seconds(3601), "1h1s"), (.nanoseconds(999), "0s"),
        ] as [(Duration, String)])
    func writing(duration: Duration, expected: String) {
        #expect(duration.words == expected)
        #expect(duration.json == .string(expected))
    }

    @Test("Durations keep every microsecond through a round trip", arguments: seeds)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            // Every magnitude from a microsecond to thirty years is equally frequent.
            let limit = Int64(1) << Int64.random(in: 1...50, using: &generator)
            let duration = Duration.microseconds(Int64.random(in: 0..<limit, using: &generator))
            try #require(Duration(words: duration.words) == duration, "\(duration.words)")
        }
    }

    @Test("Durations lose no millisecond to binary fractions", arguments: seeds)
    func milliseconds(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let count = Int.random(in: 0..<10_000_000, using: &generator)
            try #require(Duration(words: "\(count)ms")?.milliseconds == count)
        }
    }

    @Test("Milliseconds are whole and rounded down")
    func roundedDown() {
        #expect(Duration.microseconds(2999).milliseconds == 2)
        #expect(Duration.seconds(Int64.max).milliseconds == .max)
    }

    @Test("A JSON number is a duration in seconds")
    func jsonNumbers() throws {
        #expect(try Duration(json: 2) == .seconds(2))
        #expect(try Duration(json: 0.001) == .milliseconds(1))
    }

    @Test(
        "JSON that is not a duration is refused", arguments: [-1, 1e12, "soon", true, nil, []] as [JSON])
    func refusedJSON(json: JSON) {
        #expect(
            thrownMessage { () throws(ValueError) in try Duration(json: json) }
                == "needs a duration such as 250ms, 30s or 1m30s")
        #expect(!Schema.duration.problems(in: json).isEmpty)
    }

    @Test(
        "Durations for people are rounded and have a unit",
        arguments: [
            (0.0, "0 s"), (9.925e-06, "10 µs"), (0.00045, "0.5 ms"), (0.0123, "12 ms"), (0.9996, "1.0 s"),
            (3.21, "3.2 s"),
            (42, "42 s"), (60, "1 min"), (67.4, "1 min 7 s"), (7_500, "2 h 5 min"), (-1, "0 s"), (.infinity, "inf s"),
        ])
    func spans(seconds: Double, words: String) {
        #expect(Duration.roundedWords(seconds: seconds) == words)
    }
}
