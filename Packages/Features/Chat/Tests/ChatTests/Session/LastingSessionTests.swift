import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import HostKit
import HostTesting
import JSON
import Testing

@testable import Chat
@testable import CoreTesting
@testable import Registry

/// A separate process, because descriptors, threads and memory are counted.
@Suite("Long-running session", .timeLimit(.minutes(20)))
struct LastingSessionTests {
    @Test("A session works after two days as at first: parallel callers, tools, new settings, cancellations")
    func days() async throws {
        await #expect(processExitsWith: .success) { try await FastMotion.run() }
    }
}

/// Days of a session in a few seconds: each is 50 callers with 20 actions each, of which every third is a turn with a
/// tool and every 20th is cancelled, while the settings change 500 times.
private struct FastMotion: Sendable {
    private static let (callers, things, changes) = (50, 20, 500)

    let test: TestHost
    let folder: String

    static func run() async throws {
        try await ScriptedServer.run(answer) { server in
            try await TemporaryDirectory.run { folder in
                // Limits and pauses use the real time, because the test does not advance its clock.
                let test = try TestHost(
                    [HostFeature.self, Workshop.self, ChatFeature.self].map { BuiltInFeature($0) },
                    settings: settings(0),
                    environment: [
                        "OPENAI_BASE_URL": "http://127.0.0.1:\(server.port)/v1", "OPENAI_API_KEY": Desk.key,
                    ], folder: folder, clock: TestClock(), time: ContinuousClock())
                let motion = FastMotion(test: test, folder: folder)
                try await ChatServices.$localServers.withValue([]) {
                    try await motion.day(1)
                    let evening = try await motion.counted()
                    try await motion.day(2)
                    let next = try await motion.counted()
                    // If 1,000 actions leaked one resource each, a hundred would show; idle connections are only a few.
                    #expect(next.descriptors <= evening.descriptors + 16, "\(evening) and then \(next)")
                    #expect(next.threads <= evening.threads + 16, "\(evening) and then \(next)")
                    #expect(next.generations == 1, "\(next)")
                    #expect(next.memory - evening.memory < 24 << 20, "\(evening) and then \(next)")
                }
                let stuck = await test.session.close()
                #expect(stuck == [])
            }
        }
    }

    private static let answer: ScriptedServer.Script = { connection in
        let request = try connection.receiveRequest()
        guard request.method == "POST" else { return try connection.respond(#"{"object":"list","data":[]}"#) }
        let said = String(decoding: request.body, as: UTF8.self)
        let callsTool = said.contains("with a tool") && !said.contains("\"tool_call_id\"")
        try connection.begin()
        try connection.send(
            callsTool ? Answers.call("shop.stock", input: ["thing": "nails"]) : Answers.say("Yes"))
    }

    private static func settings(_ number: Int) -> String { "{chat: {'max-tokens': \(1000 + number % 7)}}" }

    private func day(_ day: Int) async throws {
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
            for caller in 0..<Self.callers { group.addTask { await things(of: caller, on: day) } }
            group.addTask {
                for number in 1...Self.changes {
                    try test.change(settings: Self.settings(number))
                    // Another action must use the change before the next one, or few changes would be used.
                    try await test.perform("chat.usage")
                }
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(failures == [], "on day \(day), \(failures.count) times: \(failures.prefix(5))")
    }

    /// The failures of a caller's actions.
    private func things(of caller: Int, on day: Int) async -> [String] {
        var failures: [String] = []
        for number in 0..<Self.things {
            let message = "day \(day), caller \(caller), number \(number)"
            let (id, arguments): (String, JSONObject) =
                switch (caller + number) % 3 {
                case 0:
                    (
                        "chat.send",
                        ["message": .string("\(message), with a tool"), "model": "openai/small-1", "tools": true]
                    )
                case 1: ("chat.list", ["limit": 5])
                default: ("chat.search", ["words": ["caller", .string(String(caller))]])
                }
            let isCancelled = (caller * Self.things + number) % 20 == 19
            let work = Task { try await test.perform(id, arguments) }
            if isCancelled {
                for _ in 0..<(caller * 7) { await Task.yield() }
                work.cancel()
            }
            do {
                let result = try await work.value
                // A stopped action has a different end.
                if id == "chat.send", !isCancelled, result["result"] != "Yes" {
                    failures.append("\(message): \(result.text())")
                }
            } catch {
                if !isCancelled { failures.append("\(message): \(AnyFailure(error).message)") }
            }
        }
        return failures
    }

    private struct Counts {
        let descriptors: Int
        let threads: Int
        let generations: Int
        /// In bytes, of this process.
        let memory: Int
    }

    /// The remaining resources once everything has ended, as far as that happens by itself.
    private func counted() async throws -> Counts {
        var counts = try count()
        // A released connection is closed by a separate thread, and an old generation by a separate task.
        for turn in 0..<20_000 where turn < 200 || counts.generations > 1 {
            await Task.yield()
            let next = try count()
            let isLess =
                next.descriptors < counts.descriptors || next.threads < counts.threads
                || next.generations < counts.generations
            if isLess { counts = next }
        }
        return counts
    }

    private func count() throws -> Counts {
        Counts(
            descriptors: try Files.list("/proc/self/fd").count, threads: try Files.list("/proc/self/task").count,
            generations: test.session.liveGenerations,
            memory: try TestProcess.residentBytes())
    }
}
