import Capabilities
import CoreTesting
import JSON
import LoopKit
import Synchronization
import Testing

@testable import RPCKit

@Suite("A connection of JSON-RPC", .timeLimit(.minutes(2)))
struct ConnectionTests {
    private let loop = EventLoop()

    /// Runs a connection whose other side the test plays itself.
    private func with<Value: Sendable>(
        _ handler: Recorder = Recorder(), framing: RPCFraming = .lines,
        limits: StreamTransport.Limits = StreamTransport.Limits(),
        calls: RPCConnection.Limits = RPCConnection.Limits(), answersMalformed: Bool = false,
        _ body: @escaping @Sendable (RPCConnection, RawPeer) async throws -> Value
    ) async throws -> Value {
        let (ours, theirs) = try Peers.channels(on: loop)
        let connection = RPCConnection(
            to: "the peer", over: StreamTransport(ours, framing: framing, limits: limits), conventions: .test,
            handler: handler, limits: calls, answersMalformed: answersMalformed)
        let peer = RawPeer(theirs)
        return try await connection.whileRunning { try await body(connection, peer) }
    }

    /// The failure of a call.
    private static func failure(of call: () async throws -> JSON) async -> RPCFailure? {
        do {
            _ = try await call()
            return nil
        } catch { return error as? RPCFailure }
    }

    // MARK: Calls

