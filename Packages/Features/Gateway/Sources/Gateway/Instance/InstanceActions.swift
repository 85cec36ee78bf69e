import Capabilities
import LoopKit
import ProcessKit
import Registry

/// Actions on a running gateway.
struct InstanceActions {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] { [status, stop, DebugAction(services).action] }

    private var instance: Instance { Instance(services.surroundings) }

    private var status: Action {
        Action(
            "gateway.status", "Show whether the gateway is running and healthy", .reads,
            .argument("address", "Address of another gateway", as: HostValue?.self)
        ) { context, address in
            let probe = HealthProbe(services: services)
            if let address { return await probe.look(at: address.text, context) }
            let loop = EventLoop()
            defer { loop.stop() }
            if let (state, _) = try instance.running(loop: loop) { return await probe.look(at: state) }
            var health = GatewayHealth(address: "")
            health.reason = "no gateway is running here"
            health.mend = "start it with 'martlet gateway serve'"
            return health
        }
        .asDefault()
        .sending()
        .example("martlet gateway status --json", "Print the status as JSON")
    }

    private var stop: Action {
        Action(
            "gateway.stop", "Stop the gateway after its running requests finish", .writes,
            .option("within", "How long to wait for it to stop", default: Duration.seconds(30))
        ) { context, limit in
            let loop = EventLoop()
            defer { loop.stop() }
            guard let (state, process) = try instance.running(loop: loop), try process.send(.terminate) else {
                throw ServingError(.down, "no gateway is running here, so there is nothing to stop")
            }
            let start = ContinuousClock.now
            context.progress("waiting for the gateway to stop")
            guard try await process.ended(by: start + limit) else {
                throw ServingError(
                    .stuck,
                    "the gateway did not stop within \(limit.words); wait longer with --within, "
                        + "or kill it with 'kill -9 \(state.process.process)', which loses no stored data")
            }
            return StoppedGateway(
                process: Int(state.process.process), address: state.addresses.first ?? "",
                duration: ContinuousClock.now - start)
        }
        .details("Running requests may continue for up to 'gateway.drain-limit'; running turns are saved.")
    }
}

/// A gateway that was stopped.
struct StoppedGateway: Record {
    let process: Int
    let address: String
    let duration: Duration

    static let fields: [Field<StoppedGateway>] = [
        Field("address", "Address it listened on", .name) { PlainText.escape($0.address) },
        Field("pid", "Process id") { $0.process },
        Field("duration", "How long it took to stop") { $0.duration.inMilliseconds },
    ]
}
