import HTTPCore
import HTTPTesting

extension ScriptedConnection {
    /// Performs the server's side of the handshake.
    func openWebSocket() throws {
        let request = try receiveHead()
        let answer = try WebSocketHandshake.answer(to: .get, request.headers)
        let lines = answer.map { "\($0.name): \($0.value)\r\n" }.joined()
        try send("HTTP/1.1 101 Switching Protocols\r\n\(lines)\r\n")
    }

    /// Sends every message back until the client closes.
    func echoMessages() throws {
        var machine = WebSocketMachine(role: .server)
        while !machine.isOver {
            let bytes = try receiveAny()
            unsafe bytes.withUnsafeBytes { unsafe machine.append($0) }
            while let input = try machine.next() {
                if case .message(let message) = input { _ = machine.send(message) }
            }
            if machine.hasOutput { try send(machine.takeOutput()) }
        }
    }
}
