import Capabilities
import CoreTesting
import FileKit
import HostTesting
import JSON
import Registry
import Settings
import Synchronization
import Testing

@Suite("Traces of runs", .serialized, .timeLimit(.minutes(5)))
struct TracedRunTests {
    /// A bundle that runs a program, another bundle, and a step that fails in each of its two attempts.
    private func spans(sampled ratio: String, failing: Bool) async throws -> (spans: [TraceSpan], seen: String) {
        var result = (spans: [TraceSpan](), seen: "")
        try await TestWorkbench.withRunner { bench in
            bench.features.append(BuiltInFeature(SpanKeeper.self))
            (bench.environment["LAB_SAMPLE"], bench.environment["PATH"]) = (ratio, "/usr/bin:/bin")
            try Files.makeDirectories("\(bench.folder)/work")
            try bench.write(
                "name: inner\nsteps: [{id: echo, action: lab.echo, with: {value: hunter22}}]", to: "inner.yaml")
            let flaky =
                failing
                ? "- {id: flaky, action: lab.fail, retry: {times: 1, delay: 1ms, on: [5]}, continue-on-error: true}"
                : ""
            let run = try await bench.run(
                """
                name: traced
                permissions: {effects: writes, paths: ['\(bench.folder)/work'], programs: [env]}
                steps:
                  - {id: program, action: shell.run, with: {program: env, folder: '\(bench.folder)/work'}}
                  - {id: inner, bundle: inner.yaml}
                  \(flaky)
                outputs: {seen: "${{ steps.program.result.output }}"}
                """)
            #expect(run.exit == .done, "\(run.json)")
            result = (SpanKeeper.take(bench.folder), run.json["outputs"]?["seen"]?.string ?? "")
        }
        return result
    }

    @Test("A run is one trace down to the programs of its steps, which can continue it", arguments: ["1", "0"])
    func connected(ratio: String) async throws {
        // What fails is recorded whole, also where nothing is sampled.
        let (all, seen) = try await spans(sampled: ratio, failing: true)
        let byID = Dictionary(all.map { ($0.context.span, $0) }) { $1 }
        #expect(
            Set(all.map(\.context.trace)).count == 1 && all.filter { $0.parent == nil }.map(\.name) == ["run.start"])
        /// The names of the spans around one, from the outside in.
        func path(_ span: TraceSpan) -> String {
            guard let parent = span.parent else { return span.name }
            guard let outer = byID[parent] else { return "an orphan: \(span.name)" }
            return "\(path(outer)) > \(span.name)"
        }
        let paths = all.map(path)
        #expect(!paths.contains { $0.hasPrefix("an orphan") }, "\(paths)")
        let run = "run.start > RUN traced"
        for wanted in [
            "\(run) > step program > shell.run > env", "\(run) > step inner > step echo > lab.echo",
            "\(run) > step flaky > lab.fail",
        ] { #expect(paths.contains(wanted), "\(wanted) in \(paths)") }
        #expect(paths.contains { $0.hasPrefix(run) && $0.hasSuffix("> write runs.db") }, "\(paths)")

        let process = try #require(all.first { $0.name == "env" })
        #expect(seen.contains("TRACEPARENT=\(process.context.traceparent)\n"), "\(seen)")
        let steps = all.filter { $0.name.hasPrefix("step ") }
        let flaky = steps.filter { $0.name == "step flaky" }
        #expect(flaky.map { $0.attributes["martlet.step.attempt"] } == [1, 2])
        #expect(flaky.allSatisfy { $0.failure == "lab.failed" })
        #expect(flaky.map { $0.attributes["cicd.pipeline.task.run.result"] } == ["failure", "failure"])
        #expect(steps.first { $0.name == "step inner" }?.attributes["martlet.step.kind"] == "bundle")
        let outer = all.first { $0.name == "RUN traced" }
        #expect(outer?.attributes["cicd.pipeline.result"] == "success" && outer?.failure == nil)
        #expect(!"\(all)".contains("hunter22"))
    }

    @Test("Of a run in which nothing fails nothing is recorded where nothing is sampled")
    func unsampled() async throws {
        let (all, seen) = try await spans(sampled: "0", failing: false)
        #expect(all.isEmpty && seen.contains("-00\n"), "\(seen)")
    }
}

/// Keeps the spans of each test by its folder.
private struct SpanKeeper: Feature {
    static let manifest = Manifest(
        id: "span-keeper", summary: "Keeps spans", version: "1.0", provides: [.shared((any SpanSink).self)])

    private static let kept = Mutex<[String: [TraceSpan]]>([:])

    static func take(_ folder: String) -> [TraceSpan] { kept.withLock { $0.removeValue(forKey: folder) ?? [] } }

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let variables = registry.surroundings.environment
        let ratio = variables["LAB_SAMPLE"].flatMap(Double.init) ?? 1
        registry.provide(
            (any SpanSink).self,
            Sink(folder: variables["HOME"] ?? "", sampling: TraceSampling(ratio: ratio)) as any SpanSink)
    }

    private final class Sink: SpanSink {
        let folder: String
        let sampling: TraceSampling?

        init(folder: String, sampling: TraceSampling) { (self.folder, self.sampling) = (folder, sampling) }

        func record(_ span: SpanRecord) {
            let copy = span.copy(without: Redactor())
            SpanKeeper.kept.withLock { $0[folder, default: []].append(copy) }
        }
    }
}
