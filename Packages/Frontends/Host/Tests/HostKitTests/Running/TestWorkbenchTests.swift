import Capabilities
import CoreTesting
import HostTesting
import Registry
import Settings
import Testing

@Suite("TestWorkbench", .timeLimit(.minutes(5)))
struct TestWorkbenchTests {
    @Test("An event that an action does not declare is its failure", arguments: ["talk.other", "talk.none"])
    func undeclared(id: String) async throws {
        try await TestWorkbench.run([Talkative.self]) { bench in
            let failure = try #require(try await bench.attempt(id).error)
            #expect("\(failure)".contains("\(id) sends an event that it does not declare: there is no event surprise"))
        }
    }

    @Test("Declared events are no failure, and an action's own failure is kept")
    func others() async throws {
        try await TestWorkbench.run([Talkative.self]) { bench in
            let declared = try await bench.perform("talk.declared")
            #expect(declared.output.events.map(\.type) == ["count"])
            let failing = try await bench.attempt("talk.failing")
            #expect(failing.error is Broken)
        }
    }
}

private struct Broken: Error {}

private struct Talkative: Feature {
    static let manifest = Manifest(id: "talk", summary: "Sends events", version: "1")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let count = EventDeclaration("count", "A count", [])
        registry.add(
            Action("talk.declared", "Send a declared event", .reads) { context in
                try await context.emit(ActionEvent("count"))
                return Nothing()
            }.streaming([count]))
        registry.add(
            Action("talk.other", "Send another event", .reads) { context in
                try await context.emit(ActionEvent("surprise"))
                return Nothing()
            }.streaming([count]))
        registry.add(
            Action("talk.none", "Send an event without a declaration", .reads) { context in
                try await context.emit(ActionEvent("surprise"))
                return Nothing()
            })
        registry.add(
            Action("talk.failing", "Send an undeclared event and fail", .reads) { context -> Nothing in
                try await context.emit(ActionEvent("surprise"))
                throw Broken()
            })
    }
}
