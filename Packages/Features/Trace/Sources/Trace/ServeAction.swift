import Capabilities
import Cryptography
import HTTPServer
import Registry
import TraceReceiver
import TraceStore

/// `martlet trace serve`
struct ServeAction: Sendable {
    let store: TraceStore
    let limits: SpanReceiver.Limits

    private static let listening = EventKind<(endpoint: String, headers: String?)>(
        "listening", "The receiver is ready",
        [
            Field("endpoint", "The address for OTEL_EXPORTER_OTLP_ENDPOINT") { $0.endpoint },
            Field("headers", "The token for OTEL_EXPORTER_OTLP_HEADERS") { $0.headers },
        ])

    var action: Action {
        Action(
            "trace.serve", "Take traces, logs and metrics of other programs until interrupted", .writes,
            .argument("port", "The port; a free one if it is not given", as: Int?.self),
            .flag("open", "Whether every program of this machine may send, without a token")
        ) { context, port, isOpen in
            guard let port = UInt16(exactly: port ?? 0) else { throw TraceError.notPort(port ?? 0) }
            let receiver = SpanReceiver(
                store, limits: limits, without: context.host.redactor, now: context.host.now
            ) { context.progress("receiving spans, logs and metrics", completed: $0) }
            let token = isOpen ? nil : Secret("mtr_" + Base64URL.encode(try Random.bytes(32)))
            if let token { context.host.redactor.learn(token) }
            let server = HTTPServer(try receiver.routes(), receiver.configuration(port: port, token: token))
            let started = Promise<String>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do { try await server.run { started.settle($0.first?.description ?? "") } } catch {
                        started.settle(with: .failure(error))
                        throw error
                    }
                }
                let address = try await started.value()
                try await context.emit(Self.event(address, token))
                try await group.waitForAll()
            }
            return Nothing()
        }
        .streaming([Self.listening.declaration])
        .byName()
        .details(
            "Other programs send spans, logs and metrics here by OTLP over HTTP, in protobuf or JSON, when they get the variables that are printed. "
                + "Their spans are stored beside those of this program and are shown in the same traces, "
                + "but never take their place: trace.received-budget and trace.received-rate limit them. "
                + "'trace logs' shows entries of logs and 'trace metrics' the newest value of each metric. gRPC is refused."
        )
        .example("martlet trace serve 4318 --open", "At the usual port, for all programs of this machine")
    }

    private static func event(_ address: String, _ token: Secret?) -> ActionEvent {
        let headers = token.map { token in token.withText { "authorization=Bearer%20\($0)" } }
        var lines = ["listening at \(address)", "OTEL_EXPORTER_OTLP_ENDPOINT=\(address)"]
        if let headers { lines.append("OTEL_EXPORTER_OTLP_HEADERS=\(headers)") }
        return listening.event((address, headers), text: lines.map { "\($0)\n" }.joined())
    }
}
