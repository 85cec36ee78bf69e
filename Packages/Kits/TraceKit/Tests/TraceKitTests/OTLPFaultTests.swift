import Capabilities
import CoreTesting
import JSON
import Testing
import TraceKit

@Suite("a faulty OTLP request")
struct OTLPFaultTests {
    private static func body(_ spans: [TraceSpan], _ encoding: OTLPEncoding) -> [UInt8] {
        var bytes: [UInt8] = []
        OTLPRequest(resource: TraceResource(attributes: ["service.name": "s"])).write(spans, as: encoding, into: &bytes)
        return bytes
    }

    @Test("that is empty is fine")
    func empty() throws {
        #expect(try ReceivedSpans(parsing: [], as: .protobuf).count == 0)
        #expect(try ReceivedSpans(parsing: Array("{}".utf8), as: .json).count == 0)
        for encoding in OTLPEncoding.allCases {
            #expect(try ReceivedSpans(parsing: Self.body([], encoding), as: encoding).groups.isEmpty)
        }
    }

    @Test("that was cut anywhere is refused", arguments: OTLPEncoding.allCases)
    func cut(encoding: OTLPEncoding) throws {
        var samples = SampleSpans(seed: 3)
        let body = Self.body(samples.spans(2), encoding)
        for end in 1..<body.count {
            #expect(throws: TraceKitError.self) { try ReceivedSpans(parsing: Array(body[..<end]), as: encoding) }
        }
        #expect(try ReceivedSpans(parsing: body, as: encoding).count == 2)
    }

    @Test("with a changed byte anywhere never crashes", arguments: OTLPEncoding.allCases)
    func changed(encoding: OTLPEncoding) throws {
        var samples = SampleSpans(seed: 5)
        var generator = SeededGenerator(seed: 6)
        let body = Self.body(samples.spans(1), encoding)
        for place in body.indices {
            var changed = body
            changed[place] = UInt8.random(in: 0...255, using: &generator)
            do { _ = try ReceivedSpans(parsing: changed, as: encoding) } catch is TraceKitError {}
        }
    }

