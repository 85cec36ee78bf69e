import Capabilities
import JSON
import ProcessKit
import Registry
import Settings

/// `martlet gateway serve`
struct ServeAction {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] {
        [
            Action(
                "gateway.serve", "Run the gateway until it is interrupted", .writes,
                .option("address", "Listen at this address instead of that of the settings", as: String?.self),
                .option("port", "Listen at this port, or at any for 0", as: Int?.self),
                .option("socket", "Also listen at this Unix socket", as: OwnPath?.self)
            ) { context, address, port, socket in
                try await GatewayServer(services: services, context: context)
                    .run(ServeWish(address: address, port: port, socket: try socket.map { try context.text(of: $0) }))
            }
            .streaming()
            .byName()
            .details(
                "Every program of this machine that has the token ('martlet gateway token') can use it, as it uses OpenAI or "
                    + "Anthropic: the address with /v1 behind it is the base URL, the token is the key. Sockets that "
                    + "systemd passes on are served instead of the address of the settings. Interrupted, it takes no "
                    + "more requests, finishes those that it has within 'gateway.drain-limit', and ends. Settings that change "
                    + "meanwhile hold for the next request, but those of where and how it listens for the next start."
            )
            .example("martlet gateway serve", "At 127.0.0.1:6278")
            .example("martlet gateway serve --port 0 --format ndjson", "At a port that the first line tells")
        ]
    }
}

/// What a gateway did that has ended.
struct ServeReport: Record {
    /// Nil for one that was interrupted before it listened.
    let state: InstanceState?
    let ended: Timestamp

    static let fields: [Field<ServeReport>] = [
        Field("addresses", "Where it listened", .name) { $0.state?.addresses ?? [] },
        Field("pid", "Its process") { ($0.state?.process.process).map { Int($0) } },
        Field("started", "When it was ready") { $0.state?.started },
        Field("ended", "When it ended") { $0.ended },
    ]
}

extension InstanceState {
    /// What tells a person, and a program that started it, where it is.
    func event(_ place: GatewayToken.Place, program: String) -> ActionEvent {
        let token =
            place == .variable
            ? "the token is that of \(GatewayToken.variable)" : "'\(program) gateway token' prints the token"
        let places = addresses.joined(separator: " and ")
        return ActionEvent(
            "listening", json.object ?? [:],
            text: "The gateway listens at \(PlainText.escape(places)); \(token); Ctrl-C ends it\n")
    }
}
