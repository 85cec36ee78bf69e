import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Shared session across processes", .timeLimit(.minutes(10)))
struct KeeperProcessTests {
    @Test("Two processes with many requests each renew an expired session once")
    func twoProcesses() async throws {
        try await TemporaryDirectory.run { directory in
            try await TokenServer.run(meeting: 2) { server, origin in
                try Session.sample("access-0").encoded.withText {
                    try Files.writeAtomically(Array($0.utf8), to: "\(directory)/session")
                }
                async let one: Void = expectRenewal(directory, origin)
                async let other: Void = expectRenewal(directory, origin)
                _ = await (one, other)
                let (renewals, replays) = server.state.withLock { ($0.renewals, $0.replays) }
                #expect(renewals == 1 && replays == 0)
                let stored = try Session(
                    encoded: Secret(
                        String(decoding: try Files.read("\(directory)/session", limit: 4096), as: UTF8.self)))
                #expect(stored.token == "access-1" && stored.refreshToken?.revealed == "refresh-1")
            }
        }
    }

    private func expectRenewal(_ directory: String, _ origin: String) async {
        await #expect(processExitsWith: .success) { [directory = directory as String, origin = origin as String] in
            let tokens = try await renewFromManyTasks(directory: directory, origin: origin)
            #expect(tokens == ["access-1"])
        }
    }

    @Test("Eight keepers that share only the file renew it once")
    func keepers() async throws {
        try await TemporaryDirectory.run { directory in
            try await TokenServer.run(meeting: 8) { server, origin in
                try Session.sample("access-0").encoded.withText {
                    try Files.writeAtomically(Array($0.utf8), to: "\(directory)/session")
                }
                try await withThrowingTaskGroup(of: Set<String>.self) { group in
                    for _ in 0..<8 {
                        group.addTask { try await renewFromManyTasks(directory: directory, origin: origin) }
                    }
                    for try await tokens in group { #expect(tokens == ["access-1"]) }
                }
                #expect(server.state.withLock { $0.renewals } == 1)
                #expect(server.state.withLock { $0.replays } == 0)
            }
        }
    }

    @Test("A refusal ends the session for all processes after one request")
    func refused() async throws {
        try await TemporaryDirectory.run { directory in
            try await TokenServer.run(meeting: 4) { server, origin in
                server.state.withLock { $0.valid = "somebody-elses" }
                try Session.sample("access-0").encoded.withText {
                    try Files.writeAtomically(Array($0.utf8), to: "\(directory)/session")
                }
                await withTaskGroup(of: SignInError.Kind?.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            do {
                                _ = try await renewFromManyTasks(directory: directory, origin: origin)
                                return nil
                            } catch {
                                expectClean(error, of: "access-0", "refresh-0")
                                return (error as? SignInError)?.kind
                            }
                        }
                    }
                    for await kind in group { #expect(kind == .signInAgain) }
                }
                #expect(server.state.withLock { $0.replays } == 1)
            }
        }
    }
}
