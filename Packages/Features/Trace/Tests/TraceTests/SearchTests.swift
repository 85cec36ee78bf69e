import Capabilities
import CoreTesting
import JSON
import Registry
import Testing
import TraceStore

@testable import Trace

@Suite("Searching for spans", .timeLimit(.minutes(5)))
struct SearchTests {
    private static let now = Timestamp(microseconds: 1_800_000_000_000_000)

    /// Spans of three programs, a minute apart: each second one failed, and each third one called a tool.
    private func filled(_ body: (TraceStore) async throws -> Void) async throws {
        try await StoreLab.run { (lab) async throws in
            for (place, service) in ["martlet", "other", ""].enumerated() {
                let spans = try (0..<12).map { number in
                    var sample = SampleSpan(trace: place + 1, id: place * 100 + number + 1, name: "w\(number % 4)")
                    sample.start = Self.now + .seconds(-60 * (3 * number + place))
                    sample.duration = .milliseconds(250 * number)
                    sample.feature = number % 4 == 0 ? "chat" : "http"
                    if number % 2 == 1 { sample.failure = number % 4 == 1 ? "chat.stopped" : "http.status" }
                    if number % 3 == 0 {
                        sample.kind = .client
                        sample.attributes = ["gen_ai.tool.name": .string("tool\(number % 2)"), "size": .int(number)]
                    } else if number % 3 == 1 {
                        sample.attributes = ["gen_ai.request.model": "large", "size": "huge", "note": "needle É"]
                    }
                    return try sample.span
                }
                try await lab.store.add(spans, of: service)
            }
            try await body(lab.store)
        }
    }

    private func search(
        _ text: String, in store: TraceStore, limit: Int = 1_000, mostLookedAt: Int = 100_000
    ) async throws -> SearchAction.Found {
        let expression = try SpanExpression(parsing: text, now: Self.now)
        return try await SearchAction.search(
            expression, expression.filter, limit: limit, in: store, mostLookedAt: mostLookedAt)
    }

    private func ids(_ found: SearchAction.Found) -> [Int] {
        found.spans.map { Int(Hexadecimal.encode($0.id), radix: 16) ?? 0 }
    }

    @Test("Spans are found by what the language can say, the newest first")
    func finds() async throws {
        try await filled { (store) async throws in
            for (text, expected) in [
                ("name == 'w3' && service == 'martlet'", [4, 8, 12]), ("duration >= 2.75", [12, 112, 212]),
                ("duration >= '2750ms' && trace == '\(String(repeating: "0", count: 31))2'", [112]),
                ("error == 'chat.stopped' && duration < 0.5", [2, 102, 202]),
                ("status == 'error' && start > '5m'", [2, 102]),
                ("service == '' && feature == 'chat'", [201, 205, 209]),
                ("start < '2027-01-15T07:30:00Z' && error == null", [111, 211]),
                ("tool == 'tool1' && service == 'other'", [104, 110]),
                ("kind == 'client' && status != 'ok'", [4, 104, 204, 10, 110, 210]),
                ("model == 'large' && contains(text, 'needle') && service == 'martlet'", [2, 5, 8, 11]),
                ("'É' in text && duration > 2", [11, 111, 211]),
                ("attributes['size'] == 'huge' && duration > 2", [11, 111, 211]),
                ("attributes.size > 8", [10, 110, 210]), ("span == '00000000000000CB'", [203]), ("false", []),
            ] as [(String, [Int])] {
                #expect(try await ids(search(text, in: store)) == expected, "\(text)")
            }
        }
    }

    @Test("What the database decides is the same as what the language says")
    func agrees() async throws {
        try await filled { (store) async throws in
            let parts = [
                "name == 'w1'", "name != 'w1'", "'w2' <= name", "service == 'other'", "service != ''", "service > 'm'",
                "feature != 'chat'", "error == null", "error != null", "error == 'http.status'",
                "error != 'http.status'",
                "status == 'ok'", "status != 'ok'", "status == 'error'", "'error' != status", "status == 'x'",
                "duration > 1",
                "1.25 >= duration", "duration == '500ms'", "duration != 0", "start >= '10m'",
                "start < '2027-01-15T07:50:00+00:00'",
                "start != '2027-01-15T08:00:00Z'", "trace == '\(String(repeating: "0", count: 31))1'", "trace != 'abc'",
                "name == null", "duration != null",
            ]
            for (number, part) in parts.enumerated() {
                for other in ["true", parts[(number * 7 + 3) % parts.count]] {
                    let whole = "\(part) && \(other)"
                    let fast = try await search(whole, in: store)
                    let slow = try await search("(\(whole)) || false", in: store)
                    #expect(ids(fast) == ids(slow) && slow.notices.isEmpty, "\(whole)")
                }
            }
            for part in parts.dropLast(2) {
                let isDecided = try SpanExpression(parsing: part, now: Self.now).isDecided
                #expect(isDecided || part.hasPrefix("status == 'x'") || part == "trace != 'abc'", "\(part)")
            }
        }
    }

