import Capabilities
import CoreTesting
import FileKit
import Glibc
import HTTPTesting
import JSON
import LoopKit
import ProcessKit
import Registry
import Testing

@testable import Gateway

@Suite("The one gateway of a data folder")
struct InstanceTests {
    /// The id of this process, as if another process had it.
    static var otherStart: String {
        ProcessIdentity.own.text.split(separator: "/").dropLast().joined(separator: "/") + "/1"
    }

    private func instance(_ folder: String) -> Instance {
        Instance(
            Surroundings(
                environment: [:],
                locations: Locations(current: "/", config: "", data: folder, state: folder, cache: ""),
                clock: ContinuousClock(), now: { Timestamp(microseconds: 1) }))
    }

    @Test("A gateway is found while it holds the lock, and a second one is told its address")
    func second() async throws {
        let loop = EventLoop()
        defer { loop.stop() }
        try await TemporaryDirectory.run { folder in
            let instance = instance(folder)
            #expect(try instance.running(loop: loop) == nil)
            let lock = try await instance.claim()
            let state = try instance.announce(["http://127.0.0.1:9"], fingerprint: "ab")
            #expect(try instance.running(loop: loop)?.state == state)
            #expect(state.process == .own)
            #expect(try Files.info("\(folder)/gateway.json").mode == 0o600)
            let error = await #expect(throws: ServingError.self) { _ = try await instance.claim() }
            #expect(error?.kind == .running)
            #expect(error?.message.contains("http://127.0.0.1:9 (process \(getpid()))") == true)
            try instance.forget()
            #expect(try instance.running(loop: loop) == nil)
            lock.release()
            try await instance.claim().release()
        }
    }

    @Test(
        "A gateway that was killed, or whose process id was reused, is not running",
        arguments: [
            #"{"process": "boot/1/1", "started": "2026-11-21T00:00:00Z", "addresses": []}"#,
            #"{"process": "boot/99999999999/1", "started": "2026-11-21T00:00:00Z", "addresses": []}"#,
            #"{"process": "boot/-1/1", "started": "2026-11-21T00:00:00Z", "addresses": []}"#,
            #"{"process": "\#(InstanceTests.otherStart)", "started": "2026-11-21T00:00:00Z", "addresses": []}"#,
            #"{"process": "x"}"#, "{", "", "[]",
        ])
    func stale(text: String) async throws {
        let loop = EventLoop()
        defer { loop.stop() }
        try await TemporaryDirectory.run { folder in
            try write(text, to: "\(folder)/gateway.json")
            #expect(try instance(folder).running(loop: loop) == nil)
            // Its leftover file does not hinder the next gateway and is removed.
            try await instance(folder).claim().release()
            #expect(!Files.exists("\(folder)/gateway.json"))
        }
    }

    @Test("A gateway that is not running is reported as down, with what to do")
    func down() async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([MemoryVault.self, GatewayFeature.self], folder: folder)
            let health = try await host.perform("gateway.status")
            #expect(health["state"] == "down")
            #expect(health["mend"] == "start it with 'martlet gateway serve'")
            let error = await #expect(throws: ServingError.self) { try await host.perform("gateway.stop") }
            #expect(error?.kind == .down)
            let debugged = await #expect(throws: ServingError.self) { try await host.perform("gateway.debug") }
            #expect(debugged?.kind == .down)
            for (text, problem) in [("{", "is not JSON"), ("[1]", "is not a JSON object")] {
                try write(text, to: "\(folder)/body.json")
                let unusable = await #expect(throws: ArgumentsFailure.self) {
                    try await host.perform("gateway.debug", ["request": .string("\(folder)/body.json")])
                }
                #expect(unusable?.message.contains(problem) == true && unusable?.exit == .usage)
            }
        }
    }
}
