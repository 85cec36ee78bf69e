public import Capabilities
import HTTPCore
public import TraceKit

/// A program that gets spans, entries of the log or metrics over HTTP, such as OpenTelemetry's Collector, and how it wants them.
public struct Collector: Sendable {
    /// The address to which they are posted.
    public let address: String
    /// The form in which they are sent first. A collector that does not know it gets the other one.
    public var encoding = OTLPEncoding.protobuf
    /// Whether requests are compressed.
    public var compresses = true
    /// How long an answer may take.
    public var timeout = Duration.seconds(10)
    /// The lines that each request has besides. Their values are secrets.
    public var headers = CollectorHeaders.none
    /// A file with the authorities that may vouch for it, instead of those that vouch for other servers.
    public var authorities: String?
    /// What this machine shows a collector that asks for a certificate.
    public var identity: ClientIdentity?

    /// A collector at the address to which something is posted.
    public init(postingTo address: String) { self.address = address }

    /// A collector with OpenTelemetry's usual paths below an address. The path of the signal is added if it is not there, or
    /// takes the place of that of traces.
    public init(at address: String, for signal: OTLPSignal = .traces) {
        let query = address.firstIndex(of: "?").map { address[$0...] } ?? ""
        var base = address.dropLast(query.count)
        while base.hasSuffix("/") { base = base.dropLast() }
        for path in [Self.path(of: .traces), Self.path(of: signal)] where base.hasSuffix(path) {
            base = base.dropLast(path.count)
        }
        // An address with a query is the whole one for traces.
        let isWhole = signal == .traces && !query.isEmpty
        self.init(postingTo: isWhole ? address : base + Self.path(of: signal) + query)
    }

    private static func path(of signal: OTLPSignal) -> String { "/v1/\(signal)" }
    /// Where the collector is if nothing says more: "The default endpoint is http://localhost:4318".
    static let usual = "http://localhost:4318"
    /// How many items a request has at most.
    public static let batch = 512
}

/// Where the header lines for a collector come from.
public enum CollectorHeaders: Sendable {
    /// There are none.
    case none
    /// A list in the form of the environment variable, from there.
    case list(Secret, of: String)
    /// A secret of the vault with such a list.
    case stored(SecretName)

    /// The lines of a list such as `authorization=Bearer%20abc,x-team=7`.
    ///
    /// - Throws: a `TraceExportError` that does not quote it.
    public static func lines(of list: Secret, from source: String) throws(TraceExportError) -> [(
        name: String, value: Secret
    )] {
        try list.withText { text throws(TraceExportError) in
            var lines: [(name: String, value: Secret)] = []
            for member in text.split(separator: ",") {
                let trimmed = member.trimmingSpaces
                if trimmed.isEmpty { continue }
                guard let sign = trimmed.firstIndex(of: "="), sign > trimmed.startIndex,
                    let value = PercentEncoding.decode(trimmed[trimmed.index(after: sign)...].trimmingSpaces)
                else {
                    throw TraceExportError(
                        .configuration,
                        "\(source) does not have the form name=value,name=value, with values as in addresses")
                }
                lines.append((String(trimmed[..<sign].trimmingSpaces), Secret(value)))
            }
            return lines
        }
    }

    /// What of these lines nothing may show: the values, and what follows a scheme such as `Bearer`.
    public static func secrets(of lines: [(name: String, value: Secret)]) -> [Secret] {
        lines.flatMap { line -> [Secret] in
            let parts = line.value.withText { $0.split(separator: " ", maxSplits: 1) }
            return [line.value] + (parts.count == 2 ? [Secret(String(parts[1]))] : [])
        }
    }
}
