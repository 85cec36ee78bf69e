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
                "gateway.serve", "Run the gateway until interrupted", .writes,
                .option("address", "Listen on this address instead of gateway.address", as: String?.self),
                .option("port", "Listen on this port; 0 for any free port", as: Int?.self),
                .option("socket", "Also listen on this Unix socket", as: OwnPath?.self)
            ) { context, address, port, socket in
                try await GatewayServer(services: services, context: context)
                    .run(
                        ServeOptions(address: address, port: port, socket: try socket.map { try context.text(of: $0) }))
            }
            .streaming([InstanceState.listening.declaration])
            .byName()
            .details(
                "Programs on this machine use it like OpenAI or Anthropic. The base URL is its address, for OpenAI "
                    + "clients followed by /v1, and the API key is the token that 'martlet gateway token' prints. Sockets passed by "
                    + "systemd replace the address in the settings. When interrupted, it accepts no more requests, "
                    + "finishes the running ones within 'gateway.drain-limit', and exits. Changed settings apply to "
                    + "the next request; those about where and how it listens apply after a restart."
            )
            .example("martlet gateway serve", "Listen on 127.0.0.1:6278")
            .example("martlet gateway serve --port 0 --format ndjson", "Use a free port, shown in the first line")
        ]
    }
}

/// The result of `serve`, when the gateway has stopped.
struct ServeReport: Record {
    /// Nil for a gateway that was interrupted before it listened.
    let state: InstanceState?
    let ended: Timestamp

    static let fields: [Field<ServeReport>] = [
        Field("addresses", "Addresses it listened on", .name) { $0.state?.addresses ?? [] },
        Field("pid", "Process id") { ($0.state?.process.process).map { Int($0) } },
        Field("started", "Time it was ready") { $0.state?.started },
        Field("ended", "Time it stopped") { $0.ended },
    ]
}
