import CoreTesting
import FileKit
import Glibc
import HTTPCore
import HTTPServer
import HTTPTesting
import ProcessKit
import Synchronization
import TestTraits
import Testing

@Suite(.serialized, .alone, .timeLimit(.minutes(5))) struct ManyClientsTests {
    /// Opens event streams and idle connections, and prints how many of them were served.
    private static let program = """
        import resource, select, socket, sys
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(20000, hard), hard))
        port, streams, idle = (int(word) for word in sys.argv[1:4])
        def opened(count, request, mark):
            found = []
            for start in range(0, count, 200):
                batch = [socket.create_connection(("127.0.0.1", port)) for _ in range(min(200, count - start))]
                for client in batch: client.sendall(request)
                for client in batch:
                    text = b""
                    while mark not in text: text += client.recv(4096)
                found += batch
            return found
        head = b" HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n"
        print(port)
        sys.stdin.readline()
        subscribed = opened(streams, b"GET /events" + head, b"data: hello")
        print("streams", len(subscribed))
        sys.stdin.readline()
        waiting = opened(idle, b"GET /hello" + head, b"hello")
        print("idle", len(waiting))
        sys.stdin.readline()
        got = 0
        for client in subscribed:
            text = b""
            while b"data: all" not in text: text += client.recv(4096)
            got += 1
        print("got", got)
        for client in waiting[:100]:
            client.sendall(b"GET /hello" + head)
            assert b"hello" in client.recv(4096)
        print("served")
        sys.stdin.readline()
        """

    @Test("Two thousand streams and nine thousand idle connections are all served in little memory")
    func many() async {
        // A separate process, so that no other test allocates in it.
        await #expect(processExitsWith: .success) { try await Self.serve(streams: 2000, idle: 9000) }
    }

    private static func serve(streams: Int, idle: Int) async throws {
        let listeners = Mutex([AsyncStream<String>.Continuation]())
        let routes = [
            Route(.get, "/hello", "hello", "Says hello") { _ in HTTPAnswer.text("hello") },
            Route(.get, "/events", "events", "Events for all") { _ in
                HTTPAnswer.events { events in
                    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
                    listeners.withLock { $0.append(continuation) }
                    try await events.send(data: "hello")
                    for await word in stream { try await events.send(data: word) }
                }
            },
        ]
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try #require(limit.rlim_max >= 20_000, "the hard limit of open files has to be 20,000")
        try await withServer(routes, { $0.limits.connections = 12_000 }) { server in
            var command = Command(
                "python3", ["-u", "-c", Self.program, "\(server.port)", "\(streams)", "\(idle)"],
                environment: .inheriting(Environment.snapshot()))
            command.input = .pipe
            try await Launcher.standalone.withChild(command) { peer in
                func line() async throws -> String {
                    try await peer.output.nextLine().map { String(decoding: $0, as: UTF8.self) }
                        ?? String(decoding: peer.errorTail, as: UTF8.self)
                }
                func goOn() async throws { try await peer.input.write([UInt8(ascii: "\n")]) }
                #expect(try await line() == "\(server.port)")
                let empty = try TestProcess.residentBytes()
                try await goOn()
                #expect(try await line() == "streams \(streams)")
                let subscribed = try TestProcess.residentBytes()
                try await goOn()
                #expect(try await line() == "idle \(idle)")
                let full = try TestProcess.residentBytes()
                let perStream = (subscribed - empty) / streams
                let perConnection = (full - subscribed) / idle
                print("FIGURE bytes per idle event stream: \(perStream), per idle connection: \(perConnection)")
                #expect(perStream < 16_000 && perConnection < 16_000)
                let start = ContinuousClock.now
                try await goOn()
                for listener in listeners.withLock({ $0 }) { listener.yield("all") }
                #expect(try await line() == "got \(streams)")
                print("FIGURE one event to \(streams) streams, received by Python: \(ContinuousClock.now - start)")
                #expect(try await line() == "served")
            }
        }
    }
}
