import Capabilities
import FileKit
import GatewayStore
import Glibc
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

/// Tests with real commands. They run serialized, since they wait for processes.
@Suite("Commands in a turn", .serialized, .timeLimit(.minutes(5)))
struct ShellTests {
    private static let allowed = [ApprovalRule(.allow, tool: "bash.run", scope: .project)]

    @Test("A command's output is sent while it runs, and its end with the exit code")
    func output() async throws {
        let model = ScriptedModel(
            "scripted", .call([.named("bash_run", ["command": "echo one; exit 3"])]), .say("it failed"))
        try await Workshop.run(model, rules: Self.allowed) { workshop in
            let heard = Heard()
            let session = try #require(try await workshop.say("Run it", to: heard).place.session)
            #expect(heard.words.contains("output one\n"))
            let results = heard.events.compactMap { event in
                if case .chat(.result(let result)) = event { result } else { nil }
            }
            #expect(results.map(\.exitCode) == [3])
            #expect(try await workshop.audit(session).first { $0.action == "tool.call" }?.detail["exit_code"] == 3)
        }
    }

    @Test("A stop ends the turn, and soon after the process group of its command, even if that ignores SIGTERM")
    func stop() async throws {
        // A child and a grandchild that ignore signals.
        let command = """
            trap '' TERM
            (trap '' TERM; echo begun; while :; do sleep 0.05; done) &
            while :; do sleep 0.05; done
            """
        let model = ScriptedModel("scripted", .call([.named("bash_run", ["command": .string(command)])]), .say("well"))
        try await Workshop.run(model, rules: Self.allowed) { workshop in
            let session = try await workshop.store.createSession(NewSession(project: workshop.project.id)).id
            let begun = Promise<Void>()
            let client = Task { [turns = workshop.turns, input = workshop.input("Go", session: session)] in
                try await turns.run(input) { events in
                    if Heard(events).words.contains("output begun\n") { begun.settle(()) }
                }
            }
            try await begun.value()
            #expect(try processes(in: workshop.project.path).count >= 2)
            #expect(try await workshop.turns.stop(session: session))
            #expect(try await client.value.outcome.end.word == "stopped")
            #expect(try await workshop.history(session).last?.contains("stopped by the person") == true)
            #expect(try await workshop.say("How are you?", session: session).text == "well")
            // The turn does not wait for its tool, but this does. A killed process still takes a moment to end.
            await workshop.turns.close()
            while try processes(in: workshop.project.path) != [] { await Task.yield() }
        }
    }

    /// The processes that run in a folder.
    private func processes(in folder: String) throws -> [String] {
        try Files.list("/proc").map(\.name).filter { name in
            var target = [CChar](repeating: 0, count: 4096)
            let length = unsafe readlink("/proc/\(name)/cwd", &target, target.count)
            guard length > 0 else { return false }
            return String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) == folder
        }
    }
}
