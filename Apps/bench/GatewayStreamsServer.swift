import Capabilities
import FileKit
import GatewayAPI
import GatewayStore
import GatewayTurns
import Glibc
import HTTPCore
import HTTPServer
import Synchronization

/// The gateway as it serves, but with a model that pauses between its words, in a process of its own.
enum GatewayStreamsServer {
    /// The first argument of the program that makes it this server; the second is the folder for its data.
    static let word = "gateway-streams-server"

    static func run(_ folder: String) async throws {
        let now: @Sendable () -> Timestamp = {
            var time = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &time)
            return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec / 1000))
        }
        let store = GatewayStore(GatewayStore.database(at: "\(folder)/gateway.db"), now: now)
        let pulse = Pulse()
        let turns = Turns(store: store, providers: { [PausingModel(pulse)] }, now: now)
        let services = APIServices(
            store: store, turns: turns, folders: ProjectFolders(home: folder), version: "1.0.0", now: now)
        var configuration = ServerConfiguration()
        configuration.adopt(services)
        configuration.authenticate = { head in
            head.headers["Authorization"] == "Bearer \(GatewayServer.token)" ? Principal("token") : nil
        }
        async let beating: Void = pulse.beat()
        try await HTTPServer(Routes(gatewayRoutes(services)), configuration).run { addresses in
            print(addresses.first?.port ?? 0)
            fflush(nil)
        }
        await beating
    }
}

/// Says a number of words, with a pause before each.
private final class PausingModel: ModelProvider {
    let id = "pausing"
    let name = "A model that pauses"
    private let pulse: Pulse

    init(_ pulse: Pulse) {
        self.pulse = pulse
    }

    func isAvailable() async -> Bool { true }
    func models() async throws -> [ModelDescription] { [ModelDescription(id: "words", provider: id)] }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let start = ChatStart(model: "words")
        try await receive([.began(start)])
        for number in 0..<GatewayServer.frames {
            await pulse.next()
            try Task.checkCancellation()
            try await receive([.text("word\(number) ")])
        }
        let usage = Usage(inputTokens: 2, outputTokens: 2 * GatewayServer.frames, cost: Cost(nanodollars: 0))
        try await receive([.usage(usage)])
        return ChatAnswer(start: start, message: Message(.assistant, "words"), finish: .stop, usage: usage)
    }
}

/// One timer for all streams, as little as a pause can cost.
private final class Pulse: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    func next() async {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0.append(continuation) }
        }
    }

    /// Beats until the task is cancelled.
    func beat() async {
        while !Task.isCancelled {
            do { try await Task.sleep(for: GatewayServer.pause) } catch { return }
            let woken = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for continuation in woken { continuation.resume() }
        }
    }
}
