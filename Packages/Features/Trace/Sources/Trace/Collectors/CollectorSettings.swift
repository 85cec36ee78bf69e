import Capabilities
import Registry
import Settings
import TraceExport
import TraceKit

/// The settings about the collector that gets the traces, the log and metrics.
struct CollectorSettings: SettingsRecord {
    /// The form in which it is spoken to.
    private enum Form: String, Choice {
        case protobuf, json
    }

    /// What it may get.
    private enum Signal: String, Choice {
        case traces, logs, metrics
    }

    private var address: String?
    private var headers: SecretName?
    private var form = Form.protobuf
    private var compresses = true
    private var timeout = Duration.seconds(10)
    private var signals = Signal.allCases
    private var interval: Duration?

    private static let endpoint = Setting(
        "endpoint",
        "Address of a collector that gets traces, the log and metrics by OTLP over HTTP, such as http://localhost:4318; none by default",
        default: String?.none, risk: .sends)
    private static let secret = Setting(
        "headers", "Name of the secret with headers for the collector: name=value,name=value",
        default: SecretName?.none, risk: .sends)

    static let bindings = [
        bind({ $0.address = $1 }, endpoint), bind({ $0.headers = $1 }, secret),
        bind(
            { $0.form = $1 },
            Setting("protocol", "The form in which the collector gets them", default: .protobuf)),
        bind(
            { $0.compresses = $1 },
            Setting("compress", "Whether what the collector gets is compressed", default: true)),
        bind(
            { $0.timeout = $1 },
            Setting("timeout", "How long an answer of the collector may take", default: .seconds(10))),
        bind(
            { $0.signals = $1 },
            Setting(
                "signals", "What the collector gets: traces, logs, metrics", default: Signal.allCases, risk: .sends)),
        bind(
            { $0.interval = $1 },
            Setting(
                "metrics-interval",
                "How often the collector gets the metrics of a gateway that runs, at most once a second; by default 1m",
                default: Duration?.none)),
    ]

    init() {}

    /// The settings of the feature. A project or a profile that names a collector does not get the secret for another one.
    init(_ settings: FeatureSettings) {
        self.init(reading: settings)
        let origin = settings.layers(of: Self.endpoint).last?.origin
        switch origin {
        case .project, .profile:
            if settings.layers(of: Self.secret).last?.origin != origin { headers = nil }
        default: break
        }
    }

    /// How often metrics are sent, at most once a second.
    func interval(_ variables: CollectorVariables) -> Duration {
        max(.seconds(1), interval ?? variables.interval ?? .seconds(60))
    }

    /// The collector of the settings for a signal, or else that of OpenTelemetry's variables; nil if there is none.
    func choice(
        for signal: OTLPSignal, _ variables: CollectorVariables, in locations: Locations
    ) -> Result<Collector?, TraceExportError> {
        Result { () throws(TraceExportError) in
            guard signals.contains(where: { $0.rawValue == signal.rawValue }) else { return nil }
            guard let address, !address.isEmpty else {
                return try variables.collector(for: signal, locations.absolute)
            }
            guard variables.sends(signal) else { return nil }
            var collector = Collector(at: address, for: signal)
            collector.encoding = form == .json ? .json : .protobuf
            (collector.compresses, collector.timeout) = (compresses, timeout)
            if let headers { collector.headers = .stored(headers) }
            return collector
        }
    }
}
