public import Capabilities
import HTTPCore
public import JSON
public import TraceKit

/// What OpenTelemetry's environment variables say: who gets traces, the log and metrics, which traces are recorded, and what
/// this program is.
///
/// An empty variable counts as absent: "The SDK MUST interpret an empty value of an environment variable the same way as when
/// the variable is unset."
public struct CollectorVariables: Sendable {
    private let environment: [String: String]

    /// Reads nothing yet.
    public init(_ environment: [String: String]) { self.environment = environment }

    /// The variables, and what each is for.
    public static let names = [
        "OTEL_SDK_DISABLED": "With true, nothing is recorded and sent",
        "OTEL_TRACES_EXPORTER": "With none, traces are not sent; with otlp, also to a collector at the usual address",
        "OTEL_LOGS_EXPORTER": "The same for the log",
        "OTEL_METRICS_EXPORTER": "The same for metrics",
        "OTEL_METRIC_EXPORT_INTERVAL":
            "How often metrics are sent, in milliseconds, unless trace.metrics-interval is set",
        "OTEL_EXPORTER_OTLP_ENDPOINT":
            "The address of a collector that gets traces, the log and metrics, unless trace.endpoint is set",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "The same, as the whole address for traces",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "The same, as the whole address for the log",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "The same, as the whole address for metrics",
        "OTEL_EXPORTER_OTLP_HEADERS": "Headers for it, which are secret: name=value,name=value",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf or http/json",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip or none",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "How long an answer may take, in milliseconds",
        "OTEL_EXPORTER_OTLP_CERTIFICATE": "A PEM file with the authorities that may vouch for it",
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "A PEM file with a certificate for it",
        "OTEL_EXPORTER_OTLP_CLIENT_KEY": "A PEM file with the key of that certificate",
        "OTEL_SERVICE_NAME": "The name of this program in its traces",
        "OTEL_RESOURCE_ATTRIBUTES": "Facts about this program for its traces: name=value,name=value",
        "OTEL_TRACES_SAMPLER": "Which traces are recorded, unless trace.sample is set",
        "OTEL_TRACES_SAMPLER_ARG": "The part of traces for a sampler by ratio",
    ]

    private func value(_ name: String) -> String? {
        environment[name].flatMap { text in text.isEmpty ? nil : text }
    }

    /// The variable of a signal, or that for all, and its name.
    private func option(_ name: String, _ signal: OTLPSignal) -> (value: String, variable: String)? {
        for variable in [Self.name(name, signal), "OTEL_EXPORTER_OTLP_\(name)"] {
            if let value = value(variable) { return (value, variable) }
        }
        return nil
    }

    private static func name(_ name: String, _ signal: OTLPSignal) -> String {
        "OTEL_EXPORTER_OTLP_\(signal.rawValue.uppercased())_\(name)"
    }

    /// Whether nothing is recorded at all. "Any value other than true … is false."
    public var isDisabled: Bool { value("OTEL_SDK_DISABLED")?.lowercased() == "true" }

    private func exporters(of signal: OTLPSignal) -> [Substring]? {
        value("OTEL_\(signal.rawValue.uppercased())_EXPORTER")?.split(separator: ",").map(\.trimmingSpaces)
    }

    /// Whether a signal may be sent, as far as the variables say.
    public func sends(_ signal: OTLPSignal) -> Bool {
        !isDisabled && exporters(of: signal)?.contains("otlp") != false
    }

    /// How often metrics are sent; nil if that is not told. What is no number of milliseconds counts as absent: "the SDK …
    /// SHOULD generate a warning and gracefully ignore the setting".
    public var interval: Duration? {
        value("OTEL_METRIC_EXPORT_INTERVAL").flatMap { Int($0) }
            .flatMap { (1...86_400_000).contains($0) ? .milliseconds($0) : nil }
    }

