import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting

/// Round trips of messages of 64 bytes to an echo server written with the websockets package: our client against the
/// client of that package.
enum WebSocketBenchmark {
    private static let count = 20_000

    static func run() async throws -> [Figure] {
        try await PythonPeer.run(file: Peers.path("echo_websocket.py")) { server in
            let address = "ws://127.0.0.1:\(server.port)/"
            var (ours, theirs) = (Double.infinity, Double.infinity)
            for _ in 0..<3 {
                ours = min(ours, try await median(address))
                let words = try await Peers.output(
                    Peers.python, [Peers.path("ping_websocket.py"), address, "\(count)"])
                guard let seconds = Double(words.split(separator: "\n").first ?? "") else {
                    throw BenchmarkError("the peer printed \(words)")
                }
                theirs = min(theirs, seconds)
            }
            return [
                Figure("round trip, median: ours / Python websockets", ours / theirs, "ratio", .atMost(0.5)),
                Figure("ours", ours * 1e6, "us"),
                Figure("Python websockets", theirs * 1e6, "us"),
            ]
        }
    }

    private static func median(_ address: String) async throws -> Double {
        let socket = try await WebSocketClient(withoutCaller: .person).connect(try WebSocketRequest(address))
        let message = WebSocketMessage.binary([UInt8](repeating: UInt8(ascii: "x"), count: 64))
        var times: [Double] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            try await socket.send(message)
            guard let answer = try await socket.receive(), answer == message else {
                throw BenchmarkError("the server sent something else back")
            }
            times.append((ContinuousClock.now - start) / .seconds(1))
        }
        await socket.close()
        times.sort()
        return times[times.count / 2]
    }
}
