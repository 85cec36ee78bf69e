import Capabilities
import JSON
import Synchronization
import Testing

@testable import MCPKit

/// Counts who watches what.
private final class WatchedService: MCPService {
    let identity = MCPIdentity(name: "watched", version: "1")
    let changes = MCPChanges()
    private let counts = Mutex([String: Int]())
    private let news = Signal()

    func capabilities(for peer: MCPPeer) -> MCPServerCapabilities {
        var offered = MCPServerCapabilities()
        offered.resources = MCPServerCapabilities.Listing()
        offered.subscribesResources = true
        return offered
    }

    func watch(_ address: String, for peer: MCPPeer) async throws {
        if address == "secret" { throw MCPUnknown.resource(address) }
        counts.withLock { $0[address, default: 0] += 1 }
        news.raise()
    }

    func unwatch(_ address: String, for peer: MCPPeer) {
        counts.withLock { counts in
            let count = counts[address, default: 0] - 1
            counts[address] = count == 0 ? nil : count
        }
        news.raise()
    }

    /// Waits until this is watched, each as often as it says.
    func wait(for expected: [String: Int]) async throws {
        while true {
            let seen = news.count
            if counts.withLock({ $0 }) == expected { return }
            try await news.wait(beyond: seen)
        }
    }
}

@Suite("What clients watch", .timeLimit(.minutes(1)))
struct WatchTests {
    @Test("In the legacy era it is watched once, until it is given up or the client is gone")
    func legacy() async throws {
        let service = WatchedService()
        try await TestServers.paired(MCPServer(service)) { channel in
            let client = LineClient(channel)
            _ = try await client.open()
            for (id, address) in ["a", "a", "b"].enumerated() {
                let answer = try await client.ask(.int(id), "resources/subscribe", ["uri": .string(address)])
                #expect(answer["result"] == [:])
            }
            try await service.wait(for: ["a": 1, "b": 1])
            #expect(try await client.ask(5, "resources/subscribe", ["uri": "secret"])["error"] != nil)
            #expect(try await client.ask(6, "resources/unsubscribe", ["uri": "secret"])["result"] == [:])
            #expect(try await client.ask(7, "resources/unsubscribe", ["uri": "a"])["result"] == [:])
            try await service.wait(for: ["b": 1])
            #expect(try await client.ask(8, "resources/unsubscribe", ["uri": "a"])["result"] == [:])
            try await service.wait(for: ["b": 1])
        }
        try await service.wait(for: [:])
    }

    @Test("In the modern era it is watched for as long as the client listens")
    func modern() async throws {
        let service = WatchedService()
        let wanted = JSON.modern(["notifications": ["resourceSubscriptions": ["a", "a", "secret"]]])
        try await TestServers.paired(MCPServer(service)) { channel in
            let client = LineClient(channel)
            for id in 1...2 {
                let first = try await client.ask(.int(id), "subscriptions/listen", wanted)
                #expect(first["params"]?["notifications"]?["resourceSubscriptions"] == ["a"])
            }
            try await service.wait(for: ["a": 2])
            try await client.send(nil, "notifications/cancelled", ["requestId": 1])
            try await service.wait(for: ["a": 1])
        }
        try await service.wait(for: [:])
    }

    @Test("Over HTTP it is watched until the client closes the stream")
    func http() async throws {
        let service = WatchedService()
        try await TestServers.overHTTP(MCPHTTPServer(MCPServer(service))) { port in
            let client = try RawHTTP(port: port)
            let wanted = JSON.modern(["notifications": ["resourceSubscriptions": ["a"]]])
            try await client.send(RawHTTP.modern(port, "subscriptions/listen", wanted))
            _ = try await client.receive(until: "acknowledged")
            try await service.wait(for: ["a": 1])
            client.close()
            try await service.wait(for: [:])
        }
    }
}