    /// The collector that the variables name for a signal.
    ///
    /// - Parameter absolute: the whole path of a file.
    /// - Throws: a `TraceExportError` if they ask for something that there is not.
    public func collector(
        for signal: OTLPSignal, _ absolute: (String) -> String
    ) throws(TraceExportError) -> Collector? {
        guard sends(signal) else { return nil }
        func option(_ name: String) -> (value: String, variable: String)? { self.option(name, signal) }
        var collector: Collector
        if let whole = value(Self.name("ENDPOINT", signal)) {
            collector = Collector(postingTo: whole)
        } else if let base = value("OTEL_EXPORTER_OTLP_ENDPOINT") {
            collector = Collector(at: base, for: signal)
        } else if exporters(of: signal) != nil {
            collector = Collector(at: Collector.usual, for: signal)
        } else {
            return nil
        }
        if let (word, variable) = option("PROTOCOL") { collector.encoding = try Self.encoding(word, variable) }
        switch option("COMPRESSION") {
        case nil, ("gzip", _)?: break
        case ("none", _)?: collector.compresses = false
        case (_, let variable)?:
            throw TraceExportError(.configuration, "\(variable) is neither gzip nor none")
        }
        if let (word, variable) = option("TIMEOUT") {
            guard let time = Int(word), (1...86_400_000).contains(time) else {
                throw TraceExportError(.configuration, "\(variable) is not a number of milliseconds")
            }
            collector.timeout = .milliseconds(time)
        }
        if let (list, variable) = option("HEADERS") { collector.headers = .list(Secret(list), of: variable) }
        collector.authorities = option("CERTIFICATE").map { absolute($0.value) }
        if let certificate = option("CLIENT_CERTIFICATE")?.value {
            let key = option("CLIENT_KEY")?.value ?? certificate
            collector.identity = ClientIdentity(certificate: absolute(certificate), key: absolute(key))
        }
        return collector
    }

    private static func encoding(_ word: String, _ variable: String) throws(TraceExportError) -> OTLPEncoding {
        switch word {
        case "http/protobuf": .protobuf
        case "http/json": .json
        case "grpc":
            throw TraceExportError(
                .configuration,
                "\(variable) asks for gRPC, which is not supported; collectors take http/protobuf at port 4318")
        default: throw TraceExportError(.configuration, "\(variable) is neither http/protobuf nor http/json")
        }
    }

    /// The secrets among them, which nothing may show.
    public var secrets: [Secret] {
        [
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
            "OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS",
        ].flatMap { variable -> [Secret] in
            guard let list = value(variable).map({ Secret($0) }) else { return [] }
            // What cannot be read is a secret too.
            do { return CollectorHeaders.secrets(of: try CollectorHeaders.lines(of: list, from: variable)) } catch {
                return [list]
            }
        }
    }

    /// The part of traces that is recorded; nil if they say nothing that means something here. Whether a trace of another
    /// program is recorded is always as that program says.
    public var ratio: Double? {
        let sampler = value("OTEL_TRACES_SAMPLER").map { $0.hasPrefix("parentbased_") ? String($0.dropFirst(12)) : $0 }
        return switch sampler {
        case "always_on": 1
        case "always_off": 0
        case "traceidratio":
            value("OTEL_TRACES_SAMPLER_ARG").map { Double($0).flatMap { (0...1).contains($0) ? $0 : nil } ?? 1 } ?? 1
        default: nil
        }
    }

    /// What this program is, in addition to what it knows itself. A list that cannot be read counts as absent: "the entire
    /// environment variable value SHOULD be discarded".
    public var resource: JSONObject {
        var resource: JSONObject = [:]
        var isReadable = true
        for member in value("OTEL_RESOURCE_ATTRIBUTES")?.split(separator: ",") ?? [] {
            guard let sign = member.firstIndex(of: "="), sign > member.startIndex,
                let value = PercentEncoding.decode(member[member.index(after: sign)...].trimmingSpaces)
            else {
                isReadable = false
                break
            }
            resource[String(member[..<sign].trimmingSpaces)] = .string(value)
        }
        if !isReadable { resource = [:] }
        if let name = value("OTEL_SERVICE_NAME") { resource["service.name"] = .string(name) }
        return resource
    }
}
