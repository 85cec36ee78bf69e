import Capabilities
import JSON
import Registry
import SSHClient
import SSHCore

/// Passes connections to this machine on to an address that a host reaches, until it is stopped.
struct ForwardAction: Sendable {
    let fleet: Fleet
    let destination: SSHDestination
    let local: PortForward.Local
    let context: ActionContext

    func perform() async throws -> Nothing {
        guard let target = fleet.targets.first, fleet.targets.count == 1 else {
            throw SSHError(.address, "connections are passed on to one host, and \(fleet.targets.count) are named")
        }
        // First here, so that a port that is taken costs no connection.
        let forward = try PortForward(at: local, loop: fleet.loop)
        try await fleet.withConnection(to: target) { link in
            let start = Start(address: forward.address, host: target.name, destination: destination.description)
            try await context.emit(
                Self.listening.event(
                    start, text: "\(start.address) leads to \(destination) behind \(target.name); Ctrl-C ends it\n"))
            try await forward.run(to: destination, by: link) { [context] event in
                switch event {
                case .opened(let number): try await context.emit(Self.opened.event(Client(number: number, reason: nil)))
                case .ended(let number, let error):
                    let reason = error.map { AnyFailure($0) }.flatMap { $0.exit == .interrupted ? nil : $0.message }
                    try await context.emit(Self.ended.event(Client(number: number, reason: reason)))
                    if let reason { context.notice("connection \(number): \(reason)") }
                }
            }
        }
        return Nothing()
    }

    // MARK: Events

    private struct Start: Sendable {
        let address: String
        let host: String
        let destination: String
    }

    private struct Client: Sendable {
        let number: Int
        let reason: String?
    }

    private static let listening = EventKind<Start>(
        "listening", "Connections are taken now",
        [
            Field("address", "Where: 127.0.0.1 with a port, or the path of a socket") { $0.address },
            Field("host", "The host") { $0.host },
            Field("destination", "Where the host connects to") { $0.destination },
        ])
    private static let number = Field<Client>("number", "Counted from 1") { $0.number }
    private static let opened = EventKind<Client>("opened", "Somebody has connected", [number])
    private static let ended = EventKind<Client>(
        "ended", "A connection has ended", [number, Field("reason", "Why, if not by itself") { $0.reason }])

    static var events: [EventDeclaration] { [listening.declaration, opened.declaration, ended.declaration] }
}
