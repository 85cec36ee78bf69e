import HTTPClient
import HTTPCore
import HTTPTesting
import Synchronization
import Testing

@Suite("The end of requests")
struct EndTests {
    private static let flood: ScriptedServer.Script = { connection in
        try connection.receiveHead()
        try connection.send("HTTP/1.1 200 OK\r\n\r\n")
        try connection.sendEndlessly([UInt8](repeating: 7, count: 4 << 10))
    }

    @Test("Cancelling a task ends only its transfer", .timeLimit(.minutes(5)))
    func cancel() async throws {
        try await ScriptedServer.run(Self.flood) { server in
            try await Lab.client { client in
                let other = try await client.open(try Lab.request(server.port, "/other"))
                let exchange = try await client.open(try Lab.request(server.port, "/mine"))
                let reading = Task {
                    for try await _ in exchange.body {}
                }
                reading.cancel()
                await #expect(throws: CancellationError.self) { try await reading.value }
                try await server.until { $0.openNow == 1 }
                var body = other.body.makeAsyncIterator()
                #expect(try await body.next()?.isEmpty == false)
            }
        }
    }

    @Test("Releasing a response ends its transfer", .timeLimit(.minutes(5)))
    func drop() async throws {
        try await ScriptedServer.run(Self.flood) { server in
            try await Lab.client { client in
                do {
                    let exchange = try await client.open(try Lab.request(server.port))
                    #expect(exchange.status == .ok)
                }
                try await server.until { $0.openNow == 0 && $0.connections.count == 1 }
            }
        }
    }

    @Test("A task that is cancelled while it waits for the response ends at once", .timeLimit(.minutes(5)))
    func cancelWaiting() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.stall()
        } during: { server in
            try await Lab.client { client in
                let request = try Lab.request(server.port)
                for isWhole in [true, false] {
                    let number = isWhole ? 1 : 2
                    let sending = Task {
                        if isWhole { _ = try await client.send(request) } else { _ = try await client.open(request) }
                    }
                    try await server.until { $0.requests.count == number }
                    sending.cancel()
                    await #expect(throws: CancellationError.self) { try await sending.value }
                    try await server.until { $0.openNow == 0 }
                }
            }
        }
    }

    @Test("A task that is already cancelled sends nothing", .timeLimit(.minutes(5)))
    func cancelledBefore() async throws {
        try await ScriptedServer.run(Self.flood) { server in
            try await Lab.client { client in
                let request = try Lab.request(server.port)
                let task = Task {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    _ = try await client.send(request)
                }
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(server.record.connections.isEmpty)
            }
        }
    }

    @Test("Closing the client fails running and later requests", .timeLimit(.minutes(5)))
    func close() async throws {
        try await ScriptedServer.run(Self.flood) { server in
            let client = HTTPClient(.standalone)
            let exchange = try await client.open(try Lab.request(server.port))
            await client.close()
            let running = await Lab.failure { for try await _ in exchange.body {} }
            #expect(running?.kind == .closed)
            let later = await Lab.failure { _ = try await client.send(try Lab.request(server.port)) }
            #expect(later?.kind == .closed && later?.mayHaveBeenSent == false)
            try await server.until { $0.openNow == 0 }
            await client.close()
        }
    }

    @Test("An unreferenced client finishes running requests and closes its connections", .timeLimit(.minutes(5)))
    func dropClient() async throws {
        try await ScriptedServer.run { connection in
            while true {
                try connection.receiveHead()
                try connection.answer(200, [:], "hello")
            }
        } during: { server in
            let exchange: HTTPExchange
            do {
                let client = HTTPClient(.standalone)
                exchange = try await client.open(try Lab.request(server.port))
            }
            #expect(try await exchange.collect(limit: 100) == Array("hello".utf8))
            try await server.until { $0.openNow == 0 && $0.requests.count == 1 }
        }
    }

    @Test("A second reader of a response gets an error and none of the bytes", .timeLimit(.minutes(5)))
    func twoReaders() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\n\r\n")
            try connection.stall()
        } during: { server in
            try await Lab.client { client in
                let exchange = try await client.open(try Lab.request(server.port))
                let results = await withTaskGroup(of: HTTPError?.self) { group in
                    for _ in 0..<2 {
                        group.addTask {
                            do { for try await _ in exchange.body {} } catch { return error as? HTTPError }
                            return nil
                        }
                    }
                    let first = await group.next() ?? nil
                    exchange.cancel()
                    await group.waitForAll()
                    return first
                }
                #expect(results?.kind == .invalid)
            }
        }
    }

    @Test("An upload that the server ends early cancels its producer", .timeLimit(.minutes(5)))
    func uploadEnds() async throws {
        let isOver = Mutex(false)
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            connection.reset()
        } during: { server in
            try await Lab.client { client in
                let (wait, wake) = AsyncStream.makeStream(of: Void.self)
                let stream = Chunks(count: .max) {
                    try await withTaskCancellationHandler {
                        try await Task.sleep(for: .seconds(3600))
                        return [1]
                    } onCancel: {
                        isOver.withLock { $0 = true }
                        wake.finish()
                    }
                }
                let error = await Lab.failure {
                    _ = try await client.send(
                        try Lab.request(server.port, method: .post, body: .stream(length: nil, stream)))
                }
                #expect(error != nil)
                for await _ in wait {}
                #expect(isOver.withLock { $0 })
            }
        }
    }
}
