import Capabilities
import Cryptography
import JSON
import Testing

@testable import TraceKit

@Suite("spans in other forms")
struct TraceWriterTests {
    private static let resource = TraceResource(attributes: ["service.name": "martlet", "process.pid": 7])

    private static func written(_ spans: [TraceSpan], _ format: TraceFormat) -> [UInt8] {
        var (writer, bytes) = (format.makeWriter(), [UInt8]())
        writer.begin(into: &bytes)
        for span in spans { writer.write(span, of: resource, into: &bytes) }
        writer.end(into: &bytes)
        return bytes
    }

    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] { bytes.split(separator: 10) }

    @Test("a line a span is the line of each")
    func ndjson() throws {
        var samples = SampleSpans(seed: 11)
        let spans = samples.spans(20)
        let lines = Self.lines(Self.written(spans, .ndjson))
        #expect(try lines.map { try SpanLine.read($0).facts } == spans.map(\.facts))
    }

    @Test("a request a line is read as requests, none of which is large")
    func otlp() throws {
        let spans = try (1...600).map { try TraceSpan.plain("\($0)", span: $0) }
        let requests = try Self.lines(Self.written(spans, .otlp)).map {
            try ReceivedSpans(parsing: Array($0), as: .json)
        }
        #expect(requests.map(\.count) == [256, 256, 88])
        #expect(requests.flatMap(\.groups).allSatisfy { $0.resource == Self.resource })
        #expect(requests.flatMap(\.groups).flatMap(\.spans).map(\.name) == spans.map(\.name))
    }

    @Test("what keeps spans back writes all of them before the next resource", arguments: TraceFormat.allCases)
    func resources(format: TraceFormat) throws {
        var (writer, bytes) = (format.makeWriter(), [UInt8]())
        writer.begin(into: &bytes)
        writer.write(try .plain("one"), of: TraceResource(attributes: ["service.name": "first"]), into: &bytes)
        writer.write(try .plain("two"), of: TraceResource(attributes: ["service.name": "second"]), into: &bytes)
        writer.end(into: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("one") && text.contains("two"))
        if format != .ndjson { #expect(text.contains("first") && text.contains("second")) }
    }

    @Test("without a span each form is complete", arguments: TraceFormat.allCases)
    func none(format: TraceFormat) throws {
        let bytes = Self.written([], format)
        switch format {
        case .ndjson, .otlp: #expect(bytes.isEmpty)
        case .chrome: #expect(try JSON(parsing: bytes)["traceEvents"] == [])
        case .csv: #expect(Self.lines(bytes).count == 1)
        case .html: #expect(try Self.data(of: bytes)["spans"] == [])
        }
    }

    @Test("a writer keeps nothing that grows with the number of spans", arguments: [TraceFormat.otlp, .chrome, .csv])
    func flat(format: TraceFormat) throws {
        // What it has is looked at after a thousand and some spans of as many traces, and after twice as many.
        var (writer, bytes, sizes) = (format.makeWriter(), [UInt8](), [Int]())
        writer.begin(into: &bytes)
        for number in 1...2_400 as ClosedRange<UInt64> {
            let span = try TraceSpan.plain(trace: number, span: number, start: Int64(number))
            writer.write(span, of: TraceResource(attributes: ["n": .int(Int(number % 1_200))]), into: &bytes)
            #expect(bytes.count < 200_000)
            bytes.removeAll(keepingCapacity: true)
            if number % 1_200 == 0 { sizes.append(String(reflecting: writer).utf8.count) }
        }
        #expect(sizes[1] <= sizes[0] + sizes[0] / 10)
    }
}

// MARK: Chrome's trace format

extension TraceWriterTests {
    private struct Slice {
        let name: String
        let row: JSON
        let start: Double
        let end: Double
    }

    private static func slices(_ spans: [TraceSpan]) throws -> [Slice] {
        let events = try #require(JSON(parsing: written(spans, .chrome))["traceEvents"]?.array)
        return events.filter { $0["ph"] == "X" }.map { event in
            let (start, length) = (event["ts"]?.double ?? 0, event["dur"]?.double ?? 0)
            return Slice(
                name: event["name"]?.string ?? "", row: event["tid"] ?? .null, start: start, end: start + length)
        }
    }

    @Test("in Chrome's format a child lies in the row of its parent, and what overlaps lies in another")
    func rows() throws {
        let slices = try Self.slices([
            .plain("root", span: 1, start: 0, microseconds: 100),
            .plain("a", span: 2, parent: 1, start: 10, microseconds: 50),
            .plain("b", span: 3, parent: 1, start: 20, microseconds: 50),
            .plain("in b", span: 4, parent: 3, start: 30, microseconds: 10),
            .plain("c", span: 5, parent: 1, start: 80, microseconds: 10),
            .plain("other", trace: 2, span: 6, start: 0, microseconds: 100),
        ])
        let rows = Dictionary(uniqueKeysWithValues: slices.map { ($0.name, $0.row) })
        #expect(rows["root"] == rows["a"] && rows["root"] == rows["c"])
        #expect(rows["b"] == rows["in b"] && rows["b"] != rows["root"])
        #expect(rows["other"] != rows["root"] && rows["other"] != rows["b"])
    }

