import Capabilities
import JSON
import Registry
import Screens
import TraceStore

/// The screen of one span: what `trace span` prints, with messages and events as they are read best.
struct SpanScreen {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool

    /// The longest text of a fact that is shown whole.
    private static let longestText = 4_000
    /// What is not among the plain facts, but in a block for itself.
    private static let apart: Set = ["attributes", "events", "process", "stderr"]

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen(
                "trace.facts", "Span", .detail, .argument("id", "Id of the trace, or its beginning"),
                .argument("span", "Id of the span, or its beginning")
            ) { [store, spool] screen, id, word in
                spool.flush()
                let stored = try await store.span(beginning: word, of: try await store.trace(beginning: id))
                try await screen.show(.stack(Self.blocks(SpanDetail(stored: stored)), id: "span"))
            })
    }

    static func blocks(_ detail: SpanDetail) -> [Block] {
        let record = detail.json.object ?? [:]
        let plain = SpanDetail.fields.map(\.property).filter { !apart.contains($0.name) }
        var blocks = [Block(.values(Values(plain, record)), id: "plain")]
        if let text = record["stderr"]?.string {
            blocks.append(Block(.code(Code(text)), id: "stderr", title: "stderr"))
        }
        for (name, title) in [("attributes", "Facts"), ("process", "Recorded by")] {
            if let facts = record[name]?.object, !facts.isEmpty {
                blocks.append(Block(.table(Table(rows(of: facts), id: "name")), id: name, title: title))
            }
        }
        let events = detail.stored.span.events
        if !events.isEmpty {
            let steps = events.enumerated().map { place, event in
                Timeline.Step(
                    "\(place)", PlainText.escape(event.name, limit: 200), state: "event", start: event.time,
                    note: event.attributes.isEmpty
                        ? nil : PlainText.escape(JSON.object(event.attributes).text(), limit: longestText))
            }
            blocks.append(Block(.timeline(Timeline(steps)), id: "events", title: "Events"))
        }
        return blocks
    }

    private static func rows(of facts: JSONObject) -> [FactRow] {
        facts.map { name, value in
            FactRow(
                name: PlainText.escape(name, limit: 200),
                value: PlainText.escape(value.string ?? value.text(), limit: longestText))
        }
    }
}

/// A fact about a span, whose name is one of OpenTelemetry's and is shown as it is.
private struct FactRow: Record {
    let name: String
    let value: String

    static let fields: [Field<FactRow>] = [
        Field("name", "Name of the fact", .name) { $0.name }, Field("value", "What it says") { $0.value },
    ]
}