    @Test(
        "with bytes that are no protobuf is refused",
        arguments: [
            [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
            [0x0A], [0x0B], [0x0E], [0x00], [0x09, 1, 2], [0x08, 0xFF], Array(repeating: 0xFF, count: 12),
        ] as [[UInt8]])
    func garbage(bytes: [UInt8]) {
        #expect(throws: TraceKitError.self) { try ReceivedSpans(parsing: bytes, as: .protobuf) }
    }

    @Test("skips fields of another wire type and those that are not known")
    func wireTypes() throws {
        // Field 1 as a number, field 99 as bytes, then one real request.
        let bytes = [0x08, 1, 0x9A, 6, 2, 7, 7] + Self.body([try .plain()], .protobuf)
        #expect(try ReceivedSpans(parsing: bytes, as: .protobuf).count == 1)
    }

    @Test(
        "in JSON with wrong types is refused",
        arguments: [
            "", "[]", "null", "{\"resourceSpans\":{}}", "{\"resourceSpans\":[1]}",
            "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":1}]}]}]}",
            "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"startTimeUnixNano\":\"x\"}]}]}]}",
            "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"kind\":\"SPAN_KIND_SERVER\"}]}]}]}",
        ])
    func wrongJSON(text: String) {
        #expect(throws: TraceKitError.self) { try ReceivedSpans(parsing: Array(text.utf8), as: .json) }
    }

    @Test("in JSON may have its members in any order, numbers as numbers, and upper-case digits")
    func lenientJSON() throws {
        let text = """
            {"resourceSpans":[{"scopeSpans":[{"spans":[{"flags":257,"traceId":"000000000000000000000000000000AB",
            "spanId":"00000000000000cD","parentSpanId":"0000000000000000","name":"n","startTimeUnixNano":5000,
            "endTimeUnixNano":"4000","unknown":[{}],"attributes":[{"key":"a","value":{"intValue":3}},
            {"key":"b","value":{"doubleValue":"NaN"}},{"key":"c","value":{}},{"key":"d","value":{"intValue":"-4"}}]}],
            "scope":{"name":"late"}}],"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]}}]}
            """
        let received = try ReceivedSpans(parsing: Array(text.utf8), as: .json)
        let group = try #require(received.groups.first)
        let span = try #require(group.spans.first)
        #expect(group.resource.attributes == ["service.name": "x"] && span.feature == "late")
        #expect(span.context.trace.words == (0, 0xAB) && span.context.span.word == 0xCD && span.parent == nil)
        // The clock went back.
        #expect(span.start.microseconds == 5 && span.duration == .zero)
        #expect(span.attributes == ["a": 3, "b": "NaN", "c": .null, "d": -4])
    }

    @Test("loses single spans whose ids are none, and says so", arguments: OTLPEncoding.allCases)
    func ids(encoding: OTLPEncoding) throws {
        let spans = try (1...3).map { try TraceSpan.plain(span: UInt64($0), parent: 0x0909) }
        var body = Self.body(spans, encoding)
        // The id of the second span becomes zero.
        let digits: [UInt8] = encoding == .json ? Array("0000000000000002".utf8) : [0, 0, 0, 0, 0, 0, 0, 2]
        let place = try #require(body.indices.first { body[$0...].starts(with: digits) })
        body[place + digits.count - 1] = encoding == .json ? 48 : 0
        let received = try ReceivedSpans(parsing: body, as: encoding)
        #expect(received.groups.flatMap(\.spans).map(\.context.span.word) == [1, 3])
        #expect(received.rejections == [.spanID: 1])
        #expect(received.response == OTLPResponse(rejected: 1, message: "the span id is not 8 bytes or is zero (1)"))
    }

    @Test(
        "with more attributes than the limit keeps the first ones and counts the rest", arguments: OTLPEncoding.allCases
    )
    func attributes(encoding: OTLPEncoding) throws {
        var many: JSONObject = [:]
        for number in 0..<10_000 { many.append("key.\(number)", .int(number)) }
        let received = try ReceivedSpans(parsing: Self.body([try .plain(attributes: many)], encoding), as: encoding)
        let span = try #require(received.groups.first?.spans.first)
        #expect(span.attributes.count == 128 && span.attributes["key.127"] == 127 && span.dropped == 9_872)
    }

    @Test("with a text of 10 MB keeps its beginning", arguments: OTLPEncoding.allCases)
    func longText(encoding: OTLPEncoding) throws {
        // Cut inside of a character.
        let text = "x" + String(repeating: "ü", count: 64 << 10) + String(repeating: "y", count: 10 << 20)
        let span = try TraceSpan.plain(attributes: ["long": .string(text), "short": "s"])
        let received = try ReceivedSpans(parsing: Self.body([span], encoding), as: encoding)
        let attributes = try #require(received.groups.first?.spans.first?.attributes)
        let long = try #require(attributes["long"]?.string)
        #expect(long.utf8.count == 64 << 10 && long.hasSuffix("ü…") && attributes["short"] == "s")
    }

    @Test("with values nested too deeply loses that span", arguments: OTLPEncoding.allCases)
    func depth(encoding: OTLPEncoding) throws {
        func nested(_ depth: Int) -> JSON { (0..<depth).reduce(1) { value, _ in [value] } }
        let spans = try [11, 12].map { try TraceSpan.plain("\($0)", attributes: ["a": nested($0)]) }
        let received = try ReceivedSpans(parsing: Self.body(spans, encoding), as: encoding)
        #expect(received.groups.flatMap(\.spans).map(\.name) == ["11"])
        #expect(received.rejections == [.depth(12): 1])
    }

    @Test("with far too deep values is refused or loses the span, whatever its stack")
    func bottomless() throws {
        var message: [UInt8] = []
        // An array in an array, 2,000 times.
        for _ in 0..<2_000 { message = wrapped(0x2A, wrapped(0x0A, message)) }
        let pair = [0x0A, 1, 97] + wrapped(0x12, message)
        let span: [UInt8] =
            [0x0A, 16] + [UInt8](repeating: 1, count: 16) + [0x12, 8] + [UInt8](repeating: 1, count: 8)
            + wrapped(0x4A, pair)
        let body = wrapped(0x0A, wrapped(0x12, wrapped(0x12, span)))
        let received = try ReceivedSpans(parsing: body, as: .protobuf)
        #expect(received.rejections == [.depth(12): 1])
        let text = String(repeating: "{\"arrayValue\":{\"values\":[", count: 10_000)
        let json = "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"value\":\(text)"
        #expect(throws: TraceKitError.self) { try ReceivedSpans(parsing: Array(json.utf8), as: .json) }
    }

    private func wrapped(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var (bytes, rest) = ([tag], content.count)
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)] + content
    }

    @Test("with too many spans or values loses the last", arguments: OTLPEncoding.allCases)
    func limits(encoding: OTLPEncoding) throws {
        let spans = try (1...10).map { try TraceSpan.plain(span: $0, attributes: ["a": 1, "b": [1, 2]]) }
        let body = Self.body(spans, encoding)
        var limits = OTLPLimits()
        limits.spans = 7
        let few = try ReceivedSpans(parsing: body, as: encoding, limits: limits)
        #expect(few.count == 7 && few.rejections == [.spans(7): 3])
        limits.spans = 100
        // The resource has one, and each span four.
        limits.values = 1 + 4 * 5
        let cheap = try ReceivedSpans(parsing: body, as: encoding, limits: limits)
        #expect(cheap.count == 5 && cheap.rejections == [.values(21): 5])
    }

    @Test("is answered with a refusal that is read again", arguments: OTLPEncoding.allCases)
    func refusal(encoding: OTLPEncoding) throws {
        var bytes: [UInt8] = []
        let refusal = OTLPRefusal(code: 3, message: "this is no request")
        refusal.write(as: encoding, into: &bytes)
        #expect(try OTLPRefusal(parsing: bytes, as: encoding) == refusal)
        #expect(throws: TraceKitError.self) { try OTLPRefusal(parsing: Array("<html>".utf8), as: encoding) }
        var answer: [UInt8] = []
        OTLPResponse().write(as: encoding, into: &answer)
        #expect(answer == (encoding == .json ? Array("{}".utf8) : []))
        #expect(try OTLPResponse(parsing: answer, as: encoding) == OTLPResponse())
    }
}
