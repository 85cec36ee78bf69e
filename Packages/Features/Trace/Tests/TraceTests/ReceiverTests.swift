import Capabilities
import CoreTesting
import FileKit
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import Registry
import Testing
import TraceKit
import TraceReceiver
import TraceStore

@testable import Trace

/// A receiver that runs for the length of a test.
struct Receiving: Sendable {
    static let token = Secret("0123456789abcdef0123456789abcdef")
    static let client = HTTPClient(.standalone)

    let lab: StoreLab
    let receiver: SpanReceiver
    let address: String

    static func run(
        _ lab: StoreLab, limits: SpanReceiver.Limits = .init(), token: Secret? = token,
        without redactor: Redactor = Redactor(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp(microseconds: 0) },
        _ body: @escaping @Sendable (Receiving) async throws -> Void
    ) async throws {
        let receiver = SpanReceiver(lab.store, limits: limits, without: redactor, now: now)
        let server = HTTPServer(try receiver.routes(), receiver.configuration(port: 0, token: token))
        let started = Promise<String>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { started.settle($0.first?.description ?? "") } }
            let address = try await started.value()
            try await body(Receiving(lab: lab, receiver: receiver, address: address))
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    static let json: HTTPHeaders = ["Content-Type": "application/json"]
    static let protobuf: HTTPHeaders = ["Content-Type": "application/x-protobuf"]

    func post(
        _ body: [UInt8], _ headers: HTTPHeaders = json, to path: String = "/v1/traces", token: String? = nil
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(.post, try HTTPURL(address + path), headers: headers, body: .bytes(body))
        request.headers["Authorization"] = "Bearer \(token ?? Self.token.withText { $0 })"
        request.retry = .none
        return try await Self.client.send(request)
    }

    /// A request with spans of a trace, which have these numbers as ids.
    static func body(
        _ numbers: ClosedRange<Int> = 1...1, trace: UInt64 = 7, parent: SpanID? = nil, name: String = "theirs",
        attributes: JSONObject = [:], start: Int64 = 5_000_000, as form: OTLPEncoding = .json
    ) throws -> [UInt8] {
        let spans = try numbers.map { number in
            let (trace, span) = (TraceID(words: (0, trace)), SpanID(word: UInt64(number)))
            return TraceSpan(
                name: name, feature: "lib", context: TraceContext(trace: try #require(trace), span: try #require(span)),
                parent: parent, start: Timestamp(microseconds: start), duration: .seconds(1), attributes: attributes)
        }
        var bytes: [UInt8] = []
        OTLPRequest(resource: TraceResource(attributes: ["service.name": "other"])).write(spans, as: form, into: &bytes)
        return bytes
    }
}

@Suite("Spans of other programs", .timeLimit(.minutes(5)))
struct ReceiverTests {
    @Test("They are stored in both forms, compressed or not, once, and marked as received")
    func takes() async throws {
        try await StoreLab.run { (lab) async throws in
            try await Receiving.run(lab) { (receiving) async throws in
                let answer = try await receiving.post(try Receiving.body(1...2))
                #expect(answer.status == .ok && answer.text == "{}")
                #expect(answer.headers["Content-Type"] == "application/json")
                var zipped = HTTPRequest(
                    .post, try HTTPURL("\(receiving.address)/v1/traces"), headers: Receiving.protobuf,
                    body: .bytes(try Receiving.body(1...300, as: .protobuf)))
                zipped.headers["Authorization"] = "bearer \(Receiving.token.withText { $0 })"
                zipped.compressesBody = true
                let second = try await Receiving.client.send(zipped)
                #expect(second.status == .ok && second.body.isEmpty)
                #expect(receiving.receiver.received == 300)
                #expect(try await receiving.post(Array("{}".utf8)).status == .ok)
            }
            var received = 0
            try await lab.store.forEachSpan(TraceQuery()) { stored in
                #expect(stored.isReceived && stored.span.name == "theirs" && stored.resource["service.name"] == "other")
                received += 1
            }
            #expect(received == 300)
        }
    }

