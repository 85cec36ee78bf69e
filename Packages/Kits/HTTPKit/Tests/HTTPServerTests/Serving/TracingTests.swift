import Capabilities
import HTTPCore
import HTTPServer
import JSON
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct TracingTests {
    private final class Recorder: SpanSink {
        private let state = Mutex([TraceSpan]())
        private let recorded = Signals()
        private let redactor: Redactor

        init(without redactor: Redactor = Redactor()) {
            self.redactor = redactor
        }

        var tracer: Tracer { Tracer(sinks: [self], now: Timestamp.now) }

        func record(_ span: SpanRecord) {
            let copy = span.copy(without: redactor)
            state.withLock { $0.append(copy) }
            recorded.send(copy.attributes["martlet.request.id"]?.string ?? "")
        }

        var count: Int { state.withLock { $0.count } }

        func span(of request: String) async -> TraceSpan? {
            await recorded.wait(for: request)
            return state.withLock { $0.first { $0.attributes["martlet.request.id"]?.string == request } }
        }
    }

    private struct Oops: Error {}

    @Test("Each request is a span under the caller's span, and carries no query")
    func spans() async throws {
        let recorder = Recorder()
        let routes = [
            Route(.get, "/v1/projects/{id}", "one", "One", .path("id", "Which")) { _, id in
                if id == "none" { throw RequestProblem.notFound("there is none") }
                if id == "oops" { throw Oops() }
                return HTTPAnswer.text(TraceContext.current?.traceparent ?? "no trace")
            }
        ]
        try await withServer(routes, { $0.tracer = recorder.tracer }) { server in
            let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
            let answer = try await server.get(
                "/v1/projects/secret-id?key=hidden", "X-Request-ID: r1", "traceparent: 00-\(trace)-00f067aa0ba902b7-01")
            let span = try #require(await recorder.span(of: "r1"))
            #expect(span.context.trace.description == trace && span.parent?.description == "00f067aa0ba902b7")
            #expect(answer.answerBody == span.context.traceparent)
            #expect(span.attributes["http.route"] == "/v1/projects/{id}" && span.name == "GET /v1/projects/{id}")
            #expect(span.kind == .server && span.attributes["http.response.status_code"] == 200)
            #expect(span.failure == nil && !span.attributes.description.contains("secret-id"))
            #expect(!span.attributes.description.contains("hidden"))
            _ = try await server.get("/v1/projects/none", "X-Request-ID: r2")
            let refused = try #require(await recorder.span(of: "r2"))
            #expect(refused.failure == "server.not-found" && refused.attributes["http.response.status_code"] == 404)
            _ = try await server.get("/v1/projects/oops", "X-Request-ID: r3")
            let failed = try #require(await recorder.span(of: "r3"))
            #expect(failed.attributes["http.response.status_code"] == 500)
            #expect(failed.attributes["exception.type"] == "Oops")
        }
    }

    @Test("Streams and other answers follow each other on a connection, each with its own span and trace")
    func mixed() async throws {
        let recorder = Recorder()
        let routes = [
            Route(.get, "/plain", "plain", "A text") { _ in
                HTTPAnswer.text("<\(TraceContext.current?.traceparent ?? "none")>")
            },
            Route(.get, "/events", "events", "Events") { request in
                let fails = request.headers["X-Fails"] != nil
                return HTTPAnswer.events { events in
                    try await events.send(data: "<\(TraceContext.current?.traceparent ?? "none")>")
                    await Task.yield()
                    if fails { throw Oops() }
                    try await events.send(data: "end")
                }
            },
        ]
        try await withServer(routes, { $0.tracer = recorder.tracer }) { server in
            let paths = ["/plain", "/events", "/events", "/plain", "/plain", "/events"]
            let requests = paths.enumerated().map { number, path in
                let last = number == paths.count - 1 ? "X-Fails: yes\r\n" : ""
                return "GET \(path) HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: r\(number)\r\n\(last)\r\n"
            }
            let text = try await server.exchange(requests.joined())
            #expect(text.components(of: "HTTP/1.1 200").count == paths.count)
            // A stream that broke off has no final chunk, and nothing follows it.
            #expect(text.components(of: "data: end").count == 2 && !text.hasSuffix("0\r\n\r\n"))
            for (number, part) in text.components(of: "HTTP/1.1 200").enumerated() {
                let span = try #require(await recorder.span(of: "r\(number)"))
                #expect(
                    part.contains("<\(span.context.traceparent)>")
                        && span.attributes["http.response.status_code"] == 200)
                #expect(span.attributes["http.route"]?.string == paths[number])
                #expect((span.failure != nil) == (number == paths.count - 1))
            }
            #expect(recorder.count == paths.count)
        }
    }

    @Test("The span of a stream counts its events, several in one piece too, and comments are none")
    func events() async throws {
        let recorder = Recorder()
        let routes = [
            Route(.get, "/events", "events", "Events") { _ in
                HTTPAnswer.events { events in
                    try await events.send(data: "one\n\ntwo")
                    var writer = EventWriter()
                    writer.comment("quiet")
                    for number in 0..<3 { try writer.event("\(number)", type: "number") }
                    writer.comment()
                    try await events.send(written: writer.take())
                }
            },
            Route(.get, "/none", "none", "No events") { _ in HTTPAnswer.events { _ in } },
            Route(.get, "/text", "text", "A text") { _ in HTTPAnswer.text("data: 1\n\ndata: 2\n\n") },
        ]
        try await withServer(routes, { $0.tracer = recorder.tracer }) { server in
            for path in ["events", "none", "text"] { _ = try await server.get("/\(path)", "X-Request-ID: \(path)") }
        }
        let counts = [
            try #require(await recorder.span(of: "events")), try #require(await recorder.span(of: "none")),
            try #require(await recorder.span(of: "text")),
        ].map { $0.attributes["martlet.stream.events"] }
        #expect(counts == [4, nil, nil])
    }

    @Test(
        "A request without a traceparent begins a trace of its own, and unknown methods share a span name")
    func roots() async throws {
        let recorder = Recorder()
        let routes = [Route(.get, "/a", "a", "A text") { _ in HTTPAnswer.text("a") }]
        let outer = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        try await TraceContext.$current.withValue(outer) {
            try await withServer(routes, { $0.tracer = recorder.tracer }) { server in
                for id in ["r1", "r2"] { _ = try await server.get("/a", "X-Request-ID: \(id)") }
                let fields = "Host: localhost\r\nX-Request-ID: r3\r\nConnection: close\r\n\r\n"
                _ = try await server.exchange("BREW /a HTTP/1.1\r\n\(fields)")
            }
        }
        var traces: Set<TraceID> = []
        for (id, method) in [("r1", "GET"), ("r2", "GET"), ("r3", "_OTHER")] {
            let span = try #require(await recorder.span(of: id))
            #expect(span.parent == nil && span.context.trace != outer?.trace)
            #expect(span.attributes["http.request.method"]?.string == method)
            traces.insert(span.context.trace)
        }
        #expect(traces.count == 3)
    }

    @Test("A span carries no secret, whatever a handler's error contains")
    func redacted() async throws {
        struct Leak: Error { let key = "sesame-opens-the-door" }
        let redactor = Redactor()
        redactor.learn(Secret("sesame-opens-the-door"))
        let recorder = Recorder(without: redactor)
        let routes = [Route(.get, "/leak", "leak", "Leaks") { _ -> HTTPAnswer in throw Leak() }]
        try await withServer(routes, { $0.tracer = recorder.tracer }) { server in
            _ = try await server.get("/leak", "X-Request-ID: r1")
            let span = try #require(await recorder.span(of: "r1"))
            #expect(span.attributes["exception.type"] == "Leak")
            #expect(!"\(span)".contains("sesame"))
        }
    }
}

extension String {
    /// The text after each occurrence of `text`, up to the next one.
    fileprivate func components(of text: String) -> [Substring] {
        Array(split(separator: text, omittingEmptySubsequences: false).dropFirst())
    }
}
