import Capabilities
import JSON
import Screens
import Testing
import TraceStore

@testable import Trace

@Suite("The screen of a span")
struct SpanScreenTests {
    private func blocks(_ attributes: JSONObject, event: String? = nil) throws -> [Block] {
        var sample = SampleSpan()
        sample.attributes = attributes
        var span = try sample.span
        if let event {
            span.events = [.init(name: event, time: span.start + .milliseconds(2), attributes: ["attempt": 1])]
        }
        return SpanScreen.blocks(SpanDetail(stored: StoredSpan(span: span, resource: ["service.name": "shop"])))
    }

    @Test("It has the facts, what recorded it, and events and messages only if there are any")
    func parts() throws {
        var facts: JSONObject = ["gen_ai.tool.name": "q", "count": 3]
        #expect(try blocks(facts).map(\.id) == ["plain", "attributes", "process"])
        facts["martlet.process.stderr"] = "no such\ntable\u{1B}[2J"
        let all = try blocks(facts, event: "retry")
        #expect(all.map(\.id) == ["plain", "stderr", "attributes", "process", "events"])
        guard case .code(let code) = all[1].content, case .table(let shown) = all[2].content,
            case .timeline(let events) = all[4].content
        else {
            Issue.record("\(all)")
            return
        }
        #expect(code.text == "no such\ntable\\u{1B}[2J")
        #expect(
            shown.rows
                == .all([["name": "gen_ai.tool.name", "value": "q"], ["name": "count", "value": "3"]]))
        #expect(events.steps.map(\.title) == ["retry"] && events.steps.first?.note == #"{"attempt":1}"#)
    }

    @Test("What other programs have sent is made harmless, and long texts are cut")
    func escapes() throws {
        let found = try blocks(["a\u{202E}b": .string(String(repeating: "x", count: 5_000))])
        guard case .table(let facts) = found[1].content, case .all(let rows) = facts.rows, let row = rows.first
        else {
            Issue.record("\(found)")
            return
        }
        #expect(row["name"] == "a\\u{202E}b" && (row["value"]?.string ?? "").count < 4_100)
    }
}
