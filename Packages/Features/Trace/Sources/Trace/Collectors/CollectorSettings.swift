import Capabilities
import Registry
import Settings
import TraceExport
import TraceKit

/// The settings about the collector that gets the traces.
struct CollectorSettings: SettingsRecord {
    /// The form in which spans are sent.
    private enum Form: String, Choice {
        case protobuf, json
    }

    private var address: String?
    private var headers: SecretName?
    private var form = Form.protobuf
    private var compresses = true
    private var timeout = Duration.seconds(10)

    private static let endpoint = Setting(
        "endpoint",
        "Address of a collector that gets the traces by OTLP over HTTP, such as http://localhost:4318; none by default",
        default: String?.none, risk: .sends)
    private static let secret = Setting(
        "headers", "Name of the secret with headers for the collector: name=value,name=value",
        default: SecretName?.none, risk: .sends)

    static let bindings = [
        bind({ $0.address = $1 }, endpoint), bind({ $0.headers = $1 }, secret),
        bind(
            { $0.form = $1 },
            Setting("protocol", "The form in which the collector gets traces", default: .protobuf)),
        bind(
            { $0.compresses = $1 },
            Setting("compress", "Whether what the collector gets is compressed", default: true)),
        bind(
            { $0.timeout = $1 },
            Setting("timeout", "How long an answer of the collector may take", default: .seconds(10))),
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

    /// The collector of the settings, or else that of OpenTelemetry's variables; nil if there is none.
    func choice(_ variables: CollectorVariables, in locations: Locations) -> Result<Collector?, TraceExportError> {
        Result { () throws(TraceExportError) in
            guard let address, !address.isEmpty else { return try variables.collector(locations.absolute) }
            guard variables.sends else { return nil }
            var collector = Collector(at: address)
            collector.encoding = form == .json ? .json : .protobuf
            (collector.compresses, collector.timeout) = (compresses, timeout)
            if let headers { collector.headers = .stored(headers) }
            return collector
        }
    }
}
