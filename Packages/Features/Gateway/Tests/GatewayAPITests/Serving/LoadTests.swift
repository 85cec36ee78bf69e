import Capabilities
import GatewayAPI
import GatewayTurns
import HTTPClient
import HTTPCore
import HTTPServer
import HTTPTesting
import JSON
import Testing

@Suite("Many clients", .timeLimit(.minutes(5))) struct LoadTests {
    /// Opens streams concurrently, and counts those that got their whole answer.
    private static let program = """
        import asyncio, json, resource, sys
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(20000, hard), hard))
        port, count, token, extra = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
        body = json.dumps({"model": "test/many", "stream": True, "messages": [{"role": "user", "content": "x"}], **extra})
        request = ("POST /v1/chat/completions HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n"
            f"Authorization: Bearer {token}\\r\\nContent-Type: application/json\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n{body}").encode()
        async def one():
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            text = await reader.read(-1)
            writer.close()
            return text.count(b'"content":"') == 101 and b"[DONE]" in text
        async def main():
            print(sum(await asyncio.gather(*[one() for _ in range(count)])))
        asyncio.run(main())
        """

    @Test("A thousand concurrent streams all get their whole answer", arguments: [JSON.object([:]), ["mcp": [:]]])
    func thousand(extra: JSON) async throws {
        try await withGateway { gateway in
            let port = gateway.url.split(separator: ":").last.map(String.init) ?? ""
            let start = ContinuousClock.now
            let output = try await PythonPeer.output(
                source: Self.program, [port, "1000", TestGateway.token, extra.text()])
            print("FIGURE 1,000 streams of 100 frames \(extra.text()): \(ContinuousClock.now - start)")
            #expect(output == "1000\n")
            #expect(gateway.services.turns.running == 0)
        }
    }

    @Test("Fifty disconnected clients leave no turn running")
    func vanishing() async throws {
        try await withGateway { gateway in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        let stream = try await gateway.open(
                            "/v1/chat/completions", asking("x", "test/endless", ["stream": true]))
                        for try await event in stream.events() where event.text.contains("on and on") { break }
                        stream.cancel()
                    }
                }
                try await group.waitForAll()
            }
            for _ in 0..<50 { #expect(await gateway.model.left.next() == "left") }
            await gateway.services.turns.close()
            #expect(gateway.services.turns.running == 0)
        }
    }

    @Test("A streamed answer counts as a running handler until its end")
    func countedStream() async throws {
        try await withGateway(.init(), { $0.limits.handlers = 1 }) { gateway in
            let stream = try await gateway.open(
                "/v1/chat/completions", asking("x", "test/endless", ["stream": true]))
            for try await event in stream.events() where event.text.contains("on and on") { break }
            let busy = try await gateway.send(.get, "/v1/models")
            #expect(busy.status == .serviceUnavailable && busy.headers["Retry-After"] == "1", "\(busy.text)")
            stream.cancel()
            #expect(await gateway.model.left.next() == "left")
            // Only the server knows when it has noticed that.
            while try await gateway.send(.get, "/v1/models").status != .ok { await Task.yield() }
        }
    }

    @Test("A silent stream gets a comment")
    func heartbeat() async throws {
        try await withGateway(.init(), { $0.limits.heartbeat = .milliseconds(100) }) { gateway in
            let stream = try await gateway.open(
                "/v1/chat/completions", asking("x", "test/endless", ["stream": true]))
            var text = ""
            for try await bytes in stream.body {
                text += String(decoding: bytes, as: UTF8.self)
                if text.contains("\n\n:") { break }
            }
            stream.cancel()
            #expect(text.contains("on and on"))
            #expect(await gateway.model.left.next() == "left")
        }
    }
}
