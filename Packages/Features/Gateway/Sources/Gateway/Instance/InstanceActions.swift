import Capabilities
import LoopKit
import ProcessKit
import Registry

/// What becomes of a gateway that runs.
struct InstanceActions {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] { [status, stop] }

    private var instance: Instance { Instance(services.surroundings) }

    private var status: Action {
        Action(
            "gateway.status", "Ask the gateway how it is", .reads,
            .argument("address", "The address of another gateway", as: HostValue?.self)
        ) { context, address in
            let probe = HealthProbe(services: services)
            if let address { return await probe.look(at: address.text, context) }
            let loop = EventLoop()
            defer { loop.stop() }
            if let (state, _) = try instance.running(loop: loop) { return await probe.look(at: state) }
            var health = GatewayHealth(address: "")
            health.reason = "no gateway runs here"
            health.mend = "start it: martlet gateway serve"
            return health
        }
        .asDefault()
        .sending()
        .example("martlet gateway status --json", "For a program")
    }

    private var stop: Action {
        Action(
            "gateway.stop", "End the gateway, once what it does is done", .writes,
            .option("within", "How long to wait for its end", default: Duration.seconds(30))
        ) { context, limit in
            let loop = EventLoop()
            defer { loop.stop() }
            guard let (state, process) = try instance.running(loop: loop), try process.send(.terminate) else {
                throw ServingError(.down, "no gateway runs here, so there is none to end")
            }
            let start = ContinuousClock.now
            context.progress("waiting for the gateway to end")
            guard try await process.ended(by: start + limit) else {
                throw ServingError(
                    .stuck,
                    "the gateway did not end within \(limit.words); wait longer with --within, "
                        + "or end it hard with 'kill -9 \(state.process.process)', which loses nothing that was stored")
            }
            return StoppedGateway(
                process: Int(state.process.process), address: state.addresses.first ?? "",
                duration: ContinuousClock.now - start)
        }
        .details("Requests that are being answered go on for up to 'gateway.drain-limit'; turns that run are stored.")
    }
}

/// A gateway that was ended.
struct StoppedGateway: Record {
    let process: Int
    let address: String
    let duration: Duration

    static let fields: [Field<StoppedGateway>] = [
        Field("address", "Where it listened", .name) { PlainText.escape($0.address) },
        Field("pid", "Its process") { $0.process },
        Field("duration", "How long it took to end") { $0.duration.inMilliseconds },
    ]
}
