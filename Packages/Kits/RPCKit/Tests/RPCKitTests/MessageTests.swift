import JSON
import Testing

@testable import RPCKit

@Suite("Messages of JSON-RPC")
struct MessageTests {
    private static func parts(_ text: String) -> [RPCBody.Part] { RPCBody(Array(text.utf8)).parts }

    @Test("A message that is written is read as the same")
    func round() {
        let messages: [RPCMessage] = [
            .request(RPCRequest(RPCID(1), "a/b", ["x": [1, "ü\n", nil]])),
            .request(RPCRequest(RPCID(0), "none")),
            .notification(RPCNotification("n", ["a"])),
            .response(RPCResponse(RPCID(3), .success(nil))),
            .response(RPCResponse(RPCID("s"), .failure(RPCError(-32602, "bad", data: "text")))),
            .response(RPCResponse(nil, .failure(RPCError(-32700, "worse")))),
        ]
        for message in messages {
            #expect(RPCBody(message.bytes).parts == [.message(message)])
            #expect(!message.bytes.contains(0x0A))
        }
    }

    @Test(
        "Any string or number is an id, and is given back exactly as it came",
        arguments: ["0", "-7", "\"\"", "\"a\"", "1.5", "123456789012345678901234567890"])
    func ids(id: String) throws {
        guard case .message(.request(let request))? = Self.parts(#"{"id":\#(id),"method":"m","jsonrpc":"2.0"}"#).first
        else {
            Issue.record("no request")
            return
        }
        let answer = RPCMessage.response(RPCResponse(request.id, .success([:])))
        #expect(String(decoding: answer.bytes, as: UTF8.self) == #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"#)
    }

    @Test("The order of members, a missing version and a null error do not matter")
    func tolerant() {
        #expect(
            Self.parts(#"{"result":1,"error":null,"id":2,"jsonrpc":"2.0"}"#)
                == [.message(.response(RPCResponse(RPCID(2), .success(1))))])
        #expect(Self.parts(#"{"method":"m","params":null}"#) == [.message(.notification(RPCNotification("m")))])
        #expect(
            Self.parts(#"{"id":null,"error":"went wrong"}"#)
                == [.message(.response(RPCResponse(nil, .failure(RPCError(-32603, "went wrong")))))])
        #expect(
            Self.parts(#"{"id":1,"error":{"code":-1.0,"message":"m","data":"d"}}"#)
                == [.message(.response(RPCResponse(RPCID(1), .failure(RPCError(-1, "m", data: "d")))))])
    }

    @Test(
        "What is no message is told with the error for its sender",
        arguments: [
            ("Starting server…", -32700, false), ("{\"a\":", -32700, false), ("", -32700, false), ("[]", -32600, false),
            ("1", -32600, false), ("{}", -32600, false), (#"{"id":1}"#, -32600, false),
            (#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, -32600, false), (#"{"method":5}"#, -32600, false),
            (#"{"method":"m","params":5}"#, -32600, false), (#"{"method":"m","id":null}"#, -32600, false),
            (#"{"method":"m","id":[1]}"#, -32600, false), (#"{"result":5}"#, -32600, true),
            (#"{"result":5,"id":{}}"#, -32600, true),
        ])
    func malformed(text: String, code: Int, isResponse: Bool) {
        guard case .malformed(let malformed)? = Self.parts(text).first else {
            Issue.record("\(text) was read")
            return
        }
        #expect(malformed.error.code == code && malformed.isResponse == isResponse)
    }

    @Test("The excerpt of what is no message is short, and safe to be shown")
    func excerpt() {
        guard case .malformed(let malformed)? = Self.parts("\u{1B}[31m" + String(repeating: "y", count: 5_000)).first
        else { return }
        #expect(malformed.excerpt.count < 250 && !malformed.excerpt.contains("\u{1B}"))
    }

    @Test("A batch is its messages; one that is wrong does not spoil the others, and a huge one is refused")
    func batch() {
        let body = RPCBody(Array(#"[{"method":"a"},5,{"method":"b","id":1}]"#.utf8))
        #expect(body.isBatch && body.parts.count == 3)
        #expect(body.parts[0] == .message(.notification(RPCNotification("a"))))
        #expect(body.parts[2] == .message(.request(RPCRequest(RPCID(1), "b"))))
        let huge = "[" + Array(repeating: "1", count: 1_001).joined(separator: ",") + "]"
        #expect(Self.parts(huge).count == 1)
    }

    @Test("Messages nested too deep are refused without a crash")
    func deep() {
        let text = #"{"method":"m","params":"# + String(repeating: "[", count: 100_000)
        guard case .malformed(let malformed)? = Self.parts(text).first else {
            Issue.record("it was read")
            return
        }
        #expect(malformed.error.code == -32700)
    }
}

extension RPCID {
    init(_ text: String) {
        self = RPCID(JSON.string(text)) ?? RPCID(0)
    }
}