    @Test("A call gets the result of its id, whatever the order of the answers")
    func order() async throws {
        try await with { connection, peer in
            async let first = connection.call("a", ["x": 1])
            let one = try await peer.line()
            async let second = connection.call("b")
            let two = try await peer.line()
            #expect(one == ["jsonrpc": "2.0", "id": 1, "method": "a", "params": ["x": 1]])
            #expect(two == ["jsonrpc": "2.0", "id": 2, "method": "b"])
            // Some peers keep every number as a text.
            try await peer.write(#"{"id":"2","result":"two"}{"#.replacing("}{", with: "}\n{"))
            try await peer.write("\"id\":1,\"result\":\"one\"}\n")
            let both = try await (first, second)
            #expect(both == ("one", "two"))
        }
    }

    @Test("An error of the peer is a failure that tells its message safely, with its code and data")
    func refused() async throws {
        try await with { connection, peer in
            async let failure = Self.failure { try await connection.call("m") }
            _ = try await peer.line()
            try await peer.write(#"{"id":1,"error":{"code":-32602,"message":"bad\u001b[31m","data":"why"}}"# + "\n")
            let got = try #require(await failure)
            #expect(got.kind == .refused && got.error?.code == -32602 && got.details["data"] == "why")
            #expect(got.message.hasPrefix("the peer refused m: bad") && !got.message.contains("\u{1B}"))
        }
    }

    @Test(
        "Two peers of ours call each other at the same time with the same ids, in both framings",
        arguments: [RPCFraming.lines, .contentLength])
    func both(framing: RPCFraming) async throws {
        let (left, right) = try Peers.channels(on: loop)
        let echo = Recorder { ["method": .string($0.method), "params": $0.params ?? nil] }
        let one = RPCConnection(to: "right", over: StreamTransport(left, framing: framing), handler: echo)
        let two = RPCConnection(to: "left", over: StreamTransport(right, framing: framing), handler: echo)
        let sums = try await two.whileRunning {
            try await one.whileRunning {
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<50 {
                        for connection in [one, two] {
                            group.addTask {
                                let answer = try await connection.call("m\(number)", ["n": .int(number)])
                                return answer["params"]?["n"] == .int(number)
                                    && answer["method"] == .string("m\(number)")
                            }
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
        }
        #expect(sums == 100)
    }

    @Test("A cancelled call tells the peer, and what comes later is ignored")
    func cancelled() async throws {
        let recorder = Recorder()
        try await with(recorder) { connection, peer in
            let call = Task { try await connection.call("slow") }
            _ = try await peer.line()
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            let notice = try await peer.line()
            #expect(notice["method"] == "cancelled" && notice["params"]?["requestId"] == 1)
            try await peer.write("{\"id\":1,\"result\":\"late\"}\n{\"id\":1,\"result\":\"twice\"}\n")
            async let next = connection.call("next")
            _ = try await peer.line()
            try await peer.write("{\"id\":2,\"result\":\"fine\"}\n")
            #expect(try await next == "fine")
        }
        #expect(recorder.problems.isEmpty)
    }

    @Test("A call that is not answered in time fails and tells the peer; others go on")
    func late() async throws {
        try await with { connection, peer in
            async let patient = connection.call("patient", within: .seconds(60))
            _ = try await peer.line()
            async let failure = Self.failure {
                try await connection.call("slow", within: RPCTimeLimit(.milliseconds(50)))
            }
            _ = try await peer.line()
            #expect(await failure?.kind == .timedOut)
            #expect(await failure?.message == "the peer did not answer slow within 50ms")
            #expect(try await peer.line()["method"] == "cancelled")
            try await peer.write("{\"id\":1,\"result\":1}\n")
            #expect(try await patient == 1)
        }
    }

    @Test("Progress extends a call up to its total")
    func extended() throws {
        var call = PendingCall("m", RPCTimeLimit(.seconds(30), upTo: .seconds(100)), nil)
        #expect(call.deadline == call.begun + .seconds(30))
        call.extend(at: call.begun + .seconds(20))
        #expect(call.deadline == call.begun + .seconds(50))
        call.extend(at: call.begun + .seconds(80))
        #expect(call.deadline == call.begun + .seconds(100))
        var free = PendingCall("m", nil, nil)
        free.extend()
        #expect(free.deadline == nil)
    }

    @Test("Progress is passed on in order, and ends with the call")
    func progress() async throws {
        let seen = Steps()
        try await with { connection, peer in
            async let call = connection.call("long", ["a": 1, "_meta": ["trace": "t"]], within: .seconds(60)) { step in
                seen.add(step["progress"])
            }
            let request = try await peer.line()
            #expect(request["params"] == ["a": 1, "_meta": ["trace": "t", "token": 1]])
            func step(_ number: Int) -> String {
                #"{"method":"progress","params":{"token":1,"progress":\#(number)}}"# + "\n"
            }
            try await peer.write((1...100).map(step).joined() + "{\"id\":1,\"result\":\"done\"}\n" + step(101))
            #expect(try await call == "done")
            async let next = connection.call("next")
            _ = try await peer.line()
            try await peer.write("{\"id\":2,\"result\":1}\n")
            _ = try await next
        }
        #expect(seen.all.compactMap { $0?.int } == Array(1...100))
    }

    @Test("More calls than the limit are refused, which names the limit, and room comes back")
    func limit() async throws {
        try await with(calls: RPCConnection.Limits(calls: 1)) { connection, peer in
            async let first = connection.call("first")
            _ = try await peer.line()
            let failure = await Self.failure { try await connection.call("second") }
            #expect(failure?.kind == .limit && failure?.message.contains("1 calls") == true)
            try await peer.write("{\"id\":1,\"result\":1}\n")
            #expect(try await first == 1)
            async let third = connection.call("third")
            _ = try await peer.line()
            try await peer.write("{\"id\":2,\"result\":3}\n")
            #expect(try await third == 3)
        }
    }

    // MARK: The end

    @Test("When the peer goes, its calls fail at once, and so do later ones")
    func gone() async throws {
        try await with { connection, peer in
            async let failure = Self.failure { try await connection.call("m") }
            _ = try await peer.line()
            try await peer.write("{\"id\":1,\"resu")
            peer.close()
            #expect(await failure?.kind == .closed)
            #expect(await Self.failure { try await connection.call("n") }?.kind == .closed)
        }
    }

    @Test("A peer that does not read makes sending fail at the limit, and never blocks a thread")
    func deaf() async throws {
        try await with(limits: StreamTransport.Limits(outgoing: 1 << 20)) { connection, _ in
            let text = String(repeating: "x", count: 100_000)
            var failure: RPCFailure?
            for _ in 0..<1_000 where failure == nil {
                do throws(RPCFailure) { try connection.notify("n", ["text": .string(text)]) } catch { failure = error }
            }
            #expect(failure?.kind == .limit && failure?.message.contains("1.0 MiB") == true)
        }
    }

    @Test("A message larger than the pipe is written whole, between others, although its sender was cancelled")
    func large() async throws {
        try await with { connection, peer in
            let text = String(repeating: "x", count: 3_000_000)
            let call = Task { try await connection.call("large", ["text": .string(text)]) }
            try connection.notify("small")
            call.cancel()
            _ = await call.result
            var methods: Set<String> = []
            while !methods.isSuperset(of: ["small", "large", "cancelled"]) {
                let message = try await peer.line()
                if message["method"] == "large" { #expect(message["params"]?["text"]?.string?.utf8.count == 3_000_000) }
                methods.insert(message["method"]?.string ?? "")
                // A task that was cancelled before it began sends nothing.
                if methods == ["small"] { break }
            }
        }
    }

    // MARK: What the peer asks

    @Test("Requests are answered side by side, errors as errors, and unknown methods as such")
    func serving() async throws {
        let gate = Promise<Void>()
        let recorder = Recorder { request in
            switch request.method {
            case "slow":
                try await gate.value()
                return "slow"
            case "fast": return "fast"
            case "wrong": throw RPCError(-5, "no", data: [1])
            case "broken": throw RPCFailure(.limit, "too much")
            default: throw RPCError.noMethod(request.method)
            }
        }
        try await with(recorder) { _, peer in
            try await peer.write("{\"id\":\"s\",\"method\":\"slow\"}\n{\"id\":1,\"method\":\"fast\"}\n")
            #expect(try await peer.line() == ["jsonrpc": "2.0", "id": 1, "result": "fast"])
            gate.settle(())
            #expect(try await peer.line()["id"] == "s")
            try await peer.write("{\"id\":2,\"method\":\"wrong\"}\n")
            #expect(try await peer.line()["error"] == ["code": -5, "message": "no", "data": [1]])
            try await peer.write("{\"id\":3,\"method\":\"broken\"}\n")
            #expect(try await peer.line()["error"]?["message"] == "too much")
            try await peer.write("{\"id\":4,\"method\":\"none\"}\n")
            #expect(try await peer.line()["error"]?["code"] == -32601)
        }
    }

    @Test("A request is cancelled by its id and then not answered; the end cancels the rest")
    func cancelledByPeer() async throws {
        let begun = Signal()
        let ended = Mutex([String]())
        let recorder = Recorder { request in
            if request.method == "ping" { return "pong" }
            begun.raise()
            do {
                try await Promise<Void>().value()
            } catch {
                ended.withLock { $0.append(request.id.description) }
                throw error
            }
            return nil
        }
        try await with(recorder) { _, peer in
            try await peer.write("{\"id\":7,\"method\":\"wait\"}\n{\"id\":\"7\",\"method\":\"wait\"}\n")
            while begun.count < 2 { try await begun.wait(beyond: begun.count) }
            try await peer.write(
                "{\"method\":\"cancelled\",\"params\":{\"requestId\":7}}\n{\"id\":8,\"method\":\"ping\"}\n")
            #expect(try await peer.line()["id"] == 8)
        }
        #expect(ended.withLock { $0.sorted() } == ["\"7\"", "7"])
    }

    @Test("A repeated id and too many requests are told, and the connection lives on")
    func tooMany() async throws {
        let gate = Promise<Void>()
        let recorder = Recorder { _ in
            try await gate.value()
            return "done"
        }
        try await with(recorder, calls: RPCConnection.Limits(requests: 2)) { _, peer in
            try await peer.write(
                [1, 1, 2, 3].map { "{\"id\":\($0),\"method\":\"m\"}\n" }.joined())
            let refused = try await peer.line()
            #expect(refused["id"] == 3 && refused["error"]?["code"] == -32603)
            gate.settle(())
            var ids: Set<Int> = []
            for _ in 0..<2 { ids.insert(try await peer.line()["id"]?.int ?? 0) }
            #expect(ids == [1, 2])
        }
        #expect(recorder.problems == [.repeatedID(RPCID(1)), .tooManyRequests(2)])
    }

    @Test("Notifications come in order, and a flood of them does not hold calls up")
    func flood() async throws {
        let recorder = Recorder()
        try await with(recorder) { connection, peer in
            async let call = connection.call("m")
            _ = try await peer.line()
            let notes = (0..<20_000).map { "{\"method\":\"n\",\"params\":[\($0)]}\n" }.joined()
            try await peer.write(notes + "{\"id\":1,\"result\":1}\n")
            #expect(try await call == 1)
        }
        #expect(recorder.notifications.map { $0.params?[0]?.int } == (0..<20_000).map { $0 })
    }

    // MARK: Rubbish

    @Test("Rubbish between messages is told and skipped; only a server answers it", arguments: [false, true])
    func rubbish(isServer: Bool) async throws {
        let recorder = Recorder { _ in "fine" }
        try await with(recorder, answersMalformed: isServer) { _, peer in
            try await peer.write("Server started on stdio!\n{\"half\": \n[]\n{\"id\":9,\"method\":\"m\"}\n")
            if isServer {
                for code in [-32700, -32700, -32600] {
                    let answer = try await peer.line()
                    #expect(answer["id"] == JSON.null && answer["error"]?["code"] == .int(code))
                }
            }
            #expect(try await peer.line() == ["jsonrpc": "2.0", "id": 9, "result": "fine"])
        }
        #expect(recorder.problems.count == 3)
    }

    @Test("Answers to calls that were never made, and errors without an id, are told")
    func unknown() async throws {
        let recorder = Recorder()
        try await with(recorder) { connection, peer in
            async let call = connection.call("m")
            _ = try await peer.line()
            try await peer.write(
                "{\"id\":99,\"result\":1}\n{\"id\":\"x\",\"result\":1}\n{\"id\":null,\"error\":{\"code\":1,\"message\":\"m\"}}\n"
            )
            try await peer.write("{\"id\":1,\"result\":1}\n")
            #expect(try await call == 1)
        }
        #expect(
            recorder.problems == [
                .unknownID(RPCID(99)), .unknownID(RPCID("x")), .errorWithoutID(RPCError(1, "m")),
            ])
    }

    @Test("An answer over the limit fails its call and names the limit; other calls go on")
    func tooLarge() async throws {
        try await with(limits: StreamTransport.Limits(message: 10_000)) { connection, peer in
            async let other = connection.call("other")
            _ = try await peer.line()
            async let failure = Self.failure { try await connection.call("large") }
            _ = try await peer.line()
            try await peer.write("{\"id\":2,\"result\":\"" + String(repeating: "x", count: 1_000_000) + "\"}\n")
            #expect(await failure?.kind == .limit)
            #expect(await failure?.message.contains("9.8 KiB") == true)
            try await peer.write("{\"id\":1,\"result\":1}\n")
            #expect(try await other == 1)
        }
    }

    @Test("An answer over the limit without an id at its beginning fails every call, rather than let one hang")
    func tooLargeUnknown() async throws {
        try await with(limits: StreamTransport.Limits(message: 10_000)) { connection, peer in
            async let one = Self.failure { try await connection.call("one") }
            async let two = Self.failure { try await connection.call("two") }
            _ = try await (peer.line(), peer.line())
            try await peer.write("{\"result\":\"" + String(repeating: "x", count: 20_000) + "\",\"id\":1}\n")
            #expect(await one?.kind == .limit)
            #expect(await two?.kind == .limit)
        }
    }

    @Test("An answer that cannot be read fails its call")
    func badAnswer() async throws {
        try await with { connection, peer in
            async let failure = Self.failure { try await connection.call("m") }
            _ = try await peer.line()
            try await peer.write("{\"id\":1,\"jsonrpc\":\"1.0\",\"result\":1}\n")
            #expect(await failure?.kind == .malformed)
        }
    }

    @Test("A header that cannot be read ends the connection, and says so")
    func badHeader() async throws {
        let (ours, theirs) = try Peers.channels(on: loop)
        let peer = RawPeer(theirs)
        let connection = RPCConnection(
            to: "the peer", over: StreamTransport(ours, framing: .contentLength), handler: Recorder())
        async let run: Void = connection.run()
        async let failure = Self.failure { try await connection.call("m") }
        try await peer.write("{\"id\":1}\n")
        do {
            try await run
            Issue.record("it did not end")
        } catch { #expect((error as? RPCFailure)?.kind == .malformed) }
        #expect(await failure?.message.contains("Content-Length") == true)
    }
}
