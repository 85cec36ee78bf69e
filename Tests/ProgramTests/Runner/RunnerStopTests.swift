import HTTPTesting
import JSON
import ProcessKit
import Testing

@Suite("Stopped runs", .timeLimit(.minutes(5)))
struct RunnerStopTests {
    /// A bundle that waits for a server that never answers.
    private func waiting(_ port: Int) -> String {
        """
        name: waits
        permissions: {effects: writes}
        steps:
          - {id: first, action: version}
          - {id: wait, action: chat.send, with: {message: x, model: openai/gpt-5, no-save: true}}
        finally:
          - {id: tidy, action: file.write, with: {path: tidy.txt, text: "run failed: ${{ run.failed }}"}}
        """
    }

    @Test(
        "A run stopped by a signal runs its cleanup steps, and can be resumed",
        arguments: [
            (Signal.interrupt, 130), (.terminate, 143), (.hangUp, 143), (.quit, 143), (.user1, 143), (.alarm, 143),
        ] as [(Signal, Int32)])
    func signal(signal: Signal, code: Int32) async throws {
        try await withSilentServer { home in
            try home.write(waiting(0))
            let status = try await home.running("run", "b.yaml", "--format", "ndjson") { child in
                try await child.wait(for: "step_started", of: "wait")
                child.send(signal)
                try await child.wait(for: "step_ended", of: "tidy")
                while try await child.nextEvent() != nil {}
                return try await child.exitStatus()
            }
            #expect(status == .exited(code))
            #expect(try home.read("tidy.txt") == "run failed: true")
            let row = try await home.martlet("runs", "--json").output.json()[0]
            #expect(row?["status"] == "cancelled")
        }
    }

    @Test("A run stopped by runs cancel ends, and both commands report it") func cancel() async throws {
        try await withSilentServer { home in
            try home.write(waiting(0))
            try await home.running("run", "b.yaml", "--format", "ndjson") { child in
                try await child.wait(for: "step_started", of: "wait")
                let cancel = try await home.martlet("runs", "cancel", "--json")
                #expect(cancel.code == 0, "\(cancel.errors)")
                #expect(try cancel.output.json()["status"] == "cancelled")
                while try await child.nextEvent() != nil {}
                #expect(try await child.exitStatus() == .exited(143))
            }
            let again = try await home.martlet("runs", "cancel")
            #expect(again.code == 1 && again.errors.contains("is not running"))
        }
    }

    @Test("A repeated run that is stopped between two rounds ends cleanly") func every() async throws {
        try await RunnerHome.with { home in
            try home.write("{name: often, steps: [{action: version}]}")
            let status = try await home.running("run", "b.yaml", "--every", "200ms", "--format", "ndjson") { child in
                for _ in 1...3 { try await child.wait(for: "run_ended") }
                child.send(.interrupt)
                while try await child.nextEvent() != nil {}
                return try await child.exitStatus()
            }
            #expect(status == .exited(130))
            let rows = try await home.martlet("runs", "--json").output.json().array ?? []
            #expect(rows.count >= 3 && rows.allSatisfy { $0["status"] == "ok" || $0["status"] == "cancelled" })
        }
    }
}

/// Provides a home whose provider accepts requests and never answers.
func withSilentServer(_ body: (RunnerHome) async throws -> Void) async throws {
    try await ChatHome.with({ try $0.stall() }) { chat in
        try await body(RunnerHome(path: chat.path, top: chat.path, variables: chat.variables))
    }
}
