import Capabilities
import JSON
import MCPKit
import RPCKit
import ServeTesting
import Testing

@testable import ServeFrontend

@Suite("Calls of hosts that run as tasks", .timeLimit(.minutes(2)))
struct TaskTests {
    /// A lab whose calls become tasks at once.
    private func lab(allowing allows: [Allowance] = [], settings: String = "{}") throws -> ServedLab {
        try ServedLab(allowing: allows, settings: settings) {
            ($0.tasks.patience, $0.tasks.pause) = (.zero, .milliseconds(20))
        }
    }

    @Test(
        "An action is performed as a task with the rights of its host, and its questions are values",
        arguments: Era.allCases)
    func actions(era: Era) async throws {
        let lab = try lab()
        let user = HostUser.sayingYes()
        try await lab.host(era, user) { client async throws in
            #expect(try await client.server().capabilities.tasks)
            #expect(try await client.call("lab_add", ["a": 2], asTask: true).structured?["sum"] == 3)
            #expect(try await client.call("lab_color", asTask: true).text == "red")
            #expect(try await client.call("lab_count", ["to": 3], asTask: true).text == "1 2 3 ")
            let failed = try await client.call("lab_fail", asTask: true)
            #expect(failed.isError && failed.text.contains("come back tomorrow"))
            // What a host must not decide is not asked in a task either.
            #expect(try await client.call("lab_trust", asTask: true).code == "serve.not-for-hosts")
            #expect(await code { try await client.call("lab_bump", asTask: true) } == -32602)
        }
        #expect(lab.state.counts.granted == 0 && lab.state.counts.written == 0 && user.questions.count == 1)
        // Control: with the right it is done.
        let allowed = try self.lab(allowing: [.writes])
        try await allowed.host(era) { client async throws in
            #expect(try await client.call("lab_bump", asTask: true).isError == false)
        }
        #expect(allowed.state.counts.written == 1)
    }

    @Test("A task that is cancelled, or whose host goes, ends the action", arguments: Era.allCases)
    func ended(era: Era) async throws {
        let lab = try lab()
        try await lab.host(era) { client async throws in
            let call = Task { try await client.call("lab_wait", asTask: true) }
            try await lab.state.wait { $0.waiting == 1 }
            call.cancel()
            await #expect(throws: (any Error).self) { try await call.value }
            try await lab.state.wait { $0.cancelled == 1 }
            let other = Task { try await client.call("lab_wait", asTask: true) }
            try await lab.state.wait { $0.waiting == 2 }
            client.close()
            await #expect(throws: (any Error).self) { try await other.value }
        }
        #expect(lab.state.counts.cancelled == 2)
    }

    @Test("As many tasks run as the setting says, and no action is cut off by a short time to live")
    func limits() async throws {
        let lab = try lab(settings: "{serve: {tasks: 1, 'call-limit': '2h', 'task-after': '5s'}}")
        #expect(lab.serverLimits.tasks.life.lowerBound == .seconds(7_500))
        try await lab.host(.legacy) { client async throws in
            let call = Task { try await client.call("lab_wait", asTask: true) }
            try await lab.state.wait { $0.waiting == 1 }
            do {
                _ = try await client.call("lab_add", ["a": 1], asTask: true)
                Issue.record("it ran")
            } catch {
                #expect("\(error)".contains("1 of one client"), "\(error)")
            }
            // Control: without a task it is done.
            #expect(try await client.call("lab_add", ["a": 1]).isError == false)
            call.cancel()
            await #expect(throws: (any Error).self) { try await call.value }
        }
    }
}
