import Capabilities
import CoreTesting
import JSON
import Testing

@Suite("Timestamp")
struct TimestampTests {
    /// Texts in canonical form, with their microseconds.
    static let moments: [(text: String, microseconds: Int64)] = [
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59Z", -1_000_000),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("2000-02-29T12:00:00Z", 951_825_600_000_000),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000_000),
        ("2024-12-31T23:59:59Z", 1_735_689_599_000_000),
        ("2026-11-20T09:30:00.25Z", 1_795_167_000_250_000),
        ("1900-03-01T00:00:00Z", -2_203_891_200_000_000),
        ("1600-02-29T00:00:00Z", -11_670_998_400_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
    ]

    @Test("Timestamps are written and read as ISO 8601", arguments: moments)
    func bothWays(text: String, microseconds: Int64) {
        #expect(Timestamp(microseconds: microseconds).iso8601 == text)
        #expect(Timestamp(iso8601: text) == Timestamp(microseconds: microseconds))
    }

    @Test(
        "Timestamps are read with offsets, fractions and other separators",
        arguments: [
            ("2026-11-20T09:30:00+02:00", "2026-11-20T07:30:00Z"),
            ("2026-11-20T09:30:00-05:30", "2026-11-20T15:00:00Z"),
            ("2026-11-20T09:30:00+0200", "2026-11-20T07:30:00Z"),
            ("2026-11-20T09:30:00+02", "2026-11-20T07:30:00Z"),
            ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
            ("2026-11-20T09:30:00", "2026-11-20T09:30:00Z"),
            ("2026-11-20 09:30:00z", "2026-11-20T09:30:00Z"),
            ("2026-11-20t09:30:00,5Z", "2026-11-20T09:30:00.5Z"),
            ("2026-11-20T09:30:00.123456789Z", "2026-11-20T09:30:00.123456Z"),
            ("2026-11-20T09:30:00.000001Z", "2026-11-20T09:30:00.000001Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ])
    func forms(text: String, expected: String) {
        #expect(Timestamp(iso8601: text)?.iso8601 == expected)
    }

    @Test(
        "Text that is not a moment is refused",
        arguments: [
            "", "now", "2026-11-20", "2026-11-20T09:30Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z", "2026-04-31T00:00:00Z", "2025-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z", "2024-02-30T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T09:60:00Z",
            "2026-11-20T09:30:61Z", "2026-11-20T09:30:00.Z", "2026-11-20T09:30:00+24:00", "2026-11-20T09:30:00+01:60",
            "2026-11-20T09:30:00+1", "2026-11-20T09:30:00Zulu", "26-11-20T09:30:00Z", "-026-11-20T09:30:00Z",
            "2026-11-20T09:30:00 ", "٢٠٢٦-11-20T09:30:00Z",
        ])
    func refusing(text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test("Timestamps of the years 0 to 9999 survive a round trip", arguments: seeds)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let moment = Timestamp(
                microseconds: .random(in: -62_167_219_200_000_000...253_402_300_799_999_999, using: &generator))
            try #require(Timestamp(iso8601: moment.iso8601) == moment, "\(moment.microseconds)")
        }
    }

    @Test("Timestamps follow the calendar day by day over four centuries")
    func everyDay() {
        let lengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
        var days: Int64 = 0
        for year in Int64(1970)..<2370 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for month in Int64(1)...12 {
                for day in 1...(lengths[Int(month) - 1] + (isLeap && month == 2 ? 1 : 0)) {
                    let expected = "\(year)-\(two(month))-\(two(day))T00:00:00Z"
                    let moment = Timestamp(microseconds: days * 86_400_000_000)
                    if moment.iso8601 != expected || Timestamp(iso8601: expected) != moment {
                        Issue.record("\(expected) became \(moment.iso8601)")
                        return
                    }
                    days += 1
                }
            }
        }
        #expect(days == 146_097)
    }

    @Test(
        "Timestamps before the year 0 and at the ends of the range can be written",
        arguments: [
            (-62_167_219_200_000_001, "-0001-12-31T23:59:59.999999Z"),
            (.min, "-290308-12-21T19:59:05.224192Z"),
            (.max, "294247-01-10T04:00:54.775807Z"),
        ] as [(Int64, String)])
    func extremes(microseconds: Int64, expected: String) {
        #expect(Timestamp(microseconds: microseconds).iso8601 == expected)
    }

    @Test("Timestamps are compared and subtracted as moments")
    func arithmetic() {
        let early = Timestamp(microseconds: 1_000_000)
        let late = Timestamp(microseconds: 2_500_000)
        #expect(early < late)
        #expect(late - early == .milliseconds(1500))
        #expect(early - late == .milliseconds(-1500))
    }

    @Test("A time beyond all dates is the last there is, or the first")
    func ends() {
        let (first, last) = (Timestamp(microseconds: .min), Timestamp(microseconds: .max))
        #expect(last + .microseconds(1) == last && first + .microseconds(-1) == first)
        #expect(Timestamp(microseconds: 0) + .seconds(Int64.max) == last)
        #expect(Timestamp(microseconds: 0) + .seconds(Int64.min) == first)
        #expect(first + (last - first) == Timestamp(microseconds: .max))
        #expect((first - last) / .microseconds(1) < -1.8e19)
    }

    @Test(
        "Timestamps in JSON are text, and nothing else is accepted", arguments: [0, true, nil, "yesterday"] as [JSON])
    func refusedJSON(json: JSON) throws {
        #expect(
            thrownMessage { () throws(ValueError) in try Timestamp(json: json) }
                == "needs a time such as 2026-11-20T09:30:00Z")
        #expect(try Timestamp(json: Timestamp(microseconds: 5).json) == Timestamp(microseconds: 5))
    }

    @Test(
        "Timestamps are read as people type them, with days of local time",
        arguments: [
            ("2h", "2026-11-22T08:30:00Z"), ("90m", "2026-11-22T09:00:00Z"), ("3d", "2026-11-19T10:30:00Z"),
            ("now", "2026-11-22T10:30:00Z"), ("today", "2026-11-21T14:00:00Z"), ("Yesterday", "2026-11-20T14:00:00Z"),
            ("2026-11-22", "2026-11-21T14:00:00Z"), ("2026-11-20T09:30:00Z", "2026-11-20T09:30:00Z"),
            // Before the first Sunday of October, this zone's clocks were an hour behind.
            ("2026-09-01", "2026-08-31T15:00:00Z"), ("1960-01-02", "1960-01-01T15:00:00Z"),
            ("tomorrow", nil), ("2", nil), ("", nil), ("-2h", nil), ("2026-13-01", nil), ("2026-11-22T", nil),
        ] as [(String, String?)])
    func words(word: String, expected: String?) throws {
        let now = try #require(Timestamp(iso8601: "2026-11-22T10:30:00Z"))
        let change = try #require(Timestamp(iso8601: "2026-10-03T16:00:00Z"))
        let time = Timestamp(words: word, now: now) { $0 < change ? .seconds(9 * 3600) : .seconds(10 * 3600) }
        #expect(time?.iso8601 == expected)
    }

    @Test("A day begins at local midnight, also where that is behind UTC") func west() throws {
        let now = try #require(Timestamp(iso8601: "2026-11-22T02:30:00Z"))
        let time = Timestamp(words: "today", now: now) { _ in .seconds(-5 * 3600) }
        #expect(time?.iso8601 == "2026-11-21T05:00:00Z")
    }

    @Test("The compact form has whole seconds and no signs") func compact() throws {
        let time = try #require(Timestamp(iso8601: "2026-11-22T02:30:05.75Z"))
        #expect(time.compact == "20261122T023005")
    }
}