    @Test(
        "in Chrome's format no two spans of a row cross, in whatever order they come",
        arguments: 1...3 as ClosedRange<UInt64>)
    func crossing(seed: UInt64) throws {
        var samples = SampleSpans(seed: seed)
        let spans = try samples.spans(120).enumerated().map { place, sample in
            try TraceSpan.plain(
                "\(place)", trace: UInt64(place % 3) + 1, span: UInt64(place) + 1,
                parent: place > 3 ? UInt64(place - 3) + 1 : nil, start: sample.start.microseconds % 1_000,
                microseconds: Int64(sample.dropped % 200))
        }
        let slices = try Self.slices(spans)
        #expect(slices.count == spans.count)
        for (place, one) in slices.enumerated() {
            for other in slices[..<place] where one.row == other.row {
                let isApart = one.end <= other.start || other.end <= one.start
                let isInside = one.start >= other.start && one.end <= other.end
                let isAround = other.start >= one.start && other.end <= one.end
                #expect(isApart || isInside || isAround, "\(one) and \(other)")
            }
        }
    }

    @Test("in Chrome's format times are microseconds, and names, events and failures are there")
    func chrome() throws {
        var span = try TraceSpan.plain("work", start: 5, attributes: ["a": .double(.nan)], failure: "x.y")
        span.events = [TraceSpan.Event(name: "happened", time: Timestamp(microseconds: 6))]
        let events = try #require(JSON(parsing: Self.written([span], .chrome))["traceEvents"]?.array)
        #expect(events.map { $0["ph"]?.string } == ["M", "M", "X", "i"])
        #expect(events[0]["args"]?["name"] == "martlet (7)" && events[2]["ts"] == 5 && events[2]["dur"] == .double(10))
        #expect(events[2]["args"]?["a"] == "NaN" && events[2]["args"]?["failure"] == "x.y")
        #expect(events[3]["ts"] == 6 && events[3]["tid"] == events[2]["tid"])
    }
}

// MARK: CSV

extension TraceWriterTests {
    @Test("a row of CSV has quotes where it must, and no formula")
    func csv() throws {
        let span = try TraceSpan.plain(
            "=cmd()", start: 1_000_000, microseconds: 1_005, attributes: ["a": "x,\"y\"\n"], failure: "+1")
        let text = String(decoding: Self.written([span], .csv), as: UTF8.self)
        let expected = """
            1970-01-01T00:00:01Z,1.005,'=cmd(),test,martlet,internal,'+1,00000000000000000000000000000001,\
            0000000000000002,,0,0,"{""a"":""x,\\""y\\""\\n""}"\r\n
            """
        #expect(text.hasSuffix("attributes\r\n" + expected))
        for start in ["=", "+", "-", "@", "\t", "\r"] {
            let row = String(decoding: Self.written([try .plain("\(start)1")], .csv), as: UTF8.self)
            #expect(row.contains(",'\(start)1,") || row.contains(",\"'\(start)1\","))
        }
    }
}

// MARK: The page

extension TraceWriterTests {
    private static func data(of page: [UInt8]) throws -> JSON {
        let text = String(decoding: page, as: UTF8.self)
        let parts = text.split(separator: "id=\"data\">", maxSplits: 1)
        let data = try #require(parts.last?.split(separator: "</script>", maxSplits: 1).first)
        return try JSON(parsing: String(data))
    }

    private static func digest(_ text: String) -> String {
        "sha256-" + Base64.encode(Digest.sha256(Array(text.utf8)))
    }

    @Test("the page's policy names the digests of its program and its style, and allows nothing else")
    func policy() throws {
        #expect(Self.digest(HTMLTracePage.script) == HTMLTracePage.scriptDigest)
        #expect(Self.digest(HTMLTracePage.style) == HTMLTracePage.styleDigest)
        let page = String(decoding: Self.written([try .plain()], .html), as: UTF8.self)
        #expect(page.contains("<style>\(HTMLTracePage.style)</style>"))
        #expect(page.contains("<script>\(HTMLTracePage.script)</script>"))
        #expect(page.contains("content=\"default-src 'none'; "))
        // It refers to nothing outside of it, and makes no element of a text.
        for word in ["http:", "https:", "src=", "href=", "url(", "@import", "innerHTML", "eval("] {
            #expect(!page.contains(word), "\(word)")
        }
    }

    @Test("no text of a span ends the data of the page")
    func escaped() throws {
        let names = ["</script><script>alert(1)</script>", "<!--", "<script", "]]>", "\u{2028}"]
        var spans = try names.map { try TraceSpan.plain($0, attributes: [$0: .string($0)]) }
        spans[0].events = [TraceSpan.Event(name: names[0], time: Timestamp(microseconds: 1))]
        let page = Self.written(spans, .html)
        let text = String(decoding: page, as: UTF8.self)
        #expect(text.ranges(of: "<script").count == 2 && text.ranges(of: "</script").count == 2)
        #expect(!text.contains("<!--"))
        let data = try Self.data(of: page)
        #expect(data["spans"]?.array?.compactMap { $0["name"]?.string } == names)
        #expect(data["spans"]?[0]?["service"] == "martlet" && data["total"] == 5)
    }

    @Test("the page has its first spans and says how many there were")
    func limit() throws {
        var (writer, bytes) = (HTMLTraceWriter(most: 3), [UInt8]())
        writer.begin(into: &bytes)
        for number in 1...5 as ClosedRange<UInt64> {
            writer.write(try .plain("\(number)", span: number), of: Self.resource, into: &bytes)
        }
        writer.end(into: &bytes)
        let data = try Self.data(of: bytes)
        #expect(data["spans"]?.array?.compactMap { $0["name"]?.string } == ["1", "2", "3"])
        #expect(data["total"] == 5)
    }
}
