import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import Registry
import Settings
import Testing
import TraceStore

@testable import Trace

/// Work to be traced.
struct WorkFeature: Feature {
    static let manifest = Manifest(id: "work", summary: "Work for traces", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("work.outer", "Do some work", .reads, .flag("fails", "Whether it fails")) { context, fails in
                try await context.tracer.span("execute_tool probe", of: "work") { span in
                    span.set("gen_ai.tool.name", "probe")
                    span.happened("half")
                    if fails { throw WorkFailure() }
                }
                return "done"
            })
        registry.add(Action("work.instant", "Do nothing", .reads) { _ in "done" }.instant())
    }
}

struct WorkFailure: Failure {
    var code: String { "work.broken" }
    var message: String { "it broke" }
}

@Suite("Traces as a feature", .timeLimit(.minutes(5)))
struct FeatureTests {
    @Test("The feature keeps the rules for features") func conforms() async throws {
        try await TemporaryDirectory.run { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
                let request = "81c0d2f3577b34da6a3ce929d0e0e473"
                try Files.writeAtomically(
                    Array(
                        """
                        {"trace_id":"\(trace)","span_id":"\(span)","name":"chat","scope":"chat",\
                        "start_us":\(Timestamp.now().microseconds),"duration_ns":9}
                        {"trace_id":"\(request)","span_id":"\(span)","name":"GET","scope":"chat","kind":"client",\
                        "start_us":\(Timestamp.now().microseconds),"duration_ns":9,"attributes":{"http.request.method":"GET"}}
                        {"log":{"time_us":\(Timestamp.now().microseconds),"level":"warning","scope":"chat","message":"told"}}

                        """.utf8), to: "\(folder)/traces.ndjson")
                let violations = try await FeatureConformance.violations(
                    of: TraceFeature.self, in: folder,
                    doing: [
                        "trace.import": ["file": .string("\(folder)/traces.ndjson")],
                        "trace.show": ["id": .string(trace)],
                        "trace.span": ["id": .string(trace), "span": .string(span)],
                        "trace.request": ["id": .string(request), "span": .string(span)],
                        "trace.curl": ["id": .string(request), "span": .string(span)],
                        "trace.search": ["expression": "duration < 1 || text == 'x'"],
                        "trace.compare": ["first": .string(trace), "second": .string(trace)],
                        "trace.clear": ["before": "1960-01-01T00:00:00Z"], "trace.spans": ["id": .string(trace)],
                        "trace.frames": ["id": .string(trace)],
                        "trace.facts": ["id": .string(trace), "span": .string(span)],
                    ], lasting: ["trace.serve", "trace.tail"])
                for violation in violations { Issue.record("\(violation)") }
            }
        }
    }

    private func withHost(settings: String = "{}", _ body: (TestHost) async throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([TraceFeature.self, WorkFeature.self], settings: settings, folder: folder)
            try await body(host)
            await host.session.close()
        }
    }

    @Test("What an action did is shown below it, with what is known")
    func shows() async throws {
        try await withHost { (host) async throws in
            #expect(try await host.perform("work.outer") == "done")
            await #expect(throws: WorkFailure.self) { try await host.perform("work.outer", ["fails": true]) }
            let traces = try await host.perform("trace.list")
            #expect(traces.array?.compactMap { $0["name"]?.string } == ["work.outer", "work.outer"])
            #expect(Set(traces.array?.compactMap { $0["state"]?.string } ?? []) == ["ok", "work.broken"])
            let failed = try await host.perform("trace.list", ["failed": true])
            let id = try #require(failed[0]?["id"]?.string)
            let rows = try await host.perform("trace.show", ["id": .string(id)])
            #expect(rows.array?.compactMap { $0["name"]?.string } == ["work.outer", "  execute_tool probe"])
            #expect(rows[1]?["state"] == "work.broken" && rows[1]?["depth"] == 1)
            let span = try #require(rows[1]?["span"]?.string)
            let detail = try await host.perform("trace.span", ["id": .string(id), "span": .string(span)])
            #expect(detail["attributes"]?["gen_ai.tool.name"] == "probe" && detail["events"]?[0]?["name"] == "half")
            let stats = try await host.perform("trace.stats")
            #expect(stats.array?.first { $0["name"] == "execute_tool probe" }?["failures"] == 1)
            #expect(stats == (try await host.perform("trace.stats", ["text": "probe"])))
            let calls = try await host.perform("trace.search", ["expression": "tool == 'probe' && error != null"])
            #expect(calls.array?.map { $0["span"] } == [.string(span)])
        }
    }

    @Test("What is done at once, and what reads traces, leaves no trace")
    func silent() async throws {
        try await withHost { (host) async throws in
            _ = try await host.perform("work.instant")
            _ = try await host.perform("trace.list")
            #expect(try await host.perform("trace.list") == [])
            #expect(host.output.notices.last == "nothing was recorded that matches")
            #expect(!Files.exists("\(host.host.locations.state)/trace.db"))
        }
    }

    @Test("With trace.record off nothing is recorded, and the list says why")
    func off() async throws {
        try await withHost(settings: "{trace: {record: false}}") { (host) async throws in
            _ = try await host.perform("work.outer")
            #expect(try await host.perform("trace.list") == [])
            #expect(host.output.notices.last?.contains("trace.record") == true)
            #expect(!Files.exists("\(host.host.locations.state)/traces"))
        }
    }

    @Test("Of traces that are not sampled only those are recorded in which something failed")
    func sampled() async throws {
        try await withHost(settings: "{trace: {sample: 0}}") { (host) async throws in
            _ = try await host.perform("work.outer")
            await #expect(throws: WorkFailure.self) { try await host.perform("work.outer", ["fails": true]) }
            let traces = try await host.perform("trace.list")
            #expect(traces.array?.map { $0["spans"] } == [2])
        }
    }

    @Test("An export is read again elsewhere, and a file without spans is refused")
    func moves() async throws {
        try await withHost { (host) async throws in
            _ = try await host.perform("work.outer")
            #expect(try await host.perform("trace.export") == "2 spans")
            let text = host.output.events.compactMap(\.text).joined()
            #expect(text.split(separator: "\n").count == 3)
            try await TemporaryDirectory.run { folder in
                try Files.writeAtomically(Array(text.utf8), to: "\(folder)/traces.ndjson")
                let other = try TestHost([TraceFeature.self], folder: folder)
                let file: JSONObject = ["file": .string("\(folder)/traces.ndjson")]
                #expect(try await other.perform("trace.import", file) == "2 spans were added")
                #expect(try await other.perform("trace.import", file) == "0 spans were added")
                _ = try await other.perform("trace.export")
                #expect(other.output.events.compactMap(\.text).joined() == text)
                try Files.writeAtomically(Array("rubbish\n".utf8), to: "\(folder)/traces.ndjson")
                let error = await #expect(throws: TraceError.self) { try await other.perform("trace.import", file) }
                #expect(error?.code == "trace.no-spans")
                await other.session.close()
            }
        }
    }

    @Test("Times beyond all dates in a file of somebody else are shown as the first or last there are")
    func absurd() async throws {
        try await withHost { (host) async throws in
            let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
            let times: [(Int, Int)] = [(.max, 1_000), (-9_000_000_000_000_000_000, 5), (.min, .max), (0, .max)]
            let lines = times.enumerated().map { number, time in
                """
                {"trace_id":"\(trace)","span_id":"000000000000000\(number + 1)","name":"s","scope":"x","start_us":\(time.0),\
                "duration_ns":\(time.1),"events":[{"name":"e","time_us":\(time.0)}]}
                """
            }
            let file = "\(host.host.locations.current)/traces.ndjson"
            try Files.writeAtomically(Array(lines.joined(separator: "\n").utf8), to: file)
            #expect(try await host.perform("trace.import", ["file": .string(file)]) == "4 spans were added")
            #expect(try await host.perform("trace.list", ["longer": "1s"]).array?.count == 1)
            #expect(try await host.perform("trace.show", ["id": .string(trace)]).array?.count == 4)
            for number in 1...4 {
                let span = JSON.string("000000000000000\(number)")
                #expect(try await host.perform("trace.span", ["id": .string(trace), "span": span])["name"] == "s")
            }
            #expect(try await host.perform("trace.stats").array?.count == 1)
            for form in SpanText.Form.allCases { _ = try await host.perform("trace.export", ["as": form.json]) }
            let error = await #expect(throws: TraceError.self) {
                try await host.perform("trace.span", ["id": .string(trace), "span": "0"])
            }
            #expect(error?.code == "trace.not-one-span")
        }
    }

    @Test("Each form is what it says", arguments: SpanText.Form.allCases)
    func forms(form: SpanText.Form) async throws {
        try await withHost { (host) async throws in
            for _ in 0..<3 { _ = try await host.perform("work.outer") }
            let file = "\(host.host.locations.current)/out"
            let done = try await host.perform("trace.export", ["as": form.json, "output": .string(file)])
            #expect(done == .string("\(file) has 6 spans"))
            let text = String(decoding: try Files.read(file, limit: 1 << 20), as: UTF8.self)
            switch form {
            case .ndjson: #expect(text.split(separator: "\n").count == 7)
            case .otlp: #expect(try JSON(parsing: text)["resourceSpans"]?.array?.isEmpty == false)
            case .chrome: #expect(try JSON(parsing: text)["traceEvents"]?.array?.count ?? 0 >= 6)
            case .csv: #expect(text.split(whereSeparator: \.isNewline).count == 7)
            case .html: #expect(text.hasPrefix("<!DOCTYPE html>") && text.contains("execute_tool probe"))
            }
        }
    }

    @Test("All traces are removed after a yes")
    func clears() async throws {
        try await withHost { (host) async throws in
            _ = try await host.perform("work.outer")
            await #expect(throws: InteractionError.self) { try await host.perform("trace.clear") }
            #expect(try await host.perform("trace.list").array?.count == 1)
        }
    }
}
