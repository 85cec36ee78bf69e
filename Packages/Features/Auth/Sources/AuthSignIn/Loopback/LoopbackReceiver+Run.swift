import HTTPServer
import Synchronization

extension LoopbackReceiver {
    /// Lends a receiver for the length of `body`, and closes its port after it, however it ends.
    public static func run<Result: Sendable>(
        _ configuration: Configuration, _ body: (LoopbackReceiver) async throws -> Result
    ) async throws -> Result {
        let place = Place()
        var serving = ServerConfiguration()
        serving.addresses = [configuration.usesIPv6 ? .loopback6() : .loopback()]
        // Tokens in an address are longer than most of what stands there.
        serving.limits.headSize = 64 << 10
        serving.limits.body = 64 << 10
        serving.limits.connections = 64
        // For the page to get to the browser.
        serving.limits.drain = .seconds(1)
        serving.now = configuration.now
        let server = HTTPServer(try routes { place.receiver }, serving)
        let started = SharedWork<LoopbackReceiver>()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await server.run { addresses in
                        started.finish(Swift.Result { try place.open(configuration, addresses) })
                    }
                    // Before it listens, being cancelled ends it without a word.
                    throw CancellationError()
                } catch {
                    started.finish(.failure(error))
                }
            }
            defer { group.cancelAll() }
            return try await body(try await started.value())
        }
    }

    /// The receiver, once the server has told it where it listens.
    private final class Place: Sendable {
        private let held = Mutex<LoopbackReceiver?>(nil)

        var receiver: LoopbackReceiver? { held.withLock { $0 } }

        func open(_ configuration: Configuration, _ addresses: [BoundAddress]) throws -> LoopbackReceiver {
            guard let address = addresses.first else {
                throw SignInError(.badAnswer, "no port of this machine was free for the end of the sign-in; try again")
            }
            let receiver = try LoopbackReceiver(configuration, at: address)
            held.withLock { $0 = receiver }
            return receiver
        }
    }
}
