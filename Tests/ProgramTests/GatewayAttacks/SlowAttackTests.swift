import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Slow clients of a gateway", .timeLimit(.minutes(5)))
struct SlowAttackTests {
    /// The first bytes on a connection whose client then sends nothing more. The gateway must close it.
    private static let beginnings = [
        "", "G", "GET /v1/models HTTP/1.1\r\nHost: local", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX: a\r\n",
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(GatewayHome.everything)\r\n"
            + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"messages\":",
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(GatewayHome.everything)\r\n"
            + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"mes",
        "PUT /v1/projects/x/files/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(GatewayHome.everything)\r\n"
            + "Content-Length: 1000000\r\n\r\nxxxx",
    ]

    @Test("A slow client is disconnected and does not delay others")
    func silent() async throws {
        try await GatewayClient.with { gateway in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<400 {
                    let connection = try gateway.connect()
                    let beginning = Self.beginnings[number % Self.beginnings.count]
                    try await connection.send(beginning)
                    group.addTask {
                        defer { connection.close() }
                        // Only the gateway can end this wait.
                        let answer = try await connection.receiveAll()
                        return answer.isEmpty || [400, 404, 408].contains(answer.answerStatus)
                    }
                }
                // A head that arrives byte by byte never finishes.
                let trickle = try gateway.connect()
                group.addTask {
                    defer { trickle.close() }
                    var isOpen = try await trickle.send("GET /health HTTP/1.1\r\nHost: localhost\r\n")
                    while isOpen {
                        isOpen = try await trickle.send("X: a\r\n")
                        try await gateway.json(.get, "/health")
                    }
                    return true
                }
                // A client that requests a lot and does not read.
                let words = "repeat: " + String(repeating: "word ", count: 1_500_000)
                let body = GatewayClient.saying(words, ["stream": true]).text()
                let lazy = try gateway.connect()
                try await lazy.send(
                    GatewayClient.raw("POST", "/v1/chat/completions", ["Content-Type: application/json"], body: body))
                for number in 0..<50 {
                    let asked = GatewayClient.saying("repeat: number \(number)")
                    let reply = try await gateway.json(.post, "/v1/chat/completions", asked)
                    #expect(reply["choices"]?[0]?["message"]?["content"] == .string("number \(number)"))
                }
                for try await isEnded in group { #expect(isEnded) }
                try await gateway.waitForQuiet()
                lazy.close()
            }
            #expect(try await gateway.json(.get, "/health")["status"] == "healthy")
        }
    }

    /// Opens connections, uses some of them, and returns when the other side has closed all.
    private static let program = """
        import resource, selectors, socket, sys
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(20000, hard), hard))
        port, count = int(sys.argv[1]), int(sys.argv[2])
        head = b"GET /health HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n"
        print(port)
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
        for client in clients[::10]:
            client.sendall(head)
            assert b"200 OK" in client.recv(65536)
        print("open", len(clients))
        watched = selectors.DefaultSelector()
        for client in clients: watched.register(client, selectors.EVENT_READ)
        left = count
        while left:
            for key, _ in watched.select():
                if not key.fileobj.recv(65536):
                    watched.unregister(key.fileobj)
                    left -= 1
        print("ended", count)
        """

    @Test(
        "With nine thousand idle connections others are served, and idle ones are closed",
        .onlyRootSeesDescriptors)
    func many() async throws {
        // The gateway raises its own descriptor limit as far as allowed.
        try await GatewayHome.with { home in
            try await home.attack(after: "ulimit -S -n 1024") { gateway in
                let before = Processes.residentBytes(of: gateway.process)
                let count = 9000
                try await PythonPeer.run(
                    source: Self.program, ["\(gateway.gateway.port)", "\(count)"]
                ) { peer in
                    #expect(try await peer.nextLine() == "open \(count)")
                    let held = Processes.residentBytes(of: gateway.process) - before
                    print("FIGURE bytes per idle connection: \(held / count)")
                    #expect(try Processes.descriptors(of: gateway.process) > count)
                    for number in 0..<20 {
                        let asked = GatewayClient.saying("repeat: number \(number)")
                        let reply = try await gateway.json(.post, "/v1/chat/completions", asked)
                        #expect(reply["choices"]?[0]?["message"]?["content"] == .string("number \(number)"))
                    }
                    #expect(try await peer.nextLine() == "ended \(count)")
                }
                #expect(try Processes.descriptors(of: gateway.process) < 100)
                #expect(try await gateway.json(.get, "/health")["status"] == "healthy")
            }
        }
    }
}