    @Test(
        "A wrong expression says where it is wrong and what is allowed",
        arguments: [
            ("nmae == 'x'", 1, "known names: attributes, duration, error"), ("duration > 'long'", 12, "250ms"),
            ("true && start < 'soon'", 17, "2026-11-20"), ("duration >", 11, "expected a value"),
            ("name = 'x'", 6, "not valid"), ("trace == 5", 10, "an id"), ("lenght(name) > 2", 1, "length"),
            // These are found at the first spans.
            ("name > 5", 6, "cannot compare"), ("duration", 1, "true or false"),
            ("starts_with(duration, 'x')", 1, "needs a text"),
        ])
    func wrong(text: String, character: Int, words: String) async throws {
        try await filled { (store) async throws in
            let error = await #expect(throws: TraceError.self) { try await search(text, in: store) }
            #expect(error?.code == "trace.expression" && error?.exit == .usage)
            let message = error?.message ?? ""
            #expect(message.contains("at character \(character): ") && message.contains(words), "\(message)")
        }
    }

    @Test(
        "A span that the expression has no value for is left out and told of, and one without the attribute is not told of"
    )
    func undefined() async throws {
        try await filled { (store) async throws in
            let mixed = try await search("attributes.size >= 9", in: store)
            #expect(ids(mixed) == [10, 110, 210])
            #expect(
                mixed.notices == [
                    "12 spans were left out: the expression is wrong at character 17: cannot compare a string with an integer"
                ])
            #expect(try await search("kind == 'client' && attributes.size >= 9", in: store).notices == [])
        }
    }

    @Test(
        "At most so many spans are looked at, and the notice says what helps; what the database decides is not among them"
    )
    func limits() async throws {
        try await filled { (store) async throws in
            let cut = try await search("contains(name, 'w3')", in: store, mostLookedAt: 14)
            #expect(ids(cut) == [4, 104, 204])
            let notice = try #require(cut.notices.first)
            #expect(
                notice.contains("14 spans") && notice.contains("before 2027-01-15T07:47:00Z")
                    && notice.contains("--until"))
            let fast = try await search(
                "contains(name, '3') && name == 'w3' && service == 'martlet'", in: store, mostLookedAt: 4)
            #expect(ids(fast) == [4, 8, 12] && fast.notices.isEmpty)
            let some = try await search("duration >= 0", in: store, limit: 2)
            #expect(ids(some) == [1, 101] && some.notices.first?.contains("--limit") == true)
            #expect(try await search("name == 'w3'", in: store, limit: 10).notices == [])
        }
    }

    @Test("Options narrow a search as comparisons do")
    func options() async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([TraceFeature.self, WorkFeature.self], folder: folder)
            _ = try await host.perform("work.outer")
            await #expect(throws: WorkFailure.self) { try await host.perform("work.outer", ["fails": true]) }
            func count(_ options: JSONObject) async throws -> Int? {
                var arguments = options
                arguments["expression"] = "feature != 'trace'"
                return try await host.perform("trace.search", arguments).array?.count
            }
            #expect(try await count([:]) == 4)
            let action = host.composition.registry.actions.all.first { $0.id == "trace.search" }
            for name in SpanExpression.names { #expect(action?.details.contains(name) == true, "\(name)") }
            #expect(try await count(["failed": true]) == 2)
            #expect(try await count(["limit": 3]) == 3)
            #expect(try await count(["service": "nobody"]) == 0)
            #expect(try await count(["longer": "1h"]) == 0)
            #expect(try await count(["until": "1960-01-01T00:00:00Z"]) == 0)
            #expect(try await count(["since": "1960-01-01T00:00:00Z"]) == 4)
            await host.session.close()
        }
    }
}
