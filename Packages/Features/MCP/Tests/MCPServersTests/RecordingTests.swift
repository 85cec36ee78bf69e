import Capabilities
import CoreTesting
import FileKit
import JSON
import MCPKit
import RPCKit
import Testing

@testable import MCPServers

/// Recordings of traffic, and the server that replays them.
struct RecordingTests {
    private static let lines = [
        #"{"time": "t", "server": "s"}"#,
        #"{"sent": {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "one"}}}}"#,
        #"{"received": {"id": 1, "result": {"protocolVersion": "2025-11-25"}}}"#,
        #"{"sent": {"method": "notifications/initialized"}}"#,
        #"{"sent": {"id": 2, "method": "tools/call", "params": {"name": "a", "_meta": {"progressToken": 7}}}}"#,
        #"{"sent": {"id": 3, "method": "tools/call", "params": {"name": "b", "_meta": {"progressToken": 8}}}}"#,
        #"{"received": {"method": "notifications/progress", "params": {"progressToken": 7, "progress": 1}}}"#,
        #"{"received": {"id": "x", "method": "roots/list"}}"#,
        #"{"sent": {"id": "x", "result": {"roots": []}}}"#,
        #"{"problem": "< (no message) rubbish"}"#,
        #"{"received": {"id": 3, "result": {"said": "b"}}}"#,
        #"{"received": {"id": 2, "result": {"said": "first"}}}"#,
        "",
        #"{"sent": {"id": 4, "method": "tools/call", "params": {"name": "a"}}}"#,
        #"{"received": {"id": 4, "error": {"code": -1, "message": "second"}}}"#,
        #"{"sent": {"id": 5, "method": "tools/call", "params": {"name": "silent"}}}"#,
        #"{"time": "t", "server": "s"}"#,
        #"{"sent": {"id": 1, "method": "tools/call", "params": {"name": "c", "arguments": {"password": "‹redacted›"}}}}"#,
        #"{"received": {"id": 1, "result": {"said": "c"}}}"#,
    ]

    private func replay() throws -> TrafficReplay {
        TrafficReplay(
            try TrafficRecording(Array(Self.lines.joined(separator: "\n").utf8), name: "r.jsonl"))
    }

    private func request(_ id: JSON, _ method: String, _ params: JSON? = nil) throws -> RPCMessage {
        .request(RPCRequest(try #require(RPCID(id)), method, params))
    }

    private func texts(_ messages: [RPCMessage]) -> [String] {
        messages.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test("each request gets its answer under its own id, whatever else was under way when it was recorded")
    func answers() throws {
        var replay = try replay()
        let hello = try request("h", "initialize", ["clientInfo": ["name": "two"]])
        #expect(
            texts(replay.received(hello)) == [
                #"{"jsonrpc":"2.0","id":"h","result":{"protocolVersion":"2025-11-25"}}"#
            ])
        #expect(replay.received(.notification(RPCNotification("notifications/initialized"))).isEmpty)
        let call = try request(9, "tools/call", ["name": "a", "_meta": ["progressToken": "p"]])
        #expect(
            texts(replay.received(call)) == [
                #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#,
                #"{"jsonrpc":"2.0","id":9,"result":{"said":"first"}}"#,
            ])
        // The same again gets the next answer, and then the last one again.
        for _ in 1...2 {
            let again = replay.received(try request(10, "tools/call", ["name": "a"]))
            #expect(texts(again) == [#"{"jsonrpc":"2.0","id":10,"error":{"code":-1,"message":"second"}}"#])
        }
        #expect(replay.received(try request(11, "tools/call", ["name": "silent"])).isEmpty)
    }

    @Test("a question of the server is asked again, and the answer to the call waits for it")
    func questions() throws {
        var replay = try replay()
        let asked = replay.received(try request(1, "tools/call", ["name": "b"]))
        #expect(texts(asked) == [#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#])
        #expect(replay.received(.response(RPCResponse(RPCID(99), .success([:])))).isEmpty)
        let done = replay.received(.response(RPCResponse(RPCID(1), .success(["roots": []]))))
        #expect(texts(done) == [#"{"jsonrpc":"2.0","id":1,"result":{"said":"b"}}"#])
    }

    @Test("what the recording does not have is an error that says so, and a hidden secret fits each text")
    func missing() throws {
        var replay = try replay()
        for (params, words) in [
            (["name": "d"], "no tools/call with these parameters"),
            (["name": "c", "arguments": ["password": 1]], "no tools/call"),
        ] as [(JSON, String)] {
            let answer = texts(replay.received(try request(1, "tools/call", params))).first ?? ""
            #expect(answer.contains("r.jsonl has \(words)") && answer.contains("-32602"), "\(answer)")
        }
        let unknown = texts(replay.received(try request(1, "prompts/list"))).first ?? ""
        #expect(unknown.contains("has no prompts/list") && unknown.contains("-32601"))
        #expect(texts(replay.received(try request(1, "ping"))) == [#"{"jsonrpc":"2.0","id":1,"result":{}}"#])
        let secret = try request(1, "tools/call", ["name": "c", "arguments": ["password": "swordfish"]])
        #expect(texts(replay.received(secret)) == [#"{"jsonrpc":"2.0","id":1,"result":{"said":"c"}}"#])
    }

    @Test(
        "what is no recording is refused with its line",
        arguments: [
            ("{", "line 1"), (#"{"server": "s"}"#, "without a request"), ("\n[]", "line 2"),
            (#"{"sent": {"id": 1}}"#, "no method"),
            ("", "without a request"), (#"{"other": 1}"#, "no message"),
        ])
    func refuses(_ text: String, _ words: String) {
        let error = #expect(throws: ServerError.self) { try TrafficRecording(Array(text.utf8), name: "r.jsonl") }
        #expect(error?.kind == .badFile && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test("what is recorded has neither secrets that are known nor texts of members that are named so")
    func redacts() async throws {
        try await TemporaryDirectory.run { folder in
            let redactor = Redactor()
            redactor.learn(Secret("canary-123456"))
            let path = try Grant.person.path(WritePath(folder + "/r.jsonl"), from: folder)
            let recorder = try TrafficRecorder(path, server: "s", redactor: redactor) { Timestamp(microseconds: 0) }
            recorder.add(
                .sent(
                    try request(
                        1, "tools/call",
                        ["a": "x canary-123456", "password": "plain", "_meta": ["progressToken": "t"], "list": ["b"]])))
            try recorder.check()
            let text = try String(decoding: path.read(limit: 10_000), as: UTF8.self)
            #expect(!text.contains("canary") && !text.contains("plain"))
            #expect(text.contains(#""progressToken":"t""#) && text.contains(#""list":["b"]"#))
            #expect(text.split(separator: "\n").count == 2)
            _ = try TrafficRecording(Array(text.utf8), name: "r")
            // A folder cannot be written to, which is told at the end.
            let nowhere = try Grant.person.path(WritePath(folder), from: folder)
            #expect(throws: (any Error).self) {
                try TrafficRecorder(nowhere, server: "s", redactor: redactor) { Timestamp(microseconds: 0) }
            }
        }
    }
}
