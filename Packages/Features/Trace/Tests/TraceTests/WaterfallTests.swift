import Capabilities
import CoreTesting
import JSON
import Testing
import TraceStore

@testable import Trace

@Suite struct WaterfallTests {
    private func span(_ number: UInt64, in parent: UInt64?, from start: Int64 = 0, for duration: Int = 10) -> StoredSpan
    {
        guard let trace = TraceID(words: (0, 1)), let id = SpanID(word: number) else {
            preconditionFailure("a span has a number")
        }
        let context = TraceContext(trace: trace, span: id)
        let around = parent.flatMap { SpanID(word: $0) }
        return StoredSpan(
            span: TraceSpan(
                name: "s\(number)", feature: "demo", context: context, parent: around,
                start: Timestamp(microseconds: start),
                duration: .microseconds(duration)), resource: [:])
    }

    private func lines(_ spans: StoredSpan...) -> [String] {
        Waterfall(spans).rows.map { "\(String(repeating: " ", count: $0.depth))\($0.stored.span.name)" }
    }

    @Test("Each span is below the one around it, and one whose outer span is not there is at the top")
    func order() {
        #expect(
            lines(span(1, in: nil), span(2, in: 1), span(3, in: 2), span(4, in: 1)) == ["s1", " s2", "  s3", " s4"])
        #expect(lines(span(2, in: 1), span(3, in: 2)) == ["s2", " s3"])
        #expect(lines() == [])
    }

    @Test("Spans that are around each other, around themselves or nested without end are all shown once")
    func liars() {
        #expect(Set(lines(span(1, in: 2), span(2, in: 1), span(3, in: 3))) == ["s1", "s2", "s3"])
        let deep = (1...5_000).map { span(UInt64($0), in: $0 == 1 ? nil : UInt64($0 - 1)) }
        let rows = Waterfall(deep).rows
        #expect(rows.count == 5_000 && rows.last?.depth == 12)
    }

    @Test("The bar shows when a span ran in the whole")
    func bars() {
        let rows = Waterfall([
            span(1, in: nil, from: 0, for: 24), span(2, in: 1, from: 0, for: 12), span(3, in: 1, from: 12, for: 12),
            span(4, in: 1, from: 24, for: 0), span(5, in: 1, from: -5, for: 1),
        ]).rows
        #expect(rows.allSatisfy { $0.bar.count == 24 && $0.bar.contains("━") })
        let whole = Waterfall([span(1, in: nil, from: 0, for: 24), span(2, in: 1, from: 12, for: 12)]).rows
        #expect(
            whole.map(\.bar) == [
                String(repeating: "━", count: 24),
                String(repeating: "·", count: 12) + String(repeating: "━", count: 12),
            ])
        #expect(Waterfall([span(1, in: nil, for: 0)]).rows.first?.bar.contains("━") == true)
    }
}
