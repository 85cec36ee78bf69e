import Capabilities
import CoreTesting
import FileKit
import GatewayStore
import HTTPTesting
import JSON
import ProcessKit
import Registry
import Screens
import Testing

@testable import Gateway

@Suite("Screen of the gateway", .timeLimit(.minutes(5)))
struct OverviewScreenTests {
    private static let health: ScriptedServer.Script = { connection in
        let body = #"{"status":"healthy","version":"1.2","active_sessions":1,"uptime_seconds":60}"#
        try connection.receiveRequest()
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test("Without a gateway it offers to start one and creates no file, and a gateway that starts is seen")
    func starts() async throws {
        try await ScriptedServer.run(Self.health) { server in
            try await TemporaryDirectory.run { folder in
                let test = try TestHost([MemoryVault.self, GatewayFeature.self], folder: folder)
                try await test.open("gateway.overview") { view in
                    let none = try await view.block { _ in true }
                    guard case .placeholder(let placeholder) = none.content else {
                        Issue.record("\(none)")
                        return
                    }
                    #expect(placeholder.reason == .empty && placeholder.message.contains("no gateway is running here"))
                    #expect(placeholder.retry?.target == .action("gateway.serve"))
                    #expect(!Files.exists("\(folder)/data/gateway.db"))

                    let instance = Instance(test.host.surroundings)
                    let lock = try await instance.claim()
                    _ = try instance.announce(["http://127.0.0.1:\(server.port)"], fingerprint: nil)
                    await test.clock.waitForSleepers(1)
                    test.clock.advance(by: .seconds(5))
                    let running = try await view.block { $0.value("status")?["state"] == "ok" }
                    let status = try #require(running.value("status"))
                    #expect(status["address"] == .string("http://127.0.0.1:\(server.port)"))
                    #expect(status["version"] == "1.2" && status["sessions"] == 1 && status["uptime"] == "1m")
                    #expect(status["latency"] == nil && running.value("today")?["answers"] == 0)
                    #expect(running.gauges.isEmpty)
                    lock.release()
                }
                #expect(await test.session.close() == [])
            }
        }
    }

    @Test("Budgets are gauges of what was used today, and running turns are listed")
    func budgets() async throws {
        try await ScriptedServer.run(Self.health) { server in
            try await TemporaryDirectory.run { folder in
                let test = try TestHost(
                    [MemoryVault.self, GatewayFeature.self], settings: "{gateway: {'day-tokens': 1000}}", folder: folder
                )
                let lock = try await Instance(test.host.surroundings).claim()
                _ = try Instance(test.host.surroundings).announce(
                    ["http://127.0.0.1:\(server.port)"], fingerprint: nil)
                _ = try await test.perform("gateway.token.create", ["name": "ci", "day-tokens": 100, "day-cost": 2])
                _ = try await test.perform("gateway.token.create", ["name": "free"])
                _ = try await test.perform("gateway.token.create", ["name": "everything", "day-tokens": 50])
                let store = GatewayStore(
                    GatewayStore.database(at: "\(folder)/data/gateway.db"), now: { Timestamp(microseconds: 0) })
                let session = try await store.createSession(NewSession(model: "m"))
                let lease = try await store.beginTurn(session: session.id)
                try await store.account(
                    UsageEntry(
                        client: "ci", provider: "p", model: "m",
                        usage: Usage(inputTokens: 80, outputTokens: 10, cost: Cost(nanodollars: 1_000_000_000))))
                try await test.open("gateway.overview") { view in
                    let shown = try await view.block { _ in true }
                    #expect(shown.gauges.map(\.value) == [90, 90, 1, 0])
                    #expect(shown.gauges.map(\.limit) == [1000, 100, 2, 50])
                    #expect(shown.gauges.map(\.unit) == ["tokens", "tokens", "US dollars", "tokens"])
                    #expect(shown.repeatedIDs.isEmpty)
                    #expect(shown.value("today")?["answers"] == 1 && shown.value("today")?["input_tokens"] == 80)
                    #expect(shown.rows.map { $0["id"] } == [.string(session.id)])
                }
                try await store.endTurn(lease)
                await store.close()
                lock.release()
                #expect(await test.session.close() == [])
            }
        }
    }
}

extension Block {
    /// The values of the block with this id.
    fileprivate func value(_ id: String) -> JSONObject? {
        if self.id == id, case .values(let values) = content { return values.values }
        return children.lazy.compactMap { $0.value(id) }.first
    }
    fileprivate var gauges: [Gauge] {
        if case .gauge(let gauge) = content { return [gauge] }
        return children.flatMap(\.gauges)
    }
    fileprivate var rows: [JSONObject] {
        if case .table(let table) = content, case .all(let rows) = table.rows { return rows }
        return children.flatMap(\.rows)
    }
}