    @Test("Only who has the token may send, and with none everybody but web pages and foreign names")
    func asks() async throws {
        try await StoreLab.run { (lab) async throws in
            try await Receiving.run(lab) { (receiving) async throws in
                for token in ["", "x", Receiving.token.withText { $0 + "0" }] {
                    let answer = try await receiving.post(try Receiving.body(), token: token)
                    #expect(answer.status == .unauthorized)
                    #expect(try JSON(parsing: answer.body)["code"] == 16)
                }
                #expect(receiving.receiver.received == 0)
                #expect(try await receiving.post(try Receiving.body()).status == .ok)
            }
            try await Receiving.run(lab, token: nil) { (receiving) async throws in
                for (header, value, status) in [
                    ("Origin", "http://evil.example", 403), ("Host", "evil.example", 421),
                    ("Sec-Fetch-Site", "cross-site", 403),
                ] {
                    var headers = Receiving.json
                    headers[header] = value
                    #expect(try await receiving.post(try Receiving.body(2...2), headers).status.code == status)
                }
                #expect(receiving.receiver.received == 0)
                #expect(try await receiving.post(try Receiving.body(2...2)).status == .ok)
            }
        }
    }

    @Test("What is not taken is refused in words, in the form of the request")
    func refuses() async throws {
        try await StoreLab.run { (lab) async throws in
            var limits = SpanReceiver.Limits()
            limits.request = 100_000
            try await Receiving.run(lab, limits: limits) { (receiving) async throws in
                let bomb = try #require(Gzip.compress([UInt8](repeating: 32, count: 200_000)))
                let zip: HTTPHeaders = ["Content-Type": "application/json", "Content-Encoding": "gzip"]
                for (body, headers, status, words) in [
                    ([], ["Content-Type": "application/grpc+proto"], 415, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"),
                    ([], ["Content-Type": "text/xml"], 415, "application/x-protobuf"),
                    ([], ["Content-Type": "application/json", "Content-Encoding": "zstd"], 415, "gzip"),
                    (Array("{".utf8), Receiving.json, 400, "JSON"),
                    ([0xFF, 0xFF], Receiving.protobuf, 400, ""), (Array("x".utf8), zip, 400, "not gzip"),
                    (bomb, zip, 413, "after its decompression"),
                    ([UInt8](repeating: 32, count: 200_000), Receiving.json, 413, "larger than"),
                ] as [([UInt8], HTTPHeaders, Int, String)] {
                    let answer = try await receiving.post(body, headers)
                    #expect(answer.status.code == status)
                    let form = OTLPEncoding.allCases.first { $0.contentType == answer.headers["Content-Type"] }
                    let refusal = try OTLPRefusal(parsing: answer.body, as: try #require(form))
                    #expect(refusal.message.contains(words), "\(refusal.message)")
                    #expect(form == .protobuf || headers["Content-Type"] != "application/x-protobuf")
                }
                let metrics = try await receiving.post(
                    [], ["Content-Type": "application/grpc"], to: "/v1/metrics")
                #expect(metrics.status.code == 415 && metrics.text.contains("http/protobuf"))
                #expect(try await receiving.post([], to: "/v1/other").status == .notFound)
                #expect(receiving.receiver.received == 0)
            }
        }
    }

    @Test("A wrong span is refused alone, and so is one that is too large")
    func partial() async throws {
        try await StoreLab.run { (lab) async throws in
            var limits = SpanReceiver.Limits()
            limits.span = 3_000
            try await Receiving.run(lab, limits: limits) { (receiving) async throws in
                let large: JSONObject = ["text": .string(String(repeating: "x", count: 4_000))]
                let answer = try await receiving.post(try Receiving.body(1...1, attributes: large))
                #expect(answer.status == .ok && receiving.receiver.received == 0)
                let response = try OTLPResponse(parsing: answer.body, as: .json)
                #expect(response.rejected == 1 && response.message.contains("larger than"))
                let wrong = Array(
                    String(decoding: try Receiving.body(1...2), as: UTF8.self).replacing(
                        "0000000000000002", with: "0000000000000000"
                    ).utf8)
                let second = try OTLPResponse(parsing: try await receiving.post(wrong).body, as: .json)
                #expect(second.rejected == 1 && second.message.contains("span id") && receiving.receiver.received == 1)
            }
        }
    }

    @Test("More than the rate has to wait as long as that takes")
    func rate() async throws {
        try await StoreLab.run { (lab) async throws in
            var limits = SpanReceiver.Limits()
            limits.rate = 10
            let time = MovableTime()
            try await Receiving.run(lab, limits: limits, now: time.read) { (receiving) async throws in
                #expect(try await receiving.post(try Receiving.body(1...25)).status == .ok)
                let answer = try await receiving.post(try Receiving.body(30...31))
                #expect(answer.status == .tooManyRequests && answer.headers["Retry-After"] == "2")
                time.advance(by: .milliseconds(1_600))
                #expect(try await receiving.post(try Receiving.body(30...31)).status == .ok)
                #expect(receiving.receiver.received == 27)
            }
        }
    }

    @Test("What cannot be stored is to be sent again")
    func fullDisk() async throws {
        try await StoreLab.run { (lab) async throws in
            try Files.makeDirectories("\(lab.folder)/trace.db")
            try await Receiving.run(lab) { (receiving) async throws in
                let answer = try await receiving.post(try Receiving.body())
                #expect(answer.status == .serviceUnavailable && answer.headers["Retry-After"] == "30")
            }
        }
    }

    // MARK: Beside ours

    /// Records a trace of ours, and returns its first span.
    private func ours(_ lab: StoreLab, _ name: String) async throws -> StoredSpan {
        let spool = lab.spool(name)
        await lab.tracer(spool).span(name, of: "demo") { _ in }
        await spool.close()
        try await lab.store.takeSpools()
        var found: StoredSpan?
        try await lab.store.forEachSpan(TraceQuery()) { if $0.span.name == name { found = $0 } }
        return try #require(found)
    }

    private func groups(_ spans: TraceSpan...) -> [(resource: JSONObject, spans: [TraceSpan])] {
        [(["service.name": "evil"], spans)]
    }

    @Test("Their spans are shown below ours and say nothing about our traces, and never take the place of ours")
    func beside() async throws {
        try await StoreLab.run { (lab) async throws in
            let span = try await ours(lab, "mine").span
            let before = try await lab.store.traces(TraceQuery()).traces
            let root = TraceSpan(
                name: "root", feature: "x",
                context: TraceContext(trace: span.context.trace, span: try #require(SpanID(word: 9))),
                parent: nil, start: Timestamp(microseconds: 0), duration: .seconds(9e12), failure: "bad")
            let forged = TraceSpan(
                name: "forged", feature: "x", context: span.context, parent: nil, start: Timestamp(microseconds: 0),
                duration: .seconds(1))
            #expect(try await lab.store.add(received: groups(root, forged)).added == 1)
            let after = try await lab.store.traces(TraceQuery()).traces
            #expect(after.count == 1 && after[0].spans == 2)
            for (now, then) in zip(after, before) {
                #expect(now.name == then.name && now.failure == then.failure && now.service == then.service)
                #expect(now.began == then.began && now.duration == then.duration)
            }
            #expect(Set(try await lab.names()) == ["mine", "root"])
        }
    }

    @Test("One that came before ours with the same id gives way to it")
    func earlier() async throws {
        try await StoreLab.run { (lab) async throws in
            let spool = lab.spool()
            let tracer = lab.tracer(spool)
            try await tracer.span("mine", of: "demo") { _ in
                let context = try #require(TraceContext.current)
                let forged = TraceSpan(
                    name: "forged", feature: "x", context: context, parent: nil, start: Timestamp(microseconds: 0),
                    duration: .seconds(1), failure: "bad")
                #expect(try await lab.store.add(received: groups(forged)).added == 1)
            }
            await spool.close()
            #expect(try await lab.names() == ["mine"])
            let trace = try await lab.store.traces(TraceQuery()).traces[0]
            #expect(trace.name == "mine" && trace.spans == 1 && trace.failures == 0 && trace.service == "p")
            #expect(trace.began > Timestamp(microseconds: 1_000_000))
        }
    }

    @Test("What is over their share goes, the oldest of theirs first, and nothing of ours")
    func share() async throws {
        var budget = TraceStore.Budget()
        budget.received = 20_000
        try await StoreLab.run(budget) { (lab) async throws in
            let mine = try await ours(lab, "mine").span
            let text: JSONObject = ["text": .string(String(repeating: "x", count: 1_000))]
            func theirs(_ trace: UInt64) throws -> TraceSpan {
                // They claim to be newer or older, as they like.
                let body = try Receiving.body(
                    trace: trace, name: "t\(trace)", attributes: text, start: Int64(400 - trace) * 1_000_000)
                return try #require(try ReceivedSpans(parsing: body, as: .json).groups.first?.spans.first)
            }
            let child = TraceSpan(
                name: "child", feature: "x",
                context: TraceContext(trace: mine.context.trace, span: try #require(SpanID(word: 9))),
                parent: mine.context.span, start: mine.start, duration: .seconds(1), attributes: text)
            _ = try await lab.store.add(received: groups(child))
            for trace in 1...30 { _ = try await lab.store.add(received: groups(try theirs(UInt64(trace)))) }
            var limits = SpanReceiver.Limits()
            limits.unpruned = 1
            try await Receiving.run(lab, limits: limits) { (receiving) async throws in
                #expect(try await receiving.post(try Receiving.body(trace: 99, name: "last")).status == .ok)
            }
            let names = Set(try await lab.names())
            #expect(names.isSuperset(of: ["mine", "last", "t30", "t20"]) && names.count < 20)
            #expect(names.isDisjoint(with: ["child", "t1", "t10"]))
            let ids = try await lab.store.traces(TraceQuery()).traces
            #expect(ids.contains { $0.name == "mine" && $0.spans == 1 })
        }
    }

    // MARK: The action

    @Test("The command says what others need, and what they send hangs below what was done here, without secrets")
    func serves() async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([TraceFeature.self, WorkFeature.self], folder: folder)
            _ = try await host.perform("work.outer")
            let id = try #require(try await host.perform("trace.list")[0]?["trace"]?.string)
            let span = try #require(try await host.perform("trace.show", ["id": .string(id)])[0]?["span"]?.string)
            host.host.redactor.learn(Secret("canary-hunter2"))
            let output = RecordingOutput()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await host.perform("trace.serve", output: output) }
                await output.wait { !$0.isEmpty }
                let event = try #require(output.events.first)
                let endpoint = try #require(event.fields["endpoint"]?.string)
                let headers = try #require(event.fields["headers"]?.string)
                #expect(
                    event.text?.contains(
                        "OTEL_EXPORTER_OTLP_ENDPOINT=\(endpoint)\nOTEL_EXPORTER_OTLP_HEADERS=\(headers)\n")
                        == true)
                #expect(host.host.redactor.redact(headers).contains(Redactor.mark))
                let body = """
                    {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"other"}},\
                    {"key":"k","value":{"stringValue":"canary-hunter2"}}]},"scopeSpans":[{"spans":[{"traceId":"\(id)",\
                    "spanId":"00f067aa0ba902b7","parentSpanId":"\(span)","name":"say canary-hunter2",\
                    "startTimeUnixNano":"1000000000","endTimeUnixNano":"2000000000"}]}]}]}
                    """
                let token = headers.dropFirst("authorization=Bearer%20".count)
                var request = HTTPRequest(
                    .post, try HTTPURL("\(endpoint)/v1/traces"), headers: Receiving.json, body: .text(body))
                #expect(try await Receiving.client.send(request).status == .unauthorized)
                request.headers["Authorization"] = "Bearer \(token)"
                #expect(try await Receiving.client.send(request).status == .ok)
                group.cancelAll()
                do { try await group.waitForAll() } catch is CancellationError {}
            }
            let rows = try await host.perform("trace.show", ["id": .string(id)])
            #expect(rows.array?.contains { $0["name"] == .string("  say \(Redactor.mark)") } == true)
            let detail = try await host.perform("trace.span", ["id": .string(id), "span": "00f067aa0ba902b7"])
            #expect(detail["received"] == true && detail["process"]?["k"] == .string(Redactor.mark))
            let error = await #expect(throws: TraceError.self) {
                try await host.perform("trace.serve", ["port": 70_000])
            }
            #expect(error?.code == "trace.not-a-port")
            await host.session.close()
        }
    }
}
