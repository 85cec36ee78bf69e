import MCPKit
import Testing

/// Runs the servers that are reached over HTTP once for a whole suite, as the start of a Python program takes longer than most tests of it.
struct RunningPeers: SuiteTrait, TestScoping {
    @TaskLocal static var addresses: [Peers.Peer: MCPServerAddress] = [:]

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await run(Peers.Peer.everything.filter { $0.way != .stdio }[...], performing: function)
    }

    private func run(
        _ peers: ArraySlice<Peers.Peer>, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard let peer = peers.first else { return try await function() }
        try await peer.serving { address in
            try await Self.$addresses.withValue(Self.addresses.merging([peer: address]) { $1 }) {
                try await run(peers.dropFirst(), performing: function)
            }
        }
    }
}

extension SuiteTrait where Self == RunningPeers {
    /// The suite's tests share the servers that are reached over HTTP.
    static var runningPeers: RunningPeers { RunningPeers() }
}
