import Capabilities
import MCPServers
import Registry

/// Who sees the messages of an action: the person, a file, or nobody.
struct TrafficOptions: Sendable {
    var isShown = false
    var file: WritePath?

    static let record: Parameter<WritePath?> = .option(
        "record", "Add each message to this file, as a line of JSON, over a separate connection", as: WritePath?.self)

    /// Whether anybody sees them.
    var isOn: Bool { isShown || file != nil }

    /// What is shown the messages, and what keeps them.
    func watcher(
        of server: ConfiguredServer, _ context: ActionContext
    ) throws -> (watcher: (@Sendable (ServerTraffic) -> Void)?, recorder: TrafficRecorder?) {
        guard isOn else { return (nil, nil) }
        let recorder = try file.map { file in
            try TrafficRecorder(
                context.path(file), server: server.name, redactor: context.host.redactor, now: context.host.now)
        }
        let watcher: @Sendable (ServerTraffic) -> Void = { [isShown] traffic in
            if isShown { context.notice(traffic.line) }
            recorder?.add(traffic)
        }
        return (watcher, recorder)
    }
}
